package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/pkg/evidence"
	"github.com/mvpcheck/mvpcheck/pkg/handoff"
)

// where returns the servers that could be asked and for which a test holds.
func (s *liveState) where(holds func(*liveServer) bool) []*liveServer {
	var out []*liveServer
	for _, v := range s.servers {
		if v.reached() && holds(v) {
			out = append(out, v)
		}
	}
	return out
}

func serverNames(servers []*liveServer) []string {
	var names []string
	for _, v := range servers {
		if !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return names
}

// seenOf says what was seen on servers, once where it is the same on all.
func seenOf(servers []*liveServer, what func(*liveServer) string) []string {
	var seen []string
	same := true
	for _, v := range servers {
		same = same && what(v) == what(servers[0])
		seen = append(seen, v.Name+": "+what(v))
	}
	if same && len(seen) > 0 {
		return []string{what(servers[0])}
	}
	return seen
}

// untold says that something is not known of some servers.
func (p *LivePass) untold(unknown func(*liveServer) bool, what string) {
	if servers := p.where(unknown); len(servers) > 0 {
		p.CannotTell("nothing tells %s on %s", what, joinNames(serverNames(servers)))
	}
}

// causes returns the peers that a server hands nothing to for one cause.
func (s *liveState) causes(from *liveServer, cause handoff.Cause) []*liveServer {
	var to []*liveServer
	for _, p := range s.pairs {
		if p.from == from && p.Verdict == handoff.No && slices.Contains(p.Causes, cause) {
			to = append(to, p.to)
		}
	}
	return to
}

// effects returns what the causes do to clients, and marks it as explained. A cause concerns the given servers as
// senders or as peers.
func (p *LivePass) effects(concerned []*liveServer, causes ...handoff.Cause) []LiveEffect {
	var effects []LiveEffect
	for _, v := range p.servers {
		var found, gone []*Route
		for _, r := range p.routes {
			if r.from != v || r.Subresource || r.explained || !p.causedBy(r, concerned, causes) {
				continue
			}
			switch r.Outcome {
			case NotFound:
				found = append(found, r)
			case PeerGone:
				gone = append(gone, r)
			}
		}
		effects = append(effects, explain(v, found, gone)...)
	}
	return effects
}

func (s *liveState) causedBy(r *Route, concerned []*liveServer, causes []handoff.Cause) bool {
	for _, to := range r.serving {
		p := s.pair(r.from, to)
		if p.Verdict == handoff.No && slices.ContainsFunc(p.Causes, func(c handoff.Cause) bool { return slices.Contains(causes, c) }) &&
			(slices.Contains(concerned, r.from) || slices.Contains(concerned, to)) {
			return true
		}
	}
	return false
}

// explain turns routes of one server into effects.
func explain(v *liveServer, found, gone []*Route) []LiveEffect {
	var effects []LiveEffect
	if len(found) > 0 {
		e := LiveEffect{Rules: []string{"MVP501"}, Server: v.Name, Message: "answers 404 for " + listRoutes(found) + ", which " + servedBy(found) + " " + serves(found)}
		if v.release.Minor() >= mergesDiscovery && slices.ContainsFunc(found, func(r *Route) bool { return !r.Merged && r.Resource.Group != "" }) {
			e.Rules = append(e.Rules, "MVP502")
		}
		effects = append(effects, e)
	}
	if len(gone) > 0 {
		effects = append(effects, LiveEffect{Rules: []string{"MVP511"}, Server: v.Name, Message: "answers 503 for " + listRoutes(gone)})
	}
	for _, r := range slices.Concat(found, gone) {
		r.explained = true
	}
	return effects
}

func serves(routes []*Route) string {
	if names := servedBy(routes); strings.Contains(names, " and ") {
		return "serve"
	}
	return "serves"
}

// callsSeen says how a server's requests to its peers ended.
func callsSeen(v *liveServer) []string {
	c := v.calls()
	if !c.told {
		return nil
	}
	var parts []string
	for _, n := range []struct {
		code  string
		value float64
	}{{"200", c.ok}, {"401", c.unauthorized}, {"403", c.forbidden}, {"503", c.unavailable}} {
		if n.value > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f times", n.code, n.value))
		}
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	seen := []string{v.Name + ": requests to peers since its start by code (apiserver_rerouted_request_total): " + strings.Join(parts, ", ")}
	if youth := v.youth(); youth != "" {
		seen = append(seen, youth)
	}
	return seen
}

// failedCalls says whose requests to peers have ended in 503.
func (s *liveState) failedCalls() []string {
	var seen []string
	for _, v := range s.servers {
		if c := v.calls(); c.unavailable > 0 {
			seen = append(seen, callsSeen(v)[0])
		}
	}
	return seen
}

func dialSeen(servers []*liveServer) string {
	var parts []string
	for _, v := range servers {
		parts = append(parts, v.Published)
	}
	return "TLS connection to " + joinNames(parts) + " with server name kubernetes.default.svc"
}

// foundBy says what names the server.
func (v *liveServer) foundBy() string {
	names := map[string]string{
		evidence.FromEndpoints: "listed by the EndpointSlice default/kubernetes", evidence.FromLease: "named by its identity lease",
		evidence.FromPod: "named by its mirror pod", evidence.FromGiven: "named with --server", evidence.FromKubeconfig: "the server of the kubeconfig",
	}
	var parts []string
	for _, source := range v.Evidence.FoundBy {
		parts = append(parts, names[source])
	}
	return strings.Join(parts, ", ")
}

// serverUnreachable is MVP510.
var serverUnreachable = &Rule{
	ID: "MVP510", Name: "server-unreachable", Severity: Error,
	Doc: Doc{
		What:  "An API server that the cluster lists, or that --server names, cannot be asked.",
		Why:   "The verdict is incomplete: nothing is known of this server, and the exit code is 3.",
		Fix:   "Make sure that the server runs and can be reached from here with the kubeconfig's credentials, or run mvpcheck on a control-plane node.",
		Facts: []string{"H10"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		for _, v := range p.servers {
			if v.reached() {
				continue
			}
			seen := []string{v.foundBy()}
			if v.dial != nil && v.Published != v.Evidence.Address {
				seen = append(seen, fmt.Sprintf("TLS connection to %s: %s", v.Published, cmp.Or(v.dial.Error, "fine")))
			}
			if v.lease != nil {
				seen = append(seen, fmt.Sprintf("its identity lease was renewed %d s ago", int(p.cp.Shared.Leases.Now.Sub(v.lease.Renewed).Seconds())))
			}
			f := LiveFinding{
				Severity: Error, Servers: []string{v.Name},
				Message: "cannot be asked: " + v.Evidence.Reached.Reason + ".",
				Why:     "nothing is known of this server, so the verdict is incomplete.",
				Seen:    seen,
				Fix:     "make sure that it runs and answers here, or run mvpcheck on a control-plane node; a node that is gone for good: wait until its lease has run out",
			}
			for _, from := range p.servers {
				var gone []*Route
				for _, r := range p.routes {
					if r.from == from && r.Outcome == PeerGone && len(r.serving) == 0 && !r.explained {
						gone = append(gone, r)
					}
				}
				f.Effects = append(f.Effects, explain(from, nil, gone)...)
			}
			p.Report(f)
		}
		if left := p.unlisted(); len(left) > 0 && !p.given() {
			var seen []string
			for _, l := range left {
				seen = append(seen, fmt.Sprintf("identity lease %s of host %q, renewed %d s ago", l.Name, l.Hostname, int(p.cp.Shared.Leases.Now.Sub(l.Renewed).Seconds())))
			}
			p.Report(LiveFinding{
				Severity: Error,
				Message: fmt.Sprintf("%s, and the cluster names the addresses of %d only: the others could not be asked.",
					plural(len(p.fresh), "API server runs", "API servers run"), len(p.servers)),
				Why:  "nothing is known of the others, so the verdict is incomplete.",
				Seen: seen,
				Fix:  "ask again in a few seconds: a server that has just started is not in the endpoints yet; or name all servers with --server",
			})
		}
	},
}

// given tells whether the user has named the servers.
func (s *liveState) given() bool {
	return len(s.servers) > 0 && slices.Contains(s.servers[0].Evidence.FoundBy, evidence.FromGiven)
}

// peerGone is MVP511.
var peerGone = &Rule{
	ID: "MVP511", Name: "peer-gone", Severity: Error, HandOff: true, Effect: true,
	Doc: Doc{
		What:  "A server answers 503 for resources that it would hand to a peer: the peer is gone and its identity lease still there (a warning), or the peer runs and the server cannot reach it (an error).",
		Why:   "Requests for these resources get 503 until the lease runs out, an hour after its last renewal. A 503 is right: no client takes it for \"not there\".",
		Fix:   "Bring the server back, or upgrade the others. If it is gone for good, delete its lease in kube-system.",
		Facts: []string{"H10"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		var gone []string
		for _, l := range p.cp.Shared.Leases.Items {
			if age := p.cp.Shared.Leases.Now.Sub(l.Renewed); age > evidence.LeaseLife {
				gone = append(gone, fmt.Sprintf("%s of host %q, renewed %s ago", l.Name, l.Hostname, age.Round(time.Second)))
			}
		}
		if len(gone) == 0 {
			gone = []string{"no server serves these resources, and a merged discovery document offers them"}
		}
		p.reportGone(LiveFinding{
			Severity: Warning, Seen: gone,
			Message: "offers resources of a server that is gone.",
			Why:     "requests for them get 503 until that server is back or its lease has run out.",
			Fix:     "bring the server back; if it is gone for good, delete its lease in kube-system",
		}, func(r *Route) bool { return len(r.serving) == 0 && (r.Outcome == PeerGone || r.Merged) })
		p.reportGone(LiveFinding{
			Severity: Error,
			Message:  "cannot reach a peer that runs, and answers 503.",
			Why:      "it has read what the peer serves, and cannot connect to it now.",
			Fix:      "look for \"peer\" in the log of kube-apiserver there: it says why the connection fails",
		}, func(r *Route) bool { return len(r.serving) > 0 && r.Outcome == PeerGone && !r.Subresource })
		if len(p.findings) == 0 && !p.cp.Shared.Leases.OK() {
			p.CannotTell("the identity leases cannot be read: %s", p.cp.Shared.Leases.Reason)
		}
	},
}

// reportGone reports a finding with those routes that no cause explains and for which a test holds.
func (p *LivePass) reportGone(f LiveFinding, holds func(*Route) bool) {
	for _, v := range p.servers {
		var routes []*Route
		for _, r := range p.routes {
			if r.from == v && !r.explained && holds(r) {
				routes = append(routes, r)
			}
		}
		if len(routes) > 0 {
			f.Servers = append(f.Servers, v.Name)
			f.Effects = append(f.Effects, explain(v, nil, routes)...)
		}
	}
	if len(f.Effects) > 0 {
		p.Report(f)
	}
}

// publishedDiffers is MVP509.
var publishedDiffers = &Rule{
	ID: "MVP509", Name: "published-address-differs", Severity: Warning, HandOff: true,
	Doc: Doc{
		What:  "The address in a server's identity lease is not advertise-address with secure-port of its command line.",
		Why:   "Its peers use the address in the lease. Either the server still runs with older flags than its manifest has, or it honours other flags than are known here.",
		Fix:   "Restart kube-apiserver on that node and look at the lease again.",
		Facts: []string{"H8"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		known := 0
		for _, v := range p.servers {
			pod := evidence.Pod{Flags: v.flags}
			want := pod.Published()
			if v.flags == nil || want == "" || v.lease == nil || v.Published == "" {
				continue
			}
			known++
			if want != evidence.Canonical(v.Published) {
				p.Report(LiveFinding{
					Severity: Warning, Servers: []string{v.Name},
					Message: fmt.Sprintf("publishes %s to its peers; by its flags it should be %s.", v.Published, want),
					Why:     "peers use the address in the identity lease.",
					Seen:    []string{"lease " + v.lease.Name + ": peer-advertise-address " + v.Published},
					Fix:     "restart kube-apiserver on " + v.Name + "; if it stays so, look at what sets its advertise-address",
				})
			}
		}
		if known == 0 {
			p.Skip("no server tells both its flags and its published address")
		}
	},
}

// tooManyReleases is MVP514.
var tooManyReleases = &Rule{
	ID: "MVP514", Name: "too-many-releases", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "The API servers are of minor releases that are more than one apart. Up to two apart the hand-off was seen to work, and this is a note.",
		Why:   "Kubernetes supports API servers of two neighbouring minors at a time; beyond that nothing is promised, and controllers may meet objects that a server cannot read.",
		Fix:   "Upgrade the oldest server first, one minor at a time.",
		Facts: []string{"H11"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		var oldest, newest *liveServer
		for _, v := range p.where(func(v *liveServer) bool { return v.minor != 0 }) {
			if oldest == nil || v.minor < oldest.minor {
				oldest = v
			}
			if newest == nil || v.minor > newest.minor {
				newest = v
			}
		}
		if oldest == nil {
			p.CannotTell("no server tells its version")
			return
		}
		apart := newest.minor - oldest.minor
		if apart < 2 {
			return
		}
		f := LiveFinding{
			Severity: Info, Servers: []string{oldest.Name, newest.Name},
			Message: fmt.Sprintf("the servers are %d minor releases apart: 1.%d and 1.%d.", apart, oldest.minor, newest.minor),
			Why:     "Kubernetes supports one minor between API servers. Up to two apart, the hand-off was seen to work.",
			Seen:    []string{fmt.Sprintf("/version: %s %s, %s %s", oldest.Name, oldest.release, newest.Name, newest.release)},
			Fix:     "upgrade " + oldest.Name + " before you go on with the others",
		}
		if apart > 2 {
			f.Severity = Error
			f.Why = "Kubernetes supports one minor between API servers; this far apart nothing is known of the hand-off."
		}
		p.Report(f)
	},
}

// false404 is MVP501.
var false404 = &Rule{
	ID: "MVP501", Name: "false-404", Severity: Error, HandOff: true, Effect: true,
	Doc: Doc{
		What:  "A server answers \"no such resource\" for one that a peer serves. A GET of an object that cannot exist shows it: the peer answers that there is no such object, this server that there is no such path.",
		Why:   "Clients take the 404 for the truth: " + silent404 + ".",
		Fix:   "Repair the cause, which another finding names as a rule. Do not go on with the upgrade before.",
		Facts: []string{"H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H15"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		asked := 0
		for _, v := range p.servers {
			var routes []*Route
			for _, r := range p.routes {
				if r.from == v && !r.Subresource && r.Outcome != OutcomeUnknown {
					asked++
				}
				if r.from == v && !r.Subresource && !r.explained && r.Outcome == NotFound && r.ByGet {
					routes = append(routes, r)
					r.explained = true
				}
			}
			if len(routes) == 0 {
				continue
			}
			p.Report(LiveFinding{
				Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound,
				Message: fmt.Sprintf("answers 404 for %s, which %s %s; nothing that can be seen from here says why.", listRoutes(routes), servedBy(routes), serves(routes)),
				Why:     silentWhy,
				Seen:    append([]string{"GET of an object name: \"no such resource\" here, \"not found\" on " + servedBy(routes)}, callsSeen(v)...),
				Fix:     p.unexplained(v),
			})
		}
		if asked == 0 && len(p.findings) == 0 {
			p.unaskedRoutes()
		}
	},
}

// unexplained says what to do about a false 404 whose cause nothing shows.
func (p *LivePass) unexplained(v *liveServer) string {
	c := v.calls()
	switch {
	case v.youth() != "":
		return "wait: mvpcheck probe --wait 2m"
	case c.told && c.ok+c.unavailable+c.unauthorized+c.forbidden == 0:
		// 1.34 tries five times within a second when a peer starts, later releases twenty times.
		return "restart kube-apiserver on " + v.Name + ": it has asked no peer since its start, and asks them when it starts; then run mvpcheck probe again"
	}
	return "look for \"peer\" in the log of kube-apiserver on " + v.Name + ", and give mvpcheck the permissions that MVP513 names"
}

// unaskedRoutes says why no resource shows anything.
func (p *LivePass) unaskedRoutes() {
	switch {
	case len(p.routes) > 0 && slices.ContainsFunc(p.routes, func(r *Route) bool { return !r.Subresource }):
		p.CannotTell("servers differ in what they serve, and neither GETs nor documents show who hands off")
	default:
		p.Skip("all servers serve the same resources")
	}
}

// mergedIncomplete is MVP502.
var mergedIncomplete = &Rule{
	ID: "MVP502", Name: "merged-view-incomplete", Severity: Error, HandOff: true, Effect: true,
	Doc: Doc{
		What:  "The merged discovery document of a server lacks resources that the document of a live peer has.",
		Why:   "Garbage collection and namespace deletion learn from discovery which resources there are: those that it leaves out are left behind or not waited for.",
		Fix:   "Repair the cause, which another finding names as a rule.",
		Facts: []string{"H1", "H2"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		merging := 0
		for _, v := range p.servers {
			if !v.reached() || v.release.Minor() < mergesDiscovery {
				continue
			}
			merging++
			var routes []*Route
			for _, r := range p.routes {
				lacks := r.from == v && !r.Subresource && r.Resource.Group != "" && v.Evidence.Merged.OK() && !r.Merged && len(r.serving) > 0
				if lacks && !r.explained {
					routes = append(routes, r)
					r.explained = true
				}
			}
			if len(routes) == 0 {
				continue
			}
			p.Report(LiveFinding{
				Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound,
				Message: fmt.Sprintf("its discovery document lacks %s, which %s %s.", listRoutes(routes), servedBy(routes), serves(routes)),
				Why:     "garbage collection and namespace deletion do not know of these resources while they are asking this server.",
				Seen:    append([]string{fmt.Sprintf("/apis with %d resources, %d without what peers serve", v.Merged, v.Local)}, callsSeen(v)...),
				Fix:     "wait (--wait 1m) if a server has just started; else look for \"peer\" in the log of kube-apiserver on " + v.Name,
			})
		}
		if merging == 0 {
			p.Skip("no server of 1.35 or later: older ones do not merge discovery")
		}
	},
}

// legacyDiscovery is MVP512.
var legacyDiscovery = &Rule{
	ID: "MVP512", Name: "legacy-discovery-not-merged", Severity: Info, HandOff: true,
	Doc: Doc{
		What:  "Servers hand requests on for resources that they do not list in legacy discovery (/apis/GROUP/VERSION).",
		Why:   "Clients of before 1.27, and those that read legacy discovery by choice, do not see these resources on such a server until it is upgraded.",
		Fix:   "Use clients with aggregated discovery during the upgrade.",
		Facts: []string{"H1"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		var names []string
		for _, r := range p.routes {
			if r.Outcome == HandedOff && !slices.Contains(names, r.Server) {
				names = append(names, r.Server)
			}
		}
		if len(names) == 0 {
			p.Skip("nothing is handed off")
			return
		}
		p.Report(LiveFinding{
			Severity: Info, Servers: names,
			Message: "legacy discovery does not list what is handed off.",
			Why:     "clients of before 1.27 do not see these resources on such a server until it is upgraded.",
			Fix:     "use clients with aggregated discovery during the upgrade",
		})
	},
}

// subresourceStays is MVP518.
var subresourceStays = &Rule{
	ID: "MVP518", Name: "subresource-not-handed-off", Severity: Info, HandOff: true,
	Doc: Doc{
		What:  "A server has a resource, and a peer has a subresource of it that this server lacks.",
		Why:   "API servers decide by the resource whether to hand a request on: for such a subresource they answer 404 themselves, whatever they are set to.",
		Fix:   "Nothing to set. Until the last old server is replaced, do not use what needs the new subresource.",
		Facts: []string{"H11"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		// One finding for all servers that lack the same.
		lacking := map[string][]*liveServer{}
		routes := map[string][]*Route{}
		var order []string
		for _, v := range p.servers {
			var own []*Route
			for _, r := range p.routes {
				if r.from == v && r.Subresource && r.Outcome == NotFound {
					own = append(own, r)
				}
			}
			if len(own) == 0 {
				continue
			}
			key := listRoutes(own) + " " + servedBy(own)
			if lacking[key] == nil {
				order = append(order, key)
			}
			lacking[key], routes[key] = append(lacking[key], v), own
		}
		for _, key := range order {
			own := routes[key]
			p.Report(LiveFinding{
				Severity: Info, Servers: serverNames(lacking[key]), Consequence: FalseNotFound,
				Message: fmt.Sprintf("404 for %s, which %s %s: subresources of a resource that a server has itself are not handed off.", listRoutes(own), servedBy(own), serves(own)),
				Why:     "no setting changes that; it ends with the upgrade of the older servers.",
				Seen:    []string{"GET of an object name: \"no such resource\" here, \"not found\" on " + servedBy(own)},
				Fix:     "do not use these subresources before the last old server is upgraded",
			})
		}
	},
}

// nothingToProve is MVP517.
var nothingToProve = &Rule{
	ID: "MVP517", Name: "nothing-to-prove", Severity: Info, HandOff: true,
	Doc: Doc{
		What:  "All API servers serve the same resources, so that no request shows a hand-off.",
		Why:   "What can be proved before an upgrade: the gate and the CA on every server, an address of its own that answers with the right certificate, and that each has read its peers' discovery documents.",
		Fix:   "Nothing to do. Probe again when the first server is upgraded.",
		Facts: []string{"H13"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		alive := p.where(func(v *liveServer) bool { return true })
		differ := slices.ContainsFunc(alive, func(v *liveServer) bool { return v.Local != alive[0].Local && v.Local >= 0 })
		if len(alive) < 2 || differ || slices.ContainsFunc(p.routes, func(r *Route) bool { return !r.Subresource }) {
			p.Skip("servers differ in what they serve")
			return
		}
		if slices.ContainsFunc(alive, func(v *liveServer) bool { return v.Local < 0 }) {
			p.CannotTell("not every server tells what it serves")
			return
		}
		var seen []string
		each := func(what string, holds func(*liveServer) bool) {
			if n := len(p.where(holds)); n == len(alive) {
				seen = append(seen, "each "+what)
			} else if n > 0 {
				seen = append(seen, fmt.Sprintf("%d of %d %s", n, len(alive), what))
			}
		}
		each("has the gate on and a peer CA", func(v *liveServer) bool { return v.Gate == handoff.Yes && v.PeerCA == handoff.Yes })
		each("publishes an address that answers with a certificate for kubernetes.default.svc", func(v *liveServer) bool {
			return v.dial != nil && v.dial.Connected && v.dial.Named && v.dial.Trusted && !v.sharesAddress
		})
		each("has read its peers' discovery documents", func(v *liveServer) bool {
			return p.hasReadAll(v)
		})
		p.Report(LiveFinding{
			Severity: Info,
			Message:  fmt.Sprintf("the %d servers serve the same %d resources: no request can show a hand-off yet.", len(alive), alive[0].Local),
			Why:      "the hand-off of a resource shows when the first server is upgraded.",
			Seen:     seen,
			Fix:      "probe again when the first server is upgraded",
		})
	},
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
