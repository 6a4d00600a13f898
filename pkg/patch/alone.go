package patch

import (
	"github.com/aymanbagabas/go-udiff"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// Alone makes the changes of findings about a file, each by itself in the file as it is.
type Alone struct {
	base fixer
}

// NewAlone takes an input and what all rules found in its clusters, in their order, before anything is changed. Of the
// options it needs Every.
func NewAlone(in *config.Input, findings [][]checks.Finding, o Options) *Alone {
	o.Judge = nil
	a := &Alone{fixer{options: o, in: in}}
	for i := range findings {
		for _, finding := range findings[i] {
			a.base.findings = append(a.base.findings, judged{Finding: finding, cluster: i})
		}
	}
	a.base.noteBefore(a.base.findings)
	return a
}

// Edits returns what makes the changes of one of the findings, which is about the cluster of an index, and no others
// but those without which kube-apiserver would not start with them; in whole lines. The error is that of Fix.
func (a *Alone) Edits(cluster int, finding *checks.Finding) ([]yamldoc.Edit, error) {
	f := a.base
	f.refused = map[findingKey]int{}
	if err := f.refuseForms(); err != nil {
		return nil, err
	}
	if err := f.fix(&judged{Finding: *finding, cluster: cluster}); err != nil {
		return nil, err
	}
	if err := f.fixCaused(); err != nil {
		return nil, err
	}
	if len(f.refusals) > 0 {
		return nil, joinRefusals(f.refusals)
	}
	var edits []yamldoc.Edit
	for _, e := range udiff.Lines(string(a.base.in.File.Data), string(f.in.File.Data)) {
		edits = append(edits, yamldoc.Edit{Start: e.Start, End: e.End, New: []byte(e.New)})
	}
	return edits, nil
}
