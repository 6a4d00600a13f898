package checks_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
	"github.com/mvpcheck/mvpcheck/pkg/release"
)

var update = flag.Bool("update", false, "write the .want and fixed files of testdata/rules anew")

// withoutSamples are the rules whose samples cannot be a file, and where they are tested instead.
var withoutSamples = map[string]string{
	"MVP207": "needs certificates: TestExpiry makes them",
	"MVP208": "needs certificates: TestUnreadable makes them",
}

// sample is a file of testdata/rules with how it is judged.
type sample struct {
	name     string
	data     []byte
	from, to release.Release
	// prepare adds what the options name.
	prepare func(*config.Input) error
}

var options = regexp.MustCompile(`(?m)^# mvpcheck: (.*)$`)

func readSample(t *testing.T, name string) *sample {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{name: name, data: data}
	var steps []func(*config.Cluster) error
	if m := options.FindSubmatch(data); m != nil {
		words := strings.Fields(string(m[1]))
		for i := 0; i+1 < len(words); i += 2 {
			value, beside := words[i+1], filepath.Join(filepath.Dir(name), words[i+1])
			switch words[i] {
			case "--from":
				s.from, err = release.Parse(value)
			case "--to":
				s.to, err = release.Parse(value)
			case "--nodes":
				steps = append(steps, func(c *config.Cluster) (err error) {
					c.Replicas, c.Nodes, err = config.ParseNodes(value)
					c.ReplicasFrom = "--nodes"
					return err
				})
			case "--manifest":
				steps = append(steps, func(c *config.Cluster) error {
					folder, err := config.ReadManifest(beside)
					if err == nil {
						c.AddFolder(folder)
					}
					return err
				})
			case "--patches":
				steps = append(steps, func(c *config.Cluster) (err error) {
					c.Patches, err = config.ReadPatches(beside)
					return err
				})
			default:
				t.Fatalf("%s: unknown option %s", name, words[i])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	s.prepare = func(in *config.Input) error {
		for _, step := range steps {
			if err := step(in.Clusters[0]); err != nil {
				return err
			}
		}
		return nil
	}
	return s
}

// judge returns the findings of the rules, after the ignore comments.
func (s *sample) judge(t *testing.T, data []byte, rules []*checks.Rule) []checks.Finding {
	t.Helper()
	in, err := config.Read(s.name, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.prepare(in); err != nil {
		t.Fatal(err)
	}
	found := s.findings(t, in.Clusters[0], rules)
	kept, _, useless := checks.Silence(in.File, found, rules)
	return append(kept, useless...)
}

func (s *sample) findings(t *testing.T, c *config.Cluster, rules []*checks.Rule) []checks.Finding {
	pairs, _, err := checks.Pairs(c, s.from, s.to)
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 1 {
		t.Fatalf("%s names no release", s.name)
	}
	return checks.Run(checks.Input{Cluster: c, Pair: pairs[0], Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), CertDays: 30}, rules).Findings
}

// lines are the findings as the .want files have them.
func lines(found []checks.Finding) string {
	var b strings.Builder
	for _, f := range found {
		start, _ := f.At.Range()
		fmt.Fprintf(&b, "%s:%d:%d: %s %s", filepath.Base(f.At.File.Name), start.Line, start.Column, f.Severity, f.Rule.ID)
		if f.Consequence != checks.None {
			fmt.Fprintf(&b, " %s", f.Consequence)
		}
		if len(f.When) == 1 {
			fmt.Fprintf(&b, " %s", f.When[0])
		}
		fmt.Fprintf(&b, ": %s\n", f.Message)
	}
	return b.String()
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", name, diff)
	}
}

// TestSamples judges the samples of each rule: what is bad fires it, what is good does not, and patch makes what is fixed.
func TestSamples(t *testing.T) {
	for _, rule := range checks.All() {
		t.Run(rule.ID, func(t *testing.T) {
			dir := filepath.Join("../../testdata/rules", rule.ID)
			bad, err := filepath.Glob(filepath.Join(dir, "bad*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			good, err := filepath.Glob(filepath.Join(dir, "good*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := withoutSamples[rule.ID]; ok != (len(bad) == 0 || len(good) == 0) {
				t.Fatalf("%d bad and %d good samples", len(bad), len(good))
			}
			for _, name := range append(bad, good...) {
				s := readSample(t, name)
				found := s.judge(t, s.data, checks.All())
				fires := slices.ContainsFunc(found, func(f checks.Finding) bool { return f.Rule.ID == rule.ID })
				if fires != strings.HasPrefix(filepath.Base(name), "bad") {
					t.Errorf("%s: the rule fires: %t", name, fires)
				}
				golden(t, name+".want", lines(found))
			}
			fixed := 0
			for _, name := range bad {
				if checkFixed(t, rule, readSample(t, name)) {
					fixed++
				}
			}
			if rule.Fixable != (fixed > 0) && len(bad) > 0 {
				t.Errorf("fixable: %t, but %d bad samples were fixed", rule.Fixable, fixed)
			}
		})
	}
}

// checkFixed patches a bad sample and returns whether that fixed the rule.
func checkFixed(t *testing.T, rule *checks.Rule, s *sample) bool {
	t.Helper()
	rules := slices.DeleteFunc(checks.All(), func(r *checks.Rule) bool { return r.OnRequest && r != rule })
	o := patch.Options{
		Prepare: s.prepare,
		Judge:   func(c *config.Cluster) []checks.Finding { return s.findings(t, c, rules) },
	}
	r, err := patch.Fix(s.name, s.data, o)
	if err != nil || !r.Changed() {
		return false
	}
	golden(t, strings.Replace(s.name, "bad", "fixed", 1), string(r.After))
	for _, f := range s.judge(t, r.After, rules) {
		if len(f.Changes) > 0 {
			t.Errorf("%s: %s is left after patch", s.name, f.Rule.ID)
		}
	}
	again, err := patch.Fix(s.name, r.After, o)
	if err != nil || again.Changed() || !bytes.Equal(again.After, r.After) {
		t.Errorf("%s: patching twice is not patching once: %v", s.name, err)
	}
	return slices.ContainsFunc(r.Applied, func(a patch.Applied) bool { return slices.Contains(ids(a.Rules), rule.ID) })
}

func ids(rules []*checks.Rule) []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.ID)
	}
	return out
}
