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
	c := report.Cluster{
		Source: report.Text(j.name), Argument: report.Text(j.argument), Documents: report.Text(documents(d.Cluster)),
		Why: report.Text(d.Why), CannotTell: report.Text(d.CannotTell()),
	}
	switch len(d.Pairs) {
	case 0:
	case 1:
		u := reportPair(d.Pairs[0])
		c.From, c.To = u.From, u.To
	default:
		for _, p := range d.Pairs {
			c.Pairs = append(c.Pairs, reportPair(p))
		}
	}
	for i := range d.Findings {
		f := reportFinding(&d.Findings[i], ch)
		f.Fails = ch.failOn.reached(d.Findings[i].Severity)
		if d.edits != nil && *f.Fixable {
			f.Edits = d.edits(&d.Findings[i])
		}
		c.Findings = append(c.Findings, f)
	}
	report.Sort(c.Findings)
	for i := range d.Silenced {
		s := &d.Silenced[i]
		c.Silenced = append(c.Silenced, report.Silenced{
			Finding: reportFinding(&s.Finding, ch), Reason: report.Text(s.Reason), CommentLine: s.CommentLine,
		})
	}
	for _, r := range d.Passed {
		c.Passed = append(c.Passed, r.ID)
	}
	for _, n := range slices.Concat(d.Skipped, d.Unknown) {
		c.Skipped = append(c.Skipped, report.Skipped{Rule: n.Rule.ID, Reason: report.Text(n.Reason)})
	}
	return c
}

func reportPair(p checks.Pair) report.Upgrade {
	return report.Upgrade{From: report.Text(p.From.Full()), To: report.Text(p.To.Full())}
}

// reportFinding is a finding as the report has it. ch is nil for one on servers that were asked.
func reportFinding(f *checks.Finding, ch *choices) report.Finding {
	out := report.Finding{
		Rule: f.Rule.ID, Name: f.Rule.Name, Severity: report.Severity(f.Severity.String()),
		Message: report.Text(f.Message), Why: report.Text(f.Why), Fix: report.Text(f.Fix), Help: rulePage(f.Rule),
		Consequence: string(f.Consequence), Location: location(f.At),
	}
	if ch == nil {
		out.Servers, out.Seen = reportTexts(f.Servers), reportTexts(f.Seen)
		for _, e := range f.Effects {
			out.Effects = append(out.Effects, report.Effect{Rules: e.Rules, Server: report.Text(e.Server), Message: report.Text(e.Message)})
		}
		return out
	}
	out.Fixable = new(fixable(f, ch))
	for _, w := range f.When {
		out.At = append(out.At, string(w))
	}
	for _, p := range f.Pairs {
		out.Pairs = append(out.Pairs, reportPair(p).String())
	}
	for _, r := range f.Related {
		if l := location(r.At); l != nil {
			out.Related = append(out.Related, report.Related{Location: *l, Message: report.Text(r.Message)})
		}
	}
	if out.Location != nil {
		out.SourceLine = report.Text(f.At.File.Line(out.Location.Line))
	}
	return out
}

// reportTexts are words as the report has them, never nil.
func reportTexts(words []string) []report.Text {
	out := make([]report.Text, len(words))
	for i, word := range words {
		out[i] = report.Text(word)
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
	l := &report.Location{
		File: report.Text(at.File.Name), Document: at.Document, Line: start.Line, Column: start.Column, Path: report.Text(at.Path),
	}
	if at.End > at.Start {
		l.EndLine, l.EndColumn = end.Line, end.Column
	}
	return l
}

// reportNotes are the notes of an input.
func reportNotes(in *config.Input) []report.Note {
	var notes []report.Note
	for _, n := range in.Notes {
		notes = append(notes, report.Note{Text: report.Text(n.Text), Location: location(n.At)})
	}
	return notes
}

// nameClusters tells several clusters of one file apart.
func nameClusters(clusters []report.Cluster, inputs []*judged) {
	if len(clusters) < 2 {
		return
	}
	for i := range clusters {
		clusters[i].Source += report.Text(" (" + clusterName(inputs[i].Cluster) + ")")
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
