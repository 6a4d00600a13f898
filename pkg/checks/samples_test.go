package checks_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

var update = flag.Bool("update", false, "write the .want and fixed files of testdata/rules anew")

const samplesDir = "../../testdata/rules"

// withoutSamples are the rules that no file alone can show, and where they are tested instead. MVP203, MVP204, MVP206 and
// MVP208 have more to say with certificates at hand, which a file of the repository would see expire: their samples show
// what the flags alone tell; TestPeerCAByFile, TestServingNameByFile, TestRequestHeaderByFile and TestUnreadable the rest.
var withoutSamples = map[string]string{
	"MVP127": "needs the files of a node: TestUnreadableFile makes them",
	"MVP207": "needs certificates that end soon: TestExpiry makes them",
}

// TestSamples judges the samples of each rule: what is bad fires it, what is good does not, and patch makes of what is
// bad what is fixed. What all rules say of a sample stands beside it.
func TestSamples(t *testing.T) {
	for _, rule := range checks.All() {
		if rule.Run == nil {
			continue // TestLive has its samples
		}
		t.Run(rule.ID, func(t *testing.T) {
			dir := filepath.Join(samplesDir, rule.ID)
			if reason, ok := withoutSamples[rule.ID]; ok {
				if _, err := os.Stat(dir); err == nil {
					t.Errorf("has samples, though it %s", reason)
				}
				return
			}
			// So that the names in messages are those that a user types.
			t.Chdir(dir)
			bad, good := glob(t, "bad*.yaml"), glob(t, "good*.yaml")
			if len(bad) == 0 || len(good) == 0 {
				t.Fatalf("%d bad and %d good samples", len(bad), len(good))
			}
			expected := slices.Concat(bad, good)
			for _, name := range slices.Concat(bad, good) {
				s := readSample(t, name)
				fires := slices.Contains(s.judged(t), rule.ID)
				if fires != slices.Contains(bad, name) {
					t.Errorf("%s: the rule fires: %t", name, fires)
				}
			}
			fixes := 0
			for _, name := range bad {
				if fixed := readSample(t, name).checkFix(t, rule); fixed != "" {
					fixes++
					expected = append(expected, fixed)
				}
			}
			if rule.Fixable != (fixes > 0) {
				t.Errorf("fixable: %t, but patch fixes %d samples", rule.Fixable, fixes)
			}
			checkNames(t, expected)
		})
	}
}

