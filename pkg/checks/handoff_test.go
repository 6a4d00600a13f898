package checks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

const handOffBase = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.%d.0
controlPlaneEndpoint: api.example.test:6443
apiServer:
  extraArgs:
  - {name: feature-gates, value: "UnknownVersionInteroperabilityProxy=true"}
  - {name: peer-ca-file, value: /etc/kubernetes/pki/ca.crt}
`

// handOffInput is a configuration of which everything is right, with changes of lines.
func handOffInput(t *testing.T, from int, change func(string) string) Input {
	t.Helper()
	text := change(fmt.Sprintf(handOffBase, from))
	in, err := config.Read("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	pair := Pair{From: release.OfMinor(from), To: release.OfMinor(from + 1), Upgrade: true}
	return Input{Cluster: in.Clusters[0], Pair: pair, Now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), CertDays: 30}
}

// arg adds an extraArg.
func arg(name, value string) func(string) string {
	return func(text string) string { return text + fmt.Sprintf("  - {name: %s, value: %q}\n", name, value) }
}

func swap(old, with string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, with, 1) }
}

// facts are those of a state that are not yes, with their answers.
func facts(s *ConfiguredServer) string {
	var out []string
	for _, f := range []struct {
		name   string
		answer handoff.Answer
	}{
		{"gate", s.Gate}, {"ca", s.PeerCA}, {"identity", s.Identity}, {"address", s.Address}, {"direct", s.Direct}, {"trusts", s.Trusts}, {"proves", s.Proves},
		{"reached", s.Reached}, {"named", s.Named}, {"accepts", s.Accepts}, {"readable", s.Readable}, {"starts", s.Starts},
	} {
		if f.answer != handoff.Yes {
			out = append(out, f.name+"="+string(f.answer))
		}
	}
	return strings.Join(out, " ")
}

func TestHandOffFacts(t *testing.T) {
	same := func(text string) string { return text }
	noGate := swap("  - {name: feature-gates, value: \"UnknownVersionInteroperabilityProxy=true\"}\n", "")
	noCA := swap("  - {name: peer-ca-file, value: /etc/kubernetes/pki/ca.crt}\n", "")
	for _, tc := range []struct {
		name            string
		change          func(string) string
		running, target string
	}{
		{"all right", same, "", ""},
		{"MVP101 and MVP201", func(s string) string { return noGate(noCA(s)) }, "gate=no ca=no", "ca=no"},
		{"MVP102", swap("Proxy=true", "Proxy=false"), "gate=no starts=no", "gate=no starts=no"},
		{"MVP103 on 1.35", noGate, "gate=no starts=no", ""},
		{"MVP106", swap("VersionInteroperability", "VersionInterop"), "gate=no starts=no", "starts=no"},
		{"MVP107", swap("Proxy=true", "Proxy=true,APIServerIdentity=false"), "identity=no starts=no", "identity=no starts=no"},
		{"MVP202", swap("/etc/kubernetes/pki/ca.crt", "/srv/ca.crt"), "trusts=no starts=no", "trusts=no starts=no"},
		{"MVP203", swap("pki/ca.crt", "pki/etcd/ca.crt"), "trusts=no", "trusts=no"},
		{"MVP204", arg("tls-cert-file", "/etc/kubernetes/pki/own.crt"), "named=unknown", "named=unknown"},
		{"MVP205", arg("proxy-client-cert-file", ""), "proves=no starts=no", "proves=no starts=no"},
		{"MVP206", arg("requestheader-allowed-names", "somebody"), "accepts=no", "accepts=no"},
		{"MVP206 by the flags", arg("requestheader-client-ca-file", "/etc/kubernetes/pki/own-ca.crt"), "accepts=unknown", "accepts=unknown"},
		{"MVP209", swap("/etc/kubernetes/pki/ca.crt", "pki/ca.crt"), "trusts=no starts=no", "trusts=no starts=no"},
		{"MVP301", arg("advertise-address", "127.0.0.1"), "address=no reached=no", "address=no reached=no"},
		{"MVP301 of the unspecified address", arg("advertise-address", "0.0.0.0"), "reached=unknown", "reached=unknown"},
		{"MVP302", arg("advertise-address", "192.0.2.11"), "address=no", "address=no"},
		{"MVP307", arg("bind-address", "127.0.0.1"), "reached=no", "reached=no"},
		{"a template mark for the CA", swap("/etc/kubernetes/pki/ca.crt", "'{{ ca }}'"), "trusts=unknown", "trusts=unknown"},
		{"a template mark for gates", swap("UnknownVersionInteroperabilityProxy=true", "{{ gates }}"), "gate=unknown identity=unknown", "gate=unknown identity=unknown"},
		{"a template mark for the name", arg("tls-cert-file", "{{ cert }}"), "named=unknown", "named=unknown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := HandOffOf(handOffInput(t, 35, tc.change))
			if h.Unreadable != "" || len(h.Refused) > 0 || len(h.Nodes) != 3 {
				t.Fatalf("%d nodes, %q, %v", len(h.Nodes), h.Unreadable, h.Refused)
			}
			for _, n := range h.Nodes {
				if d := cmp.Diff([]string{tc.running, tc.target}, []string{facts(&n.Running), facts(&n.Target)}); d != "" {
					t.Errorf("%s (-want +got):\n%s", n.Name, d)
				}
				for _, s := range []ConfiguredServer{n.Running, n.Target} {
					if stops := len(s.Stops) > 0; stops != (s.Starts == handoff.No) {
						t.Errorf("%s starts: %s, because %v", n.Name, s.Starts, s.Stops)
					}
				}
			}
		})
	}
}

func TestHandOffServes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(string) string
		blind  string
		starts handoff.Answer
	}{
		{"the default", func(s string) string { return s }, "", handoff.Yes},
		{"a template mark", arg("runtime-config", "{{ apis }}"), "runtime-config has a value that is filled in later", handoff.Yes},
		{"newer versions", func(s string) string {
			return arg("emulated-version", "1.35")(arg("emulation-forward-compatible", "true")(s))
		}, release.ErrForward.Error(), handoff.Yes},
		{"an unknown group", arg("runtime-config", "nobody.example/v1=true"), `runtime-config: "nobody.example/v1=true": 1.36 has no API group nobody.example`, handoff.No},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := HandOffOf(handOffInput(t, 36, tc.change)).Nodes[0].Running
			if s.Blind != tc.blind || s.Starts != tc.starts || (s.Serves == nil) != (tc.blind != "") || len(s.Serves) != len(s.Resources) {
				t.Errorf("blind %q, starts %s, serves %d and %d", s.Blind, s.Starts, len(s.Serves), len(s.Resources))
			}
		})
	}
	h := HandOffOf(handOffInput(t, release.Newest().Minor(), func(s string) string { return s }))
	if s := h.Nodes[0].Target; s.Serves != nil || !strings.Contains(s.Blind, "does not know what") {
		t.Errorf("of a release that is not known: %q", s.Blind)
	}
}

func TestHandOffEarly(t *testing.T) {
	n := HandOffOf(handOffInput(t, 34, func(s string) string { return s })).Nodes[0]
	if !n.Running.AsksPeersAtStart || n.Target.AsksPeersAtStart {
		t.Errorf("1.34 is early: %v, 1.35: %v", n.Running.AsksPeersAtStart, n.Target.AsksPeersAtStart)
	}
}

func TestHandOffRefused(t *testing.T) {
	h := HandOffOf(handOffInput(t, 35, func(s string) string { return s + "featureGates: {NoSuchGate: true}\n" }))
	if len(h.Refused) != 1 || h.Refused[0].Rule.ID != "MVP104" {
		t.Errorf("refused: %v", h.Refused)
	}
	h = HandOffOf(handOffInput(t, 35, swap("kubeadm.k8s.io/v1beta4", "kubeadm.k8s.io/v1beta1")))
	if h.Unreadable == "" || len(h.Nodes) > 0 {
		t.Errorf("no kubeadm reads it, and yet: %d nodes", len(h.Nodes))
	}
}

func TestNodeNames(t *testing.T) {
	node := func(names ...string) []config.Node {
		var nodes []config.Node
		for _, name := range names {
			nodes = append(nodes, config.Node{Name: name})
		}
		return nodes
	}
	for _, tc := range []struct {
		nodes    []config.Node
		replicas int
		want     string
	}{
		{nil, 0, "cp-1 cp-2 cp-3"},
		{nil, 1, "cp-1"},
		{node("a", "b"), 0, "a b"},
		{node("a"), 0, "a cp-2 cp-3"},
		{node("a", "a", "{{ name }}", ""), 0, "a cp-2 cp-3 cp-4"},
		{node("cp-2", ""), 3, "cp-2 cp-3 cp-4"},
	} {
		c := &config.Cluster{Nodes: tc.nodes, Replicas: tc.replicas}
		if got := strings.Join(nodeNames(c), " "); got != tc.want {
			t.Errorf("%v, %d replicas: %s, want %s", tc.nodes, tc.replicas, got, tc.want)
		}
	}
}

// handOffOfPod reads the facts from the manifest of one node of several.
func handOffOfPod(t *testing.T, pod string) HandOff {
	t.Helper()
	in, err := config.Read("kube-apiserver.yaml", []byte(pod))
	if err != nil {
		t.Fatal(err)
	}
	r := release.OfMinor(36)
	h := HandOffOf(Input{Cluster: in.Clusters[0], Pair: Pair{From: r, To: r}, Now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)})
	if len(h.Nodes) < 2 {
		t.Fatalf("%d nodes, want those of the default", len(h.Nodes))
	}
	return h
}

// TestHandOffOfOneManifest has the pod of one node, whose address is not that of the nodes of which nothing is known.
func TestHandOffOfOneManifest(t *testing.T) {
	const pod = `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, labels: {component: kube-apiserver}}
