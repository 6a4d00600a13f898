package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func junitOf(t testing.TB, d documented) []byte { return write(t, "junit", d) }

// element is any element of a document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e *element) named(name string) (all []element) {
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			all = append(all, c)
		}
	}
	return all
}

// junitForm says which elements and attributes JUnit's readers know where, after the schema of Jenkins (junit-10.xsd); file and
// line of a case are what GitLab reads beyond it.
var junitForm = map[string]struct{ children, required, optional string }{
	"testsuites": {"testsuite", "", "name"},
	"testsuite":  {"properties testcase", "name tests failures errors id time", "skipped file"},
	"properties": {"property", "", ""},
	"property":   {"", "name value", ""},
	"testcase":   {"skipped error failure system-out", "name classname time", "file line"},
	"skipped":    {"", "message", ""},
	"error":      {"", "message type", ""},
	"failure":    {"", "message type", ""},
	"system-out": {"", "", ""},
}

// validJUnit checks the form of a document, by a parser that refuses what XML 1.0 does, and the counts of its suites.
func validJUnit(t testing.TB, document []byte) (suites []element) {
	t.Helper()
	if !bytes.HasPrefix(document, []byte(xml.Header)) {
		t.Errorf("no XML declaration in\n%s", document)
	}
	dec := xml.NewDecoder(bytes.NewReader(document))
	var root element
	if err := dec.Decode(&root); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	if token, err := dec.Token(); !isBlank(token) && !errors.Is(err, io.EOF) {
		t.Fatalf("%v, %v behind the document", token, err)
	}
	if root.XMLName.Local != "testsuites" {
		t.Fatalf("the root is %s", root.XMLName.Local)
	}
	checkForm(t, &root)
	for _, s := range root.Children {
		cases := s.named("testcase")
		names := map[string]bool{}
		count := func(kind string) (n int) {
			for _, c := range cases {
				n += len(c.named(kind))
			}
			return n
		}
		for _, c := range cases {
			if names[c.attr("name")] {
				t.Errorf("two cases %q in %q: GitLab makes one of them", c.attr("name"), s.attr("name"))
			}
			names[c.attr("name")] = true
			if c.attr("classname") != s.attr("name") {
				t.Errorf("the class of %q is %q", c.attr("name"), c.attr("classname"))
			}
			if n := len(c.named("failure")) + len(c.named("error")) + len(c.named("skipped")); n > 1 {
				t.Errorf("%d results of %q", n, c.attr("name"))
			}
		}
		skipped := s.attr("skipped")
		if skipped == "" {
			skipped = "0"
		}
		got := []string{s.attr("tests"), s.attr("failures"), s.attr("errors"), skipped}
		want := strings.Fields(fmt.Sprint(len(cases), count("failure"), count("error"), count("skipped")))
		if !slices.Equal(got, want) {
			t.Errorf("the suite %q counts %q, and has %q tests, failures, errors, skipped", s.attr("name"), got, want)
		}
	}
	return root.Children
}

func isBlank(token xml.Token) bool {
	text, ok := token.(xml.CharData)
	return ok && strings.TrimSpace(string(text)) == ""
}

func checkForm(t testing.TB, e *element) {
	t.Helper()
	form, ok := junitForm[e.XMLName.Local]
	if !ok {
		t.Fatalf("there is no element %s", e.XMLName.Local)
	}
	for _, name := range rules(form.required) {
		if !slices.ContainsFunc(e.Attrs, func(a xml.Attr) bool { return a.Name.Local == name }) {
			t.Errorf("%s without %s", e.XMLName.Local, name)
		}
	}
	for _, a := range e.Attrs {
		if !slices.Contains(rules(form.required+" "+form.optional), a.Name.Local) {
			t.Errorf("%s with %s", e.XMLName.Local, a.Name.Local)
		}
	}
	for i := range e.Children {
		if !slices.Contains(rules(form.children), e.Children[i].XMLName.Local) {
			t.Errorf("%s within %s", e.Children[i].XMLName.Local, e.XMLName.Local)
		}
		checkForm(t, &e.Children[i])
	}
}

func TestJUnit(t *testing.T) {
	for name, r := range map[string]*CheckReport{"complete": withEdits(), "empty": finish(CheckReport{}), "ready": finish(CheckReport{Clusters: []Cluster{ready()}})} {
		got := junitOf(t, r)
		validJUnit(t, got)
		golden(t, name+".xml", got)
	}
	failing := completeProbe()
	failing.Findings[0].Fails = true
	for name, r := range map[string]*ProbeReport{"complete": failing, "unreachable": replayed(unreachable())} {
		got := junitOf(t, r)
		validJUnit(t, got)
		golden(t, "probe-"+name+".xml", got)
	}
}

