package checks

import (
	"fmt"
	"net"
	"slices"

	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// HandOff is what a configuration tells of the servers of a control plane and their hand-off. kubeadm's defaults make a
// fact of it a yes; what the rules find makes it a no, or unknown.
type HandOff struct {
	// Result is what the rules find; it does not depend on what the user leaves out or silences.
	Result Result
	// Nodes are the control-plane nodes in their order, each with its server at both releases.
	Nodes []NodeServers
	// Refused are the findings on which kubeadm stops: then nothing of the configuration takes effect.
	Refused []Finding
	// Unreadable is why nothing is known of the servers' flags; empty where it is.
	Unreadable string
}

// NodeServers is the kube-apiserver of one node.
type NodeServers struct {
	Name            string
	Running, Target ConfiguredServer
}

// ConfiguredServer is one server by its configuration.
type ConfiguredServer struct {
	handoff.State
	Release release.Release
	// Resources are those that it serves; Blind is why they are not known.
	Resources []release.Resource
	Blind     string
	// Stops is why it does not start; see State.Starts. A reason that no rule reports has none.
	Stops []Note

	// published is where its peers find it, empty where that is not known here.
	published string
}

// HandOffOf reads the facts from a configuration. Where the manifests of running servers are given beside it, these
// tell of the running servers of their nodes.
func HandOffOf(in Input) HandOff {
	rules := slices.DeleteFunc(All(), func(r *Rule) bool { return r.Run == nil })
	s := newState(in)
	found := run(s, rules)
	h := HandOff{Result: found}
	h.Result.Findings = slices.Clone(found.Findings)
	s.harmless(h.Result.Findings)
	h.Unreadable = s.noFlags
	for _, f := range h.Result.Findings {
		if f.Consequence == RefusedByKubeadm && f.Severity == Error {
			h.Refused = append(h.Refused, f)
		}
	}
	if h.Unreadable == "" && len(s.views) == 0 {
		h.Unreadable = "mvpcheck has no facts for releases before " + release.Oldest().String()
	}
	if h.Unreadable != "" {
		return h
	}
	own := reader{in, s, &found}
	manifests := manifestReader(in, rules)
	for i, name := range nodeNames(in.Cluster) {
		n := NodeServers{Name: name, Running: own.server(i, Running), Target: own.server(i, Target)}
		if manifests != nil {
			if k := manifests.find(own.node(i)); k >= 0 {
				n.Running = manifests.server(k, Running)
			}
		}
		h.Nodes = append(h.Nodes, n)
	}
	h.shareAddresses()
	return h
}

// nodeNames are those of the control-plane nodes; nodes that nothing names are cp-1, cp-2 and so on.
func nodeNames(c *config.Cluster) []string {
	n, _, _ := c.ControlPlaneCount()
	names := make([]string, max(n, len(c.Nodes)))
	for i, node := range c.Nodes {
		if config.PlaceholderIn(node.Name) == "" && !slices.Contains(names, node.Name) {
			names[i] = node.Name
		}
	}
	next := 1
	for i := range names {
		for k := max(next, i+1); names[i] == ""; k++ {
			if name := fmt.Sprintf("cp-%d", k); !slices.Contains(names, name) {
				names[i], next = name, k+1
			}
		}
	}
	return names
}

// reader reads the facts of servers from one configuration and what the rules say of it.
type reader struct {
	in     Input
	s      *state
	result *Result
}

// manifestReader reads the pods beside a configuration; nil where there are none. What a rule finds in one pod says
// nothing of the others.
func manifestReader(in Input, rules []*Rule) *reader {
	c := in.Cluster
	readable := slices.DeleteFunc(slices.Clone(c.Manifests), func(m *config.Manifest) bool { return m.Unreadable })
	if c.Root == nil || len(readable) == 0 {
		return nil
	}
	in.Cluster = &config.Cluster{
		Input: c.Input, Form: config.FormManifest, Doc: readable[0].Doc, Manifests: readable, Nodes: c.Nodes,
		Replicas:     c.Replicas,
		ReplicasFrom: c.ReplicasFrom, CertificatesDir: c.CertificatesDir, ControlPlaneEndpoint: c.ControlPlaneEndpoint,
	}
	s := newState(in)
	result := run(s, rules)
	return &reader{in, s, &result}
}

// node is the node of a server by its index; zero where nothing tells of it.
func (r *reader) node(i int) config.Node {
	if i < len(r.in.Cluster.Nodes) {
		return r.in.Cluster.Nodes[i]
	}
	return config.Node{}
}

// find returns the index of the pod of a node, -1 where there is none.
func (r *reader) find(n config.Node) int {
	return slices.IndexFunc(r.in.Cluster.Manifests, func(m *config.Manifest) bool {
		return n.Name != "" && m.Node.Name == n.Name || n.Address != "" && sameIP(m.Node.Address, n.Address)
	})
}

// server reads the facts of one server. Nodes of which nothing is known get what all have.
func (r *reader) server(i int, when When) ConfiguredServer {
	views := r.s.At(when)
	known := i < len(views)
	v := views[min(i, len(views)-1)]
	s := ConfiguredServer{Release: v.Release}
	s.State = handoff.State{
		Server: handoff.Server{Gate: handoff.Yes, PeerCA: handoff.Yes, Identity: handoff.Yes, Address: handoff.Yes},
		Direct: handoff.Yes, Trusts: handoff.Yes, Proves: handoff.Yes, Reached: handoff.Yes, Named: handoff.Yes,
		Accepts:  handoff.Yes,
		Readable: handoff.Yes, Starts: handoff.Yes, AsksPeersAtStart: v.Release.Does(release.AsksPeersAtStart),
	}
	s.readFlags(v)
	if ip := v.Flags.Last(release.FlagAdvertiseAddress); !known &&
		(v.Manifest != nil || ip != nil && ip.Origin == config.FromKubeadm) {
		s.published = "" // that is the address of the node that the view is of
	}
	for _, f := range r.result.Findings {
		switch {
		case !slices.Contains(f.When, when):
		case r.concerns(&f, v, known):
			s.read(&f)
		case !known && f.Severity == Error && r.concerns(&f, v, true):
			// What is wrong in the manifest of a node that is known may well be in that of one that is not.
			s.spoil(f.Rule, handoff.Unknown)
		}
	}
	for _, n := range r.result.Unknown {
		s.spoil(n.Rule, handoff.Unknown)
	}
	s.readTemplates(v)
	s.readServed(v)
	if !known && s.Starts == handoff.No {
		// It is set up like the last one that is known, of which a rule says why it does not start.
		if like := r.server(len(views)-1, when); like.Starts == handoff.No {
			s.Stops = like.Stops
		}
	}
	if v.FlagsUnknown {
		s.forget()
	}
	return s
}

// readFlags takes the facts that the flags alone tell.
func (s *ConfiguredServer) readFlags(v View) {
	s.Gate, s.PeerCA = yesNo(v.GateOn), yesNo(isSet(v.Flags.Last(release.FlagPeerCAFile)))
	identity, _ := v.Gates.Gate(release.Identity, v.Emulated)
	s.Identity = yesNo(identity)
	if f := v.Flags.Last(release.FlagAdvertiseAddress); f != nil && !f.Unknown {
		// In place of the unspecified address the server publishes one of its own.
		if ip := net.ParseIP(f.Value); ip != nil && !ip.IsUnspecified() {
			s.published = net.JoinHostPort(ip.String(), v.Flags.Value(release.FlagSecurePort))
		}
	}
}

// concerns tells whether a finding is about a server: one with a place in a node's own document is about no other.
func (r *reader) concerns(f *Finding, v View, known bool) bool {
	if v.Manifest != nil {
		if !known {
			return f.At == r.in.Cluster.FlagsPlace()
		}
		for _, m := range r.in.Cluster.Manifests {
			place := m.Container.Place()
			if m.Doc.Text.File == f.At.File && place.Start <= f.At.Start && f.At.End <= place.End {
				return m == v.Manifest
			}
		}
		return true
	}
	owned := slices.ContainsFunc(r.in.Cluster.Nodes, func(n config.Node) bool { return !n.At.IsZero() && n.At == f.At })
	return !owned || known && v.Node.At == f.At
}

// factOf are the facts that rules decide about.
var factOf = map[*Rule]func(*handoff.State) *handoff.Answer{
	peerCANotMounted:          func(s *handoff.State) *handoff.Answer { return &s.Trusts },
	peerCAWrong:               func(s *handoff.State) *handoff.Answer { return &s.Trusts },
	certificateExpiring:       func(s *handoff.State) *handoff.Answer { return &s.Trusts },
	unreadableCertificate:     func(s *handoff.State) *handoff.Answer { return &s.Trusts },
	peerCAPathMalformed:       func(s *handoff.State) *handoff.Answer { return &s.Trusts },
	proxiedPeerTraffic:        func(s *handoff.State) *handoff.Answer { return &s.Direct },
	proxyClientCertMissing:    func(s *handoff.State) *handoff.Answer { return &s.Proves },
	requestheaderRefusesPeers: func(s *handoff.State) *handoff.Answer { return &s.Accepts },
	servingCertName:           func(s *handoff.State) *handoff.Answer { return &s.Named },
	advertiseAddressUnusable:  func(s *handoff.State) *handoff.Answer { return &s.Reached },
	bindAddressUnreachable:    func(s *handoff.State) *handoff.Answer { return &s.Reached },
	mixedAddressFamilies:      func(s *handoff.State) *handoff.Answer { return &s.Reached },
	advertiseAddressShared:    func(s *handoff.State) *handoff.Answer { return &s.Address },
	peerAdvertiseShared:       func(s *handoff.State) *handoff.Answer { return &s.Address },
}

// spoil makes a fact worse: unknown, or no.
func (s *ConfiguredServer) spoil(r *Rule, to handoff.Answer) {
	if fact := factOf[r]; fact != nil {
		if a := fact(&s.State); *a != handoff.No {
			*a = to
		}
	}
}

// read takes what a finding says.
func (s *ConfiguredServer) read(f *Finding) {
	if f.Severity == Error && f.Consequence == WillNotStart {
		s.Starts = handoff.No
		s.Stops = append(s.Stops, Note{f.Rule, f.Message})
	}
	switch {
	case f.Rule == requestheaderRefusesPeers && f.Consequence == None:
		// Clients get a 403, neither the answer nor a 404.
		s.spoil(f.Rule, handoff.Unknown)
	case f.Severity == Error:
		s.spoil(f.Rule, handoff.No)
	case f.Severity == Warning && f.Rule != proxyClientCertMissing && f.Rule != certificateExpiring && f.Rule != unreadableCertificate:
		// The warnings of these say that something will be so later, or makes no difference.
		s.spoil(f.Rule, handoff.Unknown)
	}
}

// templated are the flags whose values, where they are template marks, leave a fact unknown.
var templated = map[string]func(*handoff.State) *handoff.Answer{
	release.FlagPeerCAFile:          func(s *handoff.State) *handoff.Answer { return &s.Trusts },
	release.FlagTLSCertFile:         func(s *handoff.State) *handoff.Answer { return &s.Named },
	release.FlagProxyClientCertFile: func(s *handoff.State) *handoff.Answer { return &s.Proves },
	release.FlagProxyClientKeyFile:  func(s *handoff.State) *handoff.Answer { return &s.Proves },
	release.FlagRequestHeaderCAFile: func(s *handoff.State) *handoff.Answer { return &s.Accepts },
	release.FlagRequestHeaderNames:  func(s *handoff.State) *handoff.Answer { return &s.Accepts },
	release.FlagBindAddress:         func(s *handoff.State) *handoff.Answer { return &s.Reached },
	release.FlagSecurePort:          func(s *handoff.State) *handoff.Answer { return &s.Reached },
	release.FlagAdvertiseAddress:    func(s *handoff.State) *handoff.Answer { return &s.Address },
}

// readTemplates leaves unknown what stands for something that is filled in later. Of kubeadm's own arguments only the
// node's address can be so, and kubeadm fills in one of the node's own; a template mark in the folder of the
// certificates does not matter either.
func (s *ConfiguredServer) readTemplates(v View) {
	for _, f := range v.Flags {
		if !f.Unknown || f.Origin == config.FromKubeadm {
			continue
		}
		if f.Name == release.FlagFeatureGates || f.Name == release.FlagEmulatedVersion {
			s.Gate, s.Identity = handoff.Unknown, handoff.Unknown
		}
		if fact := templated[f.Name]; fact != nil {
			if a := fact(&s.State); *a == handoff.Yes {
				*a = handoff.Unknown
			}
		}
	}
}

// forget: the flags are not known for sure.
func (s *ConfiguredServer) forget() {
	s.Stops = nil
	for _, a := range []*handoff.Answer{
		&s.Gate, &s.PeerCA, &s.Identity, &s.Address, &s.Direct, &s.Trusts, &s.Proves, &s.Reached, &s.Named, &s.Accepts,
		&s.Starts,
	} {
		*a = handoff.Unknown
	}
}

// readServed takes what the server serves.
func (s *ConfiguredServer) readServed(v View) {
	surface := v.apis.surface()
	s.Resources, s.Serves, s.Blind = surface.resources, surface.serves, surface.blind
	if surface.exits && s.Starts != handoff.No {
		s.Starts = handoff.No
		s.Stops = append(s.Stops, Note{Reason: surface.blind})
	}
}

// shareAddresses finds nodes that publish one address.
func (h *HandOff) shareAddresses() {
	shares := func(a, b *NodeServers) bool {
		for _, x := range []string{a.Running.published, a.Target.published} {
			if x != "" && (x == b.Running.published || x == b.Target.published) {
				return true
			}
		}
		return false
	}
	for i := range h.Nodes {
		for k := range h.Nodes {
			if n := &h.Nodes[i]; i != k && shares(n, &h.Nodes[k]) {
				n.Running.Address, n.Target.Address = handoff.No, handoff.No
			}
		}
	}
}

// DecidesHandOff tells whether a rule's findings decide about a fact of the hand-off.
func DecidesHandOff(r *Rule) bool { return factOf[r] != nil }
