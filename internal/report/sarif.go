package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// SARIFOptions are what the format wants to know beside the report.
type SARIFOptions struct {
	// Version is mvpcheck's.
	Version string
	// Rule returns what there is to say of the rule of an ID.
	Rule func(id string) SARIFRule
}

// SARIFRule is the documentation of a rule as SARIF has it.
type SARIFRule struct {
	// Name has no blanks: GateOffOnRunning.
	Name     string
	Severity Severity
	// Short is one sentence, Full a few; Text and Markdown are all that there is to say, in two forms.
	Short, Full, Text, Markdown string
	Tags                        []string
}

// Home is where the program comes from; the pages of the rules are below it.
const Home = "https://github.com/mvpcheck/mvpcheck"

// PageURL is the address of a page within the repository; empty stays empty.
func PageURL(page string) string {
	if page == "" {
		return ""
	}
	return Home + "/blob/main/" + page
}

// SARIF writes a report as one log of SARIF 2.1.0. Results are written as they come. The rules that they name stand behind
// them, as only then is it known which these are.
type SARIF struct {
	sarifLog
	notifications    []sarifNotification
	failing, unknown bool
}

// NewSARIF returns a writer of one report.
func NewSARIF(out io.Writer, opts SARIFOptions) *SARIF {
	return &SARIF{sarifLog: newSARIFLog(out, opts)}
}

// Cluster writes the findings of one cluster, those that are silenced too.
func (w *SARIF) Cluster(c Cluster) error {
	for i := range c.Findings {
		f := &c.Findings[i]
		w.failing = w.failing || f.Fails
		if err := w.result(w.checked(&c, f, []sarifSuppression{})); err != nil {
			return err
		}
	}
	for i := range c.Silenced {
		s := &c.Silenced[i]
		silence := sarifSuppression{Kind: "inSource", Justification: Printable(s.Reason)}
		if s.Location != nil && s.CommentLine > 0 {
			silence.Location = &sarifLocation{Physical: sarifAt(&Location{File: s.Location.File, Line: s.CommentLine}, "")}
		}
		if err := w.result(w.checked(&c, &s.Finding, []sarifSuppression{silence})); err != nil {
			return err
		}
	}
	if c.CannotTell != "" {
		n := sarifNotification{Level: "warning", Message: sarifMessage(c.Source + ": not everything could be judged: " + c.CannotTell)}
		if c.Verdict() == VerdictCannotTell {
			w.unknown = true
			n = sarifNotification{Level: "error", Message: sarifMessage(c.Source + ": cannot tell: " + c.CannotTell)}
		}
		n.Locations = []sarifLocation{{Physical: &sarifPhysical{Artifact: sarifArtifactOf(c.file())}}}
		w.notifications = append(w.notifications, n)
	}
	return w.out.Flush()
}

// file is the file that a cluster was read from, as the findings name it. Of standard input only they know what it is called
// where it holds several clusters.
func (c *Cluster) file() string {
	if c.Argument != "-" {
		return cmp.Or(c.Argument, c.Source)
	}
	for i := range c.Findings {
		if l := c.Findings[i].Location; l != nil && strings.HasPrefix(c.Source, l.File) {
			return l.File
		}
	}
	return c.Source
}

// checked is the result for a finding about a file.
func (w *SARIF) checked(c *Cluster, f *Finding, suppressions []sarifSuppression) sarifResult {
	at := f.Location
	if at == nil {
		at = &Location{File: c.file()}
	}
	place := sarifLocation{Physical: sarifAt(at, f.SourceLine)}
	if at.Path != "" {
		place.Logical = []sarifLogical{{FullyQualifiedName: Printable(at.Path), Kind: "property"}}
	}
	r := sarifResult{
		RuleID: f.Rule, RuleIndex: w.rule(f.Rule, f.Help), Level: sarifLevel(f.Severity),
		Message:      sarifMessage(f.Message, labelledText("why: ", f.Why), labelledText("fix: ", f.Fix)),
		Locations:    []sarifLocation{place},
		Fingerprints: map[string]string{fingerprint: w.fingerprint(f.Rule, at.File, withoutIndexes(at.Path), strings.TrimSpace(f.SourceLine))},
		Fixes:        sarifFixOf(f.Edits, f.Fix),
		Suppressions: suppressions,
		Properties:   sarifResultBag{Consequence: f.Consequence, At: f.At, Pairs: f.Pairs},
	}
	for i := range f.Related {
		message := sarifMessage(f.Related[i].Message)
		r.RelatedLocations = append(r.RelatedLocations,
			sarifLocation{ID: i + 1, Physical: sarifAt(&f.Related[i].Location, ""), Message: &message})
	}
	return r
}

// InputError keeps an input error for the end of the log.
func (w *SARIF) InputError(e InputError) error {
	w.unknown = true
	w.notifications = append(w.notifications, sarifNotification{
		Level: "error", Message: sarifMessage("cannot be read: " + e.Message),
		Locations: []sarifLocation{{Physical: sarifAt(&Location{File: e.File, Line: e.Line, Column: e.Column}, "")}},
	})
	return nil
}

