package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// judge runs the rules over clusters.
type judge struct {
	options *options
	extras  *extras
	now     time.Time
	// edits: the report has the edits that patch would make.
	edits bool
}

// judged is what the rules say of a cluster at all the pairs of releases that it is judged for.
type judged struct {
	cluster *config.Cluster
	pairs   []checks.Pair
	why     string

	findings []checks.Finding
	silenced []checks.Silenced
	// unused are findings about ignore comments; those of other clusters of the file may use them.
	unused []checks.Finding
	// pairsOf are the pairs of a finding, where there are several.
	pairsOf map[findingKey][]checks.Pair

	passed           []*checks.Rule
	skipped, unknown []checks.Note

	// edits returns what patch would do about a finding; nil where the report does not have it.
	edits func(*checks.Finding) []report.Edit
}

// findingKey tells findings apart.
type findingKey struct {
	rule    *checks.Rule
	at      yamldoc.Place
	message string
}

func keyOf(f *checks.Finding) findingKey { return findingKey{f.Rule, f.At, f.Message} }

// cluster judges a cluster that prepare has seen.
func (j *judge) cluster(c *config.Cluster, ch *choices) (*judged, error) {
	pairs, why, err := checks.Pairs(c, ch.from.Release, ch.to.Release)
	if err != nil {
		return nil, err
	}
	out := &judged{cluster: c, pairs: pairs, why: why}
	results := make([]checks.Result, len(pairs))
	for i, pair := range pairs {
		results[i] = checks.Run(j.input(c, pair, ch), ch.rules)
	}
	if len(results) == 1 {
		r := results[0]
		out.findings, out.passed, out.skipped, out.unknown = r.Findings, r.Passed, r.Skipped, r.Unknown
	} else {
		out.merge(results, ch.rules)
	}
	out.silence()
	return out, nil
}

func (j *judge) input(c *config.Cluster, pair checks.Pair, ch *choices) checks.Input {
	return checks.Input{Cluster: c, Pair: pair, Root: j.options.root, Now: j.now, CertDays: int(ch.certDays)}
}

// patchRule judges a kubeadm patch by itself.
const patchRule = "MVP405"

// patches judges kubeadm patches that were given as a configuration: one rule can be asked without the flags that they
// are applied to.
func (j *judge) patches(in *config.Input, ch *choices) *judged {
	c := &config.Cluster{Input: in, Doc: in.Docs[0], Patches: in.Patches}
	rules := slices.DeleteFunc(slices.Clone(ch.rules), func(r *checks.Rule) bool { return r.ID != patchRule })
	r := checks.Run(j.input(c, checks.Pair{}, ch), rules)
	out := &judged{cluster: c, findings: r.Findings, passed: r.Passed, skipped: r.Skipped, unknown: r.Unknown}
	out.silence()
	return out
}

// merge makes one finding of those that are equal for several pairs. It has the words of the newest pair at which it is
// worst.
func (d *judged) merge(results []checks.Result, rules []*checks.Rule) {
	d.pairsOf = map[findingKey][]checks.Pair{}
	type slot struct {
		rule *checks.Rule
		at   yamldoc.Place
		nth  int
	}
	var order []slot
	merged := map[slot]*checks.Finding{}
	pairs := map[slot][]checks.Pair{}
	for i, r := range results {
		count := map[slot]int{}
		for _, f := range r.Findings {
			s := slot{rule: f.Rule, at: f.At}
			s.nth = count[s]
			count[slot{rule: f.Rule, at: f.At}]++
			if merged[s] == nil {
				order = append(order, s)
			}
			merged[s] = mergeFinding(merged[s], f)
			pairs[s] = append(pairs[s], d.pairs[i])
		}
	}
	for _, s := range order {
		f := *merged[s]
		d.findings = append(d.findings, f)
		d.pairsOf[keyOf(&f)] = pairs[s]
	}
	slices.SortStableFunc(d.findings, func(a, b checks.Finding) int {
		return cmp.Or(strings.Compare(a.At.File.Name, b.At.File.Name), a.At.Start-b.At.Start, strings.Compare(a.Rule.ID, b.Rule.ID))
	})
	d.mergeRules(results, rules)
}

