package release

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Behaviour is something that the kube-apiserver of some releases does and that of others does not, and that nothing
// in a catalogue tells: it was measured, or read in the source and then measured. behaviour/1.N.txt says which ones a
// release has, with the number of the fact.
type Behaviour string

// The behaviours that releases differ in.
const (
	// MergesDiscovery: where the hand-off is on, the discovery document of /apis has what peers serve, too.
	MergesDiscovery Behaviour = "merges-discovery"
	// ReadsMergedDiscovery: of a peer it reads that merged document, and so takes for the peer's what the peer's own
	// peers serve.
	ReadsMergedDiscovery Behaviour = "reads-merged-discovery"
	// AsksPeersAtStart: it asks its peers only in the first second after they, or it, have started, and crashes where
	// it can ask one and not read the answer.
	AsksPeersAtStart Behaviour = "asks-peers-at-start"
	// CountsReroutedByResource: apiserver_rerouted_request_total tells requests of clients from those for discovery.
	CountsReroutedByResource Behaviour = "counts-rerouted-by-resource"
	// AsksPeersThroughEgress: requests for peers go through the controlplane entry of the egress selector.
	AsksPeersThroughEgress Behaviour = "asks-peers-through-egress"
	// RefusesSharedClientCA: it exits where client-ca-file has the CA of requestheader-client-ca-file and any name is
	// allowed.
	RefusesSharedClientCA Behaviour = "refuses-shared-client-ca"
	// EmptyIPIsDefault: an empty value of a flag that takes an IP address is its default, and no mistake.
	EmptyIPIsDefault Behaviour = "empty-ip-is-default"
	// ChecksMetricsOptions: it exits on names of metrics and on a file of labels that it cannot use.
	ChecksMetricsOptions Behaviour = "checks-metrics-options"
	// ChecksLeaderElection: it exits on durations of --coordinated-leadership-* that don't go together.
	ChecksLeaderElection Behaviour = "checks-leader-election"
	// ChecksSignerPath: it exits where --service-account-signing-endpoint is no path of plain characters.
	ChecksSignerPath Behaviour = "checks-signer-path"
	// ReadsV1Configuration: AuthenticationConfiguration and TracingConfiguration have a version v1.
	ReadsV1Configuration Behaviour = "reads-v1-configuration"
)

var behaviours = []Behaviour{
	MergesDiscovery, ReadsMergedDiscovery, AsksPeersAtStart, CountsReroutedByResource, AsksPeersThroughEgress, RefusesSharedClientCA,
	EmptyIPIsDefault, ChecksMetricsOptions, ChecksLeaderElection, ChecksSignerPath, ReadsV1Configuration,
}

// Does tells whether kube-apiserver of release r has a behaviour; a release that has no catalogue is judged by the
// nearest one that has.
func (r Release) Does(b Behaviour) bool { return Nearest(r).behaviours()[b] }

//go:embed behaviour/*.txt
var behaviourFiles embed.FS

// behavioursOf reads the file of a release when something of it is first asked for.
func behavioursOf(r Release) func() map[Behaviour]bool {
	return sync.OnceValue(func() map[Behaviour]bool {
		text := must(behaviourFiles.ReadFile("behaviour/" + r.MinorString() + ".txt"))
		return must(parseBehaviours(string(text)))
	})
}

// parseBehaviours reads a file that has a behaviour in each line, and what it rests on.
func parseBehaviours(text string) (map[Behaviour]bool, error) {
	does := map[Behaviour]bool{}
	for line := range lines(text) {
		name, fact, _ := strings.Cut(line, " ")
		b := Behaviour(name)
		if !slices.Contains(behaviours, b) || does[b] || strings.TrimSpace(fact) == "" {
			return nil, fmt.Errorf("behaviour %q: it is not known, given twice or without its fact", name)
		}
		does[b] = true
	}
	return does, nil
}