// TestSampleFolders finds samples of rules that do not exist.
func TestSampleFolders(t *testing.T) {
	folders, err := os.ReadDir(samplesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if r, ok := checks.Find(f.Name()); !ok || r.ID != f.Name() {
			t.Errorf("%s is no rule", f.Name())
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// checkNames finds files beside the samples that belong to none of them.
func checkNames(t *testing.T, samples []string) {
	t.Helper()
	for _, name := range glob(t, "*.*") {
		if !slices.Contains(samples, strings.TrimSuffix(name, ".want")) {
			t.Errorf("%s belongs to no sample", name)
		}
	}
}

// sample is a file of testdata/rules with how it is judged.
type sample struct {
	name    string
	data    []byte
	options sampleOptions
}

// sampleOptions are those of the command line that a comment of the sample names.
type sampleOptions struct {
	from, to            release.Release
	nodes, root         string
	manifests, patchDir []string
}

var (
	optionsLine  = regexp.MustCompile(`(?m)^# mvpcheck: (.*)$`)
	sentenceLine = regexp.MustCompile(`(?m)\A(?:---\n)?# From (1\.\d+) to (1\.\d+): .*\.$`)
)

func readSample(t *testing.T, name string) *sample {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{name: name, data: data}
	if m := optionsLine.FindSubmatch(data); m != nil {
		if err := s.options.parse(string(m[1])); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return s
}

func (o *sampleOptions) parse(line string) (err error) {
	words := strings.Fields(line)
	if len(words)%2 != 0 {
		return fmt.Errorf("%q: each option has a value", line)
	}
	for i := 0; i < len(words) && err == nil; i += 2 {
		switch value := words[i+1]; words[i] {
		case "--from":
			o.from, err = release.Parse(value)
		case "--to":
			o.to, err = release.Parse(value)
		case "--nodes":
			o.nodes = value
		case "--root":
			o.root = value
		case "--manifest":
			o.manifests = append(o.manifests, value)
		case "--patches":
			o.patchDir = append(o.patchDir, value)
		default:
			err = fmt.Errorf("unknown option %s", words[i])
		}
	}
	return err
}

// prepare adds to a cluster what the options name.
func (o *sampleOptions) prepare(in *config.Input) (err error) {
	c := in.Clusters[0]
	if o.nodes != "" {
		var nodes []config.Node
		if c.Replicas, nodes, err = config.ParseNodes(o.nodes); err != nil {
			return err
		}
		if c.ReplicasFrom = "--nodes"; nodes != nil {
			c.Nodes = nodes
		}
	}
	for _, name := range o.manifests {
		folder, err := config.ReadManifest(name)
		if err != nil {
			return err
		}
		c.AddFolder(folder)
	}
	for _, dir := range o.patchDir {
		if c.Patches, err = config.ReadPatches(dir); err != nil {
			return err
		}
	}
	return nil
}

func (s *sample) read(t *testing.T) *config.Cluster {
	t.Helper()
	in, err := config.Read(s.name, s.data)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Clusters) != 1 {
		t.Fatalf("%s has %d clusters", s.name, len(in.Clusters))
	}
	if err := s.options.prepare(in); err != nil {
		t.Fatal(err)
	}
	return in.Clusters[0]
}

// findings are what rules say of a cluster that was read from the sample, after its ignore comments.
func (s *sample) findings(t *testing.T, c *config.Cluster, rules []*checks.Rule) []checks.Finding {
	t.Helper()
	m := sentenceLine.FindSubmatch(s.data)
	if m == nil {
		t.Fatalf("%s does not begin with # From 1.x to 1.y: what is peculiar about it.", s.name)
	}
	pairs, _, err := checks.Pairs(c, s.options.from, s.options.to)
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 1 {
		t.Fatalf("%s names no release", s.name)
	}
	// What was the newest release when the sample was written has become an older one.
	if to, err := release.Parse(string(m[2])); err == nil && s.options.to.IsZero() && pairs[0].From.SameMinor(to) {
		pairs[0].To = to
	}
	if from, to := string(m[1]), string(m[2]); from != pairs[0].From.MinorString() || to != pairs[0].To.MinorString() {
		t.Errorf("%s is judged for %s, its comment says %s to %s", s.name, pairs[0], from, to)
	}
	res := checks.Run(checks.Input{Cluster: c, Pair: pairs[0], Root: s.options.root, Now: checks.TestTime, CertDays: 30}, rules)
	kept, _, unused := checks.Silence(c.Input.File, res.Findings, rules)
	return append(kept, unused...)
}

// judged compares what all rules say of the sample with its .want file, and returns the IDs of those that fire.
func (s *sample) judged(t *testing.T) []string {
	t.Helper()
	var ids []string
	var b strings.Builder
	for _, f := range s.findings(t, s.read(t), checks.All()) {
		ids = append(ids, f.Rule.ID)
		if name := f.At.File.Name; name != s.name {
			b.WriteString(filepath.ToSlash(name) + ":")
		}
		fmt.Fprintf(&b, "%s: %s\n", checks.FindingLines(checks.Result{Findings: []checks.Finding{f}})[0], f.Message)
	}
	span := fmt.Sprintf("it knows %s to %s", release.Oldest(), release.Newest())
	golden(t, s.name+".want", strings.ReplaceAll(b.String(), span, "it knows OLDEST to NEWEST"))
	return ids
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

// checkFix patches a bad sample as mvpcheck patch does, and compares with the fixed one, whose name it returns; empty
// where patch does not fix the rule.
func (s *sample) checkFix(t *testing.T, rule *checks.Rule) (fixed string) {
	t.Helper()
	rules := patchRules(rule)
	c := s.read(t)
	found := s.findings(t, c, rules)
	if !slices.ContainsFunc(found, func(f checks.Finding) bool { return f.Rule == rule && len(f.Changes) > 0 }) {
		return ""
	}
	r := s.fix(t, rules)
	if !slices.ContainsFunc(r.Applied, func(a patch.Applied) bool { return slices.Contains(a.Rules, rule) }) {
		t.Errorf("%s: patch does not name the rule among those that it fixed", s.name)
	}
	after := &sample{name: strings.Replace(s.name, "bad", "fixed", 1), data: r.After, options: s.options}
	golden(t, after.name, string(after.data))
	after.judged(t)
	for _, f := range after.findings(t, after.read(t), rules) {
		if f.Rule == rule || f.Rule.Fixable && !f.Rule.OnRequest {
			t.Errorf("%s: %s is left after patch: %s", after.name, f.Rule.ID, f.Message)
		}
	}
	if again := after.fix(t, rules); again.Changed() {
		t.Errorf("%s: patching it again changes it:\n%s", after.name, patch.Diff(after.name, again.Before, again.After))
	}
	checkKept(t, s.data, after.data, touchedLines(c, found))
	return after.name
}

// patchRules are the rules that mvpcheck patch judges by: all but those that fix on request, or with --only the one.
func patchRules(rule *checks.Rule) []*checks.Rule {
	if rule.OnRequest {
		return []*checks.Rule{rule}
	}
	return slices.DeleteFunc(checks.All(), func(r *checks.Rule) bool { return r.OnRequest })
}

func (s *sample) fix(t *testing.T, rules []*checks.Rule) *patch.Result {
	t.Helper()
	r, err := patch.Fix(s.name, s.data, patch.Options{
		Prepare: s.options.prepare,
		Judge:   func(c *config.Cluster) []checks.Finding { return s.findings(t, c, rules) },
	})
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return r
}

// checkKept finds lines that the fix need not touch and that are not there any more, in their order.
func checkKept(t *testing.T, before, after []byte, touched map[int]bool) {
	t.Helper()
	left := bufio.NewScanner(bytes.NewReader(after))
	number := 0
	for line := range bytes.Lines(before) {
		number++
		if touched[number] {
			continue
		}
		for kept := false; !kept; kept = left.Text() == strings.TrimSuffix(string(line), "\n") {
			if !left.Scan() {
				t.Errorf("line %d is gone: %s", number, line)
				return
			}
		}
	}
}

// touchedLines are the lines of what the changes of findings are about.
func touchedLines(c *config.Cluster, found []checks.Finding) map[int]bool {
	lines := map[int]bool{}
	for _, f := range found {
		if len(f.Changes) > 0 {
			touch(lines, f.At, f.At)
		}
		for _, change := range f.Changes {
			for _, v := range changed(c, change) {
				touch(lines, v.KeyPlace(), v.Place())
			}
		}
	}
	return lines
}

func touch(lines map[int]bool, from, to yamldoc.Place) {
	first, _ := from.Range()
	_, last := to.Range()
	for n := first.Line; n <= last.Line; n++ {
		lines[n] = true
	}
}

// changed are the values that a change edits or removes.
func changed(c *config.Cluster, change checks.Change) (values []*yamldoc.Value) {
	switch change.Op {
	case checks.SetGate, checks.SetFlag:
		flag := change.Flag
		if change.Op == checks.SetGate {
			flag = release.FlagFeatureGates
		}
		for _, a := range c.APIServer.Args {
			if release.NormalizeFlag(a.Name) == flag {
				values = append(values, a.Node)
			}
		}
	case checks.QuoteValue:
		values = append(values, change.Node)
	case checks.ReshapeArgs:
		values = append(values, change.Entry.Value)
	case checks.RemoveArg:
		values = withParents(change.Arg.Node)
	case checks.RemoveEntry:
		values = withParents(change.Entry.Value)
	case checks.SetArg, checks.RenameArg, checks.DropMergeMethod:
		values = append(values, change.Arg.Node)
	}
	return values
}

// withParents adds the collections that go with the last thing in them.
func withParents(v *yamldoc.Value) (values []*yamldoc.Value) {
	for values = append(values, v); v.Parent() != nil && len(v.Parent().Entries)+len(v.Parent().Items) == 1; {
		v = v.Parent()
		values = append(values, v)
	}
	return values
}
