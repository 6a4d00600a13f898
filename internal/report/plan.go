package report

import (
	"slices"
	"strings"
)

// KindPlan is the kind of the document that mvpcheck plan writes. Its schema is docs/schema/plan-report.schema.json.
const KindPlan = "PlanReport"

// PlanReport is everything that one run of mvpcheck plan has to say about the upgrade of one control plane.
type PlanReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"` // of mvpcheck
	// Source, Argument, Documents, From, To and Why are as those of Cluster; both releases are always known.
	Source    Text `json:"source"`
	Argument  Text `json:"-"`
	Documents Text `json:"documents,omitempty"`
	From      Text `json:"from"`
	To        Text `json:"to"`
	Why       Text `json:"why,omitempty"`
	// Order has the control-plane nodes in the order of the roll.
	Order []string `json:"order"`
	// PlanRoll is the upgrade with the configuration as it is.
	PlanRoll
	// Patched is the upgrade with the configuration that mvpcheck patch writes, rolled out on the running release first;
	// nil where patch changes nothing. Unprepared is the same without rolling it out first.
	Patched    *PlanPatched `json:"patched,omitempty"`
	Unprepared *PlanRoll    `json:"unprepared,omitempty"`
	// Added are the resources that the servers serve after the upgrade and not before it, Removed the other way round.
	Added   []PlanResource `json:"added"`
	Removed []PlanResource `json:"removed"`
	// Consequences are what follows from the false 404s of the roll as configured.
	Consequences []PlanConsequence `json:"consequences"`
	// Findings are the causes: what the rules find that makes a step fail.
	Findings []Finding `json:"findings"`
	// CannotTell is why the verdict is not a whole one, whatever the steps say.
	CannotTell string      `json:"cannotTell,omitempty"`
	Summary    PlanSummary `json:"summary"`
}

// PlanRoll is one way to bring the servers to the target release.
type PlanRoll struct {
	Steps []PlanStep `json:"steps"`
	// Stopped is why the roll ends before its last node.
	Stopped string `json:"stopped,omitempty"`
}

// PlanPatched is the roll with a patched configuration.
type PlanPatched struct {
	// Changes are what mvpcheck patch changes, each with its rules: "MVP101 set ...".
	Changes []string `json:"changes"`
	// Refused is why it does not write the configuration; then there are no steps.
	Refused string `json:"refused,omitempty"`
	PlanRoll
}

// The actions of steps.
const (
	ActionNone    = "none"
	ActionPrepare = "prepare"
	ActionUpgrade = "upgrade"
)

// PlanStep is the replacing of one server, and what the servers answer when it runs again.
type PlanStep struct {
	// Step counts from 1; 0 is the state before the roll, with no node.
	Step   int    `json:"step"`
	Node   string `json:"node"`
	Action string `json:"action"` // none, prepare (the same release with other flags) or upgrade
	// Releases are those of the servers that run in the end of the step, by their nodes.
	Releases map[string]string `json:"releases"`
	// Replacing is the moment when the node's server is stopped; nil before the roll.
	Replacing *PlanMoment `json:"replacing,omitempty"`
	// PlanMoment is when it runs again and the servers know each other. Where it does not start, the old one runs again.
	PlanMoment
	// NotStarting are the nodes whose server does not start; the roll stops there.
	NotStarting []PlanFailure `json:"notStarting"`
}

// PlanMoment is what the servers that run answer at one time. A resource of which nothing is said is served by each of
// them, or no server of the roll ever has it.
type PlanMoment struct {
	// Pairs has an entry for each ordered pair of servers that run.
	Pairs []Pair `json:"pairs"`
	// FalseNotFound are the resources for which a server answers 404 although another one serves them.
	FalseNotFound []Route `json:"falseNotFound"`
	// Unavailable are those for which it answers 503: a server that is stopped had them.
	Unavailable []Route `json:"unavailable"`
	// HandedOff are those that it hands to a peer, NotServed those that no server that runs has: a true 404.
	HandedOff []Route `json:"handedOff"`
	NotServed []Route `json:"notServed"`
	// Unknown are those of which it cannot be told, Blind the servers of which it is not known what they serve.
	Unknown []Route  `json:"unknown"`
	Blind   []string `json:"blind"`
	// Crashing are servers that crash when they ask a peer.
	Crashing []PlanCrash `json:"crashing"`
}

