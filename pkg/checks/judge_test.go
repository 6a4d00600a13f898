package checks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

var sameRule = cmp.Comparer(func(a, b *Rule) bool { return a == b })

// Findings about one subject and place at several pairs are one, with the words of the newest pair at which it is worst.
func TestMerge(t *testing.T) {
	var pairs []Pair
	for _, minor := range []int{33, 34, 35} {
		pairs = append(pairs, Pair{From: release.OfMinor(minor), To: release.OfMinor(minor + 1), Upgrade: true})
	}
	file := yamldoc.NewFile("f", []byte("abc"))
	rules := All()[:5]
	a, b, c, d, e := rules[0], rules[1], rules[2], rules[3], rules[4]
	finding := func(r *Rule, at int, subject string, s Severity, message string, w ...When) Finding {
		place := yamldoc.Place{File: file, Start: at, End: at + 1}
		return Finding{Rule: r, Subject: subject, At: place, Severity: s, Message: message, When: w}
	}
	results := []Result{
		{
			Findings: []Finding{finding(a, 1, "x", Error, "old", Target), finding(a, 1, "y", Error, "second")},
			Passed:   []*Rule{b}, Skipped: []Note{{c, "no"}, {e, "once"}}, Unknown: []Note{{d, "who knows"}},
		},
		{
			Findings: []Finding{finding(a, 1, "x", Error, "new", Running), finding(b, 0, "", Info, "b")},
			Passed:   []*Rule{d, e}, Skipped: []Note{{c, "no"}},
		},
		{Findings: []Finding{finding(a, 1, "x", Warning, "milder")}, Passed: []*Rule{b, d, e}, Skipped: []Note{{c, "no"}}},
	}
	j := &Judgement{Pairs: pairs}
	j.merge(results, rules)

	type row struct {
		Rule    *Rule
		At      int
		Message string
		When    []When
		Pairs   int
	}
	var got []row
	for _, f := range j.Findings {
		got = append(got, row{f.Rule, f.At.Start, f.Message, f.When, len(f.Pairs)})
	}
	want := []row{
		{b, 0, "b", nil, 1},
		{a, 1, "new", []When{Running, Target}, 3},
		{a, 1, "second", nil, 1},
	}
	if diff := cmp.Diff(want, got, sameRule); diff != "" {
		t.Error(diff)
	}
	told := Result{Passed: j.Passed, Skipped: j.Skipped, Unknown: j.Unknown}
	if diff := cmp.Diff(Result{Passed: []*Rule{e}, Skipped: []Note{{c, "no"}}, Unknown: []Note{{d, "who knows"}}}, told, sameRule); diff != "" {
		t.Error(diff)
	}
}

// A finding about the same subject and place as an earlier one becomes one with it: the graver one has the word.
func TestReportMerges(t *testing.T) {
	file := yamldoc.NewFile("f", []byte("abc"))
	at := yamldoc.Place{File: file, Start: 1, End: 2}
	p := &Pass{rule: All()[0]}
	for _, f := range []Finding{
		{Subject: "x", At: at, Message: "one", When: []When{Target}, Consequence: FalseNotFound},
		{Subject: "x", At: at, Message: "one", When: []When{Running}, Consequence: FalseNotFound},
		{Subject: "y", At: at, Message: "one", When: []When{Running}},
		{Subject: "y", At: at, Message: "it exits", When: []When{Target}, Consequence: WillNotStart},
		{Subject: "y", At: at, Message: "milder", When: []When{Running}, Consequence: FalseNotFound},
		{Subject: "x", At: yamldoc.Place{File: file}, Message: "elsewhere", When: []When{Running}},
	} {
		p.Report(f)
	}
	var got []string
	for _, f := range p.findings {
		text := f.Message
		for _, w := range f.When {
			text += " " + string(w)
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{"one running target", "it exits target", "elsewhere running"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestKnownPairs(t *testing.T) {
	var got []string
	for _, p := range KnownPairs() {
		got = append(got, p.String())
	}
	if diff := cmp.Diff([]string{"1.33 -> 1.34", "1.34 -> 1.35", "1.35 -> 1.36", "1.36 -> 1.37"}, got[:min(4, len(got))]); diff != "" {
		t.Error(diff)
	}
}
