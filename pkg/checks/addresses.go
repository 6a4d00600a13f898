package checks

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/release"
	"github.com/mvpcheck/mvpcheck/pkg/source"
)

// advertiseUnusable is MVP301.
var advertiseUnusable = &Rule{
	ID: "MVP301", Name: "advertise-address-unusable", Severity: Error,
	Doc: Doc{
		What:  "advertise-address is a loopback, unspecified, multicast or link-local address, or no IP address.",
		Why:   "Peers send their requests to the advertised address. They reach themselves or nobody, and the server answers a false 404. A value that is no IP address stops kube-apiserver. For the unspecified address (a warning only) the server takes one of its own choice.",
		Fix:   "Give each node its own address in localAPIEndpoint.advertiseAddress and no advertise-address in extraArgs.",
		Facts: []string{"H8", "S8h"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			f := v.Flags.Last(release.FlagAdvertiseAddress)
			if f == nil || f.Unknown {
				continue
			}
			ip := net.ParseIP(f.Value)
			if ip == nil {
				p.Report(notAnIP(p, f, v))
				continue
			}
			kind := unusable(ip)
			if kind == "" || p.single != "" {
				continue
			}
			if ip.IsUnspecified() {
				p.Report(Finding{
					Severity: Warning, At: p.place(f), When: v.When,
					Message: fmt.Sprintf("advertise-address %s is the unspecified address; kube-apiserver advertises an address of its own choice.", f.Value),
					Why:     "it takes the bind address, or the address of the interface with the default route, which peers need not reach.",
					Fix:     "advertise the node's own address (localAPIEndpoint.advertiseAddress)",
				})
				continue
			}
			p.Report(Finding{
				Severity: Error, At: p.place(f), Consequence: FalseNotFound, When: v.When,
				Message: fmt.Sprintf("advertise-address %s is %s address; peers cannot reach this server there.", f.Value, kind),
				Why:     "a peer that sends its request there reaches itself or nobody, and the client gets a false 404.",
				Fix:     "advertise the node's own address (localAPIEndpoint.advertiseAddress)",
			})
		}
	},
}

func notAnIP(p *Pass, f *config.Flag, v View) Finding {
	out := Finding{
		Severity: Error, At: p.place(f), Consequence: WillNotStart, When: v.When,
		Message: fmt.Sprintf("advertise-address %s is not an IP address: kube-apiserver does not start.", quoted(f.Value)),
		Why:     "the flag takes an IP address only, no host name and no brackets.",
		Fix:     "write the node's IP address",
	}
	if f.Origin == config.FromKubeadm {
		out.Consequence = RefusedByKubeadm
		out.Message = fmt.Sprintf("localAPIEndpoint.advertiseAddress %s is not an IP address: kubeadm refuses it.", quoted(f.Value))
	}
	return out
}

func unusable(ip net.IP) string {
	switch {
	case ip.IsLoopback():
		return "a loopback"
	case ip.IsUnspecified():
		return "the unspecified"
	case ip.IsMulticast():
		return "a multicast"
	case ip.IsLinkLocalUnicast():
		return "a link-local"
	}
	return ""
}

// advertiseShared is MVP302.
var advertiseShared = &Rule{
	ID: "MVP302", Name: "advertise-address-shared", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What:  "advertise-address stands in the extraArgs of the ClusterConfiguration, which all control-plane nodes share; or two nodes have one address; or a node advertises the address of controlPlaneEndpoint.",
		Why:   "Every server publishes the same address, so a peer's request reaches any of them, or the sender itself. All signs are green and the answer is a false 404.",
		Fix:   "Remove advertise-address from extraArgs; kubeadm fills it in from each node's localAPIEndpoint.",
		Facts: []string{"H9"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if p.Cluster.Root != nil || p.Cluster.Form == config.FormKind {
			for _, a := range p.Cluster.APIServer.Args {
				if release.NormalizeFlag(a.Name) != release.FlagAdvertiseAddress {
					continue
				}
				if ip := net.ParseIP(a.Value); ip != nil && unusable(ip) != "" {
					// MVP301 says what is wrong with it.
					continue
				}
				p.Report(Finding{
					Severity: Error, At: a.ValuePlace(), Consequence: FalseNotFound,
					Message: fmt.Sprintf("advertise-address %s is the same on every control-plane node; peers would send every request to that one server.", a.Value),
					Why:     "the ClusterConfiguration is shared by all nodes. kubeadm fills the flag from each node's localAPIEndpoint.",
					Fix:     "remove the entry",
					Changes: p.changes(Change{Op: RemoveArg, Arg: a, Summary: "removed advertise-address"}),
				})
			}
		}
		p.nodesShare()
		p.endpointShared()
	},
}

