package patch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// applyPatch applies RFC 6902 operations.
func applyPatch(doc any, patch []byte) (any, error) {
	var ops []struct {
		Op, Path string
		Value    any
	}
	dec := json.NewDecoder(bytes.NewReader(patch))
	dec.UseNumber()
	if err := dec.Decode(&ops); err != nil {
		return nil, err
	}
	for _, op := range ops {
		var path []string
		if op.Path != "" {
			for part := range strings.SplitSeq(strings.TrimPrefix(op.Path, "/"), "/") {
				path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
			}
		}
		var err error
		if doc, err = applyOp(doc, path, op.Op, op.Value); err != nil {
			return nil, fmt.Errorf("%s %s: %w", op.Op, op.Path, err)
		}
	}
	return doc, nil
}

func applyOp(doc any, path []string, op string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	switch doc := doc.(type) {
	case map[string]any:
		_, there := doc[path[0]]
		switch {
		case len(path) > 1:
			inner, err := applyOp(doc[path[0]], path[1:], op, value)
			doc[path[0]] = inner
			return doc, err
		case op == "remove" && there:
			delete(doc, path[0])
		case op == "add", op == "replace" && there:
			doc[path[0]] = value
		default:
			return nil, fmt.Errorf("%q is not there", path[0])
		}
		return doc, nil
	case []any:
		i, err := strconv.Atoi(path[0])
		if path[0] == "-" {
			i, err = len(doc), nil
		}
		switch {
		case err != nil || i < 0 || i > len(doc) || i == len(doc) && op != "add":
			return nil, fmt.Errorf("no index %q", path[0])
		case len(path) > 1:
			doc[i], err = applyOp(doc[i], path[1:], op, value)
			return doc, err
		case op == "remove":
			return slices.Delete(doc, i, i+1), nil
		case op == "add":
			return slices.Insert(doc, i, value), nil
		}
		doc[i] = value
		return doc, nil
	}
	return nil, fmt.Errorf("%T has no %q", doc, path[0])
}

func checkJSONPatch(t *testing.T, r *Result, ops []byte) {
	t.Helper()
	before, err := config.Read(r.Name, r.Before)
	if err != nil {
		t.Fatal(err)
	}
	got, err := applyPatch(objectOf(before.Clusters[0]).JSON(), ops)
	if err != nil {
		t.Fatalf("%v in\n%s", err, ops)
	}
	if want := objectOf(r.Input.Clusters[0]).JSON(); !reflect.DeepEqual(want, got) {
		t.Fatalf("the JSON patch gives something else (-want +got):\n%s\n%s", cmp.Diff(want, got), ops)
	}
}