spec:
  hostNetwork: true
  containers:
  - name: kube-apiserver
    image: registry.k8s.io/kube-apiserver:v1.36.3
    command: [kube-apiserver, --advertise-address=192.0.2.11, --secure-port=6443, --peer-ca-file=/etc/kubernetes/pki/ca.crt,
      --proxy-client-cert-file=/etc/kubernetes/pki/c.crt, --proxy-client-key-file=/etc/kubernetes/pki/c.key]
    volumeMounts: [{name: certs, mountPath: /etc/kubernetes/pki}]
  volumes: [{name: certs, hostPath: {path: /etc/kubernetes/pki}}]
`
	h := handOffOfPod(t, pod)
	for _, n := range h.Nodes {
		if n.Running.Address != handoff.Yes {
			t.Errorf("%s: an address of its own: %s, want yes", n.Name, n.Running.Address)
		}
	}
}

// TestHandOffSaysWhyNoNodeStarts has one manifest for all nodes: the rule of the one that is known speaks for the others.
func TestHandOffSaysWhyNoNodeStarts(t *testing.T) {
	const pod = `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, labels: {component: kube-apiserver}}
spec:
  containers:
  - name: kube-apiserver
    image: registry.k8s.io/kube-apiserver:v1.36.3
    command: [kube-apiserver, --advertise-address=192.0.2.11, --peer-ca-file=/etc/kubernetes/pki/ca.crt,
      "--feature-gates=APIServerIdentity=false",
      --proxy-client-cert-file=/etc/kubernetes/pki/c.crt, --proxy-client-key-file=/etc/kubernetes/pki/c.key]
    volumeMounts: [{name: certs, mountPath: /etc/kubernetes/pki}]
  volumes: [{name: certs, hostPath: {path: /etc/kubernetes/pki}}]
