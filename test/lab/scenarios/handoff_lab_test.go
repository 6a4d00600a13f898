//go:build lab && linux

package scenarios

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/report"
	cp "github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// node is a node of a release whose flags are those of a control plane that hands off, changed.
func node(release string, changes ...cp.Change) cp.Node {
	return cp.Node{Release: release, Flags: append([]cp.Change{cp.HandOff}, changes...)}
}

// scenario is one row of the facts: a control plane, and what mvpcheck probe must say of it.
type scenario struct {
	name  string
	nodes func(t *testing.T, c *cp.ControlPlane) []cp.Node
	// pods: there are mirror pods, as in a kubeadm cluster.
	pods bool
	// given: the servers are named with --server.
	given bool
	// peers: the servers can learn of each other; without it, that is broken, and nothing tells when they have tried.
	peers bool
	// tried: the first server is to have asked its peer, which goes wrong.
	tried bool
	// hidden is how many servers have no lease of their own.
	hidden int

	code     int
	findings []string
	// notes are the rules that fire as notes.
	notes []string
}

func nodes(list ...cp.Node) func(*testing.T, *cp.ControlPlane) []cp.Node {
	return func(*testing.T, *cp.ControlPlane) []cp.Node { return list }
}

const (
	old     = "1.35"
	current = "1.36"
)

