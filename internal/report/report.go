// Package report holds the result of mvpcheck check as one value and writes
// it in the formats that people and machines read.
//
// Every format takes its pieces through the same small interface, Writer, one
// cluster at a time, so a directory with thousands of files is reported in the
// memory that one of them needs. What is a finding and what is not has been
// decided before: nothing here judges, apart from adding up.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// The identity of the document that the JSON and YAML writers produce. Its
// schema is docs/schema/check-report.schema.json.
const (
	APIVersion = "mvpcheck.dev/v1alpha1"
	Kind       = "CheckReport"
)

// Severity says how bad a finding is.
type Severity string

// The severities, worst first.
const (
	SeverityError   Severity = "error"   // a server will not start, or clients get false 404s
	SeverityWarning Severity = "warning" // it may, or a setting does not do what it says
	SeverityInfo    Severity = "info"    // worth knowing
)

// Verdict is the answer to "can this be upgraded?".
type Verdict string

// The verdicts. Cannot-tell is a result of its own: it is not success.
const (
	VerdictReady      Verdict = "ready"
	VerdictNotReady   Verdict = "not-ready"
	VerdictCannotTell Verdict = "cannot-tell"
)

// Report is everything that one run of mvpcheck check has to say.
type Report struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Version    string       `json:"version"` // of mvpcheck
	Clusters   []Cluster    `json:"clusters"`
	Errors     []InputError `json:"errors,omitempty"`
	PassedOver []PassedOver `json:"passedOver,omitempty"`
	Summary    Summary      `json:"summary"`
}

// Cluster is the result for one control plane: a file, standard input or a
// live cluster.
type Cluster struct {
	// Source names the cluster to people: its file, or the context.
	Source string `json:"source"`
	// Argument names the cluster on a command line: its file, "-" for standard
	// input, empty for the cluster of the kubeconfig.
	Argument string `json:"-"`
	// Documents says what was read, such as "ClusterConfiguration (document 2
	// of 3), kubeadm.k8s.io/v1beta4".
	Documents string `json:"documents,omitempty"`

	// From and To are the releases, such as v1.35.4 and v1.36.0. Both are
	// empty when no version is known and Pairs holds what was judged instead.
	From  string `json:"from"`
	To    string `json:"to"`
	Pairs []Pair `json:"pairs,omitempty"`
	// Why says where the releases come from.
	Why string `json:"why,omitempty"`

	Notes    []Note     `json:"notes,omitempty"`
	Findings []Finding  `json:"findings"`
	Silenced []Silenced `json:"silenced"`
	Passed   []string   `json:"passed"` // rule IDs
	Skipped  []Skipped  `json:"skipped"`

	// CannotTell is the reason why readiness cannot be judged, or not wholly.
	// Without a finding of severity error it makes the verdict cannot-tell.
	CannotTell string `json:"cannotTell,omitempty"`
}

// Pair is two releases of one upgrade, such as v1.35.0 and v1.36.0.
type Pair struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// String is the pair as people and Finding.Pairs write it: "1.35 -> 1.36".
func (p Pair) String() string { return shortRelease(p.From) + " -> " + shortRelease(p.To) }

// Note is something to know about how the cluster was read.
type Note struct {
	Text     string    `json:"text"`
	Location *Location `json:"location,omitempty"`
}

// Finding is what one rule found in one place.
type Finding struct {
	Rule     string   `json:"rule"` // the ID, such as MVP101
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Why      string   `json:"why"`
	Fix      string   `json:"fix"`
	Fixable  bool     `json:"fixable"` // mvpcheck patch makes the change
	Help     string   `json:"help"`    // the page of the rule

	// Consequence is what follows if nothing is done: false-404,
	// will-not-start, refused-by-kubeadm, lost-on-upgrade or none.
	Consequence string `json:"consequence"`
	// At says at which of "running" and "target" it follows.
	At []string `json:"at"`
	// Pairs says for which pairs the finding holds, each as Pair.String writes
	// it, when several were judged. Empty means for all.
	Pairs []string `json:"pairs,omitempty"`

	Location *Location `json:"location,omitempty"`
	Related  []Related `json:"related,omitempty"`

	// SourceLine is the text of the line that Location names, for the caret.
	// It may be empty.
	SourceLine string `json:"-"`
	// Fails: it is at or above --fail-on.
	Fails bool `json:"-"`
	// Edits are what mvpcheck patch does about this finding alone, in the order
	// of their places. They are empty where it does nothing, and where no format
	// asked for them.
	Edits []Edit `json:"-"`
}

// Edit puts another text in the place of a region, which is empty where New is
// only inserted: then it ends where it begins.
type Edit struct {
	Location Location
	New      string
}

