package patch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// fixer is the state of patching one file.
type fixer struct {
	options  Options
	in       *config.Input
	findings []judged
	// before are what stops kube-apiserver in the file as it was, by any rule.
	before map[findingKey]bool
	// refused counts the findings of each key whose changes cannot be made.
	refused  map[findingKey]int
	refusals []*Refusal
	applied  []Applied
	// added are the flags that were added to the configurations.
	added []string
}

// findingKey tells findings apart across edits, which move their places.
type findingKey struct {
	cluster int
	checks.Key
}

// judged is a finding about one of the file's clusters.
type judged struct {
	checks.Finding
	cluster int
	// caused: it is about what the changes have made of the file, by a rule that need not have been chosen.
	caused bool
}

// stops tells whether kube-apiserver does not start with what the finding is about.
func (j judged) stops() bool {
	return j.Severity == checks.Error && j.Consequence == checks.WillNotStart
}

func (j judged) key() findingKey { return findingKey{j.cluster, j.Key()} }

func (f *fixer) read(file *yamldoc.File) error {
	in, err := config.FromFile(file)
	if err != nil {
		return err
	}
	if f.options.Prepare != nil {
		if err := f.options.Prepare(in); err != nil {
			return err
		}
	}
	f.in = in
	return nil
}

// judge finds what the chosen rules say of the file now, or all rules where none are chosen, and what stops
// kube-apiserver since the changes.
func (f *fixer) judge() {
	f.findings = f.judgedBy(f.options.Judge)
	chosen := map[findingKey]bool{}
	for _, j := range f.findings {
		chosen[j.key()] = true
	}
	for _, j := range f.judgedBy(f.options.Every) {
		j.caused = j.stops() && !chosen[j.key()] && !f.before[j.key()]
		if j.caused || f.options.Judge == nil {
			f.findings = append(f.findings, j)
		}
	}
}

// judgedBy returns the findings about all clusters.
func (f *fixer) judgedBy(judge func(c *config.Cluster) []checks.Finding) []judged {
	if judge == nil {
		return nil
	}
	var all []judged
	for i, c := range f.in.Clusters {
		for _, finding := range judge(c) {
			all = append(all, judged{Finding: finding, cluster: i})
		}
	}
	return all
}

// noteBefore notes what stops kube-apiserver before anything is changed.
func (f *fixer) noteBefore(all []judged) {
	f.before = map[findingKey]bool{}
	for _, j := range all {
		if j.stops() {
			f.before[j.key()] = true
		}
	}
}

// fixCaused fixes what the changes have caused.
func (f *fixer) fixCaused() error {
	for round := 0; round < maxRounds && len(f.refusals) == 0; round++ {
		i := slices.IndexFunc(f.findings, func(j judged) bool { return j.caused && len(j.Changes) > 0 })
		if i < 0 {
			break
		}
		if err := f.fix(&f.findings[i]); err != nil {
			return err
		}
	}
	if len(f.refusals) > 0 {
		return nil // which the caller returns
	}
	return f.refuseCaused()
}

// refuseCaused refuses a result that kube-apiserver does not start with, while it did with the file as it was.
func (f *fixer) refuseCaused() error {
	for _, j := range f.findings {
		if j.caused {
			return &Refusal{At: j.At, Rule: j.Rule, Reason: "with these changes kube-apiserver would not start: " + j.Message}
		}
	}
	return nil
}

// next returns the next finding to fix, nil if there is none: first those that decide what the flags are at
// all, then in the order in which they were reported.
func (f *fixer) next() *judged {
	refused := map[findingKey]int{}
	var next *judged
	for i := range f.findings {
		j := &f.findings[i]
		if len(j.Changes) == 0 {
			continue
		}
		if refused[j.key()] < f.refused[j.key()] {
			refused[j.key()]++
			continue
		}
		if next == nil || urgency(j.Changes[0].Op) < urgency(next.Changes[0].Op) {
			next = j
		}
	}
	return next
}

// urgency orders the changes: shape, values, names, and then all others.
func urgency(op checks.Op) int {
	first := []checks.Op{checks.ReshapeArgs, checks.QuoteValue, checks.RenameArg, checks.DropMergeMethod}
	if i := slices.Index(first, op); i >= 0 {
		return i
	}
	return 10
}

// fix makes the changes of a finding and judges the file anew. A change that cannot be made becomes a refusal,
// and the file stays as it was before the finding.
func (f *fixer) fix(j *judged) error {
	before, findings := *f, f.findings
	at := j.At
	if err := f.change(j); err != nil {
		*f = before
		f.refuse(j, err)
		return nil
	}
	f.judge()
	rules := f.credit(j, findings)
	if rules == nil {
		reason := fmt.Sprintf("the change for %s does not satisfy the rule; nothing was changed", j.Rule.ID)
		return &Refusal{At: at, Rule: j.Rule, Reason: reason}
	}
	f.applied = append(f.applied, Applied{Rules: rules, Summary: summary(j.Changes), At: at})
	return nil
}

