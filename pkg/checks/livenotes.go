package checks

import (
	"fmt"
	"slices"

	"github.com/mvpcheck/mvpcheck/internal/handoff"
)

// legacyDiscoveryNotMerged is MVP512.
var legacyDiscoveryNotMerged = &Rule{
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
			if r.Outcome == handoff.HandedOff && !slices.Contains(names, r.Server) {
				names = append(names, r.Server)
			}
		}
		if len(names) == 0 {
			p.Skip("nothing is handed off")
			return
		}
		p.Report(Finding{
			Severity: Info, Servers: names,
			Message: "legacy discovery does not list what is handed off.",
			Why:     "clients of before 1.27 do not see these resources on such a server until it is upgraded.",
			Fix:     "use clients with aggregated discovery during the upgrade",
		})
	},
}

// subresourceNotHandedOff is MVP518.
var subresourceNotHandedOff = &Rule{
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
		routes := map[string][]*liveRoute{}
		var order []string
		for _, v := range p.servers {
			var own []*liveRoute
			for _, r := range p.routes {
				if r.from == v && r.Subresource && r.Outcome == handoff.NotFound {
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
			p.Report(Finding{
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
		if len(alive) < 2 || differ || slices.ContainsFunc(p.routes, func(r *liveRoute) bool { return !r.Subresource }) {
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
		p.Report(Finding{
			Severity: Info,
			Message:  fmt.Sprintf("the %d servers serve the same %d resources: no request can show a hand-off yet.", len(alive), alive[0].Local),
			Why:      "the hand-off of a resource shows when the first server is upgraded.",
			Seen:     seen,
			Fix:      "probe again when the first server is upgraded",
		})
	},
}
