package report

import (
	"cmp"
	"slices"
	"strings"
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

// String is the verdict as reports begin with it.
func (v Verdict) String() string {
	switch v {
	case VerdictReady:
		return "READY"
	case VerdictNotReady:
		return "NOT READY"
	}
	return "CANNOT TELL"
}

// Finding is what one rule found: in one place of a file, or on servers that were asked.
type Finding struct {
	Rule     string   `json:"rule"` // the ID, such as MVP101
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Servers are those that it is about, the one to act on first; empty for the control plane as a whole, and nil
	// for what was found in files.
	Servers []Text `json:"servers,omitzero"`
	Message Text   `json:"message"`
	Why     Text   `json:"why"`
	// Effects are the findings that follow from this one, and Seen is the evidence in words; nil for what was found
	// in files.
	Effects []Effect `json:"effects,omitzero"`
	Seen    []Text   `json:"seen,omitzero"`
	Fix     Text     `json:"fix"`
	// Fixable: mvpcheck patch makes the change; nil for what was found on servers.
	Fixable *bool  `json:"fixable,omitzero"`
	Help    string `json:"help"` // the page of the rule

	// Consequence is what follows if nothing is done: false-404, will-not-start, refused-by-kubeadm, lost-on-upgrade
	// or none.
	Consequence string `json:"consequence"`
	// At says at which of "running" and "target" it follows; nil for what was found on servers.
	At []string `json:"at,omitzero"`
	// Pairs says for which pairs of releases the finding holds, each as Releases.String writes it, when several were
	// judged. Empty means for all.
	Pairs []string `json:"pairs,omitempty"`

	Location *Location `json:"location,omitempty"`
	Related  []Related `json:"related,omitempty"`

	// SourceLine is the text of the line that Location names, for the caret. It may be empty.
	SourceLine Text `json:"-"`
	// Fails: it counts for exit code 1 and is at or above --fail-on.
	Fails bool `json:"-"`
	// Edits are what mvpcheck patch does about this finding alone, in the order of their places. They are empty where it
	// does nothing, and where no format asked for them.
	Edits []Edit `json:"-"`
}

// Effect is a finding that follows from another.
type Effect struct {
	Rules   []string `json:"rules"` // such as MVP501, MVP502
	Server  Text     `json:"server"`
	Message Text     `json:"message"`
}

// Edit puts another text in the place of a region, which is empty where New is only inserted: then it ends where it
// begins.
type Edit struct {
	Location Location
	New      string
}

// Location is a region of a file. Lines and columns count from 1, columns in runes; the end is the column after the
// last rune. A zero is not known.
type Location struct {
	File      Text `json:"file"`
	Document  int  `json:"document,omitempty"`
	Line      int  `json:"line,omitempty"`
	Column    int  `json:"column,omitempty"`
	EndLine   int  `json:"endLine,omitempty"`
	EndColumn int  `json:"endColumn,omitempty"`
	Path      Text `json:"path,omitempty"` // in the YAML, such as apiServer.extraArgs
}

// Related is a second place that a finding is about.
type Related struct {
	Location Location `json:"location"`
	Message  Text     `json:"message"`
}

// Silenced is a finding that an ignore comment keeps out of the verdict.
type Silenced struct {
	Finding
	Reason      Text `json:"reason"`
	CommentLine int  `json:"commentLine"`
}

// Skipped is a rule that could not or need not be asked.
type Skipped struct {
	Rule   string `json:"rule"`
	Reason Text   `json:"reason"`
}

// Note is something to know that no rule is about.
type Note struct {
	Text     Text      `json:"text"`
	Location *Location `json:"location,omitempty"`
}

// Summary adds findings up.
type Summary struct {
	Errors   int     `json:"errors"`
	Warnings int     `json:"warnings"`
	Infos    int     `json:"infos"`
	Silenced int     `json:"silenced"`
	Fixable  int     `json:"fixable"`
	Verdict  Verdict `json:"verdict"`
}

// Add counts a finding.
func (s *Summary) Add(f *Finding) {
	switch f.Severity {
	case SeverityWarning:
		s.Warnings++
	case SeverityInfo:
		s.Infos++
	default:
		s.Errors++
	}
	if f.fixable() {
		s.Fixable++
	}
}

// counts is how much there is of which severity: "2 errors, 1 warning".
func (s *Summary) counts() string {
	text := countOf(s.Errors, "error") + ", " + countOf(s.Warnings, "warning")
	if s.Infos > 0 {
		text += ", " + countOf(s.Infos, "info")
	}
	return text
}

// Sort puts findings in the order of every report: by file, line and column, then the worst first, then by rule. What
// has no place comes first.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		var none Location
		la, lb := cmp.Or(a.Location, &none), cmp.Or(b.Location, &none)
		return cmp.Or(
			cmp.Compare(la.File, lb.File),
			cmp.Compare(la.Line, lb.Line),
			cmp.Compare(la.Column, lb.Column),
			cmp.Compare(a.Severity.rank(), b.Severity.rank()),
			strings.Compare(a.Rule, b.Rule),
		)
	})
}

// worstFirst are findings by their severity, else in their order.
func worstFirst(findings []Finding) []Finding {
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	return findings
}

func (f *Finding) fixable() bool { return f.Fixable != nil && *f.Fixable }

// isError takes what is no severity at all for an error, so that a mistake never looks like success.
func (f *Finding) isError() bool { return f.Severity != SeverityWarning && f.Severity != SeverityInfo }

// live tells whether a finding is about servers that were asked.
func (f *Finding) live() bool { return f.Servers != nil }

// title is a finding's rule as a title: MVP101 gate-off-on-running.
func (f *Finding) title() string { return ruleTitle(f.Rule, f.Name) }

// ruleTitle is a rule as a title.
func ruleTitle(id, name string) string { return strings.TrimSuffix(id+" "+name, " ") }

// message is a finding's message behind the first of the servers that it is about.
func (f *Finding) message() Text {
	if len(f.Servers) == 0 {
		return f.Message
	}
	return firstOf(f.Servers, ", ") + ": " + f.Message
}

// paragraphs are all that there is to say of a finding, apart from its message.
func (f *Finding) paragraphs() []Text {
	var lines []Text
	for i := range f.Effects {
		lines = append(lines, f.Effects[i].line())
	}
	if f.Why != "" {
		lines = append(lines, "why: "+f.Why)
	}
	if f.Fix != "" {
		lines = append(lines, "fix: "+f.Fix)
	}
	return lines
}

// line is an effect with its server and the rules that see it, as far as there are any.
func (e *Effect) line() Text {
	text := Text("effect: ")
	if e.Server != "" {
		text += e.Server + ": "
	}
	text += e.Message
	if len(e.Rules) > 0 {
		text += Text(" [" + strings.Join(e.Rules, ", ") + "]")
	}
	return text
}

// on is the server of an effect where that is not the one that the finding is about.
func (e *Effect) on(f *Finding) Text {
	if len(f.Servers) == 1 && f.Servers[0] == e.Server {
		return ""
	}
	return e.Server
}

// onlyFor are the pairs of releases that a finding holds for, where those are not all of so many.
func (f *Finding) onlyFor(pairs int) Text {
	if n := len(f.Pairs); n == 0 || n >= pairs {
		return ""
	}
	return pairList(f.Pairs) + " only"
}

func (s Severity) rank() int {
	return slices.Index([]Severity{SeverityError, SeverityWarning, SeverityInfo}, s)
}
