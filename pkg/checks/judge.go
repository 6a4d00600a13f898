package checks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// Options are what a configuration is judged by.
type Options struct {
	// From and To are the releases of the upgrade; for the zero Release it is as Pairs says.
	From, To release.Release
	// Rules are those of which the judgement tells; nil: all that judge configurations.
	Rules []*Rule
	// Root, Now and CertDays are as those of Input.
	Root     string
	Now      time.Time
	CertDays int
}

// Input returns what is judged of a cluster for one pair of releases.
func (o Options) Input(c *config.Cluster, pair Pair) Input {
	return Input{Cluster: c, Pair: pair, Root: o.Root, Now: o.Now, CertDays: o.CertDays}
}

func (o Options) rules() []*Rule {
	if o.Rules == nil {
		return slices.DeleteFunc(All(), func(r *Rule) bool { return r.Run == nil })
	}
	return o.Rules
}

// Judgement is what the rules say of a cluster for all the pairs of releases that it is judged for.
type Judgement struct {
	Cluster *config.Cluster
	// Pairs are the upgrades that it is judged for, Why says why these.
	Pairs []Pair
	Why   string

	Result
	// Silenced are the findings that ignore comments keep out of Findings.
	Silenced []Silenced
	// Unused are findings about ignore comments that nothing of the cluster needs; another cluster of the file may
	// (AddUnused).
	Unused []Finding
}

// Judge judges a cluster, with the ignore comments of its file and of the files beside it. The error is that of Pairs.
func Judge(c *config.Cluster, o Options) (*Judgement, error) {
	pairs, why, err := Pairs(c, o.From, o.To)
	if err != nil {
		return nil, err
	}
	j := &Judgement{Cluster: c, Pairs: pairs, Why: why}
	results := make([]Result, len(pairs))
	for i, pair := range pairs {
		results[i] = Run(o.Input(c, pair), o.rules())
	}
	if len(results) == 1 {
		j.Result = results[0]
	} else {
		j.merge(results, o.rules())
	}
	j.silence()
	return j, nil
}

// JudgePatches judges kubeadm patches that were given as a configuration: one rule can be asked without the flags that
// they are applied to.
func JudgePatches(in *config.Input, o Options) *Judgement {
	c := &config.Cluster{Input: in, Doc: in.Docs[0], Patches: in.Patches}
	rules := slices.DeleteFunc(slices.Clone(o.rules()), func(r *Rule) bool { return r != patchReplacesCommand })
	j := &Judgement{Cluster: c, Result: Run(o.Input(c, Pair{}), rules)}
	j.silence()
	return j
}

// CannotTell is why readiness cannot be judged, or not wholly; empty: it can.
func (j *Judgement) CannotTell() string {
	var reasons []string
	for _, n := range j.Unknown {
		if !slices.Contains(reasons, n.Reason) {
			reasons = append(reasons, n.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// identity is a finding's key with its place: within one text it tells findings apart.
type identity struct {
	Key
	at yamldoc.Place
}

func identityOf(f *Finding) identity { return identity{f.Key(), f.At} }

// merge makes one finding of those about the same subject and place at several pairs. It has the words of the newest pair
// at which it is worst.
func (j *Judgement) merge(results []Result, rules []*Rule) {
	index := map[identity]int{}
	for i, r := range results {
		for _, f := range r.Findings {
			f.Pairs = []Pair{j.Pairs[i]}
			k, earlier := index[identityOf(&f)]
			if !earlier {
				index[identityOf(&f)] = len(j.Findings)
				j.Findings = append(j.Findings, f)
				continue
			}
			j.Findings[k] = mergeFinding(j.Findings[k], f)
		}
	}
	slices.SortStableFunc(j.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.At.File.Name, b.At.File.Name), a.At.Start-b.At.Start, strings.Compare(a.Rule.ID, b.Rule.ID))
	})
	j.mergeRules(results, rules)
}

// mergeFinding adds the finding of a newer pair.
func mergeFinding(older, newer Finding) Finding {
	when, pairs := unionOf(older.When, newer.When), append(older.Pairs, newer.Pairs...)
	if newer.Severity < older.Severity {
		newer = older
	}
	newer.When, newer.Pairs = when, pairs
	return newer
}

// mergeRules tells of each rule one thing: that it found something at any pair, else that it could not be judged at any,
// else that it passed at any, else why it was skipped.
func (j *Judgement) mergeRules(results []Result, rules []*Rule) {
	for _, rule := range rules {
		found := slices.ContainsFunc(j.Findings, func(f Finding) bool { return f.Rule == rule })
		unknown := noteOf(results, rule, func(r Result) []Note { return r.Unknown })
		skipped := noteOf(results, rule, func(r Result) []Note { return r.Skipped })
		switch {
		case unknown != nil:
			j.Unknown = append(j.Unknown, *unknown)
		case found:
		case slices.ContainsFunc(results, func(r Result) bool { return slices.Contains(r.Passed, rule) }):
			j.Passed = append(j.Passed, rule)
		case skipped != nil:
			j.Skipped = append(j.Skipped, *skipped)
		}
	}
}

func noteOf(results []Result, rule *Rule, notes func(Result) []Note) *Note {
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
func (j *Judgement) silence() {
	ran := slices.Clone(j.Passed)
	for _, f := range j.Findings {
		if !slices.Contains(ran, f.Rule) {
			ran = append(ran, f.Rule)
		}
	}
	for _, n := range j.Unknown {
		// It may well fire once it can be judged.
		ran = slices.DeleteFunc(ran, func(r *Rule) bool { return r == n.Rule })
	}
	for _, file := range j.files() {
		kept, silenced, unused := Silence(file, j.Findings, ran)
		j.Findings = kept
		j.Silenced = append(j.Silenced, silenced...)
		j.Unused = append(j.Unused, unused...)
	}
}

// files are those that findings can point to.
func (j *Judgement) files() []*yamldoc.File {
	files := []*yamldoc.File{j.Cluster.Input.File}
	add := func(f *yamldoc.File) {
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	for _, m := range j.Cluster.Manifests {
		add(m.Doc.Text.File)
	}
	for _, folder := range j.Cluster.ManifestFolders {
		for _, m := range folder {
			add(m.Doc.Text.File)
		}
	}
	for _, p := range j.Cluster.Patches {
		add(p.File)
	}
	return files
}

// AddUnused gives the ignore comments of a file that none of its clusters needs to the first of them.
func AddUnused(clusters []*Judgement) {
	if len(clusters) == 0 {
		return
	}
	first := clusters[0]
	for i := range first.Unused {
		f := first.Unused[i]
		everywhere := !slices.ContainsFunc(clusters, func(j *Judgement) bool {
			return !slices.ContainsFunc(j.Unused, func(g Finding) bool { return identityOf(&g) == identityOf(&f) })
		})
		if everywhere {
			first.Findings = append(first.Findings, f)
			first.Passed = slices.DeleteFunc(first.Passed, func(r *Rule) bool { return r == f.Rule })
		}
	}
}
