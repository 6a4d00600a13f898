package report

// KindPlan is the kind of the document that mvpcheck plan writes. Its schema is docs/schema/plan-report.schema.json.
const KindPlan = "PlanReport"

// PlanReport is everything that one run of mvpcheck plan has to say about the upgrade of one control plane.
type PlanReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"` // of mvpcheck
	// Source, Argument, Documents, From, To and Why are as those of Cluster; both releases are always known.
	Source    string `json:"source"`
	Argument  string `json:"-"`
	Documents string `json:"documents,omitempty"`
	From      string `json:"from"`
	To        string `json:"to"`
	Why       string `json:"why,omitempty"`
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
	Pairs []ProbePair `json:"pairs"`
	// FalseNotFound are the resources for which a server answers 404 although another one serves them.
	FalseNotFound []PlanRoute `json:"falseNotFound"`
	// Unavailable are those for which it answers 503: a server that is stopped had them.
	Unavailable []PlanRoute `json:"unavailable"`
	// HandedOff are those that it hands to a peer, NotServed those that no server that runs has: a true 404.
	HandedOff []PlanRoute `json:"handedOff"`
	NotServed []PlanRoute `json:"notServed"`
	// Unknown are those of which it cannot be told, Blind the servers of which it is not known what they serve.
	Unknown []PlanRoute `json:"unknown"`
	Blind   []string    `json:"blind"`
	// Crashing are servers that crash when they ask a peer.
	Crashing []PlanCrash `json:"crashing"`
}

// PlanRoute is a resource that Server does not have itself.
type PlanRoute struct {
	Server   string   `json:"server"`
	Group    string   `json:"group"`
	Version  string   `json:"version"`
	Resource string   `json:"resource"`
	ServedBy []string `json:"servedBy"`
	// Subresource: it is a subresource of a resource that the server has; no setting changes that it answers 404 (MVP518).
	Subresource bool     `json:"inside,omitempty"`
	Reasons     []string `json:"reasons"`
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