var scenarios = []scenario{
	{name: "H1", nodes: nodes(node(old), node(current)), peers: true, notes: []string{"MVP512"}},
	{
		name: "H2", nodes: nodes(cp.Node{Release: old}, node(current)),
		code: 1, findings: []string{"error MVP503 cp-1"},
	},
	{
		name: "H3", nodes: nodes(cp.Node{Release: old, Flags: []cp.Change{cp.GateOn}}, node(current)),
		code: 1, findings: []string{"error MVP504 cp-1"},
	},
	{
		name: "H4", nodes: nodes(node(old, cp.Set("peer-ca-file", cp.OtherCA)), node(current)), tried: true,
		code: 1, findings: []string{"error MVP505 cp-1"},
	},
	{
		name: "H5", tried: true,
		nodes: func(t *testing.T, c *cp.ControlPlane) []cp.Node {
			id := c.CA.Issue(t, cp.Subject{Name: "kube-apiserver", DNSNames: []string{"cp-2"}, IPs: []string{"192.0.2.12"}})
			n := node(current)
			n.Files = map[string][]byte{cp.ServerCrt: id.CertPEM(), cp.ServerKey: id.KeyPEM()}
			return []cp.Node{node(old), n}
		},
		code: 1, findings: []string{"error MVP505 cp-2"},
	},
	{
		name: "H6", nodes: nodes(node(old), node(current, cp.Set("requestheader-allowed-names", "somebody-else"))), tried: true,
		code: 1, findings: []string{"error MVP506 cp-1"},
	},
	{
		name: "H7", nodes: nodes(node(old), node(current, cp.Set("requestheader-client-ca-file", cp.OtherCA))), tried: true,
		code: 1, findings: []string{"error MVP506 cp-1"},
	},
	{
		// The peer takes the certificate for that of a client: client-ca-file's CA has signed it.
		name: "H7-taken-for-a-client", tried: true,
		nodes: func(t *testing.T, c *cp.ControlPlane) []cp.Node {
			id := c.CA.Issue(t, cp.Subject{Name: "front-proxy-client"})
			n := node(old)
			n.Files = map[string][]byte{cp.PKI + "/front-proxy-client.crt": id.CertPEM(), cp.PKI + "/front-proxy-client.key": id.KeyPEM()}
			return []cp.Node{n, node(current)}
		},
		code: 1, findings: []string{"error MVP506 cp-1"},
	},
	{
		name: "H8", nodes: nodes(node(old), node(current, cp.Set("advertise-address", cp.SharedAddress))), tried: true, given: true,
		code: 1, findings: []string{"error MVP507 cp-2"},
	},
	{
		name: "H8-pods", nodes: nodes(node(old), node(current, cp.Set("advertise-address", cp.SharedAddress))), tried: true, pods: true,
		code: 1, findings: []string{"error MVP507 cp-2"},
	},
	{
		name: "H9", tried: true, given: true,
		nodes: func(t *testing.T, c *cp.ControlPlane) []cp.Node {
			cp.Forward(t, cp.SharedAddress+":6443", "192.0.2.11:6443")
			shared := cp.Set("advertise-address", cp.SharedAddress)
			return []cp.Node{node(old, shared), node(current, shared)}
		},
		code: 1, findings: []string{"error MVP508 192.0.2.11:6443,192.0.2.12:6443"},
	},
	{
		name: "H9-pods", tried: true, pods: true,
		nodes: func(t *testing.T, c *cp.ControlPlane) []cp.Node {
			cp.Forward(t, cp.SharedAddress+":6443", "192.0.2.11:6443")
			shared := cp.Set("advertise-address", cp.SharedAddress)
			return []cp.Node{node(old, shared), node(current, shared)}
		},
		code: 1, findings: []string{"error MVP508 cp-1,cp-2"},
	},
	{name: "H11", nodes: nodes(node(old), node(current), node("1.37")), peers: true, notes: []string{"MVP512", "MVP514", "MVP518"}},
	{name: "H13", nodes: nodes(node(current), node(current)), peers: true, notes: []string{"MVP517"}},
	{name: "H13-three", nodes: nodes(node(current), node(current), node(current)), peers: true, pods: true, notes: []string{"MVP517"}},
	{name: "H13-old", nodes: nodes(node(old), node(old)), peers: true, notes: []string{"MVP517"}},
	{
		name: "H14", nodes: nodes(node(current), cp.Node{Release: current}), tried: true,
		code: 1, findings: []string{"error MVP504 cp-2"}, notes: []string{"MVP517"},
	},
	{
		name: "H15", nodes: nodes(proxied("127.0.0.1,192.0.2.11"), node(current)), tried: true, pods: true,
		code: 1, findings: []string{"error MVP311 cp-1"},
	},
	{
		name: "H15-without-pods", nodes: nodes(proxied("127.0.0.1,192.0.2.11"), node(current)), tried: true,
		code: 1, findings: []string{"error MVP505 cp-1"},
	},
	{name: "H15-covered", nodes: nodes(proxied("192.0.2.0/24"), node(current)), peers: true, pods: true, notes: []string{"MVP512"}},
	{
		name: "shared-host-name", hidden: 1,
		nodes: nodes(node(old), cp.Node{Release: current, Host: "cp-1", Flags: []cp.Change{cp.HandOff}}),
		code:  1, findings: []string{"error MVP516 192.0.2.11:6443,192.0.2.12:6443"},
	},
	{name: "one-server", nodes: nodes(node(current))},
	{
		name: "unprepared", nodes: nodes(cp.Node{Release: old}, cp.Node{Release: old}),
		code: 1, findings: []string{"error MVP503 192.0.2.11:6443,192.0.2.12:6443"}, notes: []string{"MVP517"},
	},
}

func proxied(noProxy string) cp.Node {
	n := node(old)
	n.Env = []string{"HTTPS_PROXY=http://192.0.2.15:3128", "NO_PROXY=" + noProxy}
	return n
}

