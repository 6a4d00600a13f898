package cli

import (
	"fmt"
	"slices"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// toReport turns what the rules say of a cluster into its part of the report.
func (d *judged) toReport(j *job, ch *choices) report.Cluster {
	c := report.Cluster{Source: j.name, Argument: j.argument, Documents: documents(d.Cluster), Why: d.Why, CannotTell: d.CannotTell()}
	switch len(d.Pairs) {
	case 0:
	case 1:
		c.From, c.To = d.Pairs[0].From.Full(), d.Pairs[0].To.Full()
	default:
		for _, p := range d.Pairs {
			c.Pairs = append(c.Pairs, reportPair(p))
		}
	}
	for i := range d.Findings {
		f := reportFinding(&d.Findings[i], ch)
		f.Fails = ch.failOn.reached(d.Findings[i].Severity)
		if d.edits != nil && f.Fixable {
			f.Edits = d.edits(&d.Findings[i])
		}
		c.Findings = append(c.Findings, f)
	}
	report.Sort(c.Findings)
	for i := range d.Silenced {
		s := &d.Silenced[i]
		c.Silenced = append(c.Silenced, report.Silenced{Finding: reportFinding(&s.Finding, ch), Reason: s.Reason, CommentLine: s.CommentLine})
	}
	for _, r := range d.Passed {
		c.Passed = append(c.Passed, r.ID)
	}
	for _, n := range slices.Concat(d.Skipped, d.Unknown) {
		c.Skipped = append(c.Skipped, report.Skipped{Rule: n.Rule.ID, Reason: n.Reason})
	}
	return c
}

func reportPair(p checks.Pair) report.Pair { return report.Pair{From: p.From.Full(), To: p.To.Full()} }

func reportFinding(f *checks.Finding, ch *choices) report.Finding {
	out := report.Finding{
		Rule: f.Rule.ID, Name: f.Rule.Name, Severity: report.Severity(f.Severity.String()),
		Message: f.Message, Why: f.Why, Fix: f.Fix, Fixable: fixable(f, ch), Help: rulePage(f.Rule),
		Consequence: string(f.Consequence), Location: location(f.At),
	}
	for _, w := range f.When {
		out.At = append(out.At, string(w))
	}
	for _, p := range f.Pairs {
		out.Pairs = append(out.Pairs, reportPair(p).String())
	}
	for _, r := range f.Related {
		if l := location(r.At); l != nil {
			out.Related = append(out.Related, report.Related{Location: *l, Message: r.Message})
		}
	}
	if out.Location != nil {
		out.SourceLine = f.At.File.Line(out.Location.Line)
	}
	return out
}

// fixable tells whether mvpcheck patch with the same --only makes the change.
func fixable(f *checks.Finding, ch *choices) bool {
	return len(f.Changes) > 0 && (!f.Rule.OnRequest || requested(f.Rule, ch))
}

// requested tells whether --only names a rule.
func requested(r *checks.Rule, ch *choices) bool {
	return slices.ContainsFunc(ch.only, func(name string) bool {
		named, ok := checks.Find(name)
		return ok && named.ID == r.ID
	})
}

// rulePage is the page of a rule within the repository.
func rulePage(r *checks.Rule) string { return "docs/rules/" + r.ID + ".md" }

// location is a place as the report has it; nil for no place.
func location(at yamldoc.Place) *report.Location {
	if at.IsZero() {
		return nil
	}
	start, end := at.Range()
	l := &report.Location{File: at.File.Name, Document: at.Document, Line: start.Line, Column: start.Column, Path: at.Path}
	if at.End > at.Start {
		l.EndLine, l.EndColumn = end.Line, end.Column
	}
	return l
}

// reportNotes are the notes of an input.
func reportNotes(in *config.Input) []report.Note {
	var notes []report.Note
	for _, n := range in.Notes {
		notes = append(notes, report.Note{Text: n.Text, Location: location(n.At)})
	}
	return notes
}

// nameClusters tells several clusters of one file apart.
func nameClusters(clusters []report.Cluster, inputs []*judged) {
	if len(clusters) < 2 {
		return
	}
	for i := range clusters {
		clusters[i].Source += " (" + clusterName(inputs[i].Cluster) + ")"
	}
}

// clusterName names a cluster within its file: a KubeadmControlPlane by its own name.
func clusterName(c *config.Cluster) string {
	if name := controlPlane(c).Get("metadata", "name").Str(); name != "" {
		return name
	}
	return fmt.Sprintf("document %d", c.Doc.FileIndex())
}

// controlPlane returns the KubeadmControlPlane or template that holds a cluster, which may be an item of a List; nil for
// other forms.
func controlPlane(c *config.Cluster) *yamldoc.Value {
	if c.Form != config.FormControlPlane {
		return nil
	}
	v := c.Root
	for v != nil && (v.Get("apiVersion") == nil || v.Get("kind") == nil) {
		v = v.Parent()
	}
	return v
}
