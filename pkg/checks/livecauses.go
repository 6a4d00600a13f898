package checks

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
)

const (
	liveSince   = "0.1.0"
	silentWhy   = "a client takes the 404 for the truth: " + silent404 + "."
	proofByHand = "then run mvpcheck probe again"
)

// gateOffLive is MVP503.
var gateOffLive = &Rule{
	ID: "MVP503", Name: "gate-off-live", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "A running API server has the feature gate " + release.Gate + " off: /readyz lacks the hook " + evidence.HookReconciler + ", its identity lease publishes no address, the metric kubernetes_feature_enabled is 0.",
		Why:   "It hands nothing to its peers and its peers cannot find it: clients get false 404s as soon as the servers differ.",
		Fix:   "Set the gate together with peer-ca-file in ClusterConfiguration and regenerate the manifest on each node, on the release that runs now. mvpcheck patch writes both.",
		Facts: []string{"H2"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		off := p.where(func(v *liveServer) bool { return v.Gate == handoff.No })
		if len(off) == 0 {
			p.cannotTellOn(func(v *liveServer) bool { return v.Gate == handoff.Unknown }, "whether the gate is on")
			return
		}
		p.ReportCause(Finding{
			Severity: Error, Servers: serverNames(off), Consequence: FalseNotFound,
			Message: fmt.Sprintf("the gate %s is off: %s to its peers, and they cannot find it.", release.Gate, handsNothing(off)),
			Why:     silentWhy,
			Seen:    seenOf(off, func(v *liveServer) string { return v.gateSeen }),
			Fix:     "add " + gateOnText + " and peer-ca-file to ClusterConfiguration and regenerate the manifest on " + joinNames(serverNames(off)),
		}, p.causedBy(off, handoff.SenderGateOff, handoff.PeerGateOff))
	},
}

func handsNothing(servers []*liveServer) string {
	if len(servers) > 1 {
		return "each of these servers hands nothing"
	}
	return "the server hands nothing"
}

// noPeerProxyLive is MVP504.
var noPeerProxyLive = &Rule{
	ID: "MVP504", Name: "no-peer-proxy-live", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "A running API server has the gate on and no --peer-ca-file: /readyz lacks the hook " + evidence.HookPeerProxy + ".",
		Why:   "Without a CA for its peers it hands nothing to them, whatever the other servers are set to. Before the upgrade no answer and no document shows it.",
		Fix:   "Add peer-ca-file to ClusterConfiguration and regenerate the manifest on that node.",
		Facts: []string{"H3", "H14"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		without := p.where(func(v *liveServer) bool { return v.Gate == handoff.Yes && v.PeerCA == handoff.No })
		if len(without) == 0 {
			p.cannotTellOn(func(v *liveServer) bool { return v.PeerCA == handoff.Unknown }, "whether peer-ca-file is set")
			return
		}
		p.ReportCause(Finding{
			Severity: Error, Servers: serverNames(without), Consequence: FalseNotFound,
			Message: "runs without --peer-ca-file: it hands nothing to its peers.",
			Why:     silentWhy,
			Seen:    seenOf(without, func(v *liveServer) string { return v.caSeen }),
			Fix:     "add peer-ca-file to ClusterConfiguration and regenerate the manifest on " + joinNames(serverNames(without)),
		}, p.causedBy(without, handoff.SenderNoPeerCA))
	},
}

