package patch

import (
	"github.com/aymanbagabas/go-udiff"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// FixOne makes the changes of one finding alone, and those without which kube-apiserver would not start with them: of the first that has changes and that is chosen, by the index of its
// cluster within the file. It is tried and judged anew as Fix does it. The result is nil where there is no such finding; the
// error is that of Fix.
func FixOne(name string, data []byte, o Options, chosen func(cluster int, f *checks.Finding) bool) (*Result, error) {
	f := &fixer{options: o, refused: map[findingKey]int{}}
	if err := f.read(yamldoc.NewFile(name, data)); err != nil {
		return nil, err
	}
	if err := f.refuseForms(); err != nil {
		return nil, err
	}
	f.noteBefore()
	f.judge()
	for i := range f.findings {
		j := &f.findings[i]
		if len(j.Changes) == 0 || !chosen(j.cluster, &j.Finding) {
			continue
		}
		if err := f.fix(j); err != nil {
			return nil, err
		}
		if err := f.fixCaused(); err != nil {
			return nil, err
		}
		if len(f.refusals) > 0 {
			return nil, joinRefusals(f.refusals)
		}
		return &Result{Name: name, Before: data, After: f.in.File.Data, Applied: f.applied, Input: f.in}, nil
	}
	return nil, nil
}

// Edits are what makes After of Before, in whole lines.
func (r *Result) Edits() []yamldoc.Edit {
	var edits []yamldoc.Edit
	for _, e := range udiff.Lines(string(r.Before), string(r.After)) {
		edits = append(edits, yamldoc.Edit{Start: e.Start, End: e.End, New: []byte(e.New)})
	}
	return edits
}
