package lab

import (
	"strings"
	"testing"
)

func TestReleases(t *testing.T) {
	releases := Releases(t)
	for i, r := range releases {
		if !strings.HasPrefix(r.Version, "v"+r.Minor+".") {
			t.Errorf("release %s has version %s", r.Minor, r.Version)
		}
		if i > 0 && releases[i-1].minor >= r.minor {
			t.Errorf("%s stands before %s", releases[i-1], r)
		}
	}
}

func TestPin(t *testing.T) {
	r := Release{Minor: "1.36", Version: "v1.36.3", minor: 36}
	const head = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
	for _, test := range []struct{ name, text, want string }{
		{"own", head + "kubernetesVersion: v1.36.0\n", head + "kubernetesVersion: v1.36.0\n"},
		{"one older", head + "kubernetesVersion: 1.35.9\n", head + "kubernetesVersion: 1.35.9\n"},
		{"newer", head + "kubernetesVersion: 'v1.38.0'\n", head + "kubernetesVersion: 'v1.38.0'\n"},
		{"two older", head + "kubernetesVersion: v1.34.4 # old\nx: y\n", head + "kubernetesVersion: \"v1.36.3\" # old\nx: y\n"},
		{"before the oldest", head + "kubernetesVersion: v1.35.0-rc.1\n", head + "kubernetesVersion: \"v1.36.3\"\n"},
		{"label", head + "kubernetesVersion: \"stable-1\"\r\n", head + "kubernetesVersion: \"v1.36.3\"\r\n"},
		{"template", head + "kubernetesVersion: ${VERSION}\n", head + "kubernetesVersion: \"v1.36.3\"\n"},
		{"nothing", head + "kubernetesVersion: # later\n", head + "kubernetesVersion: \"v1.36.3\" # later\n"},
		{"missing", head + "networking: {}\n", head + "kubernetesVersion: v1.36.3\nnetworking: {}\n"},
		{"missing, indented", "  kind: ClusterConfiguration\r\n  x: y\r\n", "  kind: ClusterConfiguration\r\n  kubernetesVersion: v1.36.3\r\n  x: y\r\n"},
		{"missing, BOM", "\ufeffkind: ClusterConfiguration", "\ufeffkind: ClusterConfiguration\nkubernetesVersion: v1.36.3\n"},
		{"comment", head + "# kubernetesVersion: v1.30.0\n", head + "kubernetesVersion: v1.36.3\n# kubernetesVersion: v1.30.0\n"},
		{"twice", head + "kubernetesVersion: v1.2.3\nkubernetesVersion: v1.3.4\n", head + "kubernetesVersion: \"v1.36.3\"\nkubernetesVersion: \"v1.36.3\"\n"},
		{"flow", "---\n{kind: ClusterConfiguration, kubernetesVersion: v1.30.1}\n", "---\n{kind: ClusterConfiguration, kubernetesVersion: \"v1.36.3\"}\n"},
		{"JSON", "{\n\t\"kind\": \"ClusterConfiguration\",\n\t\"kubernetesVersion\": \"stable\"\n}", "{\n\t\"kind\": \"ClusterConfiguration\",\n\t\"kubernetesVersion\": \"v1.36.3\"\n}"},
		{"JSON, missing", `{"kind": "ClusterConfiguration"}`, `{"kind": "ClusterConfiguration", "kubernetesVersion": "v1.36.3"}`},
		{"other document", "kind: UpgradeConfiguration\napply:\n  kubernetesVersion: v1.30.0\n---\n" + head, "kind: UpgradeConfiguration\napply:\n  kubernetesVersion: v1.30.0\n---\n" + head + "kubernetesVersion: v1.36.3\n"},
		{"no document", "kind: JoinConfiguration\n", "kind: JoinConfiguration\n"},
	} {
		if got := r.Pin(test.text); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWithNode(t *testing.T) {
	const (
		cluster = "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration"
		init    = "\n---\napiVersion: kubeadm.k8s.io/v1beta3\nkind: InitConfiguration\n"
		added   = init + "localAPIEndpoint:\n  advertiseAddress: \"192.0.2.11\"\nnodeRegistration:\n  name: cp-1\n"
	)
	for _, test := range []struct{ name, text, want string }{
		{"cluster only", cluster, cluster + added},
		{"both", cluster + init, cluster + init},
		{"neither", "kind: Pod\n", "kind: Pod\n"},
	} {
		if got := WithNode(test.text, "cp-1", "192.0.2.11"); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
