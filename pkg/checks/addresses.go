package checks

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// advertiseAddressUnusable is MVP301.
var advertiseAddressUnusable = &Rule{
	ID: "MVP301", Name: "advertise-address-unusable", Severity: Error,
	Doc: Doc{
		What: "advertise-address is a loopback, unspecified, multicast or link-local address, or no IP address.",
		Why: "Peers send their requests to the advertised address. They reach themselves or nobody, and the server " +
			"answers a false 404. A value that is no IP address stops kube-apiserver. For the unspecified address (a " +
			"warning only) the server takes one of its own choice.",
		Fix: "Give each node its own address in localAPIEndpoint.advertiseAddress and no advertise-address in " +
			"extraArgs.",
		Facts: []string{"H8", "S8h"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			f := v.Flags.Last(release.FlagAdvertiseAddress)
			if f != nil && f.Origin == config.FromKubeadm && net.ParseIP(f.Value).IsLoopback() {
				p.Report(loopbackEndpoint(p, f, v))
				continue
			}
			if f == nil || f.Unknown {
				p.Skip("the nodes' addresses are not known (--nodes name=ADDRESS,... names them)")
				continue
			}
			ip, ok := release.ParseIPFlag(f.Value, v.Release)
			if !ok || f.Value == "" && f.Origin == config.FromKubeadm {
				p.Report(notAnIP(p, f, v))
				continue
			}
			said := "advertise-address " + f.Value + " is the unspecified address"
			if ip == nil {
				ip, said = net.IPv4zero, "advertise-address is empty"
			}
			kind := unusable(ip)
			if kind != "" && f.Origin == config.FromKubeadm && !f.At.IsZero() {
				p.Report(Finding{
					Severity: Error, Subject: f.Name, At: p.place(f), Consequence: RefusedByKubeadm, When: v.When,
					Message: fmt.Sprintf("localAPIEndpoint.advertiseAddress %s is %s address: kubeadm init and join "+
						"refuse it.", f.Value, kind),
					Why: "peers could not reach the server there either.",
					Fix: "write the node's own address",
				})
				continue
			}
			if kind == "" || p.single != "" {
				continue
			}
			if ip.IsUnspecified() {
				p.Report(Finding{
					Severity: Warning, Subject: f.Name, At: p.place(f), When: v.When,
					Message: said + "; kube-apiserver advertises an address of its own choice.",
					Why: "it takes the bind address, or the address of the interface with the default route, " +
						"which peers need not reach.",
					Fix: "advertise the node's own address (localAPIEndpoint.advertiseAddress)",
				})
				continue
			}
			p.Report(Finding{
				Severity: Error, Subject: f.Name, At: p.place(f), Consequence: FalseNotFound, When: v.When,
				Message: fmt.Sprintf("advertise-address %s is %s address; peers cannot reach this server there.",
					f.Value, kind),
				Why: "a peer that sends its request there reaches itself or nobody, and the client gets a " +
					"false 404.",
				Fix: "advertise the node's own address (localAPIEndpoint.advertiseAddress)",
			})
		}
	},
}

// loopbackEndpoint: for a loopback address kubeadm looks for a global one of the interface lo, which hardly any node
// has.
func loopbackEndpoint(p *Pass, f *config.Flag, v View) Finding {
	return Finding{
		Severity: Error, Subject: f.Name, At: p.place(f), Consequence: RefusedByKubeadm, When: v.When,
		Message: fmt.Sprintf("localAPIEndpoint.advertiseAddress %s is a loopback address: kubeadm stops, unless the "+
			"interface lo has a global address.", f.Value),
		Why: "with a global address on lo kubeadm advertises that one, which peers need not reach.",
		Fix: "write the node's own address",
	}
}

