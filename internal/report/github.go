package report

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// GitHubOptions are what the format wants to know beside the report.
type GitHubOptions struct {
	// Text is what the report in the log looks like.
	Text TextOptions
	// Token is a word that nobody can foresee: until it comes again, nothing in the log is a command.
	Token string
}

// annotationsOfLevel is how many annotations of one level GitHub shows of a step.
const annotationsOfLevel = 10

// GitHub writes a report for the log of a GitHub Actions job: the text, folded up, then what GitHub shows beside the lines of
// the files, and a last line that says how it went.
//
// The runner looks for commands in every line, in the old form ##[command] even within one, and the text holds what the files
// hold. It therefore stands between a stop-commands and its token.
type GitHub struct {
	githubLog
	text *Text
	// unread counts the input errors.
	unread int
}

// NewGitHub returns a writer of one report. It stops commands at once, as standard error goes into the same log.
func NewGitHub(out io.Writer, opts GitHubOptions) *GitHub {
	return &GitHub{githubLog: newGitHubLog(out, opts), text: NewText(out, opts.Text)}
}

// Cluster writes the text for one cluster and keeps its annotations.
func (w *GitHub) Cluster(c Cluster) error {
	for i := range c.Findings {
		f := &c.Findings[i]
		at := f.Location
		if at == nil {
			at = &Location{File: c.file()}
		}
		w.add(f.Severity, annotation{
			at: *at, title: ruleTitle(f.Rule, f.Name),
			lines: []string{f.Message + " [" + f.Rule + "]", labelledText("why: ", f.Why), labelledText("fix: ", f.Fix)},
		})
	}
	if c.CannotTell != "" {
		level := SeverityWarning
		if c.Verdict() == VerdictCannotTell {
			level = SeverityError
		}
		w.add(level, annotation{at: Location{File: c.file()}, title: "cannot tell", lines: []string{c.CannotTell}})
	}
	return w.text.Cluster(c)
}

// InputError writes the text of an input error and keeps its annotation.
func (w *GitHub) InputError(e InputError) error {
	w.unread++
	w.add(SeverityError, annotation{
		at: Location{File: e.File, Line: e.Line, Column: e.Column}, title: "cannot be read", lines: []string{e.Message},
	})
	return w.text.InputError(e)
}

// PassedOver writes the text for a file that was passed over.
func (w *GitHub) PassedOver(p PassedOver) error {
	return w.text.PassedOver(p)
}

// Close ends the text and writes the annotations.
func (w *GitHub) Close(s Summary) error {
	if err := w.text.Close(s); err != nil {
		return err
	}
	last := probeVerdict(s.Verdict) + ": " + countOf(s.Errors, "error") + ", " + countOf(s.Warnings, "warning")
	if w.unread > 0 {
		last += ", " + countOf(w.unread, "input") + " cannot be read"
	}
	return w.end(last)
}

// WriteProbeGitHub writes a probe report for the log of a job, as GitHub does it for clusters. A server is no file: the
// annotations belong to the job as a whole.
func WriteProbeGitHub(out io.Writer, r *ProbeReport, opts GitHubOptions) error {
	w := newGitHubLog(out, opts)
	for i := range r.Findings {
		f := &r.Findings[i]
		lines := []string{probeMessage(f) + " [" + f.Rule + "]"}
		for k := range f.Effects {
			lines = append(lines, effectLine(&f.Effects[k]))
		}
		lines = append(lines, labelledText("why: ", f.Why), labelledText("fix: ", f.Fix))
		w.add(f.Severity, annotation{title: ruleTitle(f.Rule, f.Name), lines: lines})
	}
	if r.CannotTell != "" {
		w.add(SeverityError, annotation{title: "cannot tell", lines: []string{r.CannotTell}})
	}
	if err := WriteProbeText(out, r, opts.Text); err != nil {
		return err
	}
	return w.end(probeVerdict(r.Summary.Verdict) + ": " + r.counts())
}

// probeMessage is a message behind the first of the servers that it is about.
func probeMessage(f *ProbeFinding) string {
	if len(f.Servers) == 0 {
		return f.Message
	}
	var l names
	for _, name := range f.Servers {
		l.add(name)
	}
	text := strings.Join(l.first[:min(l.n, len(l.first))], ", ")
	if more := l.n - len(l.first); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ": " + f.Message
}

