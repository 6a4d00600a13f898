package patch

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", name, diff)
	}
}

// refusalText lists the refusals within an error, each with its lines.
func refusalText(err error) string {
	var b strings.Builder
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		fmt.Fprintln(&b, err)
		var r *Refusal
		if errors.As(err, &r) {
			for _, line := range r.Lines {
				fmt.Fprintln(&b, "    "+line)
			}
		}
	}
	return b.String()
}

// TestCases shows what becomes of the inputs that people have, as one diff for each.
func TestCases(t *testing.T) {
	files := caseFiles(t)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "== %s\n", name)
		r, err := Fix(name, files[name], Options{Judge: needs})
		if err != nil {
			b.WriteString(refusalText(err))
			continue
		}
		checkFixed(t, r, Options{Judge: needs})
		checkLines(t, r)
		b.WriteString(Diff(name, r.Before, r.After))
	}
	golden(t, "testdata/cases.golden", strings.ReplaceAll(b.String(), "\r\n", "<CR>\n"))
}

// TestCasesWithRules runs the real rules over the inputs, for the upgrades that they are judged for by default and for
// all that mvpcheck knows.
func TestCasesWithRules(t *testing.T) {
	for name, data := range caseFiles(t) {
		in, err := config.Read(name, data)
		if err != nil || len(in.Clusters) == 0 {
			continue
		}
		pairs, _, err := checks.Pairs(in.Clusters[0], release.Release{}, release.Release{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		pairs = append(pairs, checks.KnownPairs()...)
		for _, pair := range pairs {
			o := Options{Judge: judgeBy(pair)}
			r, err := Fix(name, data, o)
			if err != nil {
				var refusal *Refusal
				if !errors.As(err, &refusal) {
					t.Errorf("%s, %s: %v", name, pair, err)
				}
				continue
			}
			checkFixed(t, r, o)
			checkLines(t, r)
		}
	}
}

// TestOneRuleStopsNoServer fixes by one rule alone: kube-apiserver starts with the result if it did with the file.
func TestOneRuleStopsNoServer(t *testing.T) {
	fixed := 0
	for name, data := range caseFiles(t) {
		in, err := config.Read(name, data)
		if err != nil || len(in.Clusters) == 0 {
			continue
		}
		for _, p := range checks.KnownPairs() {
			every := judgeBy(p)
			stops := func(in *config.Input) int {
				n := 0
				for _, c := range in.Clusters {
					for _, f := range every(c) {
						if f.Severity == checks.Error && f.Consequence == checks.WillNotStart {
							n++
						}
					}
				}
				return n
			}
			for _, id := range []string{"MVP101", "MVP103", "MVP201", "MVP202"} {
				rule, _ := checks.Find(id)
				one := func(c *config.Cluster) []checks.Finding {
					return slices.DeleteFunc(every(c), func(f checks.Finding) bool { return f.Rule != rule })
				}
				r, err := Fix(name, data, Options{Judge: one, Every: every})
				if err != nil {
					continue // refused, or not to be read
				}
				fixed += len(r.Applied)
				if before, after := stops(in), stops(r.Input); after > before {
					t.Errorf("%s, %s to %s, %s: %d findings stop kube-apiserver, %d before:\n%s", name, p.From, p.To, id, after, before, r.After)
				}
			}
		}
	}
	if fixed == 0 {
		t.Error("nothing was fixed")
	}
}

func judgeBy(pair checks.Pair) func(c *config.Cluster) []checks.Finding {
	var rules []*checks.Rule
	for _, rule := range checks.All() {
		if !rule.OnRequest {
			rules = append(rules, rule)
		}
	}
	return func(c *config.Cluster) []checks.Finding {
		return checks.Run(checks.Input{Cluster: c, Pair: pair}, rules).Findings
	}
}

// checkFixed tests what holds of each result: nothing is left to fix, patching again changes nothing, the lines of
// the file are as they were but for the fixes, and other documents are the same bytes.
func checkFixed(t testing.TB, r *Result, o Options) {
	t.Helper()
	for _, c := range r.Input.Clusters {
		for _, f := range o.Judge(c) {
			if len(f.Changes) > 0 {
				t.Errorf("%s: %s is left: %s", r.Name, f.Rule.ID, f.Message)
			}
		}
	}
	again, err := Fix(r.Name, r.After, o)
	if err != nil {
		t.Errorf("%s: patching again: %v", r.Name, err)
	} else if again.Changed() {
		t.Errorf("%s: patching again changes:\n%s", r.Name, Diff(r.Name, r.After, again.After))
	}
	if r.Changed() != (len(r.Applied) > 0) {
		t.Errorf("%s: changed is %v with %d changes applied", r.Name, r.Changed(), len(r.Applied))
	}
	if bytes.HasSuffix(r.Before, []byte("\n")) != bytes.HasSuffix(r.After, []byte("\n")) {
		t.Errorf("%s: the final line break came or went", r.Name)
	}
	if !bytes.Contains(r.Before, []byte("\r\n")) && bytes.Contains(r.After, []byte("\r\n")) {
		t.Errorf("%s: line breaks changed", r.Name)
	}
}

// checkLines tests that a line of the file goes only with a change: each change touches two lines at most, but for
// those of the shape.
func checkLines(t testing.TB, r *Result) {
	t.Helper()
	allowed := 0
	for _, a := range r.Applied {
		if a.Rules[0].ID == "MVP002" {
			return
		}
		allowed += 2
	}
	gone := 0
	for line := range strings.SplitSeq(Diff(r.Name, r.Before, r.After), "\n") {
		if strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---") {
			gone++
		}
	}
	if gone > allowed {
		t.Errorf("%s: %d lines changed by %d changes:\n%s", r.Name, gone, len(r.Applied), Diff(r.Name, r.Before, r.After))
	}
}
