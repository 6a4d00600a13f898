package report

import (
	"slices"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// Choices are what the command line asks for of findings.
type Choices struct {
	// Requested are the rules that it names: their fixes on request are made.
	Requested []string
	// Fails tells whether findings of a severity end in exit code 1.
	Fails func(checks.Severity) bool
	// Edits returns what mvpcheck patch would do about a finding alone; nil where no format has it.
	Edits func(*checks.Finding) []Edit
}

// ClusterOf is what the rules say of a cluster. What the cluster is called on the command line is for the caller to say.
func ClusterOf(j *checks.Judgement, ch Choices) Cluster {
	c := Cluster{
		Source: Text(j.Cluster.Input.File.Name), Documents: Text(j.Cluster.Documents()),
		Why: Text(j.Why), CannotTell: Text(j.CannotTell()),
	}
	switch len(j.Pairs) {
	case 0:
	case 1:
		u := UpgradeOf(j.Pairs[0])
		c.From, c.To = u.From, u.To
	default:
		for _, p := range j.Pairs {
			c.Pairs = append(c.Pairs, UpgradeOf(p))
		}
	}
	for i := range j.Findings {
		found := &j.Findings[i]
		f := FindingOf(found, ch.Requested)
		f.Fails = ch.Fails(found.Severity)
		if ch.Edits != nil && f.fixable() {
			f.Edits = ch.Edits(found)
		}
		c.Findings = append(c.Findings, f)
	}
	Sort(c.Findings)
	for i := range j.Silenced {
		s := &j.Silenced[i]
		c.Silenced = append(c.Silenced, Silenced{
			Finding: FindingOf(&s.Finding, ch.Requested), Reason: Text(s.Reason), CommentLine: s.CommentLine,
		})
	}
	for _, r := range j.Passed {
		c.Passed = append(c.Passed, r.ID)
	}
	c.Skipped = skippedOf(slices.Concat(j.Skipped, j.Unknown))
	return c
}

func skippedOf(notes []checks.Note) []Skipped {
	var out []Skipped
	for _, n := range notes {
		out = append(out, Skipped{Rule: n.Rule.ID, Reason: Text(n.Reason)})
	}
	return out
}

// UpgradeOf is the upgrade that a pair of releases is.
func UpgradeOf(p checks.Pair) Upgrade {
	return Upgrade{From: Text(p.From.Full()), To: Text(p.To.Full())}
}

// FindingOf is a finding about a configuration. The rules that are requested are as Choices has them.
func FindingOf(f *checks.Finding, requested []string) Finding {
	out := findingOf(f)
	out.Fixable = new(f.Fixable(requested))
	out.At = []string{}
	for _, w := range f.When {
		out.At = append(out.At, string(w))
	}
	for _, p := range f.Pairs {
		out.Pairs = append(out.Pairs, UpgradeOf(p).String())
	}
	for _, r := range f.Related {
		if l := LocationOf(r.At); l != nil {
			out.Related = append(out.Related, Related{Location: *l, Message: Text(r.Message)})
		}
	}
	if out.Location != nil {
		out.SourceLine = Text(f.At.File.Line(out.Location.Line))
	}
	return out
}

// liveFindingOf is a finding about servers that were asked.
func liveFindingOf(f *checks.Finding) Finding {
	out := findingOf(f)
	out.Servers, out.Seen = texts(f.Servers), texts(f.Seen)
	for _, e := range f.Effects {
		out.Effects = append(out.Effects, Effect{Rules: e.Rules, Server: Text(e.Server), Message: Text(e.Message)})
	}
	return out
}

func findingOf(f *checks.Finding) Finding {
	return Finding{
		Rule: f.Rule.ID, Name: f.Rule.Name, Severity: Severity(f.Severity.String()),
		Message: Text(f.Message), Why: Text(f.Why), Fix: Text(f.Fix), Help: PageOf(f.Rule),
		Consequence: string(f.Consequence), Location: LocationOf(f.At),
	}
}

// PageOf is the page of a rule within the repository.
func PageOf(r *checks.Rule) string { return "docs/rules/" + r.ID + ".md" }

// LocationOf is a place as the report has it; nil for no place.
func LocationOf(at yamldoc.Place) *Location {
	if at.IsZero() {
		return nil
	}
	start, end := at.Range()
	l := &Location{File: Text(at.File.Name), Document: at.Document, Line: start.Line, Column: start.Column, Path: Text(at.Path)}
	if at.End > at.Start {
		l.EndLine, l.EndColumn = end.Line, end.Column
	}
	return l
}

// NotesOf are the notes of an input.
func NotesOf(in *config.Input) []Note {
	var notes []Note
	for _, n := range in.Notes {
		notes = append(notes, Note{Text: Text(n.Text), Location: LocationOf(n.At)})
	}
	return notes
}