// wait waits until the servers show what they are to show.
func (sc *scenario) wait(t *testing.T, servers []*cp.Server) {
	t.Helper()
	if sc.tried {
		servers[0].WaitMetric(t, 0, "apiserver_rerouted_request_total")
	}
	if sc.hidden > 0 {
		// A lease that is missing may still come; only later it is taken for one that two servers share.
		time.Sleep(12 * time.Second)
	}
	// Leases and endpoints are written some time after a server is ready.
	advertised := map[string]bool{}
	for _, s := range servers {
		advertised[s.Flag("advertise-address")] = true
	}
	for range 60 {
		var list struct {
			Items []struct {
				Endpoints []struct{ Addresses []string }
			}
		}
		servers[0].Get(t, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices").Into(t, &list)
		listed := 0
		for _, slice := range list.Items {
			listed += len(slice.Endpoints)
		}
		if listed == len(advertised) && len(servers[0].Leases(t)) >= len(servers)-sc.hidden {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Log("the endpoints or the leases do not list all servers")
}

func TestHandOff(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			c := cp.New(t, cp.Options{})
			servers := c.Start(t, sc.nodes(t, c)...)
			if sc.pods {
				c.AddMirrorPods(t)
			}
			if sc.peers && len(servers) > 1 {
				c.WaitPeers(t)
			}
			sc.wait(t, servers)
			args := []string{"--kubeconfig", servers[0].Kubeconfig(t)}
			if sc.given {
				for _, s := range servers {
					args = append(args, "--server", s.URL())
				}
			}
			r := probe(t, args...)
			diff(t, "exit code", sc.code, r.code)
			diff(t, "findings", sc.findings, r.findings())
			diff(t, "notes", sc.notes, r.notes())
			r.judgeTruth(t, servers)
			if strings.Contains(r.stderr, "error") {
				t.Errorf("standard error: %s", r.stderr)
			}
		})
	}
}

// TestH12 starts the older server last: 1.34 gives a peer that starts later five tries within a second, and then no more.
func TestH12(t *testing.T) {
	c := cp.New(t, cp.Options{})
	c.Start(t, node(old, cp.Set("runtime-config", "resource.k8s.io/v1beta2=true")))
	c.Start(t, node("1.34"))
	c.WaitPeers(t)
	r := probe(t, "--kubeconfig", c.Servers()[0].Kubeconfig(t))
	diff(t, "exit code", 0, r.code)
	diff(t, "findings", []string(nil), r.findings())
	r.judgeTruth(t, c.Servers())
}

// newIn136 is a resource that 1.36 serves and 1.35 does not.
var newIn136 = cp.Resource{Group: "admissionregistration.k8s.io", Version: "v1", Name: "mutatingadmissionpolicies"}

// TestH10 kills the only server that has a resource. At first it is a server that cannot be asked, later one that is gone.
func TestH10(t *testing.T) {
	c := cp.New(t, cp.Options{})
	servers := c.Start(t, node(old), node(current))
	c.WaitPeers(t)
	kubeconfig := servers[0].Kubeconfig(t)
	servers[1].Kill()
	t.Run("at-once", func(t *testing.T) {
		r := probe(t, "--kubeconfig", kubeconfig)
		diff(t, "exit code", 3, r.code)
		diff(t, "findings", []string{"error MVP510 cp-2"}, r.findings())
		if got := servers[0].Answer(t, newIn136); got != "503" {
			t.Errorf("%v: the server answers %q, want 503", newIn136, got)
		}
	})
	time.Sleep(65 * time.Second)
	t.Run("after-a-minute", func(t *testing.T) {
		r := probe(t, "--kubeconfig", kubeconfig)
		diff(t, "exit code", 0, r.code)
		diff(t, "findings", []string{"warning MVP511 cp-1"}, r.findings())
		if got := servers[0].Answer(t, newIn136); got != "503" {
			t.Errorf("%v: the server answers %q, want 503", newIn136, got)
		}
		r.judgeTruth(t, servers)
	})
}

