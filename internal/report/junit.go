package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// JUnitOptions are what the format wants to know beside the report.
type JUnitOptions struct {
	// RuleName returns the name of the rule of an ID.
	RuleName func(id string) string
}

// JUnit writes a report as JUnit XML: a suite for each cluster, a case for each rule. What fails is what is at or above
// --fail-on, so that the cases say the same as the exit code; what is below passes and stands in the output of its case.
// What could not be judged is an error.
//
// Each suite has its counts; the whole has none, so that it can be written as the clusters come.
type JUnit struct {
	junitFile
	opts JUnitOptions
	text Text // what the text says of a finding
}

// NewJUnit returns a writer of one report.
func NewJUnit(out io.Writer, opts JUnitOptions) *JUnit {
	return &JUnit{junitFile{out: bufio.NewWriter(out)}, opts, Text{printer: newPrinter(nil, TextOptions{})}}
}

// junitSuite is a suite whose cases have places.
type junitSuite struct {
	XMLName xml.Name `xml:"testsuite"`
	junit.Testsuite
	Cases []junitCase `xml:"testcase"`
}

// junitCase is a case with the place that GitLab makes a link of, and Jenkins passes over.
type junitCase struct {
	junit.Testcase
	File string `xml:"file,attr,omitempty"`
	Line int    `xml:"line,attr,omitempty"`
}

func newJUnitSuite(name, file string) *junitSuite {
	s := &junitSuite{}
	s.Name, s.File, s.Time = Printable(name), Printable(file), "0"
	return s
}

// property adds a property that has a value.
func (s *junitSuite) property(name, value string) {
	if value != "" {
		s.AddProperty(name, Printable(value))
	}
}

// add adds a case and counts it.
func (s *junitSuite) add(name string, c junitCase) {
	c.Name, c.Classname, c.Time = Printable(name), s.Name, "0"
	s.AddTestcase(c.Testcase)
	s.Testcases = nil // it only counts
	s.Cases = append(s.Cases, c)
}

// cannotTell adds the case for what could not be judged.
func (s *junitSuite) cannotTell(reason string) {
	if reason != "" {
		s.add("everything can be judged", junitCase{Testcase: junit.Testcase{
			Error: &junit.Result{Message: Printable(reason), Type: string(VerdictCannotTell), Data: Printable(reason)},
		}})
	}
}

// junitFile is what the files of check and probe share.
type junitFile struct {
	out    *bufio.Writer
	suites int
}

