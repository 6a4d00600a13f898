package checks

import (
	"fmt"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

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
		What: "peer-advertise-ip and peer-advertise-port are set.",
		Why: "They have no effect: kube-apiserver 1.35 to 1.37 publishes advertise-address with secure-port " +
			"whatever they say. In the ClusterConfiguration they would be the same on every node besides.",
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
				Severity: Warning, Subject: ip.Name, At: p.place(ip), When: v.When,
				Message: "peer-advertise-ip and peer-advertise-port have no effect; peers use advertise-address and " +
					"secure-port.",
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

// peerAdvertiseHalfSet is MVP304.
var peerAdvertiseHalfSet = &Rule{
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
				Severity: Warning, Subject: set.Name, At: p.place(set), When: v.When,
				Message: fmt.Sprintf("%s is set without %s and is ignored.", set.Name, missing),
				Why: "the two count only together, and up to 1.37 even both have no effect: peers use " +
					"advertise-address and secure-port.",
				Fix: "remove " + set.Name,
			})
		}
	},
}

// peerAdvertiseShared is MVP305.
var peerAdvertiseShared = &Rule{
	ID: "MVP305", Name: "peer-advertise-shared", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What: "peer-advertise-ip stands in the ClusterConfiguration, for a release that may honour it.",
		Why: "The ClusterConfiguration is shared: every server would publish one address, and peers would reach " +
			"only that one.",
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
			changes := []Change{{Op: RemoveArg, Arg: ip.Arg, Summary: "removed peer-advertise-ip"}}
			if port.Arg != nil {
				// By itself it does nothing, which MVP304 says.
				changes = append(changes, Change{Op: RemoveArg, Arg: port.Arg, Summary: "removed peer-advertise-port"})
			}
			p.Report(Finding{
				Severity: Error, Subject: ip.Name, At: p.place(ip), Consequence: FalseNotFound, When: v.When,
				Message: fmt.Sprintf("peer-advertise-ip %s is the same on every control-plane node.", ip.Value),
				Why: "a release that honours the flag publishes this one address for every server, and peers " +
					"reach only that one.",
				Fix:     "remove it and peer-advertise-port, or set them for each node with kubeadm's --patches",
				Changes: p.changes(changes...),
			})
		}
	},
}
