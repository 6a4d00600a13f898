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
		if got := documents(in.Clusters[0]); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A report file is there as a whole or not at all.
func TestResultFileAbandoned(t *testing.T) {
	dir := t.TempDir()
	name := writeFile(t, filepath.Join(dir, "r.json"), "before")
	f, err := createResult(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	f.abandon()
	data, err := os.ReadFile(name)
	if err != nil || string(data) != "before" {
		t.Errorf("%q, %v", data, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A link to a report stays a link; a new report has the mode of any new file.
func TestResultFileCommitted(t *testing.T) {
	dir := t.TempDir()
	target := writeFile(t, filepath.Join(dir, "target.json"), "before")
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink("target.json", link); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{link, filepath.Join(dir, "new.json")} {
		f, err := createResult(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("after"); err != nil {
			t.Fatal(err)
		}
		if err := f.commit(); err != nil {
			t.Fatal(err)
		}
		f.abandon() // has nothing left to do
		if data, err := os.ReadFile(name); err != nil || string(data) != "after" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != "after" {
		t.Errorf("behind the link: %q, %v", data, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "target.json" {
		t.Errorf("the link: %q, %v", to, err)
	}
	created, err := os.Create(filepath.Join(dir, "any"))
	if err != nil {
		t.Fatal(err)
	}
	defer created.Close()
	want, _ := created.Stat()
	if got, err := os.Stat(filepath.Join(dir, "new.json")); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode of a new report: %v, %v; want %v", got.Mode(), err, want.Mode())
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