// suite writes a suite.
func (f *junitFile) suite(s *junitSuite) error {
	if f.suites == 0 {
		f.begin()
	}
	s.ID = f.suites
	f.suites++
	enc := xml.NewEncoder(f.out)
	enc.Indent("  ", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	f.out.WriteString("\n")
	return f.out.Flush()
}

func (f *junitFile) begin() { f.out.WriteString(xml.Header + "<testsuites name=\"mvpcheck\">\n") }

func (f *junitFile) end() error {
	if f.suites == 0 {
		f.begin()
	}
	f.out.WriteString("</testsuites>\n")
	return f.out.Flush()
}

// Cluster writes the suite of one cluster.
func (w *JUnit) Cluster(c Cluster) error {
	s := newJUnitSuite(c.Source, c.file())
	s.property("documents", c.Documents)
	s.property("releases", releases(&c))
	s.property("verdict", string(c.Verdict()))
	cases := map[string]*junitRule{}
	of := func(rule string) *junitRule {
		if cases[rule] == nil {
			cases[rule] = &junitRule{}
		}
		return cases[rule]
	}
	for _, rule := range c.Passed {
		of(rule)
	}
	for i := range c.Skipped {
		of(c.Skipped[i].Rule).skipped = append(of(c.Skipped[i].Rule).skipped, c.Skipped[i].Reason)
	}
	for i := range c.Silenced {
		of(c.Silenced[i].Rule).silence(&c.Silenced[i])
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		w.text.buf = w.text.buf[:0]
		w.text.finding(&c, f)
		w.text.labelled("   page: ", PageURL(f.Help))
		of(f.Rule).found(junitFinding{f.Message, string(w.text.buf), f.Severity, f.Location, f.Fails})
	}
	for _, rule := range sortedIDs(cases) {
		s.add(ruleTitle(rule, w.opts.RuleName(rule)), cases[rule].testcase())
	}
	s.cannotTell(c.CannotTell)
	return w.suite(s)
}

// ruleTitle is a rule as a title: MVP101 gate-off-on-running.
func ruleTitle(id, name string) string { return strings.TrimSuffix(id+" "+name, " ") }

func sortedIDs(cases map[string]*junitRule) []string {
	var ids []string
	for id := range cases {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// InputError writes a suite for a file that could not be read.
func (w *JUnit) InputError(e InputError) error {
	s := newJUnitSuite(e.File, e.File)
	name := "can be read"
	if e.Line > 0 {
		name += fmt.Sprintf(" (line %d)", e.Line) // a file may have several
	}
	w.text.buf = w.text.buf[:0]
	w.text.place(e.File, e.Line, e.Column)
	s.add(name, junitCase{File: s.File, Line: max(0, e.Line), Testcase: junit.Testcase{Error: &junit.Result{
		Message: Printable(e.Message), Type: "input-error", Data: string(w.text.buf) + ": " + Printable(e.Message),
	}}})
	return w.suite(s)
}

// PassedOver does nothing: a file that holds nothing to check is no case.
func (w *JUnit) PassedOver(PassedOver) error { return nil }

// Close ends the document.
func (w *JUnit) Close(Summary) error { return w.end() }

// WriteProbeJUnit writes a probe report as JUnit XML: one suite, as JUnit has it for clusters.
func WriteProbeJUnit(out io.Writer, r *ProbeReport, opts JUnitOptions) error {
	f := junitFile{out: bufio.NewWriter(out)}
	s := newJUnitSuite(cmp.Or(r.Context, "control plane"), r.Replayed)
	s.property("found", r.Found)
	for i := range r.Servers {
		s.property("server "+Printable(r.Servers[i].Name), cmp.Or(r.Servers[i].Says, r.Servers[i].Result))
	}
	s.property("verdict", string(r.Summary.Verdict))
	cases := map[string]*junitRule{}
	for _, rule := range r.Passed {
		cases[rule] = &junitRule{}
	}
	for i := range r.Skipped {
		cases[r.Skipped[i].Rule] = &junitRule{skipped: []string{r.Skipped[i].Reason}}
	}
	text := newProbeText(nil, r, TextOptions{Verbose: true})
	for i := range r.Findings {
		finding := &r.Findings[i]
		if cases[finding.Rule] == nil {
			cases[finding.Rule] = &junitRule{}
		}
		text.buf = text.buf[:0]
		text.finding(finding)
		text.labelled("   page:   ", PageURL(finding.Help))
		cases[finding.Rule].found(junitFinding{probeMessage(finding), string(text.buf), finding.Severity, nil, finding.Fails})
	}
	for _, rule := range sortedIDs(cases) {
		s.add(ruleTitle(rule, opts.RuleName(rule)), cases[rule].testcase())
	}
	s.cannotTell(r.CannotTell)
	if err := f.suite(s); err != nil {
		return err
	}
	return f.end()
}

// junitRule is what there is to say of one rule.
type junitRule struct {
	findings []junitFinding
	skipped  []string // reasons
	silenced []string
}

type junitFinding struct {
	message  string
	text     string // for people, with line ends; it is printable
	severity Severity
	at       *Location
	fails    bool
}

func (r *junitRule) found(f junitFinding) { r.findings = append(r.findings, f) }

func (r *junitRule) silence(s *Silenced) {
	text := "silenced"
	if s.Location != nil && s.Location.Line > 0 {
		text += fmt.Sprintf(" at line %d", s.Location.Line)
	}
	r.silenced = append(r.silenced, text+": "+cmp.Or(s.Reason, "without a reason"))
}

// testcase is the case of the rule. Its place is that of what fails, else of what was found first.
func (r *junitRule) testcase() junitCase {
	var c junitCase
	var failed, below bytes.Buffer
	var first *junitFinding
	others := 0
	for i := range r.findings {
		f := &r.findings[i]
		if f.fails {
			failed.WriteString(f.text)
			if first == nil {
				first = f
			} else {
				others++
			}
		} else {
			below.WriteString(f.text)
		}
	}
	if first != nil {
		message := Printable(first.message)
		if others > 0 {
			message += fmt.Sprintf(" (and %d more)", others)
		}
		c.Failure = &junit.Result{Message: message, Type: Printable(string(first.severity)), Data: failed.String()}
	}
	notes := slices.Clone(r.silenced)
	switch {
	case len(r.findings) > 0:
		for _, reason := range r.skipped {
			notes = append(notes, "not wholly judged: "+reason)
		}
		at := cmp.Or(first, &r.findings[0]).at
		if at != nil {
			c.File, c.Line = Printable(at.File), max(0, at.Line)
		}
	case len(r.skipped) > 0 || len(r.silenced) > 0:
		reason := Printable(strings.Join(slices.Concat(r.skipped, r.silenced), "; "))
		c.Skipped = &junit.Result{Message: reason, Data: reason} // GitLab shows the text, Jenkins the attribute
		return c
	}
	for _, note := range notes {
		below.WriteString(Printable(note) + "\n")
	}
	if below.Len() > 0 {
		c.SystemOut = &junit.Output{Data: below.String()}
	}
	return c
}