// PassedOver does nothing: a file that holds nothing to check is no result.
func (w *SARIF) PassedOver(PassedOver) error { return nil }

// Close ends the log.
func (w *SARIF) Close(s Summary) error {
	return w.end(sarifInvocationOf(w.failing, w.unknown || s.Verdict == VerdictCannotTell, w.notifications))
}

// sarifInvocationOf tells how the run ended, with the exit code that mvpcheck has then.
func sarifInvocationOf(failing, unknown bool, notifications []sarifNotification) sarifInvocation {
	i := sarifInvocation{ExecutionSuccessful: !unknown, Notifications: notifications}
	switch {
	case failing:
		i.ExitCode, i.ExitCodeDescription = 1, "findings at or above --fail-on"
	case unknown:
		i.ExitCode, i.ExitCodeDescription = 3, "could not check or could not tell"
	default:
		i.ExitCodeDescription = "nothing at or above --fail-on"
	}
	return i
}

// sarifLog is what the logs of check and probe share.
type sarifLog struct {
	out     *bufio.Writer
	opts    SARIFOptions
	results int
	rules   []sarifDescriptor
	index   map[string]int
	seen    map[[fingerprintSize]byte]int
}

func newSARIFLog(out io.Writer, opts SARIFOptions) sarifLog {
	return sarifLog{out: bufio.NewWriter(out), opts: opts, rules: []sarifDescriptor{}, index: map[string]int{}, seen: map[[fingerprintSize]byte]int{}}
}

// begin writes all that stands before the results. Columns are those of Location.
func (l *sarifLog) begin() {
	l.out.WriteString("{\n  \"$schema\": \"" + sarifSchema + "\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n" +
		"      \"columnKind\": \"unicodeCodePoints\",\n      \"newlineSequences\": [\"\\r\\n\", \"\\n\", \"\\r\"],\n      \"results\": [")
}

// result writes one result.
func (l *sarifLog) result(r sarifResult) error {
	if l.results == 0 {
		l.begin()
	} else {
		l.out.WriteString(",")
	}
	l.results++
	b, err := encode(r, "        ")
	if err != nil {
		return err
	}
	l.out.WriteString("\n        ")
	_, err = l.out.Write(b)
	return err
}

// end writes all that stands behind the results.
func (l *sarifLog) end(i sarifInvocation) error {
	if l.results == 0 {
		l.begin()
	} else {
		l.out.WriteString("\n      ")
	}
	invocations, err := encode([]sarifInvocation{i}, "      ")
	if err != nil {
		return err
	}
	tool, err := encode(sarifTool{sarifDriver{Name: "mvpcheck", Version: l.opts.Version, InformationURI: Home, Rules: l.rules}}, "      ")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "],\n      \"invocations\": %s,\n      \"tool\": %s\n    }\n  ]\n}\n", invocations, tool)
	return l.out.Flush()
}

// rule is the index of a rule, which is added where it is new.
func (l *sarifLog) rule(id, page string) int {
	if i, ok := l.index[id]; ok {
		return i
	}
	l.index[id] = len(l.rules)
	doc := l.opts.Rule(id)
	d := sarifDescriptor{
		ID: id, Name: doc.Name, HelpURI: PageURL(escapePath(page)), DefaultConfiguration: sarifConfiguration{sarifLevel(doc.Severity)},
		Properties: sarifRuleBag{Precision: "high", ProblemSeverity: problemSeverity(doc.Severity), Tags: orEmpty(doc.Tags)},
	}
	if doc.Short != "" {
		d.ShortDescription = &sarifText{Text: doc.Short}
	}
	if doc.Full != "" {
		d.FullDescription = &sarifText{Text: doc.Full}
	}
	if doc.Text != "" {
		d.Help = &sarifText{Text: doc.Text, Markdown: doc.Markdown}
	}
	l.rules = append(l.rules, d)
	return l.index[id]
}

// fingerprint is the name of the one that we compute; GitHub's own, primaryLocationLineHash, is computed by its upload.
const fingerprint = "mvpcheck/v1"

const fingerprintSize = 12

// fingerprint tells the same finding of two runs: by what it is about, not by where that stands or what is said of it. Several
// of one run that are alike are counted.
func (l *sarifLog) fingerprint(about ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(about, "\x00")))
	key := [fingerprintSize]byte(hash[:])
	l.seen[key]++
	return fmt.Sprintf("%s:%d", hex.EncodeToString(key[:]), l.seen[key])
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

// withoutIndexes is a path that stays the same when an item is put in front of another.
func withoutIndexes(path string) string { return listIndex.ReplaceAllString(path, "[]") }

func sarifLevel(s Severity) string {
	switch s {
	case SeverityWarning:
		return "warning"
	case SeverityInfo:
		return "note"
	}
	return "error"
}

// problemSeverity is what GitHub calls a severity.
func problemSeverity(s Severity) string {
	switch s {
	case SeverityWarning:
		return "warning"
	case SeverityInfo:
		return "recommendation"
	}
	return "error"
}
