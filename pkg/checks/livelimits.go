package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
)

// evidenceLimited is MVP513.
var evidenceLimited = &Rule{
	ID: "MVP513", Name: "evidence-limited", Severity: Info,
	Doc: Doc{
		What:  "A source of evidence was forbidden or did not answer.",
		Why:   "What only this source tells stays unknown. The finding says what that is.",
		Fix:   "Give the user of the kubeconfig the permissions of deploy/rbac.yaml, which are read-only.",
		Facts: []string{"H14"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		for _, source := range p.origins() {
			var reasons []string
			for _, m := range source.missing {
				if !slices.Contains(reasons, m.reason) {
					reasons = append(reasons, m.reason)
				}
			}
			if len(reasons) == 0 {
				continue
			}
			var servers []string
			for _, m := range source.missing {
				if m.server != "" {
					servers = append(servers, m.server)
				}
			}
			p.Report(Finding{
				Severity: Info, Servers: servers,
				Message: fmt.Sprintf("%s cannot be read (%s): %s.", source.name, strings.Join(reasons, "; "), source.cost),
				Why:     "what only this source tells stays unknown.",
				Fix:     source.fix,
			})
		}
	},
}

// origin is a source of evidence, what it costs to be without, and how to get it.
type origin struct {
	name, cost, fix string
	missing         []missing
}

type missing struct{ server, reason string }

const rbacFix = "give the user the permissions of deploy/rbac.yaml"

func (p *LivePass) origins() []origin {
	each := func(reason func(*liveServer) string) []missing {
		var out []missing
		for _, v := range p.where(func(*liveServer) bool { return true }) {
			if r := reason(v); r != "" {
				out = append(out, missing{v.Name, r})
			}
		}
		return out
	}
	once := func(t evidence.Told) []missing {
		if t.OK() || t.State == "" {
			return nil
		}
		return []missing{{"", t.Reason}}
	}
	not := func(t evidence.Told) string {
		if t.OK() {
			return ""
		}
		return t.Reason
	}
	shared := &p.cp.Shared
	return []origin{
		{"/version", "the release is unknown: whether the server merges discovery, and how far the servers are apart (MVP502, MVP514)", rbacFix,
			each(func(v *liveServer) string { return not(v.Evidence.Version.Told) })},
		{"/readyz?verbose", "whether gate and peer CA are on is told by /metrics and the command line, if at all", rbacFix,
			each(func(v *liveServer) string { return not(v.Evidence.Hooks.Told) })},
		{"/metrics", "whether peers trust each other and accept each other's requests (MVP505, MVP506) cannot be told before the servers differ in a resource", rbacFix,
			each(func(v *liveServer) string { return not(v.Evidence.Metrics.Told) })},
		{"/flagz", "whether the published address is the intended one (MVP509) is told by mirror pods only", rbacFix,
			each(func(v *liveServer) string {
				// Older servers do not have it: that is no loss of permission.
				if !v.release.GateDefaultOn(release.Flagz) && v.Evidence.Flags.State == evidence.Absent || v.pod != nil && v.pod.Flags != nil {
					return ""
				}
				return not(v.Evidence.Flags.Told)
			})},
		{"/apis", "what the server serves, and so what it answers a false 404 for, cannot be told", rbacFix,
			each(func(v *liveServer) string {
				for _, d := range []evidence.Document{v.Evidence.Core, v.Evidence.Local, v.Evidence.Merged} {
					if !d.OK() {
						return d.Reason
					}
				}
				return ""
			})},
		{"an object by name", "whether requests are handed off is told by discovery documents only (MVP501)", rbacFix,
			each(func(v *liveServer) string {
				for _, o := range v.Evidence.Objects {
					if o.Asked == evidence.Denied && o.Alone != evidence.NotServed || o.Alone == evidence.Denied {
						return "403 Forbidden"
					}
				}
				return ""
			})},
		{"the identity leases", "the published addresses, servers with one address or one host name, and dead peers (MVP505, MVP507, MVP508, MVP511, MVP516) cannot be told", rbacFix,
			once(shared.Leases.Told)},
		{"the EndpointSlice default/kubernetes", "servers are found by leases and mirror pods only", rbacFix, once(shared.Endpoints.Told)},
		{"the mirror pods", "names of nodes, proxies in the static pods (MVP311), and servers behind one address cannot be told", rbacFix, once(shared.Pods.Told)},
		{"the ConfigMap kube-system/extension-apiserver-authentication", "which proxy clients are accepted is not shown (MVP506)", rbacFix, once(shared.Authentication.Told)},
		{"the ClusterRoleBinding system:discovery", "whether peers may read discovery (MVP515) is told by /metrics only", rbacFix, bindingMissing(shared.Discovery)},
		{"the APIServices", "custom resources and aggregated API servers are compared like built-in resources", rbacFix, once(shared.APIServices.Told)},
	}
}

// bindingMissing: that there is no such binding is an answer, which MVP515 reads.
func bindingMissing(b evidence.Binding) []missing {
	if b.OK() || b.State == evidence.Absent || b.State == "" {
		return nil
	}
	return []missing{{"", b.Reason}}
}

// conclude says what came of a server.
func (s *liveState) conclude(v *liveServer, findings []Finding) {
	if !v.reached() {
		v.Result, v.Says = handoff.Unknown, "cannot be asked"
		return
	}
	var handed, notFound, gone, refused, random []*liveRoute
	unknown := 0
	for _, r := range s.routes {
		switch {
		case r.from != v || r.Subresource:
		case r.Outcome == handoff.HandedOff:
			handed = append(handed, r)
		case r.Outcome == handoff.NotFound:
			notFound = append(notFound, r)
		case r.Outcome == handoff.Unavailable || r.merged && len(r.serving) == 0:
			gone = append(gone, r)
		case r.Outcome == handoff.Refused:
			refused = append(refused, r)
		case len(r.lackedBy) > 0 && len(r.serving) > 0:
			random = append(random, r)
		default:
			unknown++
		}
	}
	v.Result = handoff.Yes
	var says []string
	if len(notFound) > 0 {
		v.Result = handoff.No
		says = append(says, "FALSE 404 for "+countResources(notFound))
	}
	if len(gone) > 0 {
		says = append(says, "503 for "+countResources(gone))
		if slices.ContainsFunc(gone, func(r *liveRoute) bool { return len(r.serving) > 0 }) {
			v.Result = handoff.No
		}
	}
	if len(refused) > 0 {
		v.Result = handoff.No
		says = append(says, "403 for "+countResources(refused))
	}
	if v.Result == handoff.Yes && s.accused(v, findings) {
		v.Result = handoff.No
		says = append(says, s.shortcoming(v, findings))
	}
	if v.Result == handoff.Yes && len(random) > 0 {
		v.Result = handoff.Unknown
		says = append(says, "may ask peers that lack them for "+countResources(random))
	}
	if v.Result == handoff.Yes && (unknown > 0 || len(s.servers) > 1 && s.unsure(v)) {
		v.Result = handoff.Unknown
		says = append(says, "cannot tell whether it hands requests on")
	}
	if len(handed) > 0 {
		text := "hands " + countResources(handed) + " to " + servedBy(handed)
		if v.Result == handoff.Yes && len(says) == 0 {
			text = "ok, " + text
		}
		says = append(says, text)
	}
	if len(says) == 0 {
		says = []string{"ok"}
	}
	v.Says = strings.Join(says, "; ")
}

// countResources counts resources, without their subresources where there are any.
func countResources(routes []*liveRoute) string {
	n := 0
	for _, r := range routes {
		if !r.resource.IsSubresource() {
			n++
		}
	}
	if n == 0 {
		return text.Count(len(routes), "subresource")
	}
	return text.Count(n, "resource")
}

// accused tells whether an error is about the server.
func (s *liveState) accused(v *liveServer, findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Severity == Error && slices.Contains(f.Servers, v.Name)
	})
}