func notAnIP(p *Pass, f *config.Flag, v View) Finding {
	out := Finding{
		Severity: Error, Subject: f.Name, At: p.place(f), Consequence: WillNotStart, When: v.When,
		Message: fmt.Sprintf("advertise-address %s is not an IP address: kube-apiserver does not start.",
			quoted(f.Value)),
		Why: "the flag takes an IP address only, no host name and no brackets.",
		Fix: "write the node's IP address",
	}
	if f.Origin == config.FromKubeadm {
		out.Consequence = RefusedByKubeadm
		out.Message = fmt.Sprintf("localAPIEndpoint.advertiseAddress %s is not an IP address: kubeadm refuses it.",
			quoted(f.Value))
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

// advertiseAddressShared is MVP302.
var advertiseAddressShared = &Rule{
	ID: "MVP302", Name: "advertise-address-shared", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What: "advertise-address stands in the extraArgs of the ClusterConfiguration, which all control-plane nodes " +
			"share; or two nodes have one address; or a node advertises the address of controlPlaneEndpoint.",
		Why: "Every server publishes the same address, so a peer's request reaches any of them, or the sender " +
			"itself. All signs are green and the answer is a false 404.",
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
					Message: fmt.Sprintf("advertise-address %s is the same on every control-plane node; peers would "+
						"send every request to that one server.", a.Value),
					Why: "the ClusterConfiguration is shared by all nodes. kubeadm fills the flag from each " +
						"node's localAPIEndpoint.",
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
				Severity: Error, Subject: n.Address, At: at, Consequence: FalseNotFound,
				Message: fmt.Sprintf("two control-plane nodes advertise %s.", n.Address),
				Why: "a request for one of them reaches the other, or the sender itself, and the client gets a " +
					"false 404.",
				Fix: "give each node its own localAPIEndpoint.advertiseAddress",
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
			Why: "requests to that address reach whichever server the load balancer or the virtual IP picks, so " +
				"peers cannot reach this server in particular.",
			Fix:     "advertise the node's own address (localAPIEndpoint.advertiseAddress)",
			Related: []Related{{At: endpoint.Node.Place(), Message: "controlPlaneEndpoint"}},
		}
		if !known {
			// With the first node's own address as endpoint this is right; nothing tells the two apart here.
			f.Severity = Warning
			f.Consequence = None
			f.Why = "if that is a virtual IP or a load balancer, peers cannot reach this server in particular; if it " +
				"is this node's own address, the setting is right."
		}
		p.Report(f)
	}
}

