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

// annotationsOfLevel is how many annotations of one level GitHub shows of a step.
const annotationsOfLevel = 10

// writeGitHub writes a report for the log of a GitHub Actions job: the text, folded up, then what GitHub shows beside
// the lines of the files, and a last line that says how it went. A server is no file: what is said of it belongs to
// the job as a whole.
//
// The runner looks for commands in every line, in the old form ##[command] even within one, and the text holds what
// the files hold. It therefore stands between a stop-commands and its token.
func writeGitHub(out io.Writer, r *Report, o Options) error {
	if _, err := io.WriteString(out, "::group::mvpcheck\n::stop-commands::"+o.Token+"\n"); err != nil {
		return err
	}
	if err := writeText(out, r, o); err != nil {
		return err
	}
	var log githubLog
	for b := range r.Blocks {
		switch b := b.(type) {
		case *Section:
			log.section(b)
		case InputError:
			at := Location{File: b.File, Line: b.Line, Column: b.Column}
			log.add(SeverityError, annotation{at: at, title: "cannot be read", lines: []Text{b.Message}})
		}
	}
	return log.end(out, o, r.Summary.Verdict.String()+": "+r.Counts.String())
}

// section adds the annotations for one control plane.
func (w *githubLog) section(s *Section) {
	for i := range s.Findings.List {
		f := &s.Findings.List[i]
		a := annotation{title: f.title(), lines: append([]Text{f.message() + Text(" ["+f.Rule+"]")}, f.paragraphs()...)}
		if !f.live() {
			a.at = *cmp.Or(f.Location, &Location{File: s.File})
		}
		w.add(f.Severity, a)
	}
	if s.CannotTell == "" {
		return
	}
	a := annotation{title: "cannot tell", lines: []Text{s.CannotTell}}
	if !s.Live {
		a.at.File = s.File
	}
	if s.Partly {
		w.add(SeverityWarning, a)
	} else {
		w.add(SeverityError, a)
	}
}

// githubLog has the annotations of a log.
type githubLog struct {
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
	lines []Text
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

// end writes the annotations, worst first, how many there is no room for, and the last line, which has no text of
// others.
func (w *githubLog) end(out io.Writer, o Options, last string) error {
	var b strings.Builder
	b.WriteString("::" + o.Token + "::\n::endgroup::\n")
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
	b.WriteString(o.Program + ": " + last + ".\n")
	_, err := io.WriteString(out, b.String())
	return err
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
		property("file", githubFile(string(l.File)))
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
			lines = append(lines, s.String())
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