// TestRandomPeer has a server whose two peers have a resource that it lacks, one of them without a subresource. It asks now one,
// now the other, and whatever probe has seen once is not what the next client gets.
func TestRandomPeer(t *testing.T) {
	alpha := cp.Set("runtime-config", "resource.k8s.io/v1alpha3=true")
	c := cp.New(t, cp.Options{})
	// The third one hands nothing off, and is asked.
	servers := c.Start(t, node(old), node(old, alpha), cp.Node{Release: "1.34", Flags: []cp.Change{cp.GateOn, alpha}})
	c.WaitPeers(t)
	status := cp.Resource{Group: "resource.k8s.io", Version: "v1alpha3", Name: "devicetaintrules/status"}
	answers := map[string]bool{}
	for range 40 {
		answers[servers[0].Answer(t, status)] = true
	}
	diff(t, "answers", map[string]bool{cp.HandedOff: true, cp.NotFound: true}, answers)
	kubeconfig := servers[0].Kubeconfig(t)
	for range 3 {
		r := probe(t, "--kubeconfig", kubeconfig)
		if r.code != 3 && r.code != 1 {
			t.Errorf("exit code %d", r.code)
		}
		if slices.ContainsFunc(r.report.HandedOff, func(route report.Route) bool {
			return route.Resource == status.Name && strings.HasPrefix(route.Server, "cp-1")
		}) {
			t.Errorf("probe says that %v is handed off", status)
		}
	}
}

// TestUnreachable asks a server that is not there.
func TestUnreachable(t *testing.T) {
	c := cp.New(t, cp.Options{})
	servers := c.Start(t, node(current), node(current))
	c.WaitPeers(t)
	r := probe(t, "--kubeconfig", servers[0].Kubeconfig(t), "--server", servers[0].URL(), "--server", servers[1].URL(), "--server", "192.0.2.15")
	diff(t, "exit code", 3, r.code)
	diff(t, "findings", []string{"error MVP510 192.0.2.15:6443"}, r.findings())
}

// TestDiscoveryForbidden takes the permission to read discovery away from the servers.
func TestDiscoveryForbidden(t *testing.T) {
	c := cp.New(t, cp.Options{})
	first := c.Start(t, node(old))[0]
	first.Apply(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: system:discovery
  annotations: {rbac.authorization.kubernetes.io/autoupdate: "false"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:discovery}
subjects: []
`)
	servers := append(c.Servers(), c.Start(t, node(current))...)
	for _, s := range servers {
		s.WaitMetric(t, 0, "apiserver_rerouted_request_total")
	}
	time.Sleep(3 * time.Second)
	r := probe(t, "--kubeconfig", first.Kubeconfig(t))
	diff(t, "exit code", 1, r.code)
	diff(t, "findings", []string{"error MVP515 cp-1,cp-2"}, r.findings())
	r.judgeTruth(t, servers)
}

// TestNotBuiltIn has custom resources and an aggregated API server that does not answer: neither is compared.
func TestNotBuiltIn(t *testing.T) {
	c := cp.New(t, cp.Options{})
	servers := c.Start(t, node(old), node(current))
	c.WaitPeers(t)
	servers[0].Apply(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: lamps, singular: lamp, kind: Lamp}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.example.com}
spec:
  group: metrics.example.com
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: kube-system, name: no-such-service}
`)
	time.Sleep(3 * time.Second)
	r := probe(t, "--kubeconfig", servers[0].Kubeconfig(t))
	diff(t, "exit code", 0, r.code)
	diff(t, "findings", []string(nil), r.findings())
	r.judgeTruth(t, servers)
	var left []string
	for _, l := range r.report.LeftOut {
		left = append(left, l.Kind+" "+l.Group+"/"+l.Version+map[bool]string{true: " stale"}[l.Stale != ""])
	}
	diff(t, "left out", []string{"custom-resources example.com/v1", "aggregated metrics.example.com/v1beta1 stale"}, left)
	if !slices.ContainsFunc(r.report.Notes, func(n string) bool { return strings.Contains(n, "kube-system/no-such-service") }) {
		t.Errorf("the notes do not name the stale APIService: %q", r.report.Notes)
	}
}

// TestWait asks servers that have just started, until they know each other.
func TestWait(t *testing.T) {
	c := cp.New(t, cp.Options{})
	servers := c.Start(t, node(old), node(current))
	r := probe(t, "--kubeconfig", servers[0].Kubeconfig(t), "--wait", "1m")
	diff(t, "exit code", 0, r.code)
	diff(t, "findings", []string(nil), r.findings())
	if len(r.report.HandedOff) != 2 {
		t.Errorf("handed off: %v", r.report.HandedOff)
	}
}