// What a rule's case is follows from --fail-on, and from what could be judged.
func TestJUnitCases(t *testing.T) {
	fails := func(c *Cluster) { c.Findings[0].Fails, c.Findings[1].Fails = true, true }
	sameRule := func(c *Cluster) { c.Findings[1].Rule = c.Findings[0].Rule; fails(c) }
	oneFails := func(c *Cluster) { c.Findings[1].Rule = c.Findings[0].Rule; c.Findings[1].Fails = true }
	unknown := func(c *Cluster) { c.Skipped = append(c.Skipped, Skipped{"MVP101", "a template mark"}) }
	tests := map[string]struct {
		cluster     Cluster
		rule        string
		kind        string // the element, empty: it passed
		message     string
		out         string // a part of the output
		file, where string
	}{
		"below --fail-on":     {notReady(), "MVP101", "", "", "[MVP101]", "cluster.yaml", "21"},
		"at --fail-on":        {with(notReady(), fails), "MVP302", "failure", "advertise-address 192.0.2.11", "", "cluster.yaml", "23"},
		"two of a rule":       {with(notReady(), sameRule), "MVP101", "failure", "(and 1 more)", "", "cluster.yaml", "21"},
		"one of two fails":    {with(notReady(), oneFails), "MVP101", "failure", "advertise-address 192.0.2.11", "the gate", "cluster.yaml", "23"},
		"silenced":            {notReady(), "MVP303", "skipped", "silenced at line 34: kept for 1.39", "", "", ""},
		"skipped":             {notReady(), "MVP204", "skipped", "no certificates at hand", "", "", ""},
		"passed":              {notReady(), "MVP001", "", "", "", "", ""},
		"found, not wholly":   {with(notReady(), unknown), "MVP101", "", "", "not wholly judged: a template mark", "cluster.yaml", "21"},
		"without a place":     {warnings(), "MVP309", "", "", "no controlPlaneEndpoint", "", ""},
		"cannot tell":         {template(), "everything", "error", "render the file first", "", "", ""},
		"skipped in template": {template(), "MVP101", "skipped", "a template mark", "", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			suite := validJUnit(t, junitOf(t, finish(CheckReport{Clusters: []Cluster{test.cluster}})))[0]
			i := slices.IndexFunc(suite.Children, func(e element) bool { return strings.HasPrefix(e.attr("name"), test.rule+" ") })
			if i < 0 {
				t.Fatalf("no case of %s", test.rule)
			}
			c := suite.Children[i]
			kind, message, out := "", "", ""
			for _, e := range c.Children {
				if e.XMLName.Local == "system-out" {
					out = e.Text
				} else {
					kind, message = e.XMLName.Local, e.attr("message")
				}
			}
			if kind != test.kind || !strings.Contains(message, test.message) || !strings.Contains(out, test.out) || (out == "") != (test.out == "") {
				t.Errorf("%s %q, output %q", kind, message, out)
			}
			if c.attr("file") != test.file || c.attr("line") != test.where {
				t.Errorf("at %s:%s, want %s:%s", c.attr("file"), c.attr("line"), test.file, test.where)
			}
		})
	}
}

// FuzzJUnit: any text gives a document that is well-formed and has the text.
func FuzzJUnit(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(s, 21, 3)
	}
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		c, _ := oddCluster(text, text, line, column, line, column+3)
		c.Findings[0].Rule, c.Silenced[0].Rule = "MVP101", "MVP303"
		document := junitOf(t, finish(CheckReport{Clusters: []Cluster{c}, Errors: []InputError{{Text(text), line, column, Text(text)}}}))
		checkPrintable(t, document)
		suites := validJUnit(t, document)
		if len(suites) != 2 {
			t.Fatalf("%d suites", len(suites))
		}
		for i := range suites {
			if diff := cmp.Diff(Printable(text), suites[i].attr("name")); diff != "" {
				t.Errorf("suite %d (-want +got):\n%s", i, diff)
			}
		}
		for _, e := range suites[0].named("testcase") {
			for _, failure := range e.named("failure") {
				if failure.attr("message") != Printable(text) || !strings.Contains(failure.Text, Printable(text)) {
					t.Errorf("message %q, text %q", failure.attr("message"), failure.Text)
				}
			}
		}
		probe := junitOf(t, spoilt(text, false))
		checkPrintable(t, probe)
		validJUnit(t, probe)
	})
}

func BenchmarkJUnit(b *testing.B) {
	r := thousand()
	b.ReportAllocs()
	for b.Loop() {
		junitOf(b, r)
	}
}