// invalidAddressValue is MVP306.
var invalidAddressValue = &Rule{
	ID: "MVP306", Name: "invalid-address-value", Severity: Error,
	Doc: Doc{
		What: "bind-address or secure-port has a value that kube-apiserver cannot parse, or peer-advertise-ip or " +
			"-port one that it could not use. Whether a node has the address of bind-address is not known from a " +
			"configuration: where it may not, that cannot be told.",
		Why: "kube-apiserver exits on the first two. It never reads the last two, so they only say something that " +
			"is not so.",
		Fix:   "Write a bare IP address (no brackets, no host name) and a port of 1 to 65535.",
		Facts: []string{"S8h", "S8i"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			if f := v.Flags.Last(release.FlagBindAddress); f != nil && !f.Unknown && p.maybeElsewhere(v, f.Value) {
				p.CannotTell("kube-apiserver exits on a node that does not have the address %s of bind-address; which "+
					"nodes have it is not known", f.Value)
			}
			isIPFlag := func(value string) bool {
				_, ok := release.ParseIPFlag(value, v.Release)
				return ok
			}
			for _, c := range []struct {
				name  string
				valid func(string) bool
				want  string
				fatal bool
			}{
				{release.FlagBindAddress, isIPFlag, "an IP address", true},
				{release.FlagSecurePort, isPort, "a port of 1 to 65535", true},
				{release.FlagPeerAdvertiseIP, isIP, "a bare IP address", false},
				{release.FlagPeerAdvertisePort, isPort, "a port of 1 to 65535", false},
			} {
				f := v.Flags.Last(c.name)
				if f == nil || f.Unknown || c.valid(f.Value) || !c.fatal && f.Value == "" {
					continue
				}
				finding := Finding{
					Severity: Error, Subject: f.Name, At: p.place(f), Consequence: WillNotStart, When: v.When,
					Message: fmt.Sprintf("%s %s is not %s: kube-apiserver does not start.", c.name, quoted(f.Value),
						c.want),
					Why: exitsAtStart + ".",
					Fix: "write " + c.want,
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

// maybeElsewhere tells whether an address that a server is to listen on may not be one of its node's: it is another
// than the one that is known, or the same on several nodes of which none is.
func (p *Pass) maybeElsewhere(v View, address string) bool {
	ip, _ := release.ParseIPFlag(address, v.Release)
	if ip == nil || ip.IsUnspecified() || ip.IsLoopback() {
		return false
	}
	if a := v.Flags.Last(release.FlagAdvertiseAddress); a != nil && !a.Unknown && isIP(a.Value) {
		return !sameIP(a.Value, ip.String())
	}
	return p.Cluster.Root != nil && p.single == ""
}

func isIP(s string) bool { return net.ParseIP(s) != nil }

func isPort(s string) bool {
	n, err := strconv.ParseInt(s, 0, 32)
	return err == nil && n >= 1 && n <= 65535
}

// bindAddressUnreachable is MVP307.
var bindAddressUnreachable = &Rule{
	ID: "MVP307", Name: "bind-address-unreachable", Severity: Error, HandOff: true,
	Doc: Doc{
		What: "bind-address is a loopback address, or one IP address other than the advertised one.",
		Why: "The server does not listen where its peers are told to find it; their requests fail and the clients " +
			"get a false 404.",
		Fix:   "Remove bind-address, so that the server listens on all addresses.",
		Facts: []string{"H8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			f := v.Flags.Last(release.FlagBindAddress)
			if f == nil || f.Unknown {
				continue
			}
			ip, _ := release.ParseIPFlag(f.Value, v.Release)
			if ip == nil || ip.IsUnspecified() {
				continue
			}
			finding := Finding{
				Severity: Error, Subject: f.Name, At: p.place(f), Consequence: FalseNotFound, When: v.When,
				Why: "peers connect to the advertised address, where this server does not listen; the client gets a " +
					"false 404.",
				Fix: "remove bind-address" + p.byHand() + ", so that the server listens on all addresses",
			}
			advertise := v.Flags.Last(release.FlagAdvertiseAddress)
			switch {
			case ip.IsLoopback():
				finding.Message = fmt.Sprintf("bind-address %s is a loopback address: no peer can connect.", f.Value)
			case advertise != nil && !advertise.Unknown && isIP(advertise.Value) && !sameIP(advertise.Value, f.Value):
				finding.Message = fmt.Sprintf("bind-address %s is not the advertised address %s.", f.Value,
					advertise.Value)
			case p.Cluster.Root != nil && (advertise == nil || advertise.Unknown):
				finding.Message = fmt.Sprintf("bind-address %s is one address for every control-plane node.", f.Value)
				finding.Why = "the ClusterConfiguration is shared: only the node that has this address can listen " +
					"there, and no other can be reached by its peers."
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
		What: "secure-port in extraArgs differs from localAPIEndpoint.bindPort.",
		Why: "Peers use advertise-address with secure-port, while kubeadm's probes, kubeconfigs and the recorded " +
			"endpoint have bindPort.",
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
				Severity: Warning, Subject: f.Name, At: p.place(f), When: v.When,
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
		What: "There is one control-plane node, or the configuration has no controlPlaneEndpoint, without which " +
			"kubeadm joins no second one.",
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
			Message: "no controlPlaneEndpoint: kubeadm joins no second control-plane node to this cluster; it was " +
				"judged as several.",
			Why: "with one API server there is nothing to hand off.",
			Fix: "--nodes 1 says that one control-plane node is meant",
		})
	},
}

// mixedAddressFamilies is MVP310.
var mixedAddressFamilies = &Rule{
	ID: "MVP310", Name: "mixed-address-families", Severity: Warning, HandOff: true,
	Doc: Doc{
		What:  "Some control-plane nodes advertise an IPv4 address and others an IPv6 address.",
		Why:   "A server that has no address of the other family cannot reach its peer there.",
		Fix:   "Advertise addresses of one family.",
		Facts: []string{"H8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if len(p.Cluster.Nodes) < 2 {
			p.Skip("the addresses of fewer than two nodes are known (--nodes name=ADDRESS,... names them)")
			return
		}
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
					Severity: Warning, Subject: n.Address, At: at,
					Message: fmt.Sprintf("the nodes advertise addresses of both families: %s and %s.", first.Address,
						n.Address),
					Why: "a server without an address of the other family cannot reach that peer.",
					Fix: "advertise addresses of one family",
				})
				return
			}
		}
	},
}

// placeOf is the place of a node, or else where flags stand.
func (p *Pass) placeOf(n config.Node) yamldoc.Place {
	if n.At.IsZero() {
		return p.Cluster.FlagsPlace()
	}
	return n.At
}
