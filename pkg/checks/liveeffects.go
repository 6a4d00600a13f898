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

// cannotTellOn says that something is not known of some servers.
func (p *LivePass) cannotTellOn(unknown func(*liveServer) bool, what string) {
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

// causedBy returns the routes that come out as they do for one of the causes. A cause concerns the given servers as senders or
// as peers.
func (s *liveState) causedBy(concerned []*liveServer, causes ...handoff.Cause) []*liveRoute {
	follows := func(r *liveRoute, to *liveServer) bool {
		p := s.pair(r.from, to)
		return p.Verdict == handoff.No &&
			slices.ContainsFunc(p.Causes, func(c handoff.Cause) bool { return slices.Contains(causes, c) }) &&
			(slices.Contains(concerned, r.from) || slices.Contains(concerned, to))
	}
	return s.routesWhere(func(r *liveRoute) bool {
		return !r.Subresource && (r.Outcome == handoff.NotFound || r.Outcome == handoff.Unavailable) &&
			slices.ContainsFunc(r.serving, func(to *liveServer) bool { return follows(r, to) })
	})
}

// routesWhere returns the routes for which a test holds.
func (s *liveState) routesWhere(holds func(*liveRoute) bool) []*liveRoute {
	return slices.DeleteFunc(slices.Clone(s.routes), func(r *liveRoute) bool { return !holds(r) })
}

// explain returns a finding with the effects of what it is the cause of, and notes what it explains: of two causes it is the
// first one.
func (s *liveState) explain(f claim, explained map[*liveRoute]*Rule) Finding {
	first := slices.DeleteFunc(f.routes, func(r *liveRoute) bool { return explained[r] != nil })
	for _, r := range first {
		explained[r] = f.Rule
	}
	if f.cause {
		for _, v := range s.servers {
			f.Effects = append(f.Effects, effectsOn(v, first)...)
		}
	}
	return f.Finding
}

// effectsOn says what clients of a server get for routes of it.
func effectsOn(v *liveServer, routes []*liveRoute) []Effect {
	var found, gone []*liveRoute
	for _, r := range routes {
		switch {
		case r.from != v:
		case r.Outcome == handoff.NotFound:
			found = append(found, r)
		default:
			gone = append(gone, r)
		}
	}
	var effects []Effect
	if len(found) > 0 {
		e := Effect{
			Rules: []string{"MVP501"}, Server: v.Name,
			Message: "answers 404 for " + listRoutes(found) + ", which " + servedBy(found) + " " + serves(found),
		}
		if v.release.Does(release.MergesDiscovery) &&
			slices.ContainsFunc(found, func(r *liveRoute) bool { return !r.merged && r.Resource.Group != "" }) {
			e.Rules = append(e.Rules, "MVP502")
		}
		effects = append(effects, e)
	}
	if len(gone) > 0 {
		effects = append(effects, Effect{Rules: []string{"MVP511"}, Server: v.Name, Message: "answers 503 for " + listRoutes(gone)})
	}
	return effects
}

func serves(routes []*liveRoute) string {
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
	if started := v.justStarted(); started != "" {
		seen = append(seen, started)
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

// causeRules are the IDs of the rules about why one server hands nothing to another.
func causeRules() []string {
	return []string{"MVP311", "MVP503", "MVP504", "MVP505", "MVP506", "MVP507", "MVP508", "MVP515", "MVP516"}
}

// peerGone is MVP511.
var peerGone = &Rule{
	ID: "MVP511", Name: "peer-gone", Severity: Error, HandOff: true, After: append(causeRules(), "MVP510"),
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
		p.reportGone(Finding{
			Severity: Warning, Seen: gone,
			Message: "offers resources of a server that is gone.",
			Why:     "requests for them get 503 until that server is back or its lease has run out.",
			Fix:     "bring the server back; if it is gone for good, delete its lease in kube-system",
		}, func(r *liveRoute) bool { return len(r.serving) == 0 && (r.Outcome == handoff.Unavailable || r.merged) })
		p.reportGone(Finding{
			Severity: Error,
			Message:  "cannot reach a peer that runs, and answers 503.",
			Why:      "it has read what the peer serves, and cannot connect to it now.",
			Fix:      "look for \"peer\" in the log of kube-apiserver there: it says why the connection fails",
		}, func(r *liveRoute) bool {
			return len(r.serving) > 0 && r.Outcome == handoff.Unavailable && !r.Subresource
		})
		if len(p.findings) == 0 && !p.cp.Shared.Leases.OK() {
			p.CannotTell("the identity leases cannot be read: %s", p.cp.Shared.Leases.Reason)
		}
	},
}

// reportGone reports a finding with those routes that no cause explains and for which a test holds.
func (p *LivePass) reportGone(f Finding, holds func(*liveRoute) bool) {
	routes := p.routesWhere(func(r *liveRoute) bool { return p.unexplained(r) && holds(r) })
	for _, v := range p.servers {
		if slices.ContainsFunc(routes, func(r *liveRoute) bool { return r.from == v }) {
			f.Servers = append(f.Servers, v.Name)
		}
	}
	if len(routes) > 0 {
		p.ReportCause(f, routes)
	}
}

// false404 is MVP501.
var false404 = &Rule{
	ID: "MVP501", Name: "false-404", Severity: Error, HandOff: true, After: causeRules(),
	Doc: Doc{
		What:  "A server answers \"no such resource\" for one that a peer serves. A GET of an object that cannot exist shows it: the peer answers that there is no such object, this server that there is no such path.",
		Why:   "Clients take the 404 for the truth: " + silent404 + ".",
		Fix:   "Repair the cause, which another finding names as a rule. Do not go on with the upgrade before.",
		Facts: []string{"H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H15"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		asked := 0
		for _, v := range p.servers {
			var routes []*liveRoute
			for _, r := range p.routes {
				if r.from == v && !r.Subresource && r.Outcome != handoff.Unsure {
					asked++
				}
				if r.from == v && !r.Subresource && p.unexplained(r) && r.Outcome == handoff.NotFound && r.ByGet {
					routes = append(routes, r)
				}
			}
			p.reportFalse404(v, routes)
		}
		if asked == 0 && len(p.findings) == 0 {
			p.unaskedRoutes()
		}
	},
}

// reportFalse404 reports the 404s of a server, those apart that it answers because of the peer that it asks.
func (p *LivePass) reportFalse404(v *liveServer, routes []*liveRoute) {
	var random, others []*liveRoute
	var lacking []string
	for _, r := range routes {
		if len(r.lackedBy) > 0 {
			random, lacking = append(random, r), append(lacking, serverNames(r.lackedBy)...)
		} else {
			others = append(others, r)
		}
	}
	report := func(routes []*liveRoute, cause, fix string) {
		if len(routes) == 0 {
			return
		}
		p.Report(Finding{
			Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound,
			Message: fmt.Sprintf("answers 404 for %s, which %s %s%s.", listRoutes(routes), servedBy(routes), serves(routes), cause),
			Why:     silentWhy,
			Seen:    append([]string{"GET of an object name: \"no such resource\" here, \"not found\" on " + servedBy(routes)}, callsSeen(v)...),
			Fix:     fix,
		}, routes...)
	}
	report(others, "; nothing that can be seen from here says why", p.withoutCause(v))
	slices.Sort(lacking)
	report(random, "; it asks one of its peers at random, also "+joinNames(slices.Compact(lacking))+", which cannot answer",
		"give the servers the same runtime-config and feature gates, and finish the upgrade of the older ones")
}

// withoutCause says what to do about a false 404 whose cause nothing shows.
func (p *LivePass) withoutCause(v *liveServer) string {
	c := v.calls()
	switch {
	case v.justStarted() != "":
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
	case len(p.routes) > 0 && slices.ContainsFunc(p.routes, func(r *liveRoute) bool { return !r.Subresource }):
		p.CannotTell("servers differ in what they serve, and neither GETs nor documents show who hands off")
	default:
		p.Skip("all servers serve the same resources")
	}
}

// mergedViewIncomplete is MVP502.
var mergedViewIncomplete = &Rule{
	ID: "MVP502", Name: "merged-view-incomplete", Severity: Error, HandOff: true, After: append(causeRules(), "MVP501"),
	Doc: Doc{
		What:  "The merged discovery document of a server lacks resources that the document of a live peer has.",
		Why:   "Garbage collection and namespace deletion learn from discovery which resources there are: those that it leaves out are left behind or not waited for.",
		Fix:   "Repair the cause, which another finding names as a rule.",
		Facts: []string{"H1", "H2"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		merging := 0
		for _, v := range p.servers {
			if !v.reached() || !v.release.Does(release.MergesDiscovery) {
				continue
			}
			merging++
			var routes []*liveRoute
			for _, r := range p.routes {
				lacks := r.from == v && !r.Subresource && r.Resource.Group != "" && v.Evidence.Merged.OK() && !r.merged && len(r.serving) > 0
				if lacks && p.unexplained(r) {
					routes = append(routes, r)
				}
			}
			if len(routes) == 0 {
				continue
			}
			p.Report(Finding{
				Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound,
				Message: fmt.Sprintf("its discovery document lacks %s, which %s %s.", listRoutes(routes), servedBy(routes), serves(routes)),
				Why:     "garbage collection and namespace deletion do not know of these resources while they are asking this server.",
				Seen:    append([]string{fmt.Sprintf("/apis with %d resources, %d without what peers serve", v.Merged, v.Local)}, callsSeen(v)...),
				Fix:     "wait (--wait 1m) if a server has just started; else look for \"peer\" in the log of kube-apiserver on " + v.Name,
			}, routes...)
		}
		if merging == 0 {
			p.Skip("no server of 1.35 or later: older ones do not merge discovery")
		}
	},
}
