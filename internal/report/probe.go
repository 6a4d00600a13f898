package report

import (
	"time"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// KindProbe is the kind of the document that mvpcheck probe writes. Its schema is docs/schema/probe-report.schema.json.
const KindProbe = "ProbeReport"

// ProbeReport is everything that one run of mvpcheck probe has to say about one live control plane.
type ProbeReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"` // of mvpcheck
	// Context is the kubeconfig's context, empty where there is none.
	Context string `json:"context,omitempty"`
	// Found says where the list of servers comes from: "endpoints of default/kubernetes".
	Found string `json:"found"`
	// Time is when the first question was asked; Replayed says that the evidence was read from this file.
	Time     time.Time `json:"time"`
	Replayed string    `json:"replayed,omitempty"`

	Servers []ProbeServer `json:"servers"`
	// Pairs has an entry for each ordered pair of servers.
	Pairs         []ProbePair  `json:"pairs"`
	FalseNotFound []ProbeRoute `json:"falseNotFound"`
	// HandedOff are the resources that a server does not have itself and hands to a peer.
	HandedOff []ProbeRoute `json:"handedOff"`
	// Refused are those that it hands to a peer which answers 401 or 403, as it takes the server for the client.
	Refused []ProbeRoute `json:"refused,omitempty"`
	// LeftOut are group versions that were not compared, because all servers serve them alike or should.
	LeftOut []ProbeLeftOut `json:"leftOut,omitempty"`
	// Notes are things to know that no rule is about, such as a stale APIService.
	Notes    []string           `json:"notes,omitempty"`
	Findings []ProbeFinding     `json:"findings"`
	Passed   []string           `json:"passed"` // rule IDs
	Skipped  []Skipped          `json:"skipped"`
	Evidence []evidence.Request `json:"evidence"`
	Summary  ProbeSummary       `json:"summary"`
	// CannotTell is why not everything could be judged; empty where it could.
	CannotTell string `json:"-"`
}

// ProbeServer is one API server.
type ProbeServer struct {
	// Name is the node's where it is known, else the address. Pairs, routes and findings name servers by it.
	Name    string `json:"name"`
	Address string `json:"address"` // host:port that was asked
	Node    string `json:"node"`
	// Release is such as v1.36.3, empty where it is unknown. Emulated is such as 1.35, empty where it is the same.
	Release  string `json:"release"`
	Emulated string `json:"emulated"`
	Gate     string `json:"gate"`   // on, off or unknown
	PeerCA   string `json:"peerCA"` // yes, no or unknown
	// PublishedAddress is where its peers reach it, empty where it is not known or none.
	PublishedAddress string `json:"publishedAddress"`
	// Local and Merged count the resources of /apis that were compared, subresources apart. A negative number is not known.
	Local  int `json:"local"`
	Merged int `json:"merged"`
	// Result is ok, fail or unknown. Says is the same in a few words for the table.
	Result string `json:"result"`
	Says   string `json:"says"`
}

// ProbePair says whether From hands requests to To.
type ProbePair struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Verdict string   `json:"verdict"` // yes, no or unknown
	Reasons []string `json:"reasons"`
}

// ProbeRoute is a resource that Server does not have itself.
type ProbeRoute struct {
	Server   string   `json:"server"`
	Group    string   `json:"group"`
	Version  string   `json:"version"`
	Resource string   `json:"resource"`
	ServedBy []string `json:"servedBy"`
	// Proof is named-get where the answer to a GET shows it, documents where only the discovery documents do.
	Proof string `json:"proof"`
}

// ProbeLeftOut is a group version that is not built into the API servers.
type ProbeLeftOut struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"` // custom-resources or aggregated
	// Stale says why its resources are not to be had now; empty where they are.
	Stale string `json:"stale,omitempty"`
}

// ProbeFinding is what one rule found.
type ProbeFinding struct {
	Rule     string   `json:"rule"`
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Servers are those that it is about, the one to act on first; empty for the control plane as a whole.
	Servers []string `json:"servers"`
	Message string   `json:"message"`
	Why     string   `json:"why"`
	// Effects are the findings that follow from this one.
	Effects []ProbeEffect `json:"effects"`
	// Seen is the evidence in words.
	Seen        []string `json:"seen"`
	Fix         string   `json:"fix"`
	Help        string   `json:"help"`
	Consequence string   `json:"consequence"` // as Finding.Consequence
	// Fails: it counts for exit code 1 and is at or above --fail-on.
	Fails bool `json:"-"`
}

// ProbeEffect is a finding that follows from another.
type ProbeEffect struct {
	Rules   []string `json:"rules"` // such as MVP501, MVP502
	Server  string   `json:"server"`
	Message string   `json:"message"`
}

// ProbeSummary adds a probe up.
type ProbeSummary struct {
	Servers  int `json:"servers"`
	Releases int `json:"releases"` // different minors
	OK       int `json:"ok"`
	Failing  int `json:"failing"`
	Unknown  int `json:"unknown"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
	// Verdict is ready where the hand-off is proved or there is nothing against it, not-ready with an error, and
	// cannot-tell where a server or a source is missing that would decide.
	Verdict Verdict `json:"verdict"`
	// Text is the verdict as a sentence: what is proved, and whether to go on with the upgrade.
	Text string `json:"text"`
}
