package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	// The schema comes from the source of this module, which has it for itself only.
	_ "github.com/owenrumney/go-sarif/v3/pkg/report/utils"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sarifSchemaOf is the schema of OASIS for SARIF 2.1.0, with its formats.
var sarifSchemaOf = sync.OnceValues(func() (*jsonschema.Schema, error) {
	dir, err := exec.Command("go", "list", "-find", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		return nil, err
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err = strconv.Unquote(lit.Value)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(sarifSchema, doc); err != nil {
		return nil, err
	}
	return c.Compile(sarifSchema)
})

// validSARIF checks a log against the schema and returns it.
func validSARIF(t testing.TB, log []byte) sarifDocument {
	t.Helper()
	schema, err := sarifSchemaOf()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(log))
	if err != nil {
		t.Fatalf("%v in\n%s", err, log)
	}
	if err := schema.Validate(doc); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	var d sarifDocument
	if err := json.Unmarshal(log, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Runs) != 1 {
		t.Fatalf("%d runs", len(d.Runs))
	}
	return d
}

// sarifDocument is what the tests read of a log.
type sarifDocument struct {
	Runs []struct {
		Results     []sarifResult
		Invocations []sarifInvocation
		Tool        sarifTool
	}
}

func sarifOf(t testing.TB, d documented) []byte { return write(t, "sarif", d) }

// withEdits is the complete report with what only some formats ask for.
func withEdits() *CheckReport {
	r := complete()
	for i := range r.Clusters[0].Findings {
		r.Clusters[0].Findings[i].Fails = true
	}
	r.Clusters[0].Findings[0].Edits = []Edit{
		{Location{File: "cluster.yaml", Line: 22, Column: 1, EndLine: 22, EndColumn: 1}, "  - name: feature-gates\n    value: \"x=true\"\n"},
		{Location{File: "cluster.yaml", Line: 30, Column: 1, EndLine: 32, EndColumn: 1}, ""},
	}
	return r
}

func TestSARIF(t *testing.T) {
	for name, r := range map[string]*CheckReport{"complete": withEdits(), "empty": finish(CheckReport{}), "ready": finish(CheckReport{Clusters: []Cluster{ready()}})} {
		got := sarifOf(t, r)
		validSARIF(t, got)
		golden(t, name+".sarif", got)
	}
	for name, r := range map[string]*ProbeReport{"complete": completeProbe(), "unreachable": replayed(unreachable())} {
		got := sarifOf(t, r)
		validSARIF(t, got)
		golden(t, "probe-"+name+".sarif", got)
	}
}

// replayed is a report from recorded evidence that leaves something open.
func replayed(r *ProbeReport) *ProbeReport {
	r.Replayed, r.CannotTell = "evidence of today.json", "cp-3 cannot be asked"
	return r
}

// GitHub refuses a log in which one result has no file or line, and the index of each rule must be that of its ID.
func TestSARIFForGitHub(t *testing.T) {
	placeless := with(notReady(), func(c *Cluster) {
		c.Findings[0].Location = nil
		c.Findings[1].Location = &Location{File: "cluster.yaml"}
	})
	for name, log := range map[string][]byte{
		"check": sarifOf(t, finish(CheckReport{Clusters: []Cluster{placeless, severalPairs(), warnings()}})), "probe": sarifOf(t, fifty()),
	} {
		run := validSARIF(t, log).Runs[0]
		for _, r := range run.Results {
			if len(r.Locations) == 0 {
				t.Fatalf("%s: %s has no location", name, r.RuleID)
			}
			for _, l := range r.Locations {
				if l.Physical == nil || l.Physical.Artifact.URI == "" || l.Physical.Region == nil || l.Physical.Region.StartLine < 1 {
					t.Errorf("%s: %s has the location %+v", name, r.RuleID, l)
				}
			}
			if got := run.Tool.Driver.Rules[r.RuleIndex].ID; got != r.RuleID {
				t.Errorf("%s: the rule of %s is %s", name, r.RuleID, got)
			}
		}
	}
}

