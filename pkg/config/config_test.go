package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const v1beta4 = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\n"

func TestParseNodes(t *testing.T) {
	tests := []struct {
		text  string
		count int
		nodes []Node
		err   string
	}{
		{"5", 5, nil, ""},
		{"a=192.0.2.11,b=[2001:db8::12]:7443, c=2001:db8::13", 3, []Node{
			{Name: "a", Address: "192.0.2.11", From: "--nodes"},
			{Name: "b", Address: "2001:db8::12", Port: 7443, From: "--nodes"},
			{Name: "c", Address: "2001:db8::13", From: "--nodes"},
		}, ""},
		{"0", 0, nil, "the number of control-plane nodes must be 1 to 99"},
		{"a", 0, nil, `want a number, or name=ADDRESS for each control-plane node, separated by commas; not "a"`},
		{"a=192.0.2.11,", 0, nil, `want a number, or name=ADDRESS for each control-plane node, separated by commas; not ""`},
	}
	for _, tt := range tests {
		count, nodes, err := ParseNodes(tt.text)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if count != tt.count || msg != tt.err {
			t.Errorf("%q: %d, %q; want %d, %q", tt.text, count, msg, tt.count, tt.err)
		}
		if diff := cmp.Diff(tt.nodes, nodes, cmpopts.IgnoreFields(Node{}, "At")); diff != "" && err == nil {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestReadErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"two ClusterConfigurations", v1beta4 + "---\n" + v1beta4, "x.yaml:5:1: a second ClusterConfiguration in one text (the first is document 1); kubeadm refuses the file: split it"},
		{"no apiVersion", "kind: ClusterConfiguration\n", "x.yaml:1:1: this ClusterConfiguration has no apiVersion; kubeadm refuses the file: add apiVersion: kubeadm.k8s.io/v1beta4"},
		{"foreign apiVersion", "apiVersion: kubeadm/v1\nkind: ClusterConfiguration\n", `x.yaml:1:13: apiVersion "kubeadm/v1" of this ClusterConfiguration is not one of kubeadm's: write kubeadm.k8s.io/v1beta4`},
		{"wrong type", v1beta4 + "apiServer:\n  certSANs: host\n", "x.yaml:5:13: apiServer.certSANs is a string; kubeadm wants a list there and refuses the file"},
		{"map as a value", v1beta4 + "apiServer:\n  extraArgs:\n  - name: v\n    value: {a: b}\n", "x.yaml:7:12: apiServer.extraArgs[0].value is a map; kubeadm wants a string there and refuses the file"},
		{"ConfigMap without text", "apiVersion: v1\nkind: ConfigMap\ndata:\n  ClusterConfiguration: {}\n", "x.yaml:4:25: data.ClusterConfiguration is a map, not text"},
		{"syntax in a ConfigMap", "apiVersion: v1\nkind: ConfigMap\ndata:\n  ClusterConfiguration: |\n    a: b\n    c: [\n", "x.yaml:6:5: not valid YAML: did not find expected node content"},
		{"empty", " \n", "x.yaml:1:1: the file is empty"},
		{"script", "#!/bin/sh\nkubeadm init\n", "x.yaml:1:1: this is a script, not a kubeadm configuration; check the file that it writes"},
		{"another object", "apiVersion: apps/v1\nkind: Deployment\n", "x.yaml:1:1: no kubeadm document found: this is apps/v1 Deployment"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read("x.yaml", []byte(tt.text))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestForms(t *testing.T) {
	tests := []struct {
		name, text     string
		form           Form
		version, args  string
		nodes, replica int
	}{
		{"kind with node images", "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: control-plane\n  image: kindest/node:v1.35.0@sha256:00\n- role: control-plane\n- role: worker\n",
			FormKind, "v1.35.0", "", 0, 2},
		{"kind without nodes", "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n", FormKind, "", "", 0, 1},
		{"KubeadmControlPlaneTemplate", "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlaneTemplate\nspec:\n  template:\n    spec:\n      kubeadmConfigSpec:\n        clusterConfiguration:\n          apiServer:\n            extraArgs:\n              v: \"2\"\n",
			FormControlPlane, "", "v=2", 0, 0},
		{"ConfigMap as JSON", `{"apiVersion": "v1", "kind": "ConfigMap", "data": {"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\n"}}`,
			FormConfigMap, "v1.36.0", "", 0, 0},
		{"Init and Join beside", v1beta4 + "---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: 192.0.2.11}\n---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ncontrolPlane: {localAPIEndpoint: {advertiseAddress: 192.0.2.12}}\n",
			FormKubeadm, "v1.36.0", "", 2, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, err := Read("x.yaml", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			c := in.Clusters[0]
			var args []string
			for _, a := range c.APIServer.Args {
				args = append(args, a.Name+"="+a.Value)
			}
			if c.Form != tt.form || c.KubernetesVersion.Value != tt.version || strings.Join(args, " ") != tt.args || len(c.Nodes) != tt.nodes || c.Replicas != tt.replica {
				t.Errorf("%s, version %q, args %v, %d nodes, %d replicas", c.Form, c.KubernetesVersion.Value, args, len(c.Nodes), c.Replicas)
			}
		})
	}
}

// The names are those that kubeadm 1.34 and 1.35 were seen to take, ignore and refuse.
func TestReadPatches(t *testing.T) {
	const patch = "- op: add\n  path: /spec/containers/0/command/-\n  value: --v=2\n"
	tests := []struct {
		name, text string
		want       string
	}{
		{"kube-apiserver+json.yaml", patch, "--v=2"},
		{"sub/kube-apiserver1+json.json", `[{"op": "add", "path": "/spec/containers/0/command/1", "value": "--v=2"}]`, "--v=2 first"},
		{"kube-apiserver.yaml", "spec:\n  containers:\n  - name: kube-apiserver\n    command: [kube-apiserver, --v=2]\n", "--v=2 only"},
		{"kube-apiserver+merge.yaml", "spec:\n  containers:\n  - name: kube-apiserver\n    args: [--v=2]\n", "--v=2"},
		{"kube-apiserver+json.yml", patch, ""},
		{"kube-scheduler+json.yaml", patch, ""},
		{"kube-apiserver+foo.yaml", patch, "error: kubeadm stops at this name: behind the + it wants json, merge or strategic"},
		{"kube-apiserver.x+json.yaml", patch, "error: this is no patch of the kind that its file name tells"},
		{"kube-apiserver+json.yaml", "- op: move\n  path: /spec/containers/0/command/3\n  from: /spec/containers/0/command/4\n", "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, tt.name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := patchedBy(t, dir); got != tt.want && (!strings.HasPrefix(tt.want, "error: ") || !strings.Contains(got, tt.want[len("error: "):])) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// patchedBy says what the patches of a folder do to kubeadm's own command.
func patchedBy(t *testing.T, dir string) string {
	t.Helper()
	patches, err := ReadPatches(dir)
	if err != nil {
		return "error: " + err.Error()
	}
	in, err := Read("x.yaml", []byte(v1beta4))
	if err != nil {
		t.Fatal(err)
	}
	c := in.Clusters[0]
	own := len(c.CommandLine(Node{}))
	c.Patches = patches
	s := c.Servers()[0]
	switch v := s.Flags.Last("v"); {
	case s.FlagsUnknown:
		return "unknown"
	case v == nil:
		return ""
	case len(s.Flags) == 1:
		return "--v=" + v.Value + " only"
	case len(s.Flags) != own+1:
		return "flags were lost"
	case s.Flags[0].Name == "v":
		return "--v=" + v.Value + " first"
	default:
		return "--v=" + v.Value
	}
}

func TestMounted(t *testing.T) {
	in, err := Read("x.yaml", []byte(v1beta4+"etcd:\n  external:\n    endpoints: [https://192.0.2.21:2379]\n    caFile: /srv/etcd/ca.crt\n    certFile: /etc/kubernetes/pki-etcd/c.crt\n    keyFile: /srv/etcd/c.key\n"+
		"apiServer:\n  extraVolumes:\n  - name: peer\n    hostPath: /srv/host\n    mountPath: /srv/pod\n  - name: k8s-certs\n    hostPath: /other\n    mountPath: /etc/other\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := in.Clusters[0].Servers()[0]
	for file, want := range map[string]string{
		"/srv/pod/ca.crt":             "/srv/host/ca.crt",
		"/srv/etcd/ca.crt":            "/srv/etcd/ca.crt",
		"/etc/ssl/certs/x.pem":        "/etc/ssl/certs/x.pem",
		"/etc/other/ca.crt":           "/other/ca.crt",
		"/etc/kubernetes/pki/ca.crt":  "", // a volume of the name k8s-certs takes the place of kubeadm's
		"/etc/kubernetes/pki-etcd/c":  "", // begins like certificatesDir, so kubeadm does not mount it
		"/srv/podder/ca.crt":          "",
		"/srv/pod/../../etc/shadow":   "",
		"/srv/host/not/seen/from/pod": "",
	} {
		got, ok := s.Mounted(file)
		if ok != (want != "") || got != want {
			t.Errorf("%s: %q, %t; want %q", file, got, ok, want)
		}
	}
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yml", "a.yaml", "sub/c.json", ".git/d.yaml", "e.txt", ".mvpcheck.yaml"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Walk(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yml"), filepath.Join(dir, "sub/c.json")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlaceholderIn(t *testing.T) {
	for s, want := range map[string]string{
		"v{{ .Version }}": "{{ .Version }}", "${HOST_IP}": "${HOST_IP}", "$(NODE)": "$(NODE)", "<your-address>": "<your-address>",
		"@ADDR@": "@ADDR@", "a$b": "", "1<2": "", "{}": "", "user@example.com": "",
	} {
		if got := PlaceholderIn(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