// shortcoming says in a few words why a server that answers no false 404 now is not fit.
func (s *liveState) shortcoming(v *liveServer, findings []Finding) string {
	switch {
	case v.Gate == handoff.No:
		return "gate off"
	case v.PeerCA == handoff.No:
		return "no peer CA: hands nothing on"
	case v.sharesIdentity:
		return "shares its host name with another server"
	case v.sharesAddress:
		return "publishes another server's address"
	}
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Severity == Error && slices.Contains(f.Servers, v.Name) })
	switch findings[i].Rule {
	case peerNotTrusted:
		if v.dial != nil && v.dial.Connected && !v.dial.Named {
			return "peers do not trust its certificate"
		}
		return "cannot connect to its peers"
	case proxiedPeerTraffic:
		return "sends peer requests to a proxy"
	case peerRefusesCaller:
		return "refused by its peers"
	case peerUnreachable:
		return "peers cannot reach it"
	case discoveryForbidden:
		return "may not read its peers' discovery"
	}
	return "not fit for the hand-off"
}

// unsure tells whether it is unknown of a server if it hands requests to a peer that has something for it, or would to
// any peer while all serve the same.
func (s *liveState) unsure(v *liveServer) bool {
	differ := slices.ContainsFunc(s.routes, func(r *liveRoute) bool { return !r.Subresource && len(r.serving) > 0 })
	for _, p := range s.pairs {
		if p.from == v && p.Verdict == handoff.Unknown && p.to.reached() && (!differ || s.awaitsAnswer(v, p.to)) {
			return true
		}
	}
	return false
}

