package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
)

// liveRoute is a route with what the rules ask of it. The servers of ServedBy are none where only a merged document offers
// the resource.
type liveRoute struct {
	handoff.Route
	resource evidence.Resource
	// merged: the server's merged document offers it.
	merged bool

	from    *liveServer
	serving []*liveServer
	// lackedBy are the peers that the server may ask as well, which do not have it.
	lackedBy []*liveServer
}

// livePair is a pair of servers with their evidence.
type livePair struct {
	handoff.Pair
	from, to *liveServer
}

// LiveServer is one API server as it was judged.
type LiveServer struct {
	// Name is the node's where it is known and no other server's, else the address.
	Name          string
	Evidence      *evidence.Server
	Gate, PeerCA  handoff.Answer
	Published     string
	Local, Merged int // resources of /apis that were compared, subresources apart; -1: not known
	// Result is Yes where the server does what it should, No where it does not.
	Result handoff.Answer
	// Says is the result in a few words.
	Says string
}

// LiveResult is what the rules found on a live control plane.
type LiveResult struct {
	Servers  []LiveServer
	Pairs    []handoff.Pair
	Routes   []handoff.Route
	Findings []Finding
	Passed   []*Rule
	// Skipped are the rules that do not apply, Unknown those that could not be judged.
	Skipped, Unknown []Note
	// CannotTell says why the verdict is not a whole one, whatever the rules found; empty where it is.
	CannotTell string
}

// LivePass is one rule's run over the evidence.
type LivePass struct {
	*liveState
	rule *Rule
	// explained says whose finding explains a route, for those of the rules that came before.
	explained        map[*liveRoute]*Rule
	findings         []claim
	skipped, unknown string
}

// claim is a finding with the routes that it is about.
type claim struct {
	Finding
	routes []*liveRoute
	// cause: the routes come out as they do for its reason. Otherwise its message lists them.
	cause bool
}

// Report adds a finding whose message lists the routes.
func (p *LivePass) Report(f Finding, routes ...*liveRoute) { p.add(claim{f, routes, false}) }

// ReportCause adds a finding about why routes come out as they do: those that nothing explains yet become its effects.
func (p *LivePass) ReportCause(f Finding, routes []*liveRoute) { p.add(claim{f, routes, true}) }

func (p *LivePass) add(f claim) {
	f.Rule = p.rule
	if f.Consequence == "" {
		f.Consequence = None
	}
	p.findings = append(p.findings, f)
}

// unexplained tells whether no finding of the rules that the pass's rule comes after explains a route.
func (p *LivePass) unexplained(r *liveRoute) bool {
	by := p.explained[r]
	return by == nil || !slices.Contains(p.rule.After, by.ID)
}

// Skip says why the rule does not apply.
func (p *LivePass) Skip(format string, args ...any) { p.skipped = fmt.Sprintf(format, args...) }

// CannotTell says why the rule could not be judged.
func (p *LivePass) CannotTell(format string, args ...any) { p.unknown = fmt.Sprintf(format, args...) }