func fixed(t *testing.T, name string, text string) *Result {
	t.Helper()
	r, err := Fix(name, []byte(text), Options{Judge: needs})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestJSONPatch(t *testing.T) {
	for name, data := range caseFiles(t) {
		r, err := Fix(name, data, Options{Judge: needs})
		if err != nil {
			continue
		}
		ops, err := JSONPatch(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkJSONPatch(t, r, ops)
	}
	r := fixed(t, "x.yaml", head4+"apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: A=true\n  - name: advertise-address\n    value: 192.0.2.1\n  - name: v\n    value: x\n")
	got, err := JSONPatch(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `[
  {"op":"add","path":"/apiServer/extraArgs/0","value":{"name":"peer-ca-file","value":"/etc/kubernetes/pki/ca.crt"}},
  {"op":"replace","path":"/apiServer/extraArgs/1/value","value":"A=true,UnknownVersionInteroperabilityProxy=true"},
  {"op":"remove","path":"/apiServer/extraArgs/2"}
]
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("ops (-want +got):\n%s", diff)
	}
	if got, err := JSONPatch(fixed(t, "x.yaml", string(r.After))); err != nil || string(got) != "[]\n" {
		t.Errorf("nothing to do: %q, %v", got, err)
	}
}

func TestExtraArgs(t *testing.T) {
	tests := []struct{ text, want string }{
		{head4 + "apiServer:\n    extraArgs: [{name: v, value: \"4\"}]\n    extraVolumes:\n    - {name: a, hostPath: /a, mountPath: /a, readOnly: true}\n    certSANs: [x]\n",
			"apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n  - name: peer-ca-file\n    value: /etc/kubernetes/pki/ca.crt\n  - name: v\n    value: \"4\"\n  extraVolumes:\n  - name: a\n    hostPath: /a\n    mountPath: /a\n    readOnly: true\n"},
		{head3, "apiServer:\n  extraArgs:\n    feature-gates: UnknownVersionInteroperabilityProxy=true\n    peer-ca-file: /etc/kubernetes/pki/ca.crt\n"},
	}
	for _, tt := range tests {
		got, err := ExtraArgs(fixed(t, "x.yaml", tt.text).Input.Clusters[0])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestConfigMap(t *testing.T) {
	const body = "  ClusterConfiguration: |\n    # mine\n    apiVersion: kubeadm.k8s.io/v1beta4\n    kind: ClusterConfiguration\n\n    apiServer: # here\n      extraArgs:\n      - name: feature-gates\n        value: UnknownVersionInteroperabilityProxy=true\n      - name: peer-ca-file\n        value: /etc/kubernetes/pki/ca.crt\n"
	tests := []struct{ name, text, want string }{
		{"plain", "kind: InitConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\n---\n\n# mine\n" + head4 + "\napiServer: {} # here\n\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kubeadm-config\n  namespace: kube-system\ndata:\n" + body},
		{"of a ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kubeadm-config\n  uid: x\n  resourceVersion: \"1\"\n  managedFields: []\n  labels: {a: \"1\"}\ndata:\n  other: x\n  ClusterConfiguration: |\n    # mine\n    apiVersion: kubeadm.k8s.io/v1beta4\n    kind: ClusterConfiguration\n\n    apiServer: {} # here\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kubeadm-config\n  labels:\n    a: \"1\"\ndata:\n  other: x\n" + body},
	}
	for _, tt := range tests {
		for _, text := range []string{tt.text, strings.ReplaceAll(tt.text, "\n", "\r\n")} {
			got, err := ConfigMap(fixed(t, "x.yaml", text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
	}
	for name, data := range caseFiles(t) {
		r, err := Fix(name, data, Options{Judge: needs})
		if err != nil {
			continue
		}
		text, err := ConfigMap(r)
		if r.Input.Clusters[0].Form == config.FormControlPlane {
			if err == nil {
				t.Errorf("%s: a KubeadmControlPlane became a ConfigMap", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := Fix("cm.yaml", text, Options{Judge: needs})
		if err != nil || again.Changed() || again.Input.Clusters[0].Form != config.FormConfigMap {
			t.Errorf("%s: the ConfigMap is not the patched configuration: %v\n%s", name, err, text)
		}
	}
}

func TestNodePatches(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "patches")
	text := head4 + "apiServer:\n  extraArgs:\n  - name: advertise-address\n    value: 192.0.2.1\n"
	r := fixed(t, "x.yaml", text)
	for range 2 {
		if err := NodePatches(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, nodePatchFile))
	if err != nil {
		t.Fatal(err)
	}
	want := `# for kubeadm --patches, at each init, join and upgrade of a control-plane node
# a patch cannot remove --advertise-address safely: remove it from the ClusterConfiguration
[
  {"op":"add","path":"/spec/containers/0/command/-","value":"--feature-gates=UnknownVersionInteroperabilityProxy=true"},
  {"op":"add","path":"/spec/containers/0/command/-","value":"--peer-ca-file=/etc/kubernetes/pki/ca.crt"}
]
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	converted, err := yaml.YAMLToJSON(got)
	if err != nil {
		t.Fatal(err)
	}
	pod := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"command": []any{"kube-apiserver"}}}}}
	if _, err := applyPatch(pod, converted); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, nodePatchFile), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := NodePatches(dir, r); err == nil || !strings.Contains(err.Error(), "is there already with other content") {
		t.Errorf("a file was replaced: %v", err)
	}
	if err := NodePatches(filepath.Join(dir, "x"), fixed(t, "x.yaml", string(r.After))); err == nil {
		t.Error("nothing to add, and no error")
	}
}