// sharedIdentity is MVP516.
var sharedIdentity = &Rule{
	ID: "MVP516", Name: "shared-identity", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "There are fewer identity leases than API servers. The lease is named after the host name.",
		Why:   "Servers with one host name write one lease in turn and hide each other: neither finds the other, nor do the rest find both.",
		Fix:   "Give each control-plane node a host name of its own and restart its kube-apiserver.",
		Facts: []string{"H9"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		if !p.cp.Shared.Leases.OK() {
			p.CannotTell("the identity leases cannot be read: %s", p.cp.Shared.Leases.Reason)
			return
		}
		short := p.leasesShort()
		if short <= 0 {
			return
		}
		if p.leaseMayCome() {
			p.CannotTell("a server that has just started has not written its identity lease yet")
			return
		}
		sharing := p.where(func(v *liveServer) bool { return v.sharesIdentity })
		var leases []string
		for _, l := range p.fresh {
			leases = append(leases, fmt.Sprintf("%s of host %q, published %s", l.Name, l.Hostname, cmp.Or(l.Published, "nothing")))
		}
		if len(leases) == 0 {
			leases = []string{"no identity lease was renewed in the last minute"}
		}
		p.ReportCause(Finding{
			Severity: Error, Servers: serverNames(sharing), Consequence: FalseNotFound,
			Message: fmt.Sprintf("%s, but %s: two servers with one host name hide each other.",
				serversRun(len(p.fresh)+short), text.Count(len(p.fresh), "identity lease")),
			Why:  silentWhy,
			Seen: leases,
			Fix:  "give each control-plane node a host name of its own and restart kube-apiserver there; " + proofByHand,
		}, p.causedBy(sharing, handoff.SharedIdentity))
	},
}

// oneAddressForSeveral is MVP508.
var oneAddressForSeveral = &Rule{
	ID: "MVP508", Name: "one-address-for-several", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "Two API servers publish one address to their peers: advertise-address is that of a load balancer, or the same on all nodes.",
		Why:   "Every request for a peer goes to whatever answers there, which can be the sender itself. Every other sign is green.",
		Fix:   "Remove advertise-address from ClusterConfiguration: kubeadm fills it from each node's localAPIEndpoint.",
		Facts: []string{"H9"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		if !p.cp.Shared.Leases.OK() {
			p.CannotTell("the identity leases cannot be read: %s", p.cp.Shared.Leases.Reason)
			return
		}
		hosts := map[string][]string{}
		for _, l := range p.fresh {
			if l.Published != "" {
				hosts[l.Published] = append(hosts[l.Published], cmp.Or(l.Hostname, l.Name))
			}
		}
		for _, l := range p.fresh {
			names := hosts[l.Published]
			delete(hosts, l.Published)
			if len(names) < 2 {
				continue
			}
			sharing := p.where(func(v *liveServer) bool { return v.sharesAddress && v.Published == l.Published })
			p.ReportCause(Finding{
				Severity: Error, Servers: serverNames(sharing), Consequence: FalseNotFound,
				Message: fmt.Sprintf("%s publish one address, %s: a request for one of them reaches whatever answers there.", joinNames(names), l.Published),
				Why:     silentWhy,
				Seen:    []string{fmt.Sprintf("%d identity leases with peer-advertise-address %s", len(names), l.Published)},
				Fix:     "remove advertise-address from ClusterConfiguration's extraArgs, so that each node advertises its own, and regenerate the manifests",
			}, p.causedBy(sharing, handoff.SharedAddress))
		}
	},
}

// peerUnreachable is MVP507.
var peerUnreachable = &Rule{
	ID: "MVP507", Name: "peer-unreachable", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "The address that an API server publishes to its peers (advertise-address with secure-port) does not answer, though the server runs.",
		Why:   "Its peers cannot hand requests to it and answer 404 for what only it serves.",
		Fix:   "Set localAPIEndpoint.advertiseAddress of that node to an address that the other nodes reach, open the port between the nodes, and regenerate the manifest.",
		Facts: []string{"H8"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		if !p.cp.Shared.Leases.OK() {
			p.CannotTell("the published addresses are in the identity leases, which cannot be read: %s", p.cp.Shared.Leases.Reason)
			return
		}
		for _, v := range p.servers {
			// One that cannot be asked anywhere is MVP510; one whose peers do reach it, too.
			if v.dial == nil || v.dial.Connected || !v.reached() || p.anyProved(v) || p.readByAPeer(v) {
				continue
			}
			p.ReportCause(Finding{
				Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound,
				Message: fmt.Sprintf("publishes %s to its peers, and nothing answers there.", v.Published),
				Why:     silentWhy,
				Seen:    []string{fmt.Sprintf("TLS connection to %s: %s", v.Published, v.dial.Error), "the server itself answers at " + v.Evidence.Address},
				Fix:     "set advertise-address on " + v.Name + " to an address that the other control-plane nodes reach, and open its port between them",
			}, p.causedBy([]*liveServer{v}, handoff.PeerUnreachable))
		}
	},
}

