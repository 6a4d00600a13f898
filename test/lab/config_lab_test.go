//go:build lab

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// oddities are ClusterConfigurations whose extraArgs try the corners of how kubeadm merges its own arguments with them.
var oddities = map[string]string{
	"repeated and underscored": v1beta4 + "apiServer:\n" + list("feature-gates", "A=true", "advertise_address", "192.0.2.9", "feature-gates", "B=true", "Feature_Gates", "C=true"),
	"own argument replaced":    v1beta4 + "apiServer:\n" + list("secure-port", "7443", "authorization-mode", "RBAC", "authorization-mode", "Node"),
	"authorization-config":     v1beta4 + "apiServer:\n" + list("authorization-config", "/etc/kubernetes/pki/authz.yaml"),
	"dashes and blanks":        v1beta4 + "apiServer:\n" + list("--secure-port", "7443", " v ", " 2 ", "a=b", "c"),
	"map order": "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.0\napiServer:\n" +
		"  extraArgs:\n    z: \"1\"\n    Z: \"2\"\n    a_b: \"3\"\n    \"8\": x\n    empty:\n",
	"external etcd": v1beta4 + "etcd:\n  external:\n    endpoints: [https://192.0.2.21:2379, https://192.0.2.22:2379]\n" +
		"    caFile: /etc/kubernetes/pki/etcd/ca.crt\n    certFile: /etc/etcd/client.crt\n    keyFile: /etc/etcd/client.key\n",
	"external etcd without certificates": v1beta4 + "etcd:\n  external:\n    endpoints: [http://192.0.2.21:2379]\n    caFile: \"\"\n    certFile: \"\"\n    keyFile: \"\"\n",
	"local etcd urls":                    v1beta4 + "etcd:\n  local:\n    extraArgs:\n    - name: advertise-client-urls\n      value: https://192.0.2.11:2379\n",
	"IPv6": v1beta4 + "networking:\n  serviceSubnet: 2001:db8:0:1::/112\n  dnsDomain: example.org\n---\n" +
		"apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint:\n  advertiseAddress: 2001:DB8:0::1\n  bindPort: 7443\n",
	"certificatesDir": v1beta4 + "certificatesDir: /srv//pki/\n",
	"duplicate keys":  v1beta4 + "apiServer:\n  extraArgs:\n  - name: v\n    value: \"1\"\n    value: \"2\"\napiServer:\n  extraArgs:\n  - name: v\n    value: \"3\"\n",
	"anchors":         "x-args: &args\n- name: v\n  value: \"4\"\n" + v1beta4 + "apiServer:\n  extraArgs: *args\n",
	"merge key":       v1beta4 + "etcd:\n  local: &l {dataDir: /var/lib/etcd}\nnetworking: &n\n  dnsDomain: a.example\nscheduler:\n  <<: {}\n",
}

const v1beta4 = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\n"

// TestEffectiveFlags compares the command line that pkg/config computes with the one in the manifest of every release's
// kubeadm, for the files of testdata/cases, the samples of the rules, and the oddities.
func TestEffectiveFlags(t *testing.T) {
	texts := map[string]string{}
	for name, text := range oddities {
		texts[name] = text
	}
	for _, pattern := range []string{"../../testdata/cases/*.*", "../../testdata/rules/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))] = string(text)
		}
	}
	compared := 0
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for _, r := range Releases(t) {
				if compareFlags(t, r, text) {
					compared++
				}
			}
		})
	}
	t.Logf("%d command lines compared", compared)
	if compared < 100 {
		t.Errorf("only %d command lines compared; kubeadm reads more of the files than that", compared)
	}
}

// compareFlags returns whether the release's kubeadm reads the text.
func compareFlags(t *testing.T, r Release, text string) bool {
	text = WithNode(r.Pin(text), nodeName, nodeAddress)
	want, output := command(t, r, text)
	in, err := config.Read("x.yaml", []byte(text))
	if want == nil {
		if err == nil && len(in.Clusters) > 0 {
			t.Logf("%s: kubeadm refuses: %s", r, output)
		}
		return false
	}
	if err != nil {
		t.Errorf("%s: kubeadm writes a manifest, config.Read says: %v", r, err)
		return false
	}
	if len(in.Clusters) != 1 || in.Clusters[0].Form != config.FormKubeadm {
		t.Errorf("%s: kubeadm writes a manifest, config.Read finds %d clusters", r, len(in.Clusters))
		return false
	}
	c := in.Clusters[0]
	line := c.CommandLine(c.Nodes[0])
	if a := line.Last(release.FlagAdvertiseAddress); a.Unknown {
		// Nothing names the node's address: kubeadm takes the one of the default route's interface.
		for _, word := range want {
			if value, ok := strings.CutPrefix(word, "--advertise-address="); ok {
				a.Value = value
			}
		}
	}
	got := line.Args()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: command line (-kubeadm +config):\n%s", r, diff)
	}
	if refused := c.Refused(); len(refused) > 0 {
		t.Errorf("%s: kubeadm writes a manifest, config says that it refuses the file: %s", r, refused[0].Text)
	}
	return true
}

// TestRefusedForms asks kubeadm about the forms that config.Refused knows.
func TestRefusedForms(t *testing.T) {
	const kubelet = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
	for _, text := range []string{
		v1beta4, "---\n" + v1beta4, "---\n---\n" + v1beta4, "# comment\n---\n" + v1beta4, "\n---\n" + v1beta4, "# comment\n" + v1beta4,
		v1beta4 + "---\n---\n" + kubelet, v1beta4 + "---\n# c\n---\n" + kubelet, v1beta4 + "---\n", v1beta4 + "---",
		v1beta4 + "---\n# c\n", v1beta4 + "---\n\n", v1beta4 + "---\n---\n", "--- # c\n" + v1beta4,
		"{apiVersion: kubeadm.k8s.io/v1beta4, kind: ClusterConfiguration, kubernetesVersion: v1.36.0}\n",
		"---\n{apiVersion: kubeadm.k8s.io/v1beta4, kind: ClusterConfiguration, kubernetesVersion: v1.36.0}\n",
		"# c\n{apiVersion: kubeadm.k8s.io/v1beta4, kind: ClusterConfiguration, kubernetesVersion: v1.36.0}\n",
		v1beta4 + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: x}\n",
	} {
		in, err := config.Read("x.yaml", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		refused := in.Clusters[0].Refused()
		for _, r := range Releases(t) {
			output, err := r.Kubeadm(t).ConfigValidate(t.Context(), write(t, text))
			if err != nil && !errors.Is(err, ErrRefused) {
				t.Fatal(err)
			}
			if (err != nil) != (len(refused) > 0) {
				t.Errorf("%s: %q: kubeadm: %v %s; config: %v", r, text, err, output, refused)
			}
		}
	}
}
