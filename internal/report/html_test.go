package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func htmlOf(t testing.TB, d documented) []byte {
	t.Helper()
	return writeCalled(t, "html", d, called{Flags: []string{"--to", "1.36"}})
}

// withoutStyle is a page without its style, which is a file of its own, and the hash of it.
func withoutStyle(t *testing.T, page []byte) []byte {
	t.Helper()
	before, rest, ok := bytes.Cut(page, []byte("<style>"))
	_, after, end := bytes.Cut(rest, []byte("</style>"))
	if !ok || !end {
		t.Fatalf("no style in %s", page)
	}
	start := bytes.Index(before, []byte("sha256-"))
	hash := before[start : start+bytes.Index(before[start:], []byte("&#39;"))]
	return bytes.ReplaceAll(append(append([]byte{}, before...), after...), hash, []byte("sha256-OF-THE-STYLE"))
}

func TestHTML(t *testing.T) {
	for name, r := range map[string]CheckReport{
		"not-ready": {Clusters: []Cluster{notReady()}},
		"ready":     {Clusters: []Cluster{ready()}},
		"complete":  *complete(),
		"nothing":   {},
	} {
		golden(t, "html-"+name+".html", withoutStyle(t, htmlOf(t, finish(r))))
	}
	many := probeOf()
	for i := range 20 {
		many = probeOf(append(many.Servers, probed(i+1, "v1.36.3", 68, 68, "ok"))...)
	}
	for name, r := range map[string]*ProbeReport{"handed-off": handedOff(), "without-ca": withoutCA(), "nil": {}, "twenty": add(many, 1, VerdictReady, "All set.")} {
		golden(t, "html-probe-"+name+".html", withoutStyle(t, write(t, "html", r)))
	}
	golden(t, "html-plan.html", withoutStyle(t, write(t, "html", walkedPlan())))
}

// walkedPlan is completePlan with a roll of the patched configuration to draw beside the other.
func walkedPlan() *PlanReport {
	r := completePlan()
	p := *r.Patched
	p.Refused, p.Stopped = "", ""
	p.Steps = append(p.Steps[:len(p.Steps):len(p.Steps)], r.Steps[1])
	p.Steps[2].Step, p.Steps[2].PlanMoment = 3, PlanMoment{HandedOff: r.Steps[1].FalseNotFound[:1]}
	r.Patched = &p
	return r
}

func TestHTMLSource(t *testing.T) {
	at := func(line string, column, endColumn int) *htmlSource {
		return newHTMLSource(&Finding{SourceLine: Text(line), Location: in("a", 3, column, endColumn)})
	}
	long := strings.Repeat("x", 400)
	for name, tc := range map[string]struct{ got, want *htmlSource }{
		"a region":        {at("  extraArgs:", 3, 12), &htmlSource{3, "  ", "extraArgs", ":"}},
		"only its start":  {at("世界", 2, 0), &htmlSource{3, "世", "界", ""}},
		"behind the line": {at("ab", 3, 0), &htmlSource{3, "ab", " ", ""}},
		"far behind":      {at("ab", 99, 120), &htmlSource{3, "ab", " ", ""}},
		"tabs":            {at("\ta\tb", 2, 3), &htmlSource{3, "    ", "a", "    b"}},
		"hostile":         {at("\x1b<b>\xff", 1, 2), &htmlSource{3, "", "\x1b", "<b>\xff"}},
		"no line":         {at("", 1, 2), nil},
		"no column":       {at("a", 0, 2), nil},
		"long":            {at(long, 1, 401), &htmlSource{3, "", Text(long[:157]), "..."}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// marks are what HTML and its attributes are made of, each with a letter that stands for it in the test below.
var marks = strings.NewReplacer("<", "ŀ", ">", "ŕ", "&", "ä", `"`, "ő", "'", "ä́", "=", "ē", "/", "ś", "{", "ķ", "}", "ğ", "`", "ť", ":", "ç", "#", "ħ", "\\", "ƀ")

// outline is the elements of a page with the names of their attributes, and its text.
func outline(t *testing.T, page []byte) (elements []string, text string) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range doc.Descendants() {
		switch n.Type {
		case html.ElementNode:
			s := n.Data
			for _, a := range n.Attr {
				s += " " + a.Key
				if a.Key == "href" && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, Home+"/blob/main/docs/rules/MVP") {
					t.Errorf("a link to %q", a.Val)
				}
			}
			elements = append(elements, s)
		case html.CommentNode:
			t.Errorf("a comment: %q", n.Data)
		case html.TextNode:
			b.WriteString(n.Data)
		}
	}
	return elements, b.String()
}

// Whatever a report quotes, the page has the elements that it has with letters in the place of marks, and nothing is lost.
func FuzzHTML(f *testing.F) {
	f.Add("cluster.yaml", "message", "  extraArgs:", 21, 3, 12)
	f.Add("<script>alert(1)</script>", `" onload="x`, "a: <b>&amp;", 1, 2, 3)
	f.Add("a\nb\u202e", "{{.}} javascript:x", "\x1b\x00\xff]]>", 1, 1, 0)
	f.Add("MVP101", "'`/>", "<!-- -->", 2, 1, 9)
	f.Fuzz(func(t *testing.T, name, value, source string, line, column, endColumn int) {
		pages := func(change func(string) string) [][]byte {
			return hostilePages(t, change(name), change(value), change(source), line, column, endColumn)
		}
		harmless := pages(marks.Replace)
		for i, page := range pages(func(s string) string { return s }) {
			checkPrintable(t, bytes.ReplaceAll(page, []byte("�"), nil))
			want, _ := outline(t, harmless[i])
			got, text := outline(t, page)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("page %d has other elements (-want +got):\n%s", i, diff)
			}
			if !strings.Contains(text, Printable(value)) {
				t.Errorf("page %d does not have %q", i, Printable(value))
			}
		}
	})
}

