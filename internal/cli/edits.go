package cli

import (
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

// editsRoom bounds the bytes of a file that are read again to try edits: each finding takes the size of the file. A few
// kilobytes with dozens of findings have room; a file with a thousand would take minutes.
const editsRoom = 128 << 10

// editor finds the edits that mvpcheck patch makes where one finding is the only one to fix, as patch --only with its rule
// makes them: with what kube-apiserver would not start without. There are none where patch refuses.
type editor struct {
	judge   *judge
	choices *choices
	in      *config.Input
	// judgements are those of the clusters of the file.
	judgements []*checks.Judgement
	room       int
	alone      *patch.Alone
}

// edits returns the edits for a finding about the cluster of an index within the file.
func (e *editor) edits(cluster int, f *checks.Finding) []report.Edit {
	file := e.in.File
	if e.room -= len(file.Data); e.room < 0 {
		return nil
	}
	if e.alone == nil {
		e.alone = e.start()
	}
	found, err := e.alone.Edits(cluster, f)
	if err != nil {
		return nil
	}
	edits := make([]report.Edit, len(found))
	for i, edit := range found {
		start, end := file.Position(edit.Start), file.Position(edit.End)
		edits[i] = report.Edit{
			Location: report.Location{
				File: report.Text(file.Name), Line: start.Line, Column: start.Column, EndLine: end.Line, EndColumn: end.Column,
			},
			New: string(edit.New),
		}
	}
	return edits
}

// start judges the file by every rule, as far as that was not done.
func (e *editor) start() *patch.Alone {
	every := func(c *config.Cluster) []checks.Finding {
		j, err := checks.Judge(c, e.judge.byEvery(e.choices))
		if err != nil {
			return nil
		}
		return j.Findings
	}
	findings := make([][]checks.Finding, len(e.judgements))
	for i, j := range e.judgements {
		if findings[i] = j.Findings; e.choices.restricted() {
			findings[i] = every(j.Cluster)
		}
	}
	return patch.NewAlone(e.in, findings, patch.Options{Every: every, Prepare: e.judge.prepare(e.choices)})
}
