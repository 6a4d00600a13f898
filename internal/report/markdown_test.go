package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdownText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"the gate is off on 1.35 -> 1.36.":     "the gate is off on 1.35 -> 1.36.",
		"set feature-gates: X=true, in a roll": "set feature-gates: X=true, in a roll",
		"MVP101 (error)":                       "MVP101 (error)",
		"a  b\tc\n":                            "a `b\\tc\\n`",
		"a_b":                                  "`a_b`",
		"see (a_b), then":                      "see (`a_b`), then",
		"a|b":                                  "`a`&#124;`b`",
		`c\|d`:                                 "`c\\`&#124;`d`",
		"|":                                    "&#124;",
		"`x`":                                  "`` `x` ``",
		"a``b":                                 "```a``b```",
		"mail x@y.example now":                 "mail `x@y.example` now",
		"@octocat":                             "`@octocat`",
		"fixes #12 and o/r#12.":                "fixes `#12` and `o/r#12`.",
		"GH-12 gh-12 cp-1 apps/v1":             "`GH-12` `gh-12` cp-1 apps/v1",
		"https://a.example/x www.a.example":    "`https://a.example/x` `www.a.example`",
		"at deadbeef or 1234567 or 123456":     "at `deadbeef` or `1234567` or 123456",
		"hm :smile: a: b":                      "hm `:smile`: a: b",
		"<script>":                             "`<script>`",
		"&lt;":                                 "`&lt`;",
		"$x$":                                  "`$x$`",
		"- item":                               "`-` item",
		"--nodes 1":                            "--nodes 1",
		"1. one":                               "`1`. one",
		"404 for 2":                            "404 for 2",
		"> quote":                              "`>` quote",
		"=== ":                                 "`===`",
		"# head":                               "`#` head",
		"***":                                  "`***`",
		"\u202e!":                              "`\\u202e`!",
		"世界 😀":                                 "世界 😀",
	} {
		if got := mdText(Text(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestMarkdownCode(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a b": "`a b`", " a ": "`  a  `", "`": "`` ` ``", "a|": "`a`&#124;", "\n": "`\\n`", "\x00\xff": "`\\x00\\xff`", "||": "&#124;&#124;",
	} {
		if got := mdCode(Text(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// readMarkdown reads a line as Markdown does, as far as it has code, entities for bars and text; it returns the text
// between the code, and all.
func readMarkdown(t *testing.T, s string) (plain, all string) {
	t.Helper()
	for len(s) > 0 {
		if rest, ok := strings.CutPrefix(s, "&#124;"); ok {
			s, all = rest, all+"|"
			continue
		}
		fence := len(s) - len(strings.TrimLeft(s, "`"))
		if fence == 0 {
			plain, all, s = plain+s[:1], all+s[:1], s[1:]
			continue
		}
		content := s[fence:]
		end := -1
		for i := 0; i < len(content) && end < 0; {
			n := len(content[i:]) - len(strings.TrimLeft(content[i:], "`"))
			if n == fence {
				end = i
			}
			i += max(n, 1)
		}
		if end < 0 {
			t.Fatalf("code without an end: %q", s)
		}
		code := content[:end]
		if strings.HasPrefix(code, " ") && strings.HasSuffix(code, " ") && strings.TrimSpace(code) != "" {
			code = code[1 : len(code)-1]
		}
		plain, all, s = plain+"\x00", all+code, content[end+fence:]
	}
	return plain, all
}

// Any text comes out as it is, and outside of code there is nothing that means something to GitHub.
func FuzzMarkdownText(f *testing.F) {
	for _, s := range []string{"a|b", "`", "a`b``c", "@x #1 GH-1 <b>", "deadbeef :x: $y$", "\u202e\xff\x00", `\|`, "- a", "1. b", "> c", "(`a`)", "ß|世"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		plain, all := readMarkdown(t, mdText(Text(s)))
		if want := strings.Join(strings.Fields(Printable(s)), " "); all != want {
			t.Errorf("%q: reads %q, want %q", s, all, want)
		}
		if strings.ContainsAny(plain, "@#<&[]*_~\\$^|`") {
			t.Errorf("%q: %q is not harmless", s, plain)
		}
		for _, word := range strings.FieldsFunc(plain, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(word) >= 7 && strings.Trim(strings.ToLower(word), "0123456789abcdef") == "" {
				t.Errorf("%q: %q may be a commit", s, word)
			}
		}
		for _, bad := range []string{"://", "www."} {
			if strings.Contains(strings.ToLower(plain), bad) {
				t.Errorf("%q: an address in %q", s, plain)
			}
		}
		if code := mdCode(Text(s)); s != "" {
			if plain, all := readMarkdown(t, code); strings.Trim(plain, "\x00") != "" || all != Printable(s) {
				t.Errorf("%q as code: reads %q", s, all)
			}
		}
	})
}

func markdownOf(t testing.TB, d documented, c called) []byte {
	t.Helper()
	return writeCalled(t, "markdown", d, c)
}

func TestMarkdown(t *testing.T) {
	for name, r := range map[string]CheckReport{
		"not-ready": {Clusters: []Cluster{notReady()}},
		"ready":     {Clusters: []Cluster{ready()}},
		"warnings":  {Clusters: []Cluster{warnings()}},
		"template":  {Clusters: []Cluster{template()}},
		"complete":  *complete(),
		"nothing":   {PassedOver: []PassedOver{{File: "a.yaml", Reason: "b"}}},
		"unreadable": {Errors: []InputError{{File: "tabs.yaml", Line: 14, Column: 1, Message: "a tab is used as indentation"},
			{File: "tabs.yaml", Line: 15, Column: 1, Message: "again"}}},
		"many": *manyFindings(200),
	} {
		golden(t, "markdown-"+name+".md", markdownOf(t, finish(r), called{Flags: []string{"--to", "1.36"}}))
	}
	for name, r := range map[string]*ProbeReport{"handed-off": handedOff(), "without-ca": withoutCA(), "nil": {}} {
		golden(t, "markdown-probe-"+name+".md", markdownOf(t, r, called{Program: "kubectl mvpcheck"}))
	}
	golden(t, "markdown-plan.md", writePlan(t, "markdown", completePlan(), called{}))
}

// manyFindings are findings in several files, of all severities, the worst last.
func manyFindings(n int) *CheckReport {
	const perFile = 20
	var r CheckReport
	for i := range n {
		if i%perFile == 0 {
			c := warnings()
			c.Source = Text(fmt.Sprintf("clusters/eu-%02d/kubeadm.yaml", i/perFile))
			c.Argument, c.Findings = c.Source, nil
			r.Clusters = append(r.Clusters, c)
		}
		c := &r.Clusters[len(r.Clusters)-1]
		f := notReady().Findings[i%3]
		f.Severity = []Severity{SeverityInfo, SeverityWarning, SeverityError}[i%perFile*3/perFile]
		f.Location = in(string(c.Source), i+1, 3, 12)
		c.Findings = append(c.Findings, f)
	}
	return finish(r)
}

// However much there is to say, GitHub takes it, and it says what is not shown.
func TestMarkdownFits(t *testing.T) {
	long := strings.Repeat("@a|`b` ", 1000)
	hostile := manyFindings(2000)
	for i := range hostile.Clusters {
		c := &hostile.Clusters[i]
		c.Source, c.Argument = Text(long)+c.Source, Text(long)
		for k := range c.Findings {
			f := &c.Findings[k]
			f.Rule, f.Message, f.Why, f.Fix, f.Location.File = fmt.Sprintf("MVP%03d", k), Text(long), Text(long), Text(long), Text(long)
		}
		c.Silenced = []Silenced{{c.Findings[0], Text(long), 1}}
		hostile.Errors = append(hostile.Errors, InputError{File: Text(long) + c.Source, Line: 1, Message: Text(long)})
	}
	for name, r := range map[string]*CheckReport{"1,000 findings": manyFindings(1000), "long and odd": hostile} {
		got := string(markdownOf(t, r, called{Flags: []string{long}}))
		if len(got) > maxMarkdown {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if !strings.Contains(got, " more findings** not shown") {
			t.Errorf("%s: it does not say that something is missing", name)
		}
		if a, b := strings.Count(got, "\n<details>"), strings.Count(got, "\n</details>\n"); a != b {
			t.Errorf("%s: %d parts begin, %d end", name, a, b)
		}
	}
	// Of 200 findings none is left out.
	if got := markdownOf(t, manyFindings(200), called{}); bytes.Contains(got, []byte("not shown")) {
		t.Error("200 findings are too many")
	}
	var servers []Server
	for i := range 50 {
		servers = append(servers, probed(i, long, 1, 2, long))
	}
	r := probeOf(servers...)
	for range 500 {
		r.Findings = append(r.Findings, Finding{Rule: "MVP504", Severity: SeverityError, Servers: []Text{Text(long), Text(long)}, Message: Text(long), Why: Text(long), Seen: []Text{Text(long)}, Fix: Text(long)})
	}
	got := string(markdownOf(t, add(r, 1, VerdictNotReady, long), called{}))
	if len(got) > maxMarkdown {
		t.Errorf("a probe: %d bytes", len(got))
	}
	if !strings.Contains(got, " more findings** not shown") {
		t.Error("a probe does not say that something is missing")
	}
}

// The worst findings of a file come first, and only some of all are not collapsed.
func TestMarkdownOrder(t *testing.T) {
	got := string(markdownOf(t, manyFindings(60), called{}))
	open, _, _ := strings.Cut(got, "<details>")
	_, table, _ := strings.Cut(open, "| Severity |")
	var severities []string
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, " | "); len(cells) > 3 && cells[0] != "" {
			severities = append(severities, strings.Trim(cells[0], "|* "))
		}
	}
	want := append(slices.Repeat([]string{"error"}, 6), slices.Repeat([]string{"warning"}, 4)...)
	if diff := cmp.Diff(want, severities[1:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	first, _, _ := strings.Cut(got, "\n")
	if diff := cmp.Diff("**NOT READY** · 3 files", first); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func BenchmarkMarkdown(b *testing.B) {
	r := manyFindings(1000)
	for b.Loop() {
		markdownOf(b, r, called{})
	}
}