// anyProved tells whether a peer was seen to hand a request to the server.
func (s *liveState) anyProved(to *liveServer) bool {
	return slices.ContainsFunc(s.servers, func(from *liveServer) bool { return from != to && s.proved(from, to) == handoff.Yes })
}

// peerNotTrusted is MVP505.
var peerNotTrusted = &Rule{
	ID: "MVP505", Name: "peer-not-trusted", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "A server's serving certificate is not valid for kubernetes.default.svc or not signed by the cluster's CA; or a server's peer-ca-file is another CA, so that all its requests to peers end in 503 before they arrive.",
		Why:   "The connection between the peers fails and clients get false 404s. The client sees nothing of it.",
		Fix:   "Renew the certificate with kubeadm certs renew apiserver, or set peer-ca-file to the CA that signs the serving certificates, as a rule /etc/kubernetes/pki/ca.crt.",
		Facts: []string{"H4", "H5"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		for _, v := range p.servers {
			if d := v.dial; d != nil && d.Connected && !p.anyProved(v) && (!d.Named || !d.Trusted && !d.Unverified && !p.readByAPeer(v)) {
				message := "its serving certificate is not valid for kubernetes.default.svc, the name that its peers ask for."
				fix := "on " + v.Name + ": kubeadm certs renew apiserver (certSANs must not leave kubernetes.default.svc out), then restart kube-apiserver"
				if !d.Trusted && !d.Unverified {
					message = "its serving certificate is not signed by the cluster's CA: its peers do not trust it."
					fix = "on " + v.Name + ": kubeadm certs renew apiserver, or set peer-ca-file on the other nodes to the CA that signs it"
				}
				p.ReportCause(Finding{
					Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound,
					Message: message, Why: silentWhy, Fix: fix,
					Seen: append([]string{fmt.Sprintf("TLS connection to %s: %s", v.Published, d.Error)}, p.failedCalls()...),
				}, p.causedBy([]*liveServer{v}, handoff.PeerMisnamed, handoff.PeerUntrusted))
			}
		}
		told := false
		for _, v := range p.servers {
			told = told || v.calls().told
			to := p.causes(v, handoff.PeerUntrusted)
			to = slices.DeleteFunc(to, func(peer *liveServer) bool { return peer.dial == nil || !peer.dial.Trusted && !peer.dial.Unverified })
			if len(to) == 0 || len(proxied(v, to)) > 0 {
				continue
			}
			seen := append(callsSeen(v), "the peers' certificates are fine: "+dialSeen(to))
			if ca := v.flags[release.FlagPeerCAFile]; ca != "" {
				seen = append(seen, "peer-ca-file is "+ca)
			}
			p.ReportCause(Finding{
				Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound,
				Message: fmt.Sprintf("cannot connect to %s: its peer-ca-file is not the CA that signs their certificates, or something stands between.", joinNames(serverNames(to))),
				Why:     silentWhy,
				Seen:    seen,
				Fix:     "set peer-ca-file on " + v.Name + " to the cluster's CA, as a rule /etc/kubernetes/pki/ca.crt; if it is, look for HTTPS_PROXY in its static pod and for a firewall",
			}, p.causedBy([]*liveServer{v}, handoff.PeerUntrusted))
		}
		if len(p.findings) == 0 && !told && len(p.cp.Shared.Dials) == 0 {
			p.CannotTell("neither /metrics nor the identity leases can be read")
		}
	},
}

// proxiedLive is MVP311 on a live control plane.
func proxiedLive(p *LivePass) {
	known := 0
	for _, v := range p.servers {
		if v.pod == nil {
			continue
		}
		known++
		to := proxied(v, p.where(func(peer *liveServer) bool { return peer != v }))
		if len(to) == 0 || p.anySent(v) {
			continue
		}
		p.ReportCause(Finding{
			Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound,
			Message: fmt.Sprintf("its static pod has HTTPS_PROXY, and NO_PROXY does not cover %s: requests for peers go to the proxy.", joinNames(to)),
			Why:     silentWhy,
			Seen: append([]string{fmt.Sprintf("mirror pod %s: HTTPS_PROXY=%s NO_PROXY=%s", v.pod.Name,
				firstOf(v.pod.Environment, "HTTPS_PROXY", "https_proxy"), firstOf(v.pod.Environment, "NO_PROXY", "no_proxy"))}, callsSeen(v)...),
			Fix: "add the control-plane nodes' addresses to NO_PROXY in the environment of kubeadm on " + v.Name + " and write the manifest again",
		}, p.causedBy([]*liveServer{v}, handoff.Proxied))
	}
	if known == 0 {
		p.Skip("no mirror pod tells the environment of a server")
	}
}