// nodesShare reports two nodes of one address.
func (p *Pass) nodesShare() {
	for i, n := range p.Cluster.Nodes {
		for _, earlier := range p.Cluster.Nodes[:i] {
			if n.Address == "" || !sameIP(n.Address, earlier.Address) || n.Name != "" && n.Name == earlier.Name {
				continue
			}
			at := p.placeOf(n)
			p.Report(Finding{
				Severity: Error, At: at, Consequence: FalseNotFound,
				Message: fmt.Sprintf("two control-plane nodes advertise %s.", n.Address),
				Why:     "a request for one of them reaches the other, or the sender itself, and the client gets a false 404.",
				Fix:     "give each node its own localAPIEndpoint.advertiseAddress",
			})
		}
	}
}

func sameIP(a, b string) bool {
	x, y := net.ParseIP(a), net.ParseIP(b)
	return x != nil && y != nil && x.Equal(y)
}

// endpointShared reports a node that advertises the host of controlPlaneEndpoint.
func (p *Pass) endpointShared() {
	endpoint := p.Cluster.ControlPlaneEndpoint
	if !endpoint.Set() {
		return
	}
	host := endpoint.Value
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	_, _, known := p.Cluster.ControlPlaneCount()
	for _, n := range p.Cluster.Nodes {
		if n.Address == "" || !sameIP(n.Address, host) || n.At.IsZero() {
			continue
		}
		f := Finding{
			Severity: Error, At: n.At, Consequence: FalseNotFound,
			Message: fmt.Sprintf("the node advertises %s, the address of controlPlaneEndpoint.", n.Address),
			Why:     "requests to that address reach whichever server the load balancer or the virtual IP picks, so peers cannot reach this server in particular.",
			Fix:     "advertise the node's own address (localAPIEndpoint.advertiseAddress)",
			Related: []Related{{At: endpoint.Node.Place(), Message: "controlPlaneEndpoint"}},
		}
		if !known {
			// With the first node's own address as endpoint this is right; nothing tells the two apart here.
			f.Severity = Warning
			f.Consequence = None
			f.Why = "if that is a virtual IP or a load balancer, peers cannot reach this server in particular; if it is this node's own address, the setting is right."
		}
		p.Report(f)
	}
}

// peerAdvertise returns the two flags of a view, nil where they are not set.
func peerAdvertise(v View) (ip, port *config.Flag) {
	ip, port = v.Flags.Last(release.FlagPeerAdvertiseIP), v.Flags.Last(release.FlagPeerAdvertisePort)
	if ip != nil && ip.Value == "" {
		ip = nil
	}
	if port != nil && port.Value == "" {
		port = nil
	}
	return ip, port
}

// peerAdvertiseIgnored: peer-advertise-ip and -port have no effect in any release that mvpcheck knows.
func peerAdvertiseIgnored(r release.Release) bool { return r.IsKnown() }