func summary(changes []checks.Change) string {
	var parts []string
	for _, ch := range changes {
		if ch.Summary != "" && !slices.Contains(parts, ch.Summary) {
			parts = append(parts, ch.Summary)
		}
	}
	return text.And(parts)
}

// credit returns the rules whose findings went away, the finding's own first; nil where that stayed.
func (f *fixer) credit(j *judged, before []judged) []*checks.Rule {
	left := map[findingKey]int{}
	for _, now := range f.findings {
		if len(now.Changes) > 0 {
			left[now.key()]++
		}
	}
	counts := map[findingKey]int{}
	for _, b := range before {
		if len(b.Changes) > 0 {
			counts[b.key()]++
		}
	}
	if left[j.key()] >= counts[j.key()] {
		return nil
	}
	rules := []*checks.Rule{j.Rule}
	for _, b := range before {
		if len(b.Changes) > 0 && left[b.key()] < counts[b.key()] && !slices.Contains(rules, b.Rule) {
			rules = append(rules, b.Rule)
		}
	}
	return rules
}

// change makes the changes of a finding.
func (f *fixer) change(j *judged) error {
	p := planner{c: f.in.Clusters[j.cluster], added: f.added}
	for _, ch := range j.Changes {
		if err := p.plan(ch); err != nil {
			return err
		}
		f.added = append(slices.Clip(f.added), addedFlag(p.c, ch)...)
	}
	file, err := f.in.File.Apply(p.ops...)
	if err != nil {
		return err
	}
	if err := f.read(file); err != nil {
		return err
	}
	if j.cluster >= len(f.in.Clusters) {
		return errors.New("the edit would hide the configuration")
	}
	return nil
}

// addedFlag returns the flag that a change adds to a configuration that has it not.
func addedFlag(c *config.Cluster, ch checks.Change) []string {
	name := ch.Flag
	switch ch.Op {
	case checks.SetGate:
		name = release.FlagFeatureGates
	case checks.SetFlag:
	default:
		return nil
	}
	if slices.ContainsFunc(c.APIServer.Args, func(a *config.Arg) bool { return a.Name == name }) {
		return nil
	}
	return []string{name}
}

func (f *fixer) refuse(j *judged, err error) {
	f.refused[j.key()]++
	r := &Refusal{At: j.At, Reason: err.Error(), Rule: j.Rule, Lines: byHand(f.in.Clusters[j.cluster], j.Changes)}
	var ee *yamldoc.EditError
	if errors.As(err, &ee) && !ee.At.IsZero() {
		r.At = ee.At
	}
	for _, other := range f.refusals {
		if other.At.Start == r.At.Start && other.Reason == r.Reason && slices.Equal(other.Lines, r.Lines) {
			return
		}
	}
	f.refusals = append(f.refusals, r)
}

// refuseForms refuses what is never edited: files without a cluster, forms that kubeadm rewrites, and
// configurations that kubeadm must migrate first.
func (f *fixer) refuseForms() error {
	if len(f.in.Clusters) == 0 {
		r := &Refusal{At: yamldoc.Place{File: f.in.File}, Reason: "nothing to patch here"}
		if len(f.in.Notes) > 0 {
			n := f.in.Notes[0]
			r.Reason = n.Text
			if !n.At.IsZero() {
				r.At = n.At
			}
		}
		if len(f.in.Patches) > 0 && len(f.in.Notes) == 0 {
			r.Reason = "this is a patch for kubeadm's --patches; mvpcheck patch edits the ClusterConfiguration"
		}
		return r
	}
	var refusals []*Refusal
	for _, c := range f.in.Clusters {
		if r := refuseForm(c); r != nil {
			refusals = append(refusals, r)
		}
	}
	if len(refusals) > 0 {
		return joinRefusals(refusals)
	}
	return nil
}

func refuseForm(c *config.Cluster) *Refusal {
	if why := c.Editable(); why != "" || c.Root == nil {
		return &Refusal{At: c.FlagsPlace(), Reason: why, Lines: handOffLines(c)}
	}
	if c.APIVersion == "" || c.APIVersion == "v1beta3" || c.APIVersion == "v1beta4" || c.APIVersion == "v1" {
		return nil
	}
	reason := fmt.Sprintf("kubeadm.k8s.io/%s is not edited", c.APIVersion)
	if hint := release.MigrationHint(c.APIVersion); hint != "" {
		reason = fmt.Sprintf("kubeadm.k8s.io/%s is too old to be edited: %s", c.APIVersion, hint)
	}
	return &Refusal{At: c.APIVersionAt, Reason: reason}
}