// proxied returns the addresses of those peers that a server asks through a proxy, by the environment in its mirror pod.
func proxied(v *liveServer, peers []*liveServer) []string {
	if v.pod == nil {
		return nil
	}
	var hosts []string
	for _, peer := range peers {
		if host, _, err := net.SplitHostPort(cmp.Or(peer.Published, peer.Evidence.Address)); err == nil {
			hosts = append(hosts, host)
		}
	}
	return throughProxy(firstOf(v.pod.Environment, "HTTPS_PROXY", "https_proxy"), firstOf(v.pod.Environment, "NO_PROXY", "no_proxy"), hosts)
}

func firstOf(env map[string]string, names ...string) string {
	for _, name := range names {
		if env[name] != "" {
			return env[name]
		}
	}
	return ""
}

// anySent tells whether a request of the server was seen to reach a peer.
func (s *liveState) anySent(from *liveServer) bool {
	return slices.ContainsFunc(s.servers, func(to *liveServer) bool { return from != to && s.proved(from, to) == handoff.Yes })
}

// peerRefusesCaller is MVP506.
var peerRefusesCaller = &Rule{
	ID: "MVP506", Name: "peer-refuses-caller", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "A server's requests to its peers are answered with 401 (apiserver_rerouted_request_total): the peer does not take its proxy client certificate, because requestheader-allowed-names lacks its common name or requestheader-client-ca-file is another CA. Or the peer takes the certificate for one of a client, as client-ca-file's CA has signed it: then it reads the documents of its peers, and what it hands on for others is answered with 403.",
		Why:   "The peer does not believe the forwarded user, and the client gets a false 404, or a 403 that has nothing to do with its permissions.",
		Fix:   "Let requestheader-client-ca-file name the CA that signs the proxy client certificates (front-proxy-ca.crt) and requestheader-allowed-names their common name (front-proxy-client) on every node.",
		Facts: []string{"H6", "H7"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		told := false
		for _, v := range p.servers {
			c := v.calls()
			told = told || c.told
			to := p.causes(v, handoff.SenderRefused)
			f := Finding{Severity: Error, Servers: []string{v.Name}, Consequence: FalseNotFound, Why: silentWhy, Seen: p.authSeen(callsSeen(v))}
			var causes []*liveRoute
			switch {
			case len(to) > 0:
				f.Message = fmt.Sprintf("%s refuses its requests with 401: the proxy client certificate of %s is not accepted there.", joinNames(serverNames(to)), v.Name)
				causes = p.causedBy([]*liveServer{v}, handoff.SenderRefused)
				if routes := p.refused(v); len(routes) > 0 {
					f.Message = fmt.Sprintf("%s takes what %s hands on for requests of its own: its proxy client certificate is taken for that of a client.", joinNames(serverNames(to)), v.Name)
					f.Why, f.Consequence = "clients get 403 for what only the peer serves, whatever they may do.", None
					f.Seen = append([]string{"GET of an object name: 403 for " + listRoutes(routes) + "; \"no such resource\" where it is not to be handed on"}, f.Seen...)
				}
			case c.unauthorized > 0 && !p.allProved(v):
				f.Severity, f.Consequence = Warning, None
				f.Message = fmt.Sprintf("%s to its peers were refused with 401 since it started, others answered: one peer may not accept its proxy client certificate.",
					text.Count(int(c.unauthorized), "request"))
				f.Why = "which peer refused, and whether it still does, cannot be seen until the servers differ in a resource."
			default:
				continue
			}
			f.Fix = "make requestheader-client-ca-file and requestheader-allowed-names the same on every control-plane node, fit for its proxy-client-cert-file, and restart kube-apiserver"
			p.ReportCause(f, causes)
		}
		if !told {
			p.CannotTell("the counters in /metrics cannot be read")
		}
	},
}