// peerAdvertiseNoEffect is MVP303.
var peerAdvertiseNoEffect = &Rule{
	ID: "MVP303", Name: "peer-advertise-no-effect", Severity: Warning, Fixable: true, OnRequest: true,
	Doc: Doc{
		What:  "peer-advertise-ip and peer-advertise-port are set.",
		Why:   "They have no effect: kube-apiserver 1.35 to 1.37 publishes advertise-address with secure-port whatever they say. In the ClusterConfiguration they would be the same on every node besides.",
		Fix:   "Rely on advertise-address; remove them (mvpcheck patch --only MVP303).",
		Facts: []string{"Addresses", "S8i"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range where(p.Views(), func(v View) bool { return peerAdvertiseIgnored(v.Release) }) {
			ip, port := peerAdvertise(v)
			if ip == nil || port == nil {
				continue
			}
			f := Finding{
				Severity: Warning, At: p.place(ip), When: v.When,
				Message: "peer-advertise-ip and peer-advertise-port have no effect; peers use advertise-address and secure-port.",
				Why:     "kube-apiserver never publishes these values" + p.sharedToo() + ".",
				Fix:     "remove both, or leave them for a later release (mvpcheck patch --only MVP303 removes them)",
				Related: []Related{{At: p.place(port), Message: "the port"}},
			}
			if ip.Arg != nil && port.Arg != nil {
				f.Changes = p.changes(
					Change{Op: RemoveArg, Arg: ip.Arg, Summary: "removed peer-advertise-ip"},
					Change{Op: RemoveArg, Arg: port.Arg, Summary: "removed peer-advertise-port"})
			}
			p.Report(f)
		}
	},
}

func (p *Pass) sharedToo() string {
	if p.Cluster.Root != nil && p.single == "" {
		return "; in the ClusterConfiguration they would be the same on every node"
	}
	return ""
}

// peerAdvertiseHalf is MVP304.
var peerAdvertiseHalf = &Rule{
	ID: "MVP304", Name: "peer-advertise-half-set", Severity: Warning,
	Doc: Doc{
		What:  "Only one of peer-advertise-ip and peer-advertise-port is set.",
		Why:   "kube-apiserver would use the two together only; and in 1.35 to 1.37 even both have no effect.",
		Fix:   "Remove it; peers use advertise-address and secure-port.",
		Facts: []string{"Addresses"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			ip, port := peerAdvertise(v)
			if (ip == nil) == (port == nil) {
				continue
			}
			set, missing := ip, release.FlagPeerAdvertisePort
			if ip == nil {
				set, missing = port, release.FlagPeerAdvertiseIP
			}
			p.Report(Finding{
				Severity: Warning, At: p.place(set), When: v.When,
				Message: fmt.Sprintf("%s is set without %s and is ignored.", set.Name, missing),
				Why:     "the two count only together, and up to 1.37 even both have no effect: peers use advertise-address and secure-port.",
				Fix:     "remove " + set.Name,
			})
		}
	},
}

// peerAdvertiseShared is MVP305.
var peerAdvertiseShared = &Rule{
	ID: "MVP305", Name: "peer-advertise-shared", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What:  "peer-advertise-ip stands in the ClusterConfiguration, for a release that may honour it.",
		Why:   "The ClusterConfiguration is shared: every server would publish one address, and peers would reach only that one.",
		Fix:   "Remove it, or set it for each node with kubeadm's --patches.",
		Facts: []string{"Addresses", "H9"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		views := where(p.Views(), func(v View) bool { return !peerAdvertiseIgnored(v.Release) })
		if len(views) == 0 {
			p.Skip("peer-advertise-ip has no effect in %s (MVP303)", releaseList(p.Views()))
			return
		}
		for _, v := range views {
			ip, port := peerAdvertise(v)
			if ip == nil || port == nil || ip.Arg == nil || p.Cluster.Root == nil {
				continue
			}
			p.Report(Finding{
				Severity: Error, At: p.place(ip), Consequence: FalseNotFound, When: v.When,
				Message: fmt.Sprintf("peer-advertise-ip %s is the same on every control-plane node.", ip.Value),
				Why:     "a release that honours the flag publishes this one address for every server, and peers reach only that one.",
				Fix:     "remove it, or set it for each node with kubeadm's --patches",
				Changes: p.changes(Change{Op: RemoveArg, Arg: ip.Arg, Summary: "removed peer-advertise-ip"}),
			})
		}
	},
}

// invalidAddress is MVP306.
var invalidAddress = &Rule{
	ID: "MVP306", Name: "invalid-address-value", Severity: Error,
	Doc: Doc{
		What:  "bind-address or secure-port has a value that kube-apiserver cannot parse, or peer-advertise-ip or -port one that it could not use.",
		Why:   "kube-apiserver exits on the first two. It never reads the last two, so they only say something that is not so.",
		Fix:   "Write a bare IP address (no brackets, no host name) and a port of 1 to 65535.",
		Facts: []string{"S8h", "S8i"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			for _, c := range []struct {
				name  string
				valid func(string) bool
				want  string
				fatal bool
			}{
				{release.FlagBindAddress, isIP, "an IP address", true},
				{release.FlagSecurePort, isPort, "a port of 1 to 65535", true},
				{release.FlagPeerAdvertiseIP, isIP, "a bare IP address", false},
				{release.FlagPeerAdvertisePort, isPort, "a port of 1 to 65535", false},
			} {
				f := v.Flags.Last(c.name)
				if f == nil || f.Unknown || c.valid(f.Value) || !c.fatal && f.Value == "" {
					continue
				}
				finding := Finding{
					Severity: Error, At: p.place(f), Consequence: WillNotStart, When: v.When,
					Message: fmt.Sprintf("%s %s is not %s: kube-apiserver does not start.", c.name, quoted(f.Value), c.want),
					Why:     exitsAtStart + ".",
					Fix:     "write " + c.want,
				}
				if !c.fatal {
					finding.Severity, finding.Consequence = Warning, None
					finding.Message = fmt.Sprintf("%s %s is not %s.", c.name, quoted(f.Value), c.want)
					finding.Why = "kube-apiserver takes it unread; a release that reads it could not use it."
				}
				p.Report(finding)
			}
		}
	},
}

func isIP(s string) bool { return net.ParseIP(s) != nil }

func isPort(s string) bool {
	n, err := strconv.ParseInt(s, 0, 32)
	return err == nil && n >= 1 && n <= 65535
}

// bindUnreachable is MVP307.
var bindUnreachable = &Rule{
	ID: "MVP307", Name: "bind-address-unreachable", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "bind-address is a loopback address, or one IP address other than the advertised one.",
		Why:   "The server does not listen where its peers are told to find it; their requests fail and the clients get a false 404.",
		Fix:   "Remove bind-address, so that the server listens on all addresses.",
		Facts: []string{"H8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			f := v.Flags.Last(release.FlagBindAddress)
			if f == nil || f.Unknown {
				continue
			}
			ip := net.ParseIP(f.Value)
			if ip == nil || ip.IsUnspecified() {
				continue
			}
			finding := Finding{
				Severity: Error, At: p.place(f), Consequence: FalseNotFound, When: v.When,
				Why: "peers connect to the advertised address, where this server does not listen; the client gets a false 404.",
				Fix: "remove bind-address" + p.byHand() + ", so that the server listens on all addresses",
			}
			advertise := v.Flags.Last(release.FlagAdvertiseAddress)
			switch {
			case ip.IsLoopback():
				finding.Message = fmt.Sprintf("bind-address %s is a loopback address: no peer can connect.", f.Value)
			case advertise != nil && !advertise.Unknown && isIP(advertise.Value) && !sameIP(advertise.Value, f.Value):
				finding.Message = fmt.Sprintf("bind-address %s is not the advertised address %s.", f.Value, advertise.Value)
			case p.Cluster.Root != nil && (advertise == nil || advertise.Unknown):
				finding.Message = fmt.Sprintf("bind-address %s is one address for every control-plane node.", f.Value)
				finding.Why = "the ClusterConfiguration is shared: only the node that has this address can listen there, and no other can be reached by its peers."
			default:
				continue
			}
			p.Report(finding)
		}
	},
}