// RunLive judges the evidence by the rules that are about live control planes. The findings about causes come first, each
// with what follows from it; the worst of a kind before the others.
//
// All of them are judged, since what one finds explains what others find; rules are those of which the result tells.
func RunLive(cp *evidence.ControlPlane, rules []*Rule) LiveResult {
	s := newLiveState(cp)
	var res LiveResult
	explained := map[*liveRoute]*Rule{}
	for _, rule := range liveOrder(All()) {
		p := &LivePass{liveState: s, rule: rule, explained: explained}
		if rule.HandOff && len(s.servers) == 1 && len(s.fresh) < 2 && len(s.routes) == 0 {
			p.Skip("one API server: there is no peer to hand a request to")
		} else {
			rule.Live(p)
		}
		for _, f := range p.findings {
			res.Findings = append(res.Findings, s.explain(f, explained))
		}
		switch {
		case p.unknown != "":
			res.Unknown = append(res.Unknown, Note{rule, p.unknown})
		case len(p.findings) > 0:
		case p.skipped != "":
			res.Skipped = append(res.Skipped, Note{rule, p.skipped})
		default:
			res.Passed = append(res.Passed, rule)
		}
	}
	// A rule whose findings stand as effects below others has not passed.
	res.Passed = slices.DeleteFunc(res.Passed, func(r *Rule) bool {
		return slices.ContainsFunc(res.Findings, func(f Finding) bool {
			return slices.ContainsFunc(f.Effects, func(e Effect) bool { return slices.Contains(e.Rules, r.ID) })
		})
	})
	slices.SortStableFunc(res.Findings, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	slices.SortFunc(res.Passed, func(a, b *Rule) int { return strings.Compare(a.ID, b.ID) })
	for _, v := range s.servers {
		s.conclude(v, res.Findings)
		res.Servers = append(res.Servers, v.LiveServer)
	}
	for _, p := range s.pairs {
		res.Pairs = append(res.Pairs, p.Pair)
	}
	for _, r := range s.routes {
		res.Routes = append(res.Routes, r.Route)
	}
	res.CannotTell = s.cannotTell()
	res.restrict(rules)
	return res
}

// restrict leaves what some rules tell. An effect of a cause that is left out is a finding by itself, which names the cause.
func (r *LiveResult) restrict(rules []*Rule) {
	chosen := func(rule *Rule) bool { return slices.Contains(rules, rule) }
	var findings []Finding
	for _, f := range r.Findings {
		if chosen(f.Rule) {
			findings = append(findings, f)
			continue
		}
		for _, e := range f.Effects {
			for _, rule := range rules {
				if slices.Contains(e.Rules, rule.ID) {
					findings = append(findings, f.effectAlone(e, rule))
					break
				}
			}
		}
	}
	r.Findings = findings
	r.Passed = slices.DeleteFunc(r.Passed, func(rule *Rule) bool {
		return !chosen(rule) || slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule == rule })
	})
	other := func(n Note) bool { return !chosen(n.Rule) }
	r.Skipped, r.Unknown = slices.DeleteFunc(r.Skipped, other), slices.DeleteFunc(r.Unknown, other)
}

// effectAlone makes an effect of a finding one of the rule that would report it.
func (f Finding) effectAlone(e Effect, rule *Rule) Finding {
	alone := Finding{
		Rule: rule, Severity: rule.Severity, Servers: []string{e.Server},
		Message: e.Message + ".",
		Why:     fmt.Sprintf("the cause is %s on %s: %s", f.Rule.ID, joinNames(f.Servers), f.Message),
		Fix:     f.Fix, Seen: f.Seen, Consequence: None,
	}
	if rule.ID != peerGone.ID {
		alone.Consequence = FalseNotFound
	}
	return alone
}

// liveOrder returns the rules that judge live control planes, each after those that it names as After.
func liveOrder(rules []*Rule) []*Rule {
	left := slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.Live == nil })
	var order []*Rule
	for len(left) > 0 {
		waiting := func(r *Rule) bool {
			return slices.ContainsFunc(left, func(other *Rule) bool { return slices.Contains(r.After, other.ID) })
		}
		i := slices.IndexFunc(left, func(r *Rule) bool { return !waiting(r) })
		order, left = append(order, left[i]), slices.Delete(left, i, i+1)
	}
	return order
}

// liveServer is a server with all that the rules ask of it.
type liveServer struct {
	LiveServer
	release release.Release
	// minor is the minor release that it behaves as, by its emulated version; 0 where it is not known.
	minor int
	// gateSeen and caSeen say what tells that Gate and PeerCA are No.
	gateSeen, caSeen string
	lease            *evidence.Lease
	pod              *evidence.Pod
	flags            map[string]string
	dial             *evidence.Dial
	// Another server has the same lease, or publishes the same address.
	sharesIdentity, sharesAddress bool
}

// reached tells whether the server could be asked.
func (v *liveServer) reached() bool { return v.Evidence.Reached.OK() }

// liveState is what several rules ask of the evidence, computed once.
type liveState struct {
	cp      *evidence.ControlPlane
	servers []*liveServer
	pairs   []*livePair
	routes  []*liveRoute
	fresh   []evidence.Lease
}

func newLiveState(cp *evidence.ControlPlane) *liveState {
	s := &liveState{cp: cp, fresh: cp.Shared.Leases.Fresh()}
	for i := range cp.Servers {
		s.servers = append(s.servers, s.look(&cp.Servers[i]))
	}
	s.findShared()
	s.name()
	s.findRoutes()
	s.findPairs()
	s.doubtRoutes()
	return s
}