func TestSARIFExitCode(t *testing.T) {
	failing := with(notReady(), func(c *Cluster) { c.Findings[0].Fails = true })
	halfTold := with(notReady(), func(c *Cluster) { c.CannotTell = "x" })
	tests := map[string]struct {
		report        CheckReport
		code          int
		successful    bool
		notifications int
	}{
		"ready":                 {CheckReport{Clusters: []Cluster{ready()}}, 0, true, 0},
		"nothing":               {CheckReport{}, 3, false, 0},
		"fail-on never":         {CheckReport{Clusters: []Cluster{notReady()}}, 0, true, 0},
		"failing":               {CheckReport{Clusters: []Cluster{failing}}, 1, true, 0},
		"cannot tell":           {CheckReport{Clusters: []Cluster{ready(), template()}}, 3, false, 1},
		"not wholly told":       {CheckReport{Clusters: []Cluster{halfTold}}, 0, true, 1},
		"input error":           {CheckReport{Clusters: []Cluster{ready()}, Errors: make([]InputError, 2)}, 3, false, 2},
		"failing, input error":  {CheckReport{Clusters: []Cluster{failing}, Errors: make([]InputError, 1)}, 1, false, 1},
		"never and input error": {CheckReport{Clusters: []Cluster{notReady()}, Errors: make([]InputError, 1)}, 3, false, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := validSARIF(t, sarifOf(t, finish(test.report))).Runs[0].Invocations[0]
			if got.ExitCode != test.code || got.ExecutionSuccessful != test.successful || len(got.Notifications) != test.notifications {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestSARIFArtifacts(t *testing.T) {
	tests := []struct{ file, uri, base string }{
		{"cluster.yaml", "cluster.yaml", sourceRoot},
		{"./clusters/../a b.yaml", "a%20b.yaml", sourceRoot},
		{"../up.yaml", "../up.yaml", sourceRoot},
		{"/etc/kubernetes/x.yaml", "file:///etc/kubernetes/x.yaml", ""},
		{"c:d.yaml", "c%3Ad.yaml", sourceRoot},
		{"50%.yaml", "50%25.yaml", sourceRoot},
		{"a?b#c.yaml", "a%3Fb%23c.yaml", sourceRoot},
		{"<stdin>", "%3Cstdin%3E", sourceRoot},
		{"世.yaml", "%E4%B8%96.yaml", sourceRoot},
		{"\xff\n.yaml", "%FF%0A.yaml", sourceRoot},
	}
	for _, test := range tests {
		if diff := cmp.Diff(sarifArtifact{test.uri, test.base}, sarifArtifactOf(Text(test.file))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.file, diff)
		}
	}
}

func TestSARIFSnippets(t *testing.T) {
	tests := []struct {
		line string
		at   *Location
		want string
	}{
		{"    value: 192.0.2.11", in("a", 1, 12, 22), "192.0.2.11"},
		{"  世: é", in("a", 1, 3, 4), "世"},
		{"short", in("a", 1, 3, 40), "ort"},
		{"short", in("a", 1, 30, 40), ""},
		{"short", &Location{Line: 1, Column: 2, EndLine: 2, EndColumn: 3}, ""},
		{"short", &Location{Line: 1, Column: 2}, ""},
		{"a\xffb", in("a", 1, 1, 4), ""},
	}
	for _, test := range tests {
		got := ""
		if s := sarifSnippet(test.at, test.line); s != nil {
			got = s.Text
		}
		if got != test.want {
			t.Errorf("%q, %+v: %q, want %q", test.line, test.at, got, test.want)
		}
	}
}

// A finding keeps its fingerprint when lines are put in front of it, and no two of a run have the same.
func TestSARIFFingerprints(t *testing.T) {
	prints := func(c Cluster) (all []string) {
		seen := map[string]bool{}
		for _, r := range validSARIF(t, sarifOf(t, finish(CheckReport{Clusters: []Cluster{c}}))).Runs[0].Results {
			p := r.Fingerprints[fingerprint]
			if seen[p] {
				t.Errorf("%s twice", p)
			}
			seen[p] = true
			all = append(all, p)
		}
		return all
	}
	twice := with(notReady(), func(c *Cluster) { c.Findings = append(c.Findings, c.Findings...) })
	before := prints(twice)
	moved := with(twice, func(c *Cluster) {
		c.Findings = append([]Finding{}, c.Findings...)
		for i := range c.Findings {
			l := *c.Findings[i].Location
			l.Line, l.EndLine, l.Document = l.Line+100, l.EndLine+100, l.Document+1
			c.Findings[i].Location, c.Findings[i].Message = &l, "in other words"
			c.Findings[i].SourceLine = "  " + c.Findings[i].SourceLine
		}
	})
	if diff := cmp.Diff(before, prints(moved)); diff != "" {
		t.Errorf("moved (-before +after):\n%s", diff)
	}
	if a, b := withoutIndexes("extraArgs[2].value"), withoutIndexes("extraArgs[13].value"); a != b {
		t.Errorf("%s and %s", a, b)
	}
	other := with(notReady(), func(c *Cluster) { c.Findings[0].SourceLine = "apiServer:" })
	if after := prints(other); after[0] == before[0] {
		t.Error("another line, and the same fingerprint")
	}
}

func TestSARIFMessages(t *testing.T) {
	got := sarifMessage("see [this](https://example.com)", "", "\x1b[2J\u202e\n")
	if want := "see [this] (https://example.com)\n" + `\x1b[2J\u202e\n`; got.Text != want {
		t.Errorf("got %q, want %q", got.Text, want)
	}
}

// FuzzSARIF: any text gives a log that is valid, printable, and has the text.
func FuzzSARIF(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(s, "  value: x", 21, 3, 21, 12)
	}
	f.Add("a\nb", "\tvalue:\t世\u0301\xff", 1<<40, -2, 3, 1)
	f.Fuzz(func(t *testing.T, text, line string, startLine, startColumn, endLine, endColumn int) {
		c, location := oddCluster(text, line, startLine, startColumn, endLine, endColumn)
		log := sarifOf(t, finish(CheckReport{Clusters: []Cluster{c}, Errors: []InputError{{Text(text), startLine, startColumn, Text(text)}}}))
		checkPrintable(t, log)
		run := validSARIF(t, log).Runs[0]
		if len(run.Results) != 2 {
			t.Fatalf("%d results", len(run.Results))
		}
		r := run.Results[0]
		if want := sarifMessage(Text(text), Text("why: "+text), Text("fix: "+text)); text != "" && r.Message != want {
			t.Errorf("message %q, want %q", r.Message.Text, want.Text)
		}
		u, err := url.Parse(r.Locations[0].Physical.Artifact.URI)
		if err != nil {
			t.Fatal(err)
		}
		want := path.Clean(text)
		if path.IsAbs(text) {
			want = text
		}
		if u.Path != want || (u.Scheme == "file") != path.IsAbs(text) {
			t.Errorf("the file %q is %q", text, u)
		}
		if len(r.Fixes) > 0 {
			rep := r.Fixes[0].Changes[0].Replacements[0]
			if !utf8.ValidString(text) || rep.Deleted.StartLine != location.Line || text != "" && rep.Inserted.Text != text {
				t.Errorf("fix %+v", rep)
			}
		}
		probe := sarifOf(t, spoilt(text, false))
		checkPrintable(t, probe)
		validSARIF(t, probe)
	})
}

// oddTexts may stand in files and their names.
var oddTexts = []string{
	"", "cluster.yaml", "a \"b\" 'c'.yaml", "]]>", "<![CDATA[<script>&amp;", "::error::x", "a::b,c=d%0A", "x ##[add-mask]y", "##[error]", "|`*_`|",
	"😀 é 世", "\u202eevil\u2066", "\x1b[31mred\x1b[0m", "a\nb\r\nc\r", "\x00", "\xff\xfe", "\u2028\u0085\ufeff", "\ufffe\uffff\U000e0041\U0010ffff",
	"50%25%", "[text](https://example.com)", "{0} {{ .Values.x }}", "../a/./b", "/abs/x:y", "\t", " lead and trail ", "::stop-commands::x", "//host/x",
}

// oddCluster has the text wherever a report may have any.
func oddCluster(odd, source string, line, column, endLine, endColumn int) (Cluster, Location) {
	text := Text(odd)
	l := Location{File: text, Document: 1, Line: line, Column: column, EndLine: endLine, EndColumn: endColumn, Path: text}
	f := Finding{
		Rule: odd, Name: odd, Severity: SeverityError, Message: text, Why: text, Fix: text, Help: odd, Consequence: odd,
		At: []string{odd}, Pairs: []string{odd}, Location: &l, SourceLine: Text(source), Related: []Related{{l, text}}, Fails: true,
		Edits: []Edit{{Location: l, New: odd}},
	}
	return Cluster{
		Source: text, Argument: text, Documents: text, From: "v1.35.0", To: "v1.36.0", Why: text, Notes: []Note{{text, &l}},
		Findings: []Finding{f}, Silenced: []Silenced{{f, text, line}}, Passed: []string{"MVP001"}, Skipped: []Skipped{{"MVP002", text}},
		CannotTell: text,
	}, l
}

// thousand is a report with a thousand findings.
func thousand() *CheckReport {
	c := withEdits().Clusters[0]
	findings := c.Findings
	c.Findings = nil
	for i := range 1000 {
		f := findings[i%len(findings)]
		l := *f.Location
		l.Line += i
		f.Location, f.Rule = &l, fmt.Sprintf("MVP%03d", i%50)
		c.Findings = append(c.Findings, f)
	}
	return finish(CheckReport{Clusters: []Cluster{c}})
}

func TestSARIFOfAThousand(t *testing.T) {
	if run := validSARIF(t, sarifOf(t, thousand())).Runs[0]; len(run.Results) != 1001 || len(run.Tool.Driver.Rules) != 51 {
		t.Errorf("%d results, %d rules", len(run.Results), len(run.Tool.Driver.Rules))
	}
}

func TestCamelCase(t *testing.T) {
	for name, want := range map[string]string{"gate-off-on-running": "GateOffOnRunning", "alone": "Alone", "": ""} {
		if got := camelCase(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func BenchmarkSARIF(b *testing.B) {
	r := thousand()
	b.ReportAllocs()
	for b.Loop() {
		sarifOf(b, r)
	}
}