// portMismatch is MVP308.
var portMismatch = &Rule{
	ID: "MVP308", Name: "port-mismatch", Severity: Warning,
	Doc: Doc{
		What:  "secure-port in extraArgs differs from localAPIEndpoint.bindPort.",
		Why:   "Peers use advertise-address with secure-port, while kubeadm's probes, kubeconfigs and the recorded endpoint have bindPort.",
		Fix:   "Set localAPIEndpoint.bindPort on each node, and no secure-port.",
		Facts: []string{"Addresses"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			f := v.Flags.Last(release.FlagSecurePort)
			if f == nil || f.Unknown || f.Origin == config.FromKubeadm || !isPort(f.Value) {
				continue
			}
			port, err := strconv.ParseInt(f.Value, 0, 32)
			bind, from := v.Node.Port, "localAPIEndpoint.bindPort"
			if v.Manifest != nil && bind == 0 {
				continue
			}
			if bind == 0 {
				bind, from = 6443, "kubeadm's default of localAPIEndpoint.bindPort"
			}
			if err != nil || int(port) == bind {
				continue
			}
			p.Report(Finding{
				Severity: Warning, At: p.place(f), When: v.When,
				Message: fmt.Sprintf("secure-port %s differs from %s, %d.", f.Value, from, bind),
				Why:     "peers connect to secure-port, while kubeadm's probes and kubeconfigs use bindPort.",
				Fix:     "set localAPIEndpoint.bindPort on each node and remove secure-port",
			})
		}
	},
}