`
	h := handOffOfPod(t, pod)
	for _, n := range h.Nodes {
		var rules []string
		for _, stop := range n.Running.Stops {
			rules = append(rules, stop.Rule.ID)
		}
		if diff := cmp.Diff([]string{"MVP107"}, rules); diff != "" {
			t.Errorf("%s: rules that say why it does not start (-want +got):\n%s", n.Name, diff)
		}
	}
}

// TestHandOffBehindAProxy has the manifest of one node of several: its own address in NO_PROXY says nothing of the others, a
// range does.
func TestHandOffBehindAProxy(t *testing.T) {
	for noProxy, want := range map[string]handoff.Answer{
		"127.0.0.1,192.0.2.11": handoff.Unknown, "192.0.2.11:6443": handoff.Unknown, "192.0.2.11/32": handoff.Unknown, "127.0.0.1,192.0.2.0/24": handoff.Yes, "127.0.0.1": handoff.No,
	} {
		pod := `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver-cp-1, labels: {component: kube-apiserver}, annotations: {kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: "192.0.2.11:6443"}}
spec:
  nodeName: cp-1
  hostNetwork: true
  containers:
  - name: kube-apiserver
    image: registry.k8s.io/kube-apiserver:v1.36.3
    env: [{name: HTTPS_PROXY, value: "http://192.0.2.15:3128"}, {name: NO_PROXY, value: "` + noProxy + `"}]
    command: [kube-apiserver, --advertise-address=192.0.2.11, --secure-port=6443, --peer-ca-file=/etc/kubernetes/pki/ca.crt,
      --proxy-client-cert-file=/etc/kubernetes/pki/c.crt, --proxy-client-key-file=/etc/kubernetes/pki/c.key]
    volumeMounts: [{name: certs, mountPath: /etc/kubernetes/pki}]
  volumes: [{name: certs, hostPath: {path: /etc/kubernetes/pki}}]
`
		h := handOffOfPod(t, pod)
		// What is wrong on one node is not known of the others, and never taken to be right there.
		others := want
		if want == handoff.No {
			others = handoff.Unknown
		}
		got := []handoff.Answer{h.Nodes[0].Running.Direct, h.Nodes[1].Running.Direct}
		if diff := cmp.Diff([]handoff.Answer{want, others}, got); diff != "" {
			t.Errorf("NO_PROXY %s: reaches its peers, on the node and on another (-want +got):\n%s", noProxy, diff)
		}
	}
}