// PlanFailure is a server that does not start.
type PlanFailure struct {
	Node   string `json:"node"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
}

// PlanCrash is a server that crashes when it asks a peer. Certain is false where it may.
type PlanCrash struct {
	Server  string `json:"server"`
	Peer    string `json:"peer"`
	Reason  string `json:"reason"`
	Certain bool   `json:"certain"`
}

// PlanResource is a resource in which the releases differ.
type PlanResource struct {
	Group      string `json:"group"`
	Version    string `json:"version"`
	Resource   string `json:"resource"`
	Namespaced bool   `json:"namespaced"`
	// Emptied: namespace deletion empties it. Collected: garbage collection looks after it.
	Emptied   bool `json:"emptied"`
	Collected bool `json:"collected"`
}

// The kinds of consequences.
const (
	ConsequenceNamespaces = "namespace-deletion"
	ConsequenceGarbage    = "garbage-collection"
	ConsequenceClients    = "clients"
)

// PlanConsequence is what follows from false 404s, in words, with the resources as "GROUP/VERSION RESOURCE".
type PlanConsequence struct {
	Kind      string   `json:"kind"`
	Resources []string `json:"resources"`
	Message   string   `json:"message"`
}

// PlanSummary adds the roll as configured up.
type PlanSummary struct {
	Nodes int `json:"nodes"`
	Steps int `json:"steps"` // without the state before
	// Failing counts the steps with a false 404 that settings could avoid, a crash or a server that does not start; the
	// state before counts as one.
	Failing int `json:"failing"`
	// Resources counts the resources that a server answers a false 404 for in any step.
	Resources int `json:"resources"`
	Errors    int `json:"errors"` // of Findings
	Warnings  int `json:"warnings"`
	Infos     int `json:"infos"`
	// Verdict is not-ready where a step fails, cannot-tell where that is not known, else ready.
	Verdict Verdict `json:"verdict"`
	// Text is the verdict as a sentence.
	Text string `json:"text"`
}

// fails tells whether a false 404 that settings could avoid, or a crash, is in a moment.
func (m *PlanMoment) fails() bool {
	for i := range m.FalseNotFound {
		if !m.FalseNotFound[i].Subresource {
			return true
		}
	}
	for i := range m.Crashing {
		if m.Crashing[i].Certain {
			return true
		}
	}
	return false
}

// unsure tells whether something is not known in a moment.
func (m *PlanMoment) unsure() bool {
	for i := range m.Crashing {
		if !m.Crashing[i].Certain {
			return true
		}
	}
	return len(m.Unknown) > 0 || len(m.Blind) > 0
}

// Moments are those of the step, as it goes on.
func (s *PlanStep) Moments() []*PlanMoment {
	if s.Replacing == nil {
		return []*PlanMoment{&s.PlanMoment}
	}
	return []*PlanMoment{s.Replacing, &s.PlanMoment}
}

// Fails tells whether the step fails: false 404s that settings could avoid, a crash, a server that does not start.
func (s *PlanStep) Fails() bool {
	for _, m := range s.Moments() {
		if m.fails() {
			return true
		}
	}
	return len(s.NotStarting) > 0
}

// Unsure tells whether something in the step is not known.
func (s *PlanStep) Unsure() bool {
	for _, m := range s.Moments() {
		if m.unsure() {
			return true
		}
	}
	return false
}

// document is the report without lists that are nil, because readers of it index these lists without asking.
func (r PlanReport) document() *PlanReport {
	r.APIVersion, r.Kind = APIVersion, KindPlan
	r.Order = orEmpty(r.Order)
	r.PlanRoll = r.PlanRoll.filled()
	if r.Patched != nil {
		p := *r.Patched
		p.Changes, p.PlanRoll = orEmpty(p.Changes), p.PlanRoll.filled()
		r.Patched = &p
	}
	if r.Unprepared != nil {
		u := r.Unprepared.filled()
		r.Unprepared = &u
	}
	r.Added, r.Removed = orEmpty(r.Added), orEmpty(r.Removed)
	r.Consequences = changed(r.Consequences, func(c *PlanConsequence) { c.Resources = orEmpty(c.Resources) })
	r.Findings = changed(r.Findings, (*Finding).inFile)
	return &r
}

// filled is the roll without lists that are nil.
func (r PlanRoll) filled() PlanRoll {
	r.Steps = changed(r.Steps, func(s *PlanStep) {
		if s.Releases == nil {
			s.Releases = map[string]string{}
		}
		if s.Replacing != nil {
			m := s.Replacing.filled()
			s.Replacing = &m
		}
		s.PlanMoment = s.PlanMoment.filled()
		s.NotStarting = orEmpty(s.NotStarting)
	})
	return r
}

func (m PlanMoment) filled() PlanMoment {
	m.Pairs = changed(m.Pairs, func(p *Pair) { p.Reasons = orEmpty(p.Reasons) })
	for _, list := range []*[]Route{&m.FalseNotFound, &m.Unavailable, &m.HandedOff, &m.NotServed, &m.Unknown} {
		*list = changed(*list, func(r *Route) { r.ServedBy, r.Reasons = orEmpty(r.ServedBy), orEmpty(r.Reasons) })
	}
	m.Blind, m.Crashing = orEmpty(m.Blind), orEmpty(m.Crashing)
	return m
}

// Report makes the blocks of the document.
func (r *PlanReport) Report(run Invocation) *Report {
	s := &r.Summary
	order := Text(strings.Join(r.Order, ", "))
	out := &Report{
		Command: "mvpcheck plan", Version: r.Version, Document: r.document(), Files: 1,
		Title: "Upgrade plan for " + r.Source, Subject: []Phrase{{r.Source, true}},
		Summary: s.findings(),
		Verdict: Text(s.Verdict.String()) + " for " + minors(r.From, r.To), Sentence: Text(s.Text), Next: r.next(run),
		Counts:  Text(s.Text),
		Details: []Phrase{{Text: "API servers " + shortRelease(r.From) + " -> " + shortRelease(r.To)}},
		Facts: facts("Releases", shortRelease(r.From)+" -> "+shortRelease(r.To), "Where from", r.Why,
			"Nodes, in order", order, "Documents", r.Documents),
		Blocks: func(yield func(Block) bool) { yield(r.section(run)) },
	}
	if order != "" {
		out.Details = append(out.Details, Phrase{Text: "; nodes in the order of the roll: " + order})
	}
	out.Details = append(out.Details, Phrase{Text: "."})
	return out
}

// next are the commands for what comes after a plan.
func (r *PlanReport) next(run Invocation) []Command {
	const when = "now and after each step"
	why := Command{Label: "See why", Line: run.command("check", r.Argument)}
	switch {
	case r.Summary.Verdict == VerdictReady:
		return []Command{{"Prove it on the servers", run.Program + " probe", when}}
	case len(r.Findings) == 0 && r.Summary.Verdict == VerdictCannotTell:
		return []Command{{"Ask the servers", run.Program + " probe", when}}
	case r.isPatched():
		return []Command{why, {Label: "See the changes", Line: run.command("patch --diff", r.Argument)}}
	}
	return []Command{why}
}

// isPatched tells whether there is a roll with a patched configuration.
func (r *PlanReport) isPatched() bool { return r.Patched != nil && r.Patched.Refused == "" }

func (r *PlanReport) section(run Invocation) *Section {
	pair := shortRelease(r.From) + " -> " + shortRelease(r.To)
	s := &Section{
		Name: r.Source, File: r.Source, Documents: r.Documents, Releases: pair, CannotTell: Text(r.CannotTell),
		Summary:  r.Summary.findings(),
		Verdict:  Text(r.Summary.Verdict.String()) + " for " + minors(r.From, r.To),
		Findings: Findings{List: r.Findings, Title: "Causes", Brief: true, Source: r.Source},
		Subject:  r.Source + ": ", Headline: r.Source + ": " + pair, NextAt: Below, Next: r.next(run),
		Head: []Block{Names{Label: "   nodes in the order of the roll: ", Words: texts(r.Order)}, Origin(r.Why)},
	}
	if r.Documents != "" {
		s.Headline = r.Source + ": " + r.Documents + ": " + pair
	}
	s.Brief = s.Verdict + ": " + Text(r.Summary.Text)
	s.Conclusion = s.Brief
	s.Paragraphs = [][]Block{{r.surface()}, {r.difference()}, {r.steps()}}
	for _, m := range r.matrices() {
		s.Paragraphs = append(s.Paragraphs, []Block{m})
	}
	messages := make([]Text, len(r.Consequences))
	for i := range r.Consequences {
		messages[i] = Text(r.Consequences[i].Message)
	}
	s.Paragraphs = append(s.Paragraphs, []Block{r.notStarting()}, []Block{r.notHandedOff()},
		[]Block{List{ID: "follows", Title: "What follows from the false 404s", Items: messages}})
	if r.Patched != nil {
		s.Paragraphs = append(s.Paragraphs, []Block{r.patched(run)})
	}
	s.Paragraphs = append(s.Paragraphs, []Block{s.Findings})
	return s
}

// surface says which resources the releases differ in.
func (r *PlanReport) surface() Surface {
	return Surface{minorRelease(r.To), resourceNames(r.Added), resourceNames(r.Removed)}
}

func resourceNames(resources []PlanResource) []Text {
	names := make([]Text, len(resources))
	for i := range resources {
		names[i] = Text(resources[i].name())
	}
	return names
}

func (r *PlanResource) name() string { return groupVersion(r.Group, r.Version) + " " + r.Resource }

// difference says that the servers differ in nothing at some time, where that is so.
func (r *PlanReport) difference() Remark {
	switch {
	case r.Stopped != "" || r.CannotTell != "": // What comes after that is not known.
		return ""
	case !r.differs():
		return "No resource differs between the servers at any step: nothing to hand off."
	case len(r.Added)+len(r.Removed) == 0:
		return "After the upgrade the servers serve what they do now."
	}
	return ""
}

// differs tells whether there is anything to hand off in any of the rolls.
func (r *PlanReport) differs() bool {
	rolls := [][]PlanStep{r.Steps}
	if r.Patched != nil {
		rolls = append(rolls, r.Patched.Steps)
	}
	for _, steps := range rolls {
		for i := range steps {
			for _, m := range steps[i].Moments() {
				if len(m.FalseNotFound)+len(m.HandedOff)+len(m.NotServed)+len(m.Unavailable)+len(m.Unknown)+len(m.Blind) > 0 {
					return true
				}
			}
		}
	}
	return len(r.Added)+len(r.Removed) > 0
}

// notStarting are the reasons why servers do not start that no finding says.
func (r *PlanReport) notStarting() NotStarting {
	var reasons NotStarting
	for i := range r.Steps {
		for _, f := range r.Steps[i].NotStarting {
			if f.Rule == "" {
				reasons = append(reasons, Text(f.Node+": "+f.Reason))
			}
		}
	}
	return reasons
}

// notHandedOff are the resources that the roll answers false 404s for, or of which it is not known, in order; none
// where they are those that the upgrade adds.
func (r *PlanReport) notHandedOff() Names {
	var names []Text
	for i := range r.Steps {
		for _, m := range r.Steps[i].Moments() {
			for _, routes := range [][]Route{m.FalseNotFound, m.Unavailable, m.Unknown} {
				for k := range routes {
					names = append(names, Text(routes[k].name()))
				}
			}
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); slices.Equal(names, resourceNames(r.Added)) {
		names = nil
	}
	return Names{Label: "not handed off: ", Words: resourceWords(names), Most: mostResources}
}

// mostResources is how many resources one takes in at a glance.
const mostResources = 16

// matrices show who hands requests to whom where it first matters, and where it matters and is otherwise than before.
func (r *PlanReport) matrices() []Matrix {
	var out []Matrix
	last := ""
	for i := range r.Steps {
		step := &r.Steps[i]
		for _, m := range step.Moments() {
			if !m.fails() && !m.unsure() || len(m.Pairs) == 0 {
				continue
			}
			if grid := gridOf(m); grid != last {
				matrix := newMatrix(r.runningIn(m), m.Pairs)
				matrix.When, matrix.Again = step.when(m), last != ""
				for k := range m.Crashing {
					matrix.Crashes = append(matrix.Crashes, m.Crashing[k].says())
				}
				out = append(out, matrix)
				last = grid
			}
		}
	}
	return out
}

// gridOf are the verdicts of a moment as one word.
func gridOf(m *PlanMoment) string {
	var b strings.Builder
	for i := range m.Pairs {
		b.WriteString(m.Pairs[i].From + "\x00" + m.Pairs[i].To + "\x00" + m.Pairs[i].Verdict + "\x00")
	}
	return b.String()
}

// when says which moment of a step it is.
func (s *PlanStep) when(m *PlanMoment) Text {
	switch {
	case s.Node == "":
		return "now"
	case m == s.Replacing:
		return Text("while " + s.Node + " is stopped")
	}
	return Text("when " + s.Node + " is upgraded")
}

// runningIn are the nodes whose servers run at a moment.
func (r *PlanReport) runningIn(m *PlanMoment) []string {
	return slices.DeleteFunc(slices.Clone(r.Order), func(name string) bool {
		return !slices.ContainsFunc(m.Pairs, func(p Pair) bool { return p.From == name || p.To == name })
	})
}

// says is a crash in words.
func (c *PlanCrash) says() Text {
	verb := " may crash on "
	if c.Certain {
		verb = " crashes on "
	}
	return Text(c.Server + verb + c.Peer + ": " + c.Reason)
}

// patched says what patch would change, and what comes of it without the preparing roll.
func (r *PlanReport) patched(run Invocation) Patched {
	out := Patched{Program: run.Program, Refused: Text(r.Patched.Refused), Changes: texts(r.Patched.Changes)}
	if u := r.Unprepared; u != nil && r.isPatched() {
		out.Unprepared = Text(u.says())
	}
	return out
}

// says sums a roll up.
func (roll *PlanRoll) says() string {
	if roll.Stopped != "" {
		return roll.Stopped
	}
	var says []string
	for i := range roll.Steps {
		s := &roll.Steps[i]
		if s.Fails() {
			says = append(says, "after "+s.Node+": "+s.cell(s.NotStarting).text)
		}
	}
	if len(says) == 0 {
		return "no false 404"
	}
	return strings.Join(says, "; ")
}

// findings is the summary of the findings.
func (s *PlanSummary) findings() Summary {
	return Summary{Errors: s.Errors, Warnings: s.Warnings, Infos: s.Infos, Verdict: s.Verdict}
}