// allProved tells whether requests of a server were seen to reach each of its peers that has something for it.
func (s *liveState) allProved(from *liveServer) bool {
	proved := false
	for _, to := range s.servers {
		if to == from {
			continue
		}
		switch s.proved(from, to) {
		case handoff.Yes:
			proved = true
		case handoff.No:
			return false
		}
	}
	return proved
}

func (s *liveState) authSeen(seen []string) []string {
	if a := s.cp.Shared.Authentication; a.OK() {
		names := strings.Join(a.AllowedNames, ", ")
		if names == "" {
			names = "any"
		}
		seen = append(seen, fmt.Sprintf("the ConfigMap extension-apiserver-authentication lists proxy clients named %s, signed by %s", names, strings.Join(a.CASubjects, "; ")))
	}
	return seen
}

// refused are the resources that a server's peers answer 401 or 403 for.
func (p *LivePass) refused(v *liveServer) []*liveRoute {
	return slices.DeleteFunc(slices.Clone(p.routes), func(r *liveRoute) bool { return r.from != v || r.Outcome != handoff.Refused })
}

// discoveryForbidden is MVP515.
var discoveryForbidden = &Rule{
	ID: "MVP515", Name: "discovery-forbidden", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "The ClusterRoleBinding system:discovery no longer has the group system:authenticated, and a server's requests for its peers' discovery documents end in 403.",
		Why:   "A server that cannot read what its peers serve takes them for serving nothing more than itself.",
		Fix:   "Bind the ClusterRole system:discovery to the group system:authenticated again.",
		Facts: []string{"H1"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		b := p.cp.Shared.Discovery
		bad := b.State == evidence.Absent || b.OK() && !b.Authenticated
		var to, from []*liveServer
		for _, v := range p.servers {
			if peers := p.causes(v, handoff.Undiscoverable); len(peers) > 0 {
				from, to = append(from, v), append(to, peers...)
			}
		}
		seen := "the ClusterRoleBinding system:discovery lacks the group system:authenticated"
		if b.State == evidence.Absent {
			seen = "there is no ClusterRoleBinding system:discovery"
		}
		const fix = "kubectl create clusterrolebinding system:discovery --clusterrole=system:discovery --group=system:authenticated (or add the group to it), then restart kube-apiserver node by node"
		switch {
		case len(to) > 0 && (bad || !b.OK()):
			evidence := p.forbiddenCalls(from)
			if bad {
				evidence = append(evidence, seen)
			}
			p.ReportCause(Finding{
				Severity: Error, Servers: serverNames(from), Consequence: FalseNotFound,
				Message: "the peers forbid reading their discovery documents (403), so nothing is handed to them.",
				Why:     silentWhy, Seen: evidence, Fix: fix,
			}, p.causedBy(from, handoff.Undiscoverable))
		case len(to) > 0:
			p.ReportCause(Finding{
				Severity: Error, Servers: serverNames(from), Consequence: FalseNotFound,
				Message: "the peers answer its requests for discovery documents with 403, though the group system:authenticated may read them.",
				Why:     silentWhy, Seen: p.forbiddenCalls(from),
				Fix: "look at the peers' --authorization-config and at their audit log for the user system:apiserver",
			}, p.causedBy(from, handoff.Undiscoverable))
		case bad:
			p.Report(Finding{
				Severity: Warning, Message: "the group system:authenticated may not read discovery documents by the usual binding.",
				Why:  "servers read their peers' discovery documents when one of these starts: with 403 they would hand nothing to it.",
				Seen: []string{seen}, Fix: fix,
			})
		case !b.OK():
			p.CannotTell("the ClusterRoleBinding system:discovery cannot be read: %s", b.Reason)
		}
	},
}

func (p *LivePass) forbiddenCalls(servers []*liveServer) []string {
	var seen []string
	for _, v := range servers {
		seen = append(seen, fmt.Sprintf("%s: apiserver_rerouted_request_total{code=\"403\"} is %.0f", v.Name, v.calls().forbidden))
	}
	return seen
}
