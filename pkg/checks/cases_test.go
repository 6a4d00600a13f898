package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// testTime is when the tests judge certificates.
var testTime = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// answers returns what the rules say of a file, a line each: line:column severity rule [when] consequence. Where several
// pairs are judged, the pairs follow in which it holds, if that is not all.
func answers(t *testing.T, name string, from, to string) []string {
	t.Helper()
	in, err := config.ReadFile(name)
	if err != nil {
		return []string{"error: " + strings.TrimPrefix(err.Error(), name)}
	}
	var f, r release.Release
	if from != "" {
		f = parse(t, from)
	}
	if to != "" {
		r = parse(t, to)
	}
	var out []string
	for _, n := range in.Notes {
		out = append(out, "note: "+n.Text)
	}
	for _, p := range in.Patches {
		c := &config.Cluster{Input: in, Doc: in.Docs[0], Patches: []*config.PatchFile{p}}
		out = append(out, findings(Run(Input{Cluster: c, Now: testTime}, []*Rule{patchReplacesCommand}))...)
	}
	for _, c := range in.Clusters {
		pairs, _, err := Pairs(c, f, r)
		if err != nil {
			t.Fatal(err)
		}
		pairs = answered(pairs)
		holds := map[string][]string{}
		var order []string
		for _, p := range pairs {
			res := Run(Input{Cluster: c, Pair: p, Now: testTime, CertDays: 30}, All())
			for _, line := range findings(res) {
				if holds[line] == nil {
					order = append(order, line)
				}
				holds[line] = append(holds[line], p.String())
			}
		}
		for _, line := range order {
			if len(holds[line]) < len(pairs) {
				line += " (" + strings.Join(holds[line], ", ") + ")"
			}
			out = append(out, line)
		}
	}
	return out
}

// answered are the pairs that the answers of testdata/cases speak of: those of releases up to 1.37.
func answered(pairs []Pair) []Pair {
	newest := release.OfMinor(37)
	if len(pairs) == 1 && pairs[0].From.SameMinor(newest) {
		pairs[0].To = newest
	}
	return slices.DeleteFunc(pairs, func(p Pair) bool { return len(pairs) > 1 && newest.Before(p.To) })
}

func parse(t *testing.T, s string) release.Release {
	t.Helper()
	r, err := release.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func findings(res Result) []string {
	var out []string
	for _, f := range res.Findings {
		start, _ := f.At.Range()
		line := fmt.Sprintf("%d:%d %s %s", start.Line, start.Column, f.Severity, f.Rule.ID)
		if f.Consequence != None {
			line += fmt.Sprintf(" %s", f.Consequence)
		}
		if len(f.When) == 1 {
			line += fmt.Sprintf(" %s", f.When[0])
		}
		if len(f.Changes) > 0 {
			line += " fix"
		}
		out = append(out, line)
	}
	return out
}

// TestCases holds the right answer for each file of testdata/cases. What it says of kubeadm was compared with the real
// one (test/lab), what it says of kube-apiserver rests on the measured facts that the rules name.
func TestCases(t *testing.T) {
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob("../../testdata/cases/" + name + "-*")
			if err != nil || len(files) != 1 {
				t.Fatalf("%d files of this number: %v", len(files), err)
			}
			got := answers(t, files[0], "", "")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	files, err := os.ReadDir("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := cases[f.Name()[:3]]; !ok {
			t.Errorf("%s has no expected answer", f.Name())
		}
	}
}

// TestAll holds what must be true of every rule.
func TestAll(t *testing.T) {
	rules := All()
	if !slices.IsSortedFunc(rules, func(a, b *Rule) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the rules are not sorted by ID")
	}
	names := map[string]bool{}
	for _, r := range rules {
		if names[r.ID] || names[r.Name] || r.ID == "" || r.Name == "" {
			t.Errorf("%s %s: ID or name is missing or not unique", r.ID, r.Name)
		}
		names[r.ID], names[r.Name] = true, true
		if r.Doc.What == "" || r.Doc.Why == "" || r.Doc.Fix == "" || len(r.Doc.Facts) == 0 || r.Doc.Since == "" {
			t.Errorf("%s: documentation is not complete: %+v", r.ID, r.Doc)
		}
		if r.OnRequest && !r.Fixable {
			t.Errorf("%s: fixed on request, but not fixable", r.ID)
		}
	}
}
