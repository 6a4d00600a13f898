package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// writeJUnit writes a report as JUnit XML: a suite for each control plane, a case for each rule. What fails is what
// is at or above --fail-on, so that the cases say the same as the exit code; what is below passes and stands in the
// output of its case. What could not be judged is an error.
//
// Each suite has its counts; the whole has none.
func writeJUnit(out io.Writer, r *Report, o Options) error {
	f := junitFile{
		out: bufio.NewWriter(out), text: newTextWriter(nil, Options{Verbose: true}), opts: o, titles: map[string]string{},
	}
	for b := range r.Blocks {
		var suite *junitSuite
		switch b := b.(type) {
		case *Section:
			suite = f.section(b)
		case InputError:
			suite = f.inputError(b)
		default:
			continue // a file that holds nothing to check is no case
		}
		if err := f.suite(suite); err != nil {
			return err
		}
	}
	return f.end()
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

func newJUnitSuite(name, file Text) *junitSuite {
	s := &junitSuite{}
	s.Name, s.File, s.Time = name.String(), file.String(), "0"
	return s
}

// property adds a property that has a value.
func (s *junitSuite) property(name string, value Text) {
	if value != "" {
		s.AddProperty(name, value.String())
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
func (s *junitSuite) cannotTell(reason Text) {
	if reason != "" {
		s.add("everything can be judged", junitCase{Testcase: junit.Testcase{
			Error: &junit.Result{Message: reason.String(), Type: string(VerdictCannotTell), Data: reason.String()},
		}})
	}
}

// junitFile is a file that is written.
type junitFile struct {
	out    *bufio.Writer
	text   *textWriter // what the text says of a finding
	opts   Options
	titles map[string]string // of rules
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

// section is the suite of one control plane.
func (f *junitFile) section(sec *Section) *junitSuite {
	name := sec.Name
	if sec.Live {
		name = cmp.Or(name, "control plane")
	}
	s := newJUnitSuite(name, sec.File)
	for _, p := range sec.Properties {
		s.property(p.Label, p.Text)
	}
	s.property("verdict", Text(sec.Summary.Verdict))
	cases := map[string]*junitRule{}
	of := func(rule string) *junitRule {
		if cases[rule] == nil {
			cases[rule] = &junitRule{}
		}
		return cases[rule]
	}
	for _, rule := range sec.Rules.Passed {
		of(rule)
	}
	for _, skipped := range sec.Rules.Skipped {
		of(skipped.Rule).skipped = append(of(skipped.Rule).skipped, skipped.Reason)
	}
	for i := range sec.Silenced {
		of(sec.Silenced[i].Rule).silence(&sec.Silenced[i])
	}
	for i := range sec.Findings.List {
		finding := &sec.Findings.List[i]
		text := f.text.said(func(w *textWriter) {
			w.finding(&sec.Findings, finding)
			w.labelled(finding.label("page"), Text(PageURL(finding.Help)))
		})
		of(finding.Rule).found(junitFinding{finding.message(), text, finding.Severity, finding.Location, finding.Fails})
	}
	for _, rule := range slices.Sorted(maps.Keys(cases)) {
		s.add(f.title(rule), cases[rule].testcase())
	}
	s.cannotTell(sec.CannotTell)
	return s
}

// title is a rule's title; there are few rules in many suites.
func (f *junitFile) title(rule string) string {
	title, ok := f.titles[rule]
	if !ok {
		title = ruleTitle(rule, f.opts.Rule(rule).Name)
		f.titles[rule] = title
	}
	return title
}

// inputError is the suite for a file that could not be read.
func (f *junitFile) inputError(e InputError) *junitSuite {
	s := newJUnitSuite(e.File, e.File)
	name := "can be read"
	if e.Line > 0 {
		name += fmt.Sprintf(" (line %d)", e.Line) // a file may have several
	}
	place := f.text.said(func(w *textWriter) { w.place(e.File, e.Line, e.Column) })
	s.add(name, junitCase{File: s.File, Line: max(0, e.Line), Testcase: junit.Testcase{Error: &junit.Result{
		Message: e.Message.String(), Type: "input-error", Data: place + ": " + e.Message.String(),
	}}})
	return s
}

// junitRule is what there is to say of one rule.
type junitRule struct {
	findings []junitFinding
	skipped  []Text // reasons
	silenced []Text
}

type junitFinding struct {
	message  Text
	text     string // for people, with line ends; it is printable
	severity Severity
	at       *Location
	fails    bool
}

func (r *junitRule) found(f junitFinding) { r.findings = append(r.findings, f) }

func (r *junitRule) silence(s *Silenced) {
	text := Text("silenced")
	if s.Location != nil && s.Location.Line > 0 {
		text += Text(fmt.Sprintf(" at line %d", s.Location.Line))
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
		message := first.message.String()
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
			c.File, c.Line = at.File.String(), max(0, at.Line)
		}
	case len(r.skipped) > 0 || len(r.silenced) > 0:
		reason := join(slices.Concat(r.skipped, r.silenced), "; ").String()
		c.Skipped = &junit.Result{Message: reason, Data: reason} // GitLab shows the text, Jenkins the attribute
		return c
	}
	for _, note := range notes {
		below.WriteString(note.String() + "\n")
	}
	if below.Len() > 0 {
		c.SystemOut = &junit.Output{Data: below.String()}
	}
	return c
}
