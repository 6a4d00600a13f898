//go:build lab && linux

package campaign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	cp "github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// plane is a control plane that was drawn.
type plane struct {
	seed  uint64
	index int
	// nodes are in the order in which their servers are started.
	nodes []drawnNode
	// balanced: behind the shared address is the first node.
	balanced bool
	// pods: there are mirror pods. given: probe is told the servers.
	pods, given bool
}

// drawnNode is a node with what is wrong with it.
type drawnNode struct {
	release string
	faults  []fault
}

// fault is one thing that is set on a node; not each is wrong.
type fault struct {
	name string
	set  func(a *attempt, c *cp.ControlPlane, n *cp.Node)
	// own: it is about a file of this node that its peers judge. Who looks at one node takes the files of all for alike.
	own bool
}

func (p plane) String() string {
	var nodes []string
	for _, n := range p.nodes {
		text := n.release
		for _, f := range n.faults {
			text += " " + f.name
		}
		nodes = append(nodes, text)
	}
	return fmt.Sprintf("seed %d, control plane %d: %s; balanced %v, pods %v, given %v", p.seed, p.index, strings.Join(nodes, " | "), p.balanced, p.pods, p.given)
}

// change is a fault by the command line.
func change(name string, changes ...cp.Change) fault {
	return fault{name: name, set: func(_ *attempt, _ *cp.ControlPlane, n *cp.Node) { n.Flags = append(n.Flags, changes...) }}
}

// certificate is a fault by a certificate that a CA of the control plane issues in the place of kubeadm's.
func certificate(name, crt, key string, ca func(*cp.ControlPlane) *cp.Identity, subject cp.Subject) fault {
	return fault{name: name, own: true, set: func(a *attempt, c *cp.ControlPlane, n *cp.Node) {
		id := ca(c).Issue(a, subject)
		n.Files[crt], n.Files[key] = id.CertPEM(), id.KeyPEM()
	}}
}

func environment(noProxy string) fault {
	return fault{name: "proxy but for itself" + noProxy, set: func(_ *attempt, _ *cp.ControlPlane, n *cp.Node) {
		// A server asks itself at its own address.
		n.Env = []string{"HTTPS_PROXY=http://192.0.2.15:3128", "NO_PROXY=127.0.0.1," + n.Address + noProxy}
	}}
}

const allAddresses = "192.0.2.11,192.0.2.12,192.0.2.13"

var clusterCA = func(c *cp.ControlPlane) *cp.Identity { return c.CA }

// faults are the rows of the facts, one a node or several.
var faults = []fault{
	change("gate off", cp.Add("feature-gates", "UnknownVersionInteroperabilityProxy=false"), cp.Remove("peer-ca-file")),
	change("no peer CA", cp.Remove("peer-ca-file")),
	change("other peer CA", cp.Set("peer-ca-file", cp.OtherCA)),
	{name: "empty peer CA", set: func(_ *attempt, _ *cp.ControlPlane, n *cp.Node) {
		n.Files[extra+"empty"] = []byte{}
		n.Flags = append(n.Flags, cp.Set("peer-ca-file", extra+"empty"))
	}},
	certificate("serving certificate without the service's name", cp.ServerCrt, cp.ServerKey, clusterCA,
		cp.Subject{Name: "kube-apiserver", DNSNames: []string{"localhost"}, IPs: []string{"192.0.2.11", "192.0.2.12", "192.0.2.13", "127.0.0.1"}}),
	certificate("serving certificate of another CA", cp.ServerCrt, cp.ServerKey, func(c *cp.ControlPlane) *cp.Identity { return c.EtcdCA },
		cp.Subject{Name: "kube-apiserver", DNSNames: []string{"kubernetes.default.svc"}, IPs: []string{"192.0.2.11", "192.0.2.12", "192.0.2.13", "127.0.0.1"}}),
	certificate("proxy client certificate of another CA", frontCrt, frontKey, clusterCA, cp.Subject{Name: "front-proxy-client"}),
	certificate("proxy client certificate with another name", frontCrt, frontKey,
		func(c *cp.ControlPlane) *cp.Identity { return c.FrontProxyCA }, cp.Subject{Name: "somebody"}),
	change("allowed names lack the peers", cp.Set("requestheader-allowed-names", "somebody-else")),
	change("all names allowed", cp.Set("requestheader-allowed-names", "")),
	change("other request header CA", cp.Set("requestheader-client-ca-file", cp.OtherCA)),
	change("shared address", cp.Set("advertise-address", cp.SharedAddress)),
	environment(""),
	environment("," + allAddresses),
	environment(",192.0.2.0/24"),
	{name: "host name of the first", set: func(_ *attempt, _ *cp.ControlPlane, n *cp.Node) { n.Host = "cp-1" }},
}