// look gathers what is known of one server.
func (s *liveState) look(e *evidence.Server) *liveServer {
	v := &liveServer{LiveServer: LiveServer{Evidence: e, Local: -1, Merged: -1, Gate: handoff.Unknown, PeerCA: handoff.Unknown}}
	if r, err := release.Parse(e.Version.GitVersion); err == nil {
		v.release, v.minor = r, r.Minor()
	}
	if r, err := release.Parse(e.Version.Emulated); err == nil {
		v.minor = r.Minor()
	}
	for i := range s.fresh {
		if e.Identity != "" && s.fresh[i].Name == e.Identity {
			v.lease = &s.fresh[i]
			v.Published = v.lease.Published
		}
	}
	for i := range s.cp.Shared.Pods.Items {
		if pod := &s.cp.Shared.Pods.Items[i]; e.Pod != "" && pod.Name == e.Pod {
			v.pod, v.flags = pod, pod.Flags
		}
	}
	if e.Flags.OK() {
		v.flags = e.Flags.Values
	}
	for i := range s.cp.Shared.Dials {
		if d := &s.cp.Shared.Dials[i]; v.Published != "" && d.Address == v.Published {
			v.dial = d
		}
	}
	v.lookAtGate()
	v.lookAtCA()
	notBuiltIn := s.cp.NotBuiltIn()
	count := func(d evidence.Document) int {
		if !d.OK() {
			return -1
		}
		n := 0
		for _, r := range d.Resources {
			if !r.IsSubresource() && !notBuiltIn[r.GroupVersion()] {
				n++
			}
		}
		return n
	}
	v.Local, v.Merged = count(e.Local), count(e.Merged)
	return v
}

func yesNo(yes bool) handoff.Answer {
	if yes {
		return handoff.Yes
	}
	return handoff.No
}

// lookAtGate asks the sources about the gate, the most direct one first.
func (v *liveServer) lookAtGate() {
	on, told := v.Evidence.Metrics.Latest().Gates[evidence.Gate]
	switch {
	case v.Evidence.Hooks.OK():
		v.Gate, v.gateSeen = yesNo(v.Evidence.Hooks.Has(evidence.HookReconciler)), "/readyz lacks the hook "+evidence.HookReconciler
	case told:
		v.Gate, v.gateSeen = yesNo(on), fmt.Sprintf("/metrics has kubernetes_feature_enabled{name=%q} 0", evidence.Gate)
	case v.Published != "":
		v.Gate = handoff.Yes
	case v.lease != nil:
		v.Gate, v.gateSeen = handoff.No, "its identity lease publishes no address"
	case v.flags != nil && v.minor != 0:
		on, _ := release.ParseFeatureGates([]string{v.flags[release.FlagFeatureGates]}).Gate(release.Gate, release.OfMinor(v.minor))
		v.Gate, v.gateSeen = yesNo(on), "by its command line"
	}
}

func (v *liveServer) lookAtCA() {
	switch {
	case v.Evidence.Hooks.OK() && v.Gate == handoff.Yes:
		v.PeerCA, v.caSeen = yesNo(v.Evidence.Hooks.Has(evidence.HookPeerProxy)), "/readyz lacks the hook "+evidence.HookPeerProxy
	case v.flags != nil:
		v.PeerCA = yesNo(v.flags[release.FlagPeerCAFile] != "")
		v.caSeen = "by its command line"
	case v.Gate == handoff.No:
		// With the flag it would not run (S1, S2).
		v.PeerCA, v.caSeen = handoff.No, "it runs with the gate off"
	}
}

// name gives each server the name of its node where that is one server's only.
func (s *liveState) name() {
	count := map[string]int{}
	for _, v := range s.servers {
		count[v.Evidence.Node]++
	}
	for _, v := range s.servers {
		v.Name = v.Evidence.Address
		// The host name in a lease that several write is no server's name.
		byLease := v.lease != nil && v.pod == nil && v.sharesIdentity
		if node := v.Evidence.Node; node != "" && count[node] == 1 && !byLease {
			v.Name = node
		}
	}
}