// Location is a region of a file. Lines and columns count from 1, columns in
// runes; the end is the column after the last rune. A zero is not known.
type Location struct {
	File      string `json:"file"`
	Document  int    `json:"document,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Path      string `json:"path,omitempty"` // in the YAML, such as apiServer.extraArgs
}

// Related is a second place that a finding is about.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// Silenced is a finding that an ignore comment keeps out of the verdict.
type Silenced struct {
	Finding
	Reason      string `json:"reason"`
	CommentLine int    `json:"commentLine"`
}

// Skipped is a rule that could not or need not be asked.
type Skipped struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// InputError is a file that could not be read. Give a file either as a
// cluster or as input errors.
type InputError struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// PassedOver is a file of a directory that holds nothing to check.
type PassedOver struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Summary adds a whole report up.
type Summary struct {
	Errors   int     `json:"errors"`
	Warnings int     `json:"warnings"`
	Infos    int     `json:"infos"`
	Silenced int     `json:"silenced"`
	Fixable  int     `json:"fixable"`
	Verdict  Verdict `json:"verdict"`
}

// Verdict is the verdict on this cluster alone.
func (c *Cluster) Verdict() Verdict {
	for i := range c.Findings {
		if c.Findings[i].isError() {
			return VerdictNotReady
		}
	}
	if c.CannotTell != "" {
		return VerdictCannotTell
	}
	return VerdictReady
}

// MarshalJSON writes a list that is nil as [], because readers of the report
// index these lists without asking, and adds the verdict on the cluster.
func (c Cluster) MarshalJSON() ([]byte, error) {
	type plain Cluster
	p := plain(c)
	p.Findings = changed(c.Findings, func(f *Finding) { f.At = orEmpty(f.At) })
	p.Silenced = changed(c.Silenced, func(s *Silenced) { s.At = orEmpty(s.At) })
	p.Passed = orEmpty(c.Passed)
	p.Skipped = orEmpty(c.Skipped)
	return marshal(struct {
		plain
		Verdict Verdict `json:"verdict"`
	}{p, c.Verdict()})
}

// marshal is json.Marshal without its HTML escapes: it would write the ">" of
// "1.35 -> 1.36" as \u003e.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}

// changed is a copy of s, never nil, with a change to each element.
func changed[E any](s []E, change func(*E)) []E {
	s = append([]E{}, s...)
	for i := range s {
		change(&s[i])
	}
	return s
}

func orEmpty[S ~[]E, E any](s S) S {
	if s == nil {
		return S{}
	}
	return s
}

// Tally adds the pieces of a report up. The zero Tally has seen nothing, and
// from nothing nobody can tell.
type Tally struct {
	sum             Summary
	ready, unjudged int
}

// Cluster counts the findings of a cluster.
func (t *Tally) Cluster(c *Cluster) {
	for i := range c.Findings {
		switch c.Findings[i].Severity {
		case SeverityWarning:
			t.sum.Warnings++
		case SeverityInfo:
			t.sum.Infos++
		default:
			t.sum.Errors++
		}
		if c.Findings[i].Fixable {
			t.sum.Fixable++
		}
	}
	t.sum.Silenced += len(c.Silenced)
	switch c.Verdict() {
	case VerdictReady:
		t.ready++
	case VerdictCannotTell:
		t.unjudged++
	}
}

// InputError counts a file that could not be read.
func (t *Tally) InputError() { t.unjudged++ }

// Summary is the sum so far with the verdict on it: an error anywhere is
// not-ready, and only when every cluster is ready is the whole.
func (t *Tally) Summary() Summary {
	s := t.sum
	switch {
	case s.Errors > 0:
		s.Verdict = VerdictNotReady
	case t.unjudged > 0 || t.ready == 0:
		s.Verdict = VerdictCannotTell
	default:
		s.Verdict = VerdictReady
	}
	return s
}

// Sort puts findings in the order of every report: by file, line and column,
// then the worst first, then by rule. What has no place comes first.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		var none Location
		la, lb := cmp.Or(a.Location, &none), cmp.Or(b.Location, &none)
		return cmp.Or(
			strings.Compare(la.File, lb.File),
			cmp.Compare(la.Line, lb.Line),
			cmp.Compare(la.Column, lb.Column),
			cmp.Compare(a.Severity.rank(), b.Severity.rank()),
			strings.Compare(a.Rule, b.Rule),
		)
	})
}

// isError takes what is no severity at all for an error, so that a mistake
// never looks like success.
func (f *Finding) isError() bool {
	return f.Severity != SeverityWarning && f.Severity != SeverityInfo
}

func (s Severity) rank() int {
	return slices.Index([]Severity{SeverityError, SeverityWarning, SeverityInfo}, s)
}

// A Writer writes one report in one format. The pieces come in the order in
// which they are to be read; Close comes last, once, and does not close what
// is written to. An error of any method is one of writing.
type Writer interface {
	Cluster(Cluster) error
	InputError(InputError) error
	PassedOver(PassedOver) error
	Close(Summary) error
}