// effectLine is an effect with its server and the rules that see it, as far as there are any.
func effectLine(e *ProbeEffect) string {
	text := "effect: "
	if e.Server != "" {
		text += e.Server + ": "
	}
	text += e.Message
	if len(e.Rules) > 0 {
		text += " [" + strings.Join(e.Rules, ", ") + "]"
	}
	return text
}

// githubLog is what the logs of check and probe share.
type githubLog struct {
	out  io.Writer
	opts GitHubOptions
	err  error // of the first line
	// kept are the commands for the annotations that GitHub will show, more counts the others, by githubLevels.
	kept [3][]string
	more [3]int
}

// githubLevels are the commands for annotations, worst first.
var githubLevels = [3]string{"error", "warning", "notice"}

// annotation is a text beside a place; one without a file belongs to the job as a whole.
type annotation struct {
	at    Location
	title string
	lines []string
}

func newGitHubLog(out io.Writer, opts GitHubOptions) githubLog {
	_, err := io.WriteString(out, "::group::mvpcheck\n::stop-commands::"+opts.Token+"\n")
	return githubLog{out: out, opts: opts, err: err}
}

// add keeps an annotation if GitHub will show it.
func (w *githubLog) add(s Severity, a annotation) {
	level := max(0, s.rank()) // what is no severity is an error
	if len(w.kept[level]) == annotationsOfLevel {
		w.more[level]++
		return
	}
	w.kept[level] = append(w.kept[level], a.command(githubLevels[level]))
}

// end writes the annotations, worst first, how many there is no room for, and the last line, which has no text of others.
func (w *githubLog) end(last string) error {
	var b strings.Builder
	b.WriteString("::" + w.opts.Token + "::\n::endgroup::\n")
	for _, commands := range w.kept {
		for _, command := range commands {
			b.WriteString(command)
		}
	}
	var more []string
	for level, n := range w.more {
		if n > 0 {
			more = append(more, strconv.Itoa(n)+" more of level "+githubLevels[level])
		}
	}
	if len(more) > 0 {
		fmt.Fprintf(&b, "GitHub shows %d annotations of each level; without one: %s. The group above has them all.\n",
			annotationsOfLevel, strings.Join(more, ", "))
	}
	b.WriteString(w.opts.Text.Program + ": " + last + ".\n")
	_, err := io.WriteString(w.out, b.String())
	return cmp.Or(w.err, err)
}

// command is the annotation as a workflow command, which is one line.
func (a *annotation) command(level string) string {
	var properties []string
	property := func(name, value string) {
		if value != "" {
			properties = append(properties, name+"="+escapeProperty(Printable(value)))
		}
	}
	number := func(name string, value int) {
		if value > 0 {
			property(name, strconv.Itoa(value))
		}
	}
	if l := &a.at; l.File != "" {
		property("file", githubFile(l.File))
		if l.Line > 0 {
			number("line", l.Line)
			switch {
			case l.EndLine > l.Line: // GitHub takes columns within one line only
				number("endLine", l.EndLine)
			case l.EndLine == l.Line && l.EndColumn > l.Column:
				number("col", l.Column)
				number("endLine", l.EndLine)
				number("endColumn", l.EndColumn)
			default:
				number("col", l.Column)
			}
		}
	}
	property("title", a.title)
	var lines []string
	for _, s := range a.lines {
		if s != "" {
			lines = append(lines, Printable(s))
		}
	}
	command := "::" + level
	if len(properties) > 0 {
		command += " " + strings.Join(properties, ",")
	}
	return command + "::" + escapeData(strings.Join(lines, "\n")) + "\n"
}

// githubFile is a file as GitHub names it: from the root of the repository on, if that is where mvpcheck runs.
func githubFile(name string) string { return path.Clean(filepath.ToSlash(name)) }

// The escapes of workflow commands. The runner undoes that of % last.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func escapeData(s string) string     { return dataEscapes.Replace(s) }
func escapeProperty(s string) string { return propertyEscapes.Replace(s) }