// singleNode is MVP309.
var singleNode = &Rule{
	ID: "MVP309", Name: "single-control-plane", Severity: Info, withoutFlags: true,
	Doc: Doc{
		What:  "There is one control-plane node, or the configuration has no controlPlaneEndpoint, without which kubeadm joins no second one.",
		Why:   "With one API server there is no peer to hand a request to; the rules about start-up still count.",
		Fix:   "--nodes 1 says that one is meant; with controlPlaneEndpoint more can join.",
		Facts: []string{"H13"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if p.single != "" {
			p.Report(Finding{
				Severity: Info, At: p.Cluster.FlagsPlace(),
				Message: p.single + ".",
				Why:     "the rules about the hand-off were skipped, those about start-up were not.",
			})
			return
		}
		if p.noFlags != "" {
			p.Skip("%s", p.noFlags)
			return
		}
		form := p.Cluster.Form
		if p.Cluster.Root == nil || form == config.FormControlPlane || p.Cluster.ControlPlaneEndpoint.Set() {
			return
		}
		if n, _, known := p.Cluster.ControlPlaneCount(); known && n > 1 {
			return
		}
		at := p.Cluster.FlagsPlace()
		if kind := p.Cluster.Root.Get("kind"); kind != nil {
			at = kind.Place()
		}
		p.Report(Finding{
			Severity: Info, At: at,
			Message: "no controlPlaneEndpoint: kubeadm joins no second control-plane node to this cluster; it was judged as several.",
			Why:     "with one API server there is nothing to hand off.",
			Fix:     "--nodes 1 says that one control-plane node is meant",
		})
	},
}

// mixedFamilies is MVP310.
var mixedFamilies = &Rule{
	ID: "MVP310", Name: "mixed-address-families", Severity: Warning, HandOff: true,
	Doc: Doc{
		What:  "Some control-plane nodes advertise an IPv4 address and others an IPv6 address.",
		Why:   "A server that has no address of the other family cannot reach its peer there.",
		Fix:   "Advertise addresses of one family.",
		Facts: []string{"H8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		var first *config.Node
		for i, n := range p.Cluster.Nodes {
			addr, err := netip.ParseAddr(n.Address)
			if err != nil {
				continue
			}
			if first == nil {
				first = &p.Cluster.Nodes[i]
				continue
			}
			if was := netip.MustParseAddr(first.Address); was.Is4() != addr.Is4() {
				at := p.placeOf(n)
				p.Report(Finding{
					Severity: Warning, At: at,
					Message: fmt.Sprintf("the nodes advertise addresses of both families: %s and %s.", first.Address, n.Address),
					Why:     "a server without an address of the other family cannot reach that peer.",
					Fix:     "advertise addresses of one family",
				})
				return
			}
		}
	},
}

// proxiedTraffic is MVP311.
var proxiedTraffic = &Rule{
	ID: "MVP311", Name: "proxied-peer-traffic", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "The kube-apiserver pod has HTTPS_PROXY, and NO_PROXY covers neither the control-plane nodes' addresses nor their range.",
		Why:   "kube-apiserver sends requests for its peers to the proxy, where they fail; the client gets a false 404. kubeadm copies the variables of its own environment into the pod.",
		Fix:   "Add the nodes' addresses or their range to NO_PROXY and write the manifests again.",
		Facts: []string{"H15"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		servers := make([]config.Server, 0, len(p.Views()))
		for _, v := range p.Views() {
			servers = append(servers, v.Server)
		}
		if p.Cluster.Root != nil {
			for _, m := range p.Cluster.Manifests {
				servers = append(servers, m.Server())
			}
		}
		for _, s := range servers {
			p.checkProxy(s)
		}
	},
}

func (p *Pass) checkProxy(s config.Server) {
	env := func(names ...string) (string, *config.EnvVar) {
		for _, name := range names {
			for i, e := range s.Envs {
				if e.Name == name && (e.Value != "" || e.Unknown) {
					return e.Value, &s.Envs[i]
				}
			}
		}
		return "", nil
	}
	proxy, proxyVar := env("HTTPS_PROXY", "https_proxy")
	if proxyVar == nil {
		return
	}
	noProxy, noProxyVar := env("NO_PROXY", "no_proxy")
	at := p.Cluster.FlagsPlace()
	if proxyVar.Node != nil {
		at = proxyVar.Node.Place()
	}
	if proxyVar.Unknown || noProxyVar != nil && noProxyVar.Unknown || config.PlaceholderIn(noProxy) != "" || config.PlaceholderIn(proxy) != "" {
		p.CannotTell("the proxy variables of the kube-apiserver pod come from elsewhere")
		return
	}
	addresses := p.peerAddresses(s)
	if len(addresses) == 0 {
		if strings.TrimSpace(noProxy) != "*" {
			p.CannotTell("HTTPS_PROXY is set and the nodes' addresses are not known; name them with --nodes name=ADDRESS,...")
		}
		return
	}
	// The same library decides in kube-apiserver.
	proxyFor := (&httpproxy.Config{HTTPSProxy: proxy, NoProxy: noProxy}).ProxyFunc()
	var proxied []string
	for _, a := range addresses {
		if u, err := proxyFor(&url.URL{Scheme: "https", Host: net.JoinHostPort(a, "6443")}); err == nil && u != nil {
			proxied = append(proxied, a)
		}
	}
	if len(proxied) == 0 {
		return
	}
	p.Report(Finding{
		Severity: Error, At: at, Consequence: FalseNotFound,
		Message: fmt.Sprintf("%s is set and NO_PROXY does not cover %s: requests for peers go to the proxy.", proxyVar.Name, strings.Join(proxied, ", ")),
		Why:     "the proxy does not reach the peers as kube-apiserver needs it, and the client gets a false 404.",
		Fix:     "add " + strings.Join(proxied, ",") + " (or the nodes' range) to NO_PROXY in the environment of kubeadm, and write the manifests again",
	})
}

// peerAddresses are the addresses of the other nodes; where only the server's own is known, that one stands for them.
func (p *Pass) peerAddresses(s config.Server) []string {
	var own, others []string
	for _, n := range p.Cluster.Nodes {
		switch {
		case !isIP(n.Address):
		case n.Address == s.Node.Address:
			own = append(own, n.Address)
		case !slices.Contains(others, n.Address):
			others = append(others, n.Address)
		}
	}
	if len(others) == 0 {
		return own
	}
	return others
}

// egressSelector is MVP312.
var egressSelector = &Rule{
	ID: "MVP312", Name: "egress-selector", Severity: Info, HandOff: true,
	Doc: Doc{
		What:  "egress-selector-config-file is set.",
		Why:   "If the file has an entry for controlplane, requests for peers go through it from 1.36 on; 1.34 and 1.35 connect directly.",
		Fix:   "Make sure that the controlplane egress reaches the peers' addresses.",
		Facts: []string{"H8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range where(p.Views(), func(v View) bool { return v.Release.Minor() >= 36 }) {
			f := v.Flags.Last(release.FlagEgressSelectorConfig)
			if f == nil || f.Value == "" {
				continue
			}
			p.Report(Finding{
				Severity: Info, At: p.place(f), When: v.When,
				Message: fmt.Sprintf("egress-selector-config-file %s: from 1.36 on requests for peers use its controlplane entry, if it has one.", f.Value),
				Why:     "if that egress does not reach the peers, they cannot be asked.",
				Fix:     "make sure that the controlplane egress reaches the peers' addresses",
			})
		}
	},
}

// placeOf is the place of a node, or else where flags stand.
func (p *Pass) placeOf(n config.Node) source.Place {
	if n.At.IsZero() {
		return p.Cluster.FlagsPlace()
	}
	return n.At
}
