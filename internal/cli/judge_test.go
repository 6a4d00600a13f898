package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mvpcheck/mvpcheck/pkg/config"
)

func TestDocuments(t *testing.T) {
	for name, want := range map[string]string{
		"006-v1beta4-list-comment-between-items.yaml": "ClusterConfiguration (document 2 of 3), kubeadm.k8s.io/v1beta4",
		"053-configmap-plain.yaml":                    "ConfigMap kubeadm-config, kubeadm.k8s.io/v1beta3",
		"051-kcp-v1beta1-map.yaml":                    "KubeadmControlPlane, controlplane.cluster.x-k8s.io/v1beta1",
		"049-kind-cluster.yaml":                       "kind Cluster",
		"060-static-kubeadm-plain.yaml":               "static pod manifest",
	} {
		data, err := os.ReadFile(repo + "testdata/cases/" + name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := config.Read(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Clusters[0].Documents(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Settings are looked for once for each folder, up to the root of the repository.
func TestFindSettings(t *testing.T) {
	dir := t.TempDir()
	outer := writeFile(t, filepath.Join(dir, settingsName), "to: 1.36\n")
	sub := filepath.Join(dir, "repo", "a")
	writeFile(t, filepath.Join(sub, "x.yaml"), "")
	if got := findSettings(sub); got != outer {
		t.Errorf("without a repository: %q, want %q", got, outer)
	}
	writeFile(t, filepath.Join(dir, "repo", ".git"), "gitdir: elsewhere\n")
	if got := findSettings(sub); got != "" {
		t.Errorf("above the root of the repository: %q", got)
	}
	inner := writeFile(t, filepath.Join(dir, "repo", settingsName), "to: 1.37\n")
	if got := findSettings(sub); got != inner {
		t.Errorf("in the root of the repository: %q, want %q", got, inner)
	}
}