// harmless are settings that change what a server serves, or look like a fault.
var harmless = []fault{
	change("alpha and beta APIs", cp.Set("runtime-config", "api/beta=true,api/alpha=true")),
	change("resource.k8s.io betas", cp.Set("runtime-config", "resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true")),
	change("no batch/v1 cronjobs", cp.Set("runtime-config", "batch/v1/cronjobs=false")),
	change("no autoscaling/v2", cp.Set("runtime-config", "autoscaling/v2=false")),
	change("networking.k8s.io beta", cp.Set("runtime-config", "networking.k8s.io/v1beta1=true")),
	change("admissionregistration.k8s.io beta", cp.Set("runtime-config", "admissionregistration.k8s.io/v1beta1=true"), cp.Add("feature-gates", "MutatingAdmissionPolicy=true")),
	change("AllBeta off", cp.Add("feature-gates", "AllBeta=false,APIServerIdentity=true")),
	{name: "emulates the release before", set: func(_ *attempt, _ *cp.ControlPlane, n *cp.Node) {
		var minor int
		_, _ = fmt.Sscanf(n.Release, "1.%d", &minor)
		n.Flags = append(n.Flags, cp.Set("emulated-version", fmt.Sprintf("1.%d", minor-1)))
	}},
	change("peer-advertise-ip", cp.Set("peer-advertise-ip", "192.0.2.14"), cp.Set("peer-advertise-port", "6443")),
	change("no anonymous requests", cp.Set("anonymous-auth", "false")),
	change("another port", cp.Set("secure-port", "7443")),
}

// drawPlane returns the control plane of an index.
func drawPlane(seed uint64, index int) plane {
	// Not the draw of the setting of that index.
	d := &draw{Rand: rand.New(rand.NewPCG(seed, uint64(index)|1<<32)), index: index}
	p := plane{seed: seed, index: index, pods: d.chance(50), given: d.chance(50)}
	older := 34 + d.IntN(3)
	for i := range 2 + d.IntN(2) {
		n := drawnNode{release: fmt.Sprintf("1.%d", older+d.IntN(2))}
		if i < 2 && d.chance(85) {
			n.release = fmt.Sprintf("1.%d", older+i)
		}
		if d.chance(45) {
			n.faults = append(n.faults, one(d, faults))
		}
		if d.chance(10) {
			n.faults = append(n.faults, one(d, faults))
		}
		if d.chance(30) {
			n.faults = append(n.faults, one(d, harmless))
		}
		p.nodes = append(p.nodes, n)
	}
	if d.chance(8) {
		shared := faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == "shared address" })]
		p.balanced = true
		for i := range p.nodes {
			p.nodes[i].faults = append(p.nodes[i].faults, shared)
		}
	}
	// A server of 1.34 ends when it cannot read a peer, and reads none that starts after it: see the package controlplane.
	slices.SortStableFunc(p.nodes, func(a, b drawnNode) int { return strings.Compare(b.release, a.release) })
	return p
}

func (n drawnNode) has(is func(fault) bool) bool { return slices.ContainsFunc(n.faults, is) }

// node is the node of an index of the control plane.
func (n drawnNode) node(a *attempt, c *cp.ControlPlane, i int) cp.Node {
	node := cp.Node{
		Release: n.release, Name: fmt.Sprintf("cp-%d", i+1), Address: cp.Addresses[i],
		Flags: []cp.Change{cp.HandOff}, Files: map[string][]byte{},
	}
	for _, f := range n.faults {
		f.set(a, c, &node)
	}
	return node
}
