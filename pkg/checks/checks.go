// Package checks judges a control plane's configuration: a rule is a value, and running the rules over a
// Cluster and a pair of releases gives findings. The package reads and prints nothing.
package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// Severity is how bad a finding is.
type Severity uint8

// The severities. Error: a server will not start, or clients get false 404s. Warning: it may, or a setting does not
// do what it says. Info: worth knowing.
const (
	Info Severity = iota
	Warning
	Error
)

// String returns info, warning or error.
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// Consequence is what follows if nothing is done.
type Consequence string

// The consequences of findings. WillNotStart means that kube-apiserver of the release exits on these settings; it
// must agree with the real binary.
const (
	None             Consequence = "none"
	FalseNotFound    Consequence = "false-404"
	WillNotStart     Consequence = "will-not-start"
	RefusedByKubeadm Consequence = "refused-by-kubeadm"
	LostOnUpgrade    Consequence = "lost-on-upgrade"
)

// When tells the two judgements of a configuration apart.
type When string

// Running is the release that the servers run now, Target the one that they are upgraded to.
const (
	Running When = "running"
	Target  When = "target"
)

// Pair is the upgrade that a configuration is judged for.
type Pair struct {
	From, To release.Release
	// Upgrade: the minor changes, so that servers of two releases run side by side. It is also set where From is the
	// newest release that mvpcheck knows and the next one is not known yet.
	Upgrade bool
}

// String returns "1.35.4 -> 1.36".
func (p Pair) String() string { return p.From.String() + " -> " + p.To.String() }

// Rule is one fact that a person can act on.
type Rule struct {
	// ID and Name are stable for ever.
	ID, Name string
	// Severity is the highest that the rule reports.
	Severity Severity
	// Fixable: mvpcheck patch makes the change itself where it can.
	Fixable bool
	// OnRequest: mvpcheck patch makes the change only where --only names the rule.
	OnRequest bool
	// HandOff: the rule is about requests between servers; with one control-plane node it is skipped.
	HandOff bool
	Doc     Doc
	// Run judges a configuration, Live a live control plane. A rule has one of them, or both.
	Run  func(*Pass)
	Live func(*LivePass)
	// Gap: its findings are about what could not be asked, and leave a gap in the verdict: no fault is known.
	Gap bool
	// After are the IDs of the rules whose findings explain those of this one, on a live control plane: it reports only
	// what none of them explains.
	After []string

	// withoutFlags: the rule has something to say even where nothing is known of the servers' flags.
	withoutFlags bool
}

// Doc is the documentation of a rule: the source of mvpcheck explain, docs/rules and the reports' help.
type Doc struct {
	// What says when the rule fires, Why what follows, Fix what to do.
	What, Why, Fix string
	// Facts are the rows of the measured facts that the rule rests on, such as S1 and H2.
	Facts []string
	// Since is the version of mvpcheck that the rule came with.
	Since string
}

// Finding is what a rule has to say about a configuration.
type Finding struct {
	Rule     *Rule
	Severity Severity
	// Subject is what it is about: a gate, a flag, a file or a field, by its name. By default it is what the first
	// change is about, else the path of the place.
	Subject string
	// Message says what is wrong, Why why that matters for this upgrade, Fix what to do.
	Message, Why, Fix string
	// At is the place to point at.
	At      yamldoc.Place
	Related []Related
	// Consequence is what follows, When for which of the two releases.
	Consequence Consequence
	When        []When
	// Pairs are those for which it holds, where several were judged (Judge).
	Pairs []Pair
	// Changes make up the fix; empty where mvpcheck patch cannot make it.
	Changes []Change

	// Servers are the names of the API servers of a live control plane that it is about, the one to act on first. Seen is
	// the evidence in words, Effects are what follows.
	Servers, Seen []string
	Effects       []Effect
}

// Effect is what follows from a finding on one API server.
type Effect struct {
	// Rules are the IDs of the rules that would report it by itself.
	Rules   []string
	Server  string
	Message string
}

// Key tells the findings about one configuration apart, together with their places, whatever their words are. It stays when
// the configuration is edited.
type Key struct {
	Rule    string // its ID
	Subject string
}

// Key returns the finding's key.
func (f *Finding) Key() Key { return Key{f.Rule.ID, f.Subject} }

// subject is what a finding is about where its rule does not say so.
func (f *Finding) subject() string {
	if len(f.Changes) > 0 {
		switch ch := &f.Changes[0]; {
		case ch.Gate != "":
			return ch.Gate
		case ch.Flag != "":
			return ch.Flag
		case ch.Arg != nil:
			return ch.Arg.Name
		}
	}
	return f.At.Path
}

// Fixable tells whether mvpcheck patch makes the changes where the rules that are named, by ID or name, are asked for.
func (f *Finding) Fixable(named []string) bool {
	return len(f.Changes) > 0 && (!f.Rule.OnRequest || slices.ContainsFunc(named, f.Rule.named))
}

// Related is a further place that a finding is about.
type Related struct {
	At      yamldoc.Place
	Message string
}

// Op is a kind of change.
type Op uint8

// The changes that fixes are made of, in the terms of the model.
const (
	// SetGate sets the feature gate Gate to On in apiServer's feature-gates, wherever they stand.
	SetGate Op = iota
	// SetFlag gives apiServer's extraArg Flag the value Value, adding it where it is missing.
	SetFlag
	// SetArg gives the extraArg Arg the value Value.
	SetArg
	// RemoveArg removes the extraArg Arg.
	RemoveArg
	// RenameArg gives the extraArg Arg the name Flag.
	RenameArg
	// DropMergeMethod removes the mergeMethod of the extraArg Arg.
	DropMergeMethod
	// QuoteValue turns the scalar Node into the string Value.
	QuoteValue
	// ReshapeArgs turns the extraArgs under Entry from a map into a list of name and value, or back.
	ReshapeArgs
	// RemoveEntry removes the map entry Entry, and its map where that becomes empty.
	RemoveEntry
	// AddVolume adds the host path Value to apiServer's extraVolumes, mounted read-only at the same path.
	AddVolume
)