// findShared finds servers that share a lease or an address.
func (s *liveState) findShared() {
	publishers := map[string]int{}
	for _, l := range s.fresh {
		if l.Published != "" {
			publishers[l.Published]++
		}
	}
	for _, v := range s.servers {
		v.sharesAddress = publishers[v.Published] > 1
		// An address that two leases have is no server's own: no lease was matched by it.
		if v.Published == "" && publishers[v.Evidence.Address] > 1 {
			v.Published, v.sharesAddress = v.Evidence.Address, true
		}
		if pod := v.pod; pod != nil && publishers[pod.Published()] > 1 {
			v.Published, v.sharesAddress = pod.Published(), true
		}
	}
	// Servers of which no lease could be told apart, as many as share an address: these are they.
	var nameless []*liveServer
	for _, v := range s.servers {
		if v.reached() && v.lease == nil && v.Published == "" {
			nameless = append(nameless, v)
		}
	}
	for address, n := range publishers {
		if n > 1 && n == len(nameless) {
			for _, v := range nameless {
				v.Published, v.sharesAddress = address, true
			}
		}
	}
	if s.leaseMayCome() {
		return
	}
	if s.leasesShort() > 0 {
		for _, v := range s.servers {
			v.sharesIdentity = v.lease == nil || s.leaseHolders(v.lease) > 1
		}
	}
	// With two servers and a lease for one, both are concerned.
	if s.leasesShort() > 0 && len(s.fresh) == 1 {
		for _, v := range s.servers {
			v.sharesIdentity = true
		}
	}
}

func (s *liveState) leaseHolders(l *evidence.Lease) int {
	n := 0
	for _, v := range s.servers {
		if v.lease != nil && v.lease.Name == l.Name {
			n++
		}
	}
	return n
}

// leaseDelay is how long after its start a server may be without an identity lease.
const leaseDelay = 10 * time.Second

// leaseMayCome tells whether a server has only just started, so that its lease may not be written yet.
func (s *liveState) leaseMayCome() bool {
	return s.leasesShort() > 0 && slices.ContainsFunc(s.servers, func(v *liveServer) bool { return v.lease == nil && v.age() > 0 && v.age() < leaseDelay })
}

// unlisted are the leases of servers that run and that nothing names an address of. A server that has just started is not
// in the endpoints yet.
func (s *liveState) unlisted() []evidence.Lease {
	if len(s.servers) == 0 || len(s.fresh) <= len(s.servers) {
		return nil
	}
	shared := map[string]int{}
	for _, l := range s.fresh {
		shared[l.Published]++
	}
	var out []evidence.Lease
	nameless := 0
	for _, v := range s.servers {
		if v.lease == nil {
			nameless++
		}
	}
	for _, l := range s.fresh {
		known := slices.ContainsFunc(s.servers, func(v *liveServer) bool { return v.lease != nil && v.lease.Name == l.Name })
		// Those that share an address are MVP508's.
		if !known && (l.Published == "" || shared[l.Published] == 1) {
			out = append(out, l)
		}
	}
	if len(out) <= nameless {
		return nil
	}
	return out
}

// peers is how many peers a server has: as many as have a lease, for what it asks are these.
func (s *liveState) peers() float64 {
	if s.cp.Shared.Leases.OK() {
		return float64(max(len(s.fresh)-1, 0))
	}
	return float64(len(s.servers) - 1)
}

// leasesShort is how many identity leases are missing for the servers that run.
func (s *liveState) leasesShort() int {
	if !s.cp.Shared.Leases.OK() {
		return 0
	}
	alive := 0
	for _, v := range s.servers {
		identityOff := false
		if on, told := v.Evidence.Metrics.Latest().Gates["APIServerIdentity"]; told && !on {
			identityOff = true // it has no lease at all
		}
		if v.reached() && !identityOff {
			alive++
		}
	}
	return alive - len(s.fresh)
}

// age is how long a server has been running when it was asked; zero where it does not say.
func (v *liveServer) age() time.Duration {
	r := v.Evidence.Metrics.Latest()
	if r.Started.IsZero() {
		return 0
	}
	return r.Time.Sub(r.Started)
}

// learnsPeersWithin is how long after its start a server may still learn of its peers.
const learnsPeersWithin = 30 * time.Second

// justStarted says that a server has just started, empty where it has not.
func (v *liveServer) justStarted() string {
	if age := v.age(); age > 0 && age < learnsPeersWithin {
		return fmt.Sprintf("%s started %d s ago; servers take about 10 s to learn of their peers (--wait waits)", v.Name, int(age.Seconds()))
	}
	return ""
}