// awaitsAnswer tells whether a request of one server has to be answered by the other, as nothing has shown yet.
func (s *liveState) awaitsAnswer(from, to *liveServer) bool {
	return slices.ContainsFunc(s.between(from, to), func(r *liveRoute) bool { return r.Outcome == handoff.Unsure })
}

// randomPeers says that a server may ask a peer which lacks what it is asked for; empty where it may not.
func (s *liveState) randomPeers(name string) string {
	var lacking []string
	for _, r := range s.routes {
		if r.from.Name == name && r.Outcome == handoff.Unsure && len(r.serving) > 0 {
			lacking = append(lacking, serverNames(r.lackedBy)...)
		}
	}
	if slices.Sort(lacking); len(lacking) == 0 {
		return ""
	}
	return fmt.Sprintf("%s asks one of its peers at random, also %s for what that lacks: one request is answered, and another gets a 404",
		name, joinNames(slices.Compact(lacking)))
}

// cannotTell says why there is no verdict, empty where there is one.
func (s *liveState) cannotTell() string {
	var unreached, unsure []string
	for _, v := range s.servers {
		switch {
		case !v.reached():
			unreached = append(unreached, v.Name)
		case v.Result == handoff.Unknown:
			unsure = append(unsure, v.Name)
		}
	}
	switch {
	case len(s.servers) == 0:
		return "no API server was found"
	case len(unreached) > 0:
		return joinNames(unreached) + " cannot be asked"
	case len(s.unlisted()) > 0 && !s.given():
		return "not all API servers that run could be asked"
	case len(unsure) > 0 && s.randomPeers(unsure[0]) != "":
		return s.randomPeers(unsure[0])
	case len(unsure) > 0:
		return "nothing shows whether " + joinNames(unsure) + " would hand requests to " + map[bool]string{true: "its peers", false: "their peers"}[len(unsure) == 1] + s.whyUnsure()
	case len(s.servers) == 1 && slices.Contains(s.servers[0].Evidence.FoundBy, evidence.FromKubeconfig):
		return "nothing that can be read names the other API servers"
	}
	return ""
}

// whyUnsure names what would have told.
func (s *liveState) whyUnsure() string {
	for _, v := range s.where(func(*liveServer) bool { return true }) {
		switch {
		case !v.Evidence.Metrics.OK():
			return ": /metrics cannot be read"
		case v.justStarted() != "":
			return ": " + v.justStarted()
		case v.Result == handoff.Unknown && v.calls().ok == 0 && v.Gate == handoff.Yes && v.PeerCA == handoff.Yes:
			return ": " + v.Name + " has read no document of a peer since its start; a restart makes it ask again"
		}
	}
	if !s.cp.Shared.Leases.OK() {
		return ": the identity leases cannot be read"
	}
	return ""
}