func TestSteps(t *testing.T) {
	pair := func(from, to int, upgrade bool) checks.Pair {
		return checks.Pair{From: release.OfMinor(from), To: release.OfMinor(to), Upgrade: upgrade}
	}
	node := func(kind, name, addr string) string {
		return "---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: " + kind + "\nnodeRegistration: {name: " + name + "}\n" + map[string]string{
			"InitConfiguration": "localAPIEndpoint: {advertiseAddress: " + addr + "}\n",
			"JoinConfiguration": "controlPlane: {localAPIEndpoint: {advertiseAddress: " + addr + "}}\n",
		}[kind]
	}
	kcp := "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {name: c}\nspec:\n  replicas: 3\n  version: v1.35.1\n  kubeadmConfigSpec: {}\n"
	ready := string(fixed(t, "x.yaml", head4).After)
	tests := []struct {
		name, text string
		pair       checks.Pair
		want       []string
	}{
		{"nodes not known", head4, pair(35, 36, true), []string{
			"kubeadm init phase upload-config kubeadm --config patched.yaml", "kubeadm init phase control-plane apiserver --config patched-<node>.yaml",
			"mvpcheck probe --wait 2m", "kubeadm upgrade apply v1.36.x", "kubeadm upgrade node"}},
		{"two nodes", head4 + node("InitConfiguration", "cp-1", "192.0.2.1") + node("JoinConfiguration", "cp-2", "192.0.2.2"), pair(35, 36, true), []string{
			"kubeadm init phase upload-config kubeadm --config patched.yaml", "kubeadm init phase control-plane apiserver --config patched-cp-1.yaml",
			"kubeadm init phase control-plane apiserver --config patched-cp-2.yaml", "mvpcheck probe --wait 2m", "kubeadm upgrade apply v1.36.x", "kubeadm upgrade node"}},
		{"same minor", head4, pair(36, 36, false), []string{
			"kubeadm init phase upload-config kubeadm --config patched.yaml", "kubeadm init phase control-plane apiserver --config patched-<node>.yaml", "mvpcheck probe --wait 2m"}},
		{"nothing changed", ready, pair(36, 37, true), []string{"mvpcheck probe --wait 2m", "kubeadm upgrade apply v1.37.x", "kubeadm upgrade node"}},
		{"nothing to do", ready, pair(36, 36, false), nil},
		{"ConfigMap", "apiVersion: v1\nkind: ConfigMap\ndata:\n  ClusterConfiguration: |\n    " + strings.ReplaceAll(head4, "\n", "\n    ") + "\n", pair(35, 36, true), []string{
			"kubectl apply -f patched.yaml", "kubeadm upgrade node", "mvpcheck probe --wait 2m", "kubeadm upgrade apply v1.36.x", "kubeadm upgrade node"}},
		{"KubeadmControlPlane", kcp, pair(35, 36, true), []string{
			"kubectl apply -f patched.yaml", "kubectl wait kubeadmcontrolplane c --for=jsonpath='{.status.updatedReplicas}'=3 --timeout=60m", "mvpcheck probe --wait 2m",
			"kubectl apply -f patched.yaml", "kubectl wait kubeadmcontrolplane c --for=jsonpath='{.status.updatedReplicas}'=3 --timeout=60m", "mvpcheck probe --wait 2m"}},
		{"one machine", strings.Replace(kcp, "replicas: 3", "replicas: 1", 1), pair(35, 36, true), []string{
			"kubectl apply -f patched.yaml", "kubectl wait kubeadmcontrolplane c --for=jsonpath='{.status.updatedReplicas}'=1 --timeout=60m",
			"kubectl apply -f patched.yaml", "kubectl wait kubeadmcontrolplane c --for=jsonpath='{.status.updatedReplicas}'=1 --timeout=60m"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := fixed(t, "x.yaml", tt.text)
			var got []string
			for _, s := range Steps(r, r.Input.Clusters[0], tt.pair, StepOptions{}) {
				if s.Text == "" {
					t.Errorf("%s has no text", s.Command)
				}
				got = append(got, s.Command)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	r := fixed(t, "x.yaml", head4)
	steps := Steps(r, r.Input.Clusters[0], pair(35, 36, true), StepOptions{File: "my cluster.yaml", Program: "kubectl mvpcheck"})
	if steps[0].Command != "kubeadm init phase upload-config kubeadm --config 'my cluster.yaml'" || steps[2].Command != "kubectl mvpcheck probe --wait 2m" {
		t.Errorf("names: %+v", steps)
	}
}