// mergeFinding adds the finding of a newer pair.
func mergeFinding(old *checks.Finding, f checks.Finding) *checks.Finding {
	if old == nil {
		return &f
	}
	when := slices.Clone(old.When)
	for _, w := range f.When {
		if !slices.Contains(when, w) {
			when = append(when, w)
		}
	}
	slices.Sort(when) // running before target
	if f.Severity < old.Severity {
		f = *old
	}
	f.When = when
	return &f
}

// mergeRules tells of each rule one thing: that it found something at any pair, else that it could not be judged at any,
// else that it passed at any, else why it was skipped.
func (d *judged) mergeRules(results []checks.Result, rules []*checks.Rule) {
	for _, rule := range rules {
		found := slices.ContainsFunc(d.findings, func(f checks.Finding) bool { return f.Rule == rule })
		unknown := noteOf(results, rule, func(r checks.Result) []checks.Note { return r.Unknown })
		skipped := noteOf(results, rule, func(r checks.Result) []checks.Note { return r.Skipped })
		switch {
		case unknown != nil:
			d.unknown = append(d.unknown, *unknown)
		case found:
		case slices.ContainsFunc(results, func(r checks.Result) bool { return slices.Contains(r.Passed, rule) }):
			d.passed = append(d.passed, rule)
		case skipped != nil:
			d.skipped = append(d.skipped, *skipped)
		}
	}
}

func noteOf(results []checks.Result, rule *checks.Rule, notes func(checks.Result) []checks.Note) *checks.Note {
	for _, r := range results {
		for _, n := range notes(r) {
			if n.Rule == rule {
				return &n
			}
		}
	}
	return nil
}

// silence applies the ignore comments of the configuration and of the files beside it.
func (d *judged) silence() {
	ran := slices.Clone(d.passed)
	for _, f := range d.findings {
		if !slices.Contains(ran, f.Rule) {
			ran = append(ran, f.Rule)
		}
	}
	for _, n := range d.unknown {
		// It may well fire once it can be judged.
		ran = slices.DeleteFunc(ran, func(r *checks.Rule) bool { return r == n.Rule })
	}
	for _, file := range d.files() {
		kept, silenced, unused := checks.Silence(file, d.findings, ran)
		d.findings = kept
		d.silenced = append(d.silenced, silenced...)
		d.unused = append(d.unused, unused...)
	}
}

// files are those that findings can point to.
func (d *judged) files() []*yamldoc.File {
	files := []*yamldoc.File{d.cluster.Input.File}
	add := func(f *yamldoc.File) {
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	for _, m := range d.cluster.Manifests {
		add(m.Doc.Text.File)
	}
	for _, folder := range d.cluster.ManifestFolders {
		for _, m := range folder {
			add(m.Doc.Text.File)
		}
	}
	for _, p := range d.cluster.Patches {
		add(p.File)
	}
	return files
}

// addUseless gives the unused ignore comments of a file to its first cluster: those that no cluster has a use for.
func addUseless(clusters []*judged) {
	if len(clusters) == 0 {
		return
	}
	first := clusters[0]
	for i := range first.unused {
		f := first.unused[i]
		everywhere := !slices.ContainsFunc(clusters, func(d *judged) bool {
			return !slices.ContainsFunc(d.unused, func(g checks.Finding) bool { return keyOf(&g) == keyOf(&f) })
		})
		if everywhere {
			first.findings = append(first.findings, f)
			first.passed = slices.DeleteFunc(first.passed, func(r *checks.Rule) bool { return r == f.Rule })
		}
	}
}

// cannotTell is why readiness cannot be judged, or not wholly; empty: it can.
func (d *judged) cannotTell() string {
	var reasons []string
	for _, n := range d.unknown {
		if !slices.Contains(reasons, n.Reason) {
			reasons = append(reasons, n.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// documents says what of its file a cluster is, such as "ClusterConfiguration (document 2 of 3), kubeadm.k8s.io/v1beta4".
func documents(c *config.Cluster) string {
	if len(c.Patches) > 0 && c.Form == "" {
		return "kubeadm patch for kube-apiserver"
	}
	text := string(c.Form)
	if c.Doc == nil {
		return text
	}
	if n := len(c.Input.Docs); n > 1 {
		text += fmt.Sprintf(" (document %d of %d)", c.Doc.FileIndex(), n)
	}
	switch object := controlPlane(c); {
	case object != nil:
		text = object.Get("kind").Str() + text[len(c.Form):] + ", " + object.Get("apiVersion").Str()
	case c.APIVersion != "":
		text += ", kubeadm.k8s.io/" + c.APIVersion
	}
	return text
}
