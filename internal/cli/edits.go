package cli

import (
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

// editsRoom bounds the bytes of a file that are read again to try edits: each finding takes the size of the file. A few
// kilobytes with dozens of findings have room; a file with a thousand would take minutes.
const editsRoom = 128 << 10

// editsFor returns the edits that mvpcheck patch makes where the finding, which is one about the cluster of an index within
// its file, is the only one to fix, as patch --only with its rule makes them: with what kube-apiserver would not start without.
// There are none where patch refuses.
func (j *judge) editsFor(d *judged, cluster int, f *checks.Finding, ch *choices) []report.Edit {
	only, every := *ch, *ch
	only.rules, every.rules = []*checks.Rule{f.Rule}, checks.All()
	judge := func(ch *choices) func(c *config.Cluster) []checks.Finding {
		return func(c *config.Cluster) []checks.Finding {
			again, err := checks.Judge(c, j.by(ch))
			if err != nil {
				return nil
			}
			return again.Findings
		}
	}
	file := d.Cluster.Input.File
	result, err := patch.FixOne(file.Name, file.Data, patch.Options{
		Judge: judge(&only),
		Every: judge(&every),
		Prepare: func(in *config.Input) error {
			for _, c := range in.Clusters {
				j.extras.prepare(c, &only)
			}
			return nil
		},
	}, func(i int, g *checks.Finding) bool {
		return i == cluster && g.Key() == f.Key() && samePlace(g.At, f.At)
	})
	if err != nil || result == nil {
		return nil
	}
	var edits []report.Edit
	for _, e := range result.Edits() {
		start, end := file.Position(e.Start), file.Position(e.End)
		edits = append(edits, report.Edit{
			Location: report.Location{File: file.Name, Line: start.Line, Column: start.Column, EndLine: end.Line, EndColumn: end.Column},
			New:      string(e.New),
		})
	}
	return edits
}

// samePlace tells whether a place is where another was when the files were read before.
func samePlace(a, b yamldoc.Place) bool {
	return !a.IsZero() && !b.IsZero() && a.File.Name == b.File.Name && a.Start == b.Start && a.End == b.End
}
