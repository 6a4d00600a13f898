package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

func testPairs(minors ...int) []checks.Pair {
	var pairs []checks.Pair
	for _, m := range minors {
		pairs = append(pairs, checks.Pair{From: release.OfMinor(m), To: release.OfMinor(m + 1), Upgrade: true})
	}
	return pairs
}

// Equal findings of several pairs are one, with the words of the newest pair at which it is worst.
func TestMerge(t *testing.T) {
	file := yamldoc.NewFile("f", []byte("abc"))
	place := func(i int) yamldoc.Place { return yamldoc.Place{File: file, Start: i, End: i + 1} }
	all := checks.All()
	a, b, c, d, e := all[0], all[1], all[2], all[3], all[4]
	finding := func(r *checks.Rule, at int, s checks.Severity, msg string, w ...checks.When) checks.Finding {
		return checks.Finding{Rule: r, At: place(at), Severity: s, Message: msg, When: w}
	}
	results := []checks.Result{
		{Findings: []checks.Finding{finding(a, 1, checks.Error, "old", checks.Target), finding(a, 1, checks.Error, "second")},
			Passed: []*checks.Rule{b}, Skipped: []checks.Note{{Rule: c, Reason: "no"}, {Rule: e, Reason: "once"}}, Unknown: []checks.Note{{Rule: d, Reason: "who knows"}}},
		{Findings: []checks.Finding{finding(a, 1, checks.Error, "new", checks.Running), finding(b, 0, checks.Info, "b")},
			Passed: []*checks.Rule{d, e}, Skipped: []checks.Note{{Rule: c, Reason: "no"}}},
		{Findings: []checks.Finding{finding(a, 1, checks.Warning, "milder")}, Passed: []*checks.Rule{b, d, e}, Skipped: []checks.Note{{Rule: c, Reason: "no"}}},
	}
	j := &judged{pairs: testPairs(33, 34, 35)}
	j.merge(results, all[:5])

	var got []string
	for i := range j.findings {
		f := &j.findings[i]
		got = append(got, fmt.Sprint(f.Rule.ID, f.At.Start, f.Message, f.When, len(j.pairsOf[keyOf(f)])))
	}
	want := []string{
		fmt.Sprint(b.ID, 0, "b", []checks.When(nil), 1),
		fmt.Sprint(a.ID, 1, "new", []checks.When{checks.Running, checks.Target}, 3),
		fmt.Sprint(a.ID, 1, "second", []checks.When(nil), 1),
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
	if !slices.Equal(j.passed, []*checks.Rule{e}) || len(j.skipped) != 1 || j.skipped[0].Rule != c || len(j.unknown) != 1 || j.unknown[0].Rule != d {
		t.Errorf("passed %v, skipped %v, unknown %v", j.passed, j.skipped, j.unknown)
	}
}

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
