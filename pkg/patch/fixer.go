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
	name    string
	options Options

	data     []byte
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

func (j judged) key() findingKey { return findingKey{j.cluster, j.Key()} }

func (f *fixer) read() error {
	in, err := config.Read(f.name, f.data)
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

func (f *fixer) judge() {
	f.findings = nil
	for i, c := range f.in.Clusters {
		for _, finding := range f.options.Judge(c) {
			f.findings = append(f.findings, judged{Finding: finding, cluster: i})
		}
	}
	chosen := map[findingKey]bool{}
	for _, j := range f.findings {
		chosen[j.key()] = true
	}
	for _, j := range f.stopping() {
		if !chosen[j.key()] && !f.before[j.key()] {
			j.caused = true
			f.findings = append(f.findings, j)
		}
	}
}

// noteBefore notes what stops kube-apiserver before anything is changed.
func (f *fixer) noteBefore() {
	f.before = map[findingKey]bool{}
	for _, j := range f.stopping() {
		f.before[j.key()] = true
	}
}

// stopping returns the findings, by any rule, that kube-apiserver does not start with.
func (f *fixer) stopping() []judged {
	if f.options.Every == nil {
		return nil
	}
	var stopping []judged
	for i, c := range f.in.Clusters {
		for _, finding := range f.options.Every(c) {
			if finding.Severity == checks.Error && finding.Consequence == checks.WillNotStart {
				stopping = append(stopping, judged{Finding: finding, cluster: i})
			}
		}
	}
	return stopping
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
	if i := slices.Index([]checks.Op{checks.ReshapeArgs, checks.QuoteValue, checks.RenameArg, checks.DropMergeMethod}, op); i >= 0 {
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
		return &Refusal{At: at, Rule: j.Rule, Reason: fmt.Sprintf("the change for %s does not satisfy the rule; nothing was changed", j.Rule.ID)}
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

// change makes the changes of a finding one by one; each but the first is moved to where the ones before have
// put what it is about.
func (f *fixer) change(j *judged) error {
	changes := slices.Clone(j.Changes)
	for i := range changes {
		e, err := plan(f.in.Clusters[j.cluster], changes[i], f.added)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		after, err := apply(f.in.File, e)
		if err != nil {
			return err
		}
		f.data = after
		f.added = append(slices.Clip(f.added), addedFlag(f.in.Clusters[j.cluster], changes[i])...)
		if err := f.read(); err != nil {
			return err
		}
		if j.cluster >= len(f.in.Clusters) {
			return errors.New("the edit would hide the configuration")
		}
		for k := i + 1; k < len(changes); k++ {
			if changes[k], err = moveChange(changes[k], e, f.in); err != nil {
				return err
			}
		}
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
	var ee *editError
	if errors.As(err, &ee) && !ee.at.IsZero() {
		r.At = ee.at
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

// moveChange finds what a change is about in the file as it was read again after an edit.
func moveChange(ch checks.Change, e *edit, in *config.Input) (checks.Change, error) {
	var err error
	if ch.Arg != nil {
		arg := *ch.Arg
		if arg.Node, err = moveValue(arg.Node, e, in); err != nil {
			return ch, err
		}
		if arg.ValueNode, err = moveValue(arg.ValueNode, e, in); err != nil {
			return ch, err
		}
		if inMap(ch.Arg) {
			arg.ValueNode = arg.Node
		}
		arg.NameAt = yamldoc.Place{}
		ch.Arg = &arg
	}
	if ch.Node, err = moveValue(ch.Node, e, in); err != nil {
		return ch, err
	}
	if ch.Entry != nil {
		v, err := moveValue(ch.Entry.Value, e, in)
		if err != nil {
			return ch, err
		}
		ch.Entry = v.Entry()
	}
	return ch, nil
}

// moveValue finds a value again: in the same document, at its offset less or more what the edit took or added
// in front of it.
func moveValue(v *yamldoc.Value, e *edit, in *config.Input) (*yamldoc.Value, error) {
	if v == nil {
		return nil, nil
	}
	doc, err := sameDocument(v.Document(), in)
	if err != nil {
		return nil, err
	}
	start := v.Start
	if d := v.Document(); d.Index == e.doc.Index && d.FileIndex() == e.doc.FileIndex() && (d.Text.Outer() == nil) == (e.doc.Text.Outer() == nil) {
		start = moveOffset(start, e.edits)
	}
	start += doc.Start - v.Document().Start
	var found *yamldoc.Value
	walk(doc.Root, func(w *yamldoc.Value) {
		if w.Start == start && w.Kind == v.Kind && (w.Entry() == nil) == (v.Entry() == nil) {
			found = w
		}
	})
	if found == nil {
		return nil, refuse(v, "%s is gone with another change", v.Path())
	}
	return found, nil
}

func moveOffset(pos int, edits []yamldoc.Edit) int {
	moved := pos
	for _, e := range edits {
		if e.End <= pos {
			moved += len(e.New) - (e.End - e.Start)
		}
	}
	return moved
}

// sameDocument returns the document of an input that stands where d does in the input before.
func sameDocument(d *yamldoc.Document, in *config.Input) (*yamldoc.Document, error) {
	outer := d.Text.Outer()
	docs := in.Docs
	if outer != nil {
		scalar := valueAt(in.Docs[d.FileIndex()-1].Root, jsonPath(outer))
		if scalar == nil {
			return nil, fmt.Errorf("%s is gone", outer.Path())
		}
		var err error
		if docs, err = scalar.Inner().Documents(); err != nil {
			return nil, err
		}
	}
	if d.Index > len(docs) {
		return nil, errors.New("a document is gone")
	}
	return docs[d.Index-1], nil
}