// hostilePages are pages of all kinds that quote texts wherever they can.
func hostilePages(t *testing.T, n, v, source string, line, column, endColumn int) [][]byte {
	name, value := Text(n), Text(v)
	loc := &Location{File: name, Line: line, Column: column, EndLine: line, EndColumn: endColumn}
	finding := Finding{
		Rule: n, Name: v, Severity: SeverityError, Message: value, Why: value, Fix: value, Fixable: new(true), Pairs: []string{v},
		Location: loc, SourceLine: Text(source), Related: []Related{{*loc, value}},
	}
	c := Cluster{
		Source: name, Argument: name, Documents: value, From: value, To: value, Why: value, Notes: []Note{{value, loc}},
		Findings: []Finding{finding, {Message: name, Severity: SeverityInfo}}, Silenced: []Silenced{{finding, value, 1}},
		Passed: []string{n, v}, Skipped: []Skipped{{n, value}}, CannotTell: value,
	}
	one := finish(CheckReport{Clusters: []Cluster{c}})
	several := finish(CheckReport{
		Clusters: []Cluster{c, {Source: name, From: value, To: value}}, Errors: []InputError{{name, line, column, value}},
		PassedOver: []PassedOver{{name, value}},
	})
	probe := withoutCA()
	probe.Context, probe.Found, probe.Notes, probe.Summary.Text = n, v, []string{v}, v
	for i := range probe.Servers {
		probe.Servers[i].Says, probe.Servers[i].Node, probe.Servers[i].Gate = v, n, v
	}
	setPairs(probe, "", "cp-1", "no", v)
	f := &probe.Findings[0]
	f.Message, f.Why, f.Fix, f.Seen, f.Servers = value, value, value, []Text{value, Text(source)}, []Text{name}
	f.Effects = []Effect{{Rules: []string{v, "MVP501"}, Server: name, Message: value}}
	plan := walkedPlan()
	plan.Source, plan.Why, plan.Documents, plan.Summary.Text, plan.PlanRoll.Stopped = name, value, value, v, v
	plan.Findings, plan.Consequences[0].Message, plan.Patched.Changes = []Finding{finding}, v, []string{v}
	plan.Added[0].Resource = v
	rename := func(steps []PlanStep) []PlanStep {
		return changed(steps, func(s *PlanStep) {
			s.Releases = map[string]string{"cp-1": v, v: "v1.36.0"}
			s.Pairs = changed(s.Pairs, func(p *Pair) { p.Reasons = []string{v} })
		})
	}
	plan.Order = append(plan.Order, v)
	plan.Steps, plan.Patched.Steps = rename(plan.Steps), rename(plan.Patched.Steps)
	return [][]byte{htmlOf(t, one), htmlOf(t, several), write(t, "html", probe), write(t, "html", plan)}
}

func BenchmarkHTML(b *testing.B) {
	r := manyFindings(1000)
	for b.Loop() {
		htmlOf(b, r)
	}
}