// Change is one change of a configuration.
type Change struct {
	Op          Op
	Gate        string
	On          bool
	Flag, Value string
	Arg         *config.Arg
	Node        *yamldoc.Value
	Entry       *yamldoc.Entry
	// Summary says in a few words what was done: set peer-ca-file.
	Summary string
}

// Input is what is judged.
type Input struct {
	Cluster *config.Cluster
	Pair    Pair
	// Root is the folder with a node's files, empty where none are at hand.
	Root string
	// Now is the time that certificates are judged at.
	Now time.Time
	// CertDays is the number of days before its end at which a certificate is reported.
	CertDays int
}

// Note is why a rule was not judged.
type Note struct {
	Rule   *Rule
	Reason string
}

// Result is what the rules found.
type Result struct {
	Findings []Finding
	// Passed are the rules that had nothing to report.
	Passed []*Rule
	// Skipped are the rules that do not apply, Unknown those that could not be judged: a result with one of these
	// never counts as ready.
	Skipped, Unknown []Note
}

// Run judges an input by those of the rules that are about configurations. Findings are in the order of their places, those
// of one place in the order of the rules. Where the two releases serve the same, what would lead to false 404s is a warning.
func Run(in Input, rules []*Rule) Result {
	s := newState(in)
	res := run(s, rules)
	s.harmless(res.Findings)
	return res
}

// run judges what the servers are set to, whether or not it matters for the pair of releases.
func run(s *state, rules []*Rule) Result {
	res := Result{Passed: make([]*Rule, 0, len(rules))}
	in := s.in
	for _, rule := range rules {
		if rule.Run == nil {
			continue // it judges live control planes
		}
		p := &Pass{Input: &s.in, state: s, rule: rule}
		if reason := s.skip(rule); reason != "" {
			res.Skipped = append(res.Skipped, Note{rule, reason})
			continue
		}
		rule.Run(p)
		switch {
		case len(p.findings) > 0:
			res.Findings = append(res.Findings, p.findings...)
			if p.unknown != "" {
				res.Unknown = append(res.Unknown, Note{rule, p.unknown})
			}
		case p.unknown != "":
			res.Unknown = append(res.Unknown, Note{rule, p.unknown})
		case p.skipped != "":
			res.Skipped = append(res.Skipped, Note{rule, p.skipped})
		default:
			res.Passed = append(res.Passed, rule)
		}
	}
	slices.SortStableFunc(res.Findings, func(a, b Finding) int {
		return cmp.Or(fileOrder(in, a.At)-fileOrder(in, b.At), strings.Compare(a.At.File.Name, b.At.File.Name), a.At.Start-b.At.Start)
	})
	return res
}

// fileOrder puts the configuration itself before the files beside it.
func fileOrder(in Input, at yamldoc.Place) int {
	if at.File == in.Cluster.Input.File {
		return 0
	}
	return 1
}

// Pass is one rule's run over one input.
type Pass struct {
	*Input
	*state
	rule             *Rule
	findings         []Finding
	skipped, unknown string
}

// Report adds a finding. One about the same subject and place as an earlier one is merged with it: the graver one has the word.
func (p *Pass) Report(f Finding) {
	f.Rule = p.rule
	if f.Consequence == "" {
		f.Consequence = None
	}
	if len(f.When) == 0 {
		f.When = []When{Running, Target}
	}
	if f.Subject == "" {
		f.Subject = f.subject()
	}
	for i := range p.findings {
		g := &p.findings[i]
		if g.At != f.At || g.Key() != f.Key() {
			continue
		}
		switch {
		case g.Consequence == f.Consequence:
			g.When = unionOf(g.When, f.When)
		case f.Consequence == WillNotStart:
			*g = f
		}
		return
	}
	p.findings = append(p.findings, f)
}

// unionOf returns what is in a or in b, running before target.
func unionOf(a, b []When) []When {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Skip says why the rule does not apply.
func (p *Pass) Skip(format string, args ...any) { p.skipped = fmt.Sprintf(format, args...) }

// CannotTell says why the rule could not be judged.
func (p *Pass) CannotTell(format string, args ...any) { p.unknown = fmt.Sprintf(format, args...) }

// View is one server as it is judged: the flags that it gets at one of the two releases.
type View struct {
	config.Server
	When []When
	// Release is the binary's, Emulated the one that it behaves as (S4).
	Release, Emulated release.Release
	// Effective are the versions that the server acts by; where it exits on the flags for them, VersionError says why.
	Effective    release.Effective
	VersionError *release.VersionError
	Gates        release.FeatureGates
	// GateOn: the server has the gate on, by name (GateNamed) or otherwise. It is not to be trusted where the flags are
	// refused (MVP105 to MVP108).
	GateOn, GateNamed bool

	apis *apiSet
}

// state is what several rules ask of one input, computed once.
type state struct {
	in    Input
	views []View
	// single is why there is but one control-plane node, empty where there are several.
	single string
	// noFlags is why nothing is known of the flags, empty where they are.
	noFlags string
	// lacks is what the servers of the two releases lack of each other.
	lacks func() lacking
}

// Views returns the servers at the running release and at the target.
func (s *state) Views() []View { return s.views }

// At returns the views of one of the two releases.
func (s *state) At(when When) []View {
	var views []View
	for _, v := range s.views {
		if slices.Contains(v.When, when) {
			views = append(views, v)
		}
	}
	return views
}
