//go:build lab

package lab

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write testdata/cases.txt anew")

// The node that the tests' control plane is on.
const nodeName, nodeAddress = "cp-1", "192.0.2.11"

// TestCases keeps testdata/cases.txt: what each release's kubeadm says of each file of the repository's testdata/cases.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var b strings.Builder
	b.WriteString("What kubeadm says of each file of testdata/cases, with kubernetesVersion pinned (Release.Pin) and, where\n" +
		"the file names no node, one added (WithNode). Written by: go test -tags lab ./test/lab -run TestCases -update\n")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n%s\n", filepath.Base(file))
		var answers []string // the distinct ones
		minors := map[string][]string{}
		for _, r := range Releases(t) {
			answer := answer(t, r, string(text))
			if minors[answer] == nil {
				answers = append(answers, answer)
			}
			minors[answer] = append(minors[answer], r.Minor)
		}
		for _, answer := range answers {
			fmt.Fprintf(&b, "  kubeadm %s\n%s", strings.Join(minors[answer], ", "), answer)
		}
	}

	const golden = "testdata/cases.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("%s is not what kubeadm says (-want +got):\n%s", golden, diff)
	}
}

// answer is what the release says of a text, as lines of the golden file.
func answer(t *testing.T, r Release, text string) string {
	k, file := r.Kubeadm(t), write(t, WithNode(r.Pin(text), nodeName, nodeAddress))
	var b strings.Builder
	output, err := k.ConfigValidate(t.Context(), file)
	fmt.Fprintf(&b, "    validate: %s\n", verdict(t, err, output))
	_, output, err = k.Manifest(t.Context(), file)
	fmt.Fprintf(&b, "    manifest: %s\n", verdict(t, err, output))
	return b.String()
}

func verdict(t *testing.T, err error, output string) string {
	t.Helper()
	word := "ok"
	if errors.Is(err, ErrRefused) {
		word = "refused"
	} else if err != nil {
		t.Fatal(err)
	}
	var lines, ignored []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "", line == "ok", strings.HasPrefix(line, "[control-plane] Creating "), strings.HasPrefix(line, "To see the stack trace "):
		case strings.Contains(line, " Ignored configuration document "):
			ignored = append(ignored, line)
		default:
			lines = append(lines, line)
		}
	}
	// What kubeadm has from a map comes in any order.
	slices.Sort(ignored)
	for _, line := range slices.Concat(ignored, lines) {
		word += "\n      " + sortKinds(line)
	}
	return word
}

var kind = regexp.MustCompile(`schema\.GroupVersionKind\{[^{}]*\}`)

// sortKinds sorts the kinds that a line lists.
func sortKinds(line string) string {
	kinds := kind.FindAllString(line, -1)
	slices.Sort(kinds)
	return kind.ReplaceAllStringFunc(line, func(string) string {
		first := kinds[0]
		kinds = kinds[1:]
		return first
	})
}

// TestVersions holds Accepts against kubeadm itself.
func TestVersions(t *testing.T) {
	for _, r := range Releases(t) {
		k := r.Kubeadm(t)
		for _, version := range []string{
			r.Version,
			fmt.Sprintf("1.%d.0", r.minor),
			fmt.Sprintf("v1.%d.0", r.minor-1),
			fmt.Sprintf("v1.%d.0-rc.1", r.minor-1),
			fmt.Sprintf("v1.%d.9", r.minor-2),
			fmt.Sprintf("v1.%d.0", r.minor+3),
			fmt.Sprintf("v1.%d", r.minor),
			"v1.36.3+build",
			"x",
		} {
			text := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: " + version + "\n"
			file := write(t, WithNode(text, nodeName, nodeAddress))
			output, err := k.ConfigValidate(t.Context(), file)
			if refused := errors.Is(err, ErrRefused); refused == r.Accepts(version) {
				t.Errorf("kubeadm %s: %s: Accepts says %v, kubeadm says %v: %s", r, version, r.Accepts(version), err, output)
			}
		}
	}
}

// TestArguments proves how kubeadm makes a command line of extraArgs. Each row is an apiServer section and the
// arguments that it changes, as a difference to the command line without it.
func TestArguments(t *testing.T) {
	tests := []struct {
		name, apiServer string
		want            []string // "-" and an argument of kubeadm's own that is gone, "+" and one that came, in order
		refused         string
	}{
		{name: "repeated", apiServer: list("feature-gates", "A=true", "v", "2", "feature-gates", "B=true"),
			want: []string{"+--feature-gates=A=true", "+--v=2", "+--feature-gates=B=true"}},
		{name: "replaces its own, at the end", apiServer: list("secure-port", "8443", "allow-privileged", "false"),
			want: []string{"---allow-privileged=true", "---secure-port=6443", "+--secure-port=8443", "+--allow-privileged=false"}},
		{name: "repeated, replaces its own", apiServer: list("requestheader-allowed-names", "a", "requestheader-allowed-names", "b"),
			want: []string{"---requestheader-allowed-names=front-proxy-client", "+--requestheader-allowed-names=a", "+--requestheader-allowed-names=b"}},
		{name: "underscores and case are other names", apiServer: list("secure_port", "1", "Secure-Port", "2"),
			want: []string{"+--secure_port=1", "+--Secure-Port=2"}},
		{name: "dashes, blanks and = stay", apiServer: list("--secure-port", "1", " v ", " 2 ", "a=b", "c"),
			want: []string{"+----secure-port=1", "+-- v = 2 ", "+--a=b=c"}},
		{name: "no value", apiServer: "  extraArgs: [{name: a, value: \"\"}, {name: b, value: ~}, {name: c, value: }, {name: d}]\n",
			want: []string{"+--a=", "+--b=", "+--c=", "+--d="}},
		{name: "a line break", apiServer: "  extraArgs:\n  - name: a\n    value: |\n      b\n      c\n",
			want: []string{"+--a=b\nc\n"}},
		{name: "no name", apiServer: list("v", "2", "", "3"), refused: `"index 1": argument has no name`},
		{name: "null name", apiServer: "  extraArgs: [{name: , value: a}]\n", refused: `"index 0": argument has no name`},
		{name: "null item", apiServer: "  extraArgs: [~]\n", refused: `"index 0": argument has no name`},
		{name: "boolean", apiServer: "  extraArgs: [{name: a, value: y}]\n", refused: "cannot unmarshal bool"},
		{name: "number", apiServer: "  extraArgs: [{name: a, value: 6443}]\n", refused: "cannot unmarshal number"},
		{name: "map", apiServer: "  extraArgs: {a: b}\n", refused: "cannot unmarshal object"},
		{name: "null list", apiServer: "  extraArgs:\n"},
		{name: "authorization-mode as it stands", apiServer: list("authorization-mode", "RBAC,Nonsense"),
			want: []string{"---authorization-mode=Node,RBAC", "+--authorization-mode=RBAC,Nonsense"}},
		{name: "authorization-config instead of authorization-mode", apiServer: list("authorization-config", "/a"),
			want: []string{"---authorization-mode=Node,RBAC", "+--authorization-config=/a"}},
		{name: "authorization-config besides authorization-mode", apiServer: list("authorization-mode", "RBAC", "authorization-config", "/a"),
			want: []string{"---authorization-mode=Node,RBAC", "+--authorization-mode=RBAC", "+--authorization-config=/a"}},
	}
	const head = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
	for _, r := range Releases(t) {
		without, _ := command(t, r, head)
		for _, test := range tests {
			t.Run(r.Minor+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				with, output := command(t, r, head+"apiServer:\n"+test.apiServer)
				if test.refused != "" {
					if with != nil || !strings.Contains(output, test.refused) {
						t.Errorf("want refusal with %q; got %q, %s", test.refused, with, output)
					}
					return
				}
				var got []string
				for _, arg := range without {
					if !slices.Contains(with, arg) {
						got = append(got, "-"+arg)
					}
				}
				for _, arg := range with {
					if !slices.Contains(without, arg) {
						got = append(got, "+"+arg)
					}
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, output)
				}
			})
		}
	}
}

// TestArgumentMap proves what is different with the extraArgs of v1beta3, which kubeadm reads until 1.36.
func TestArgumentMap(t *testing.T) {
	const text = "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n" +
		"    z: a\n    no-value:\n    Upper: b\n    8: c\n    on: d\n"
	// In the order of the names. A key may be what YAML takes for a number or a boolean, a value may not.
	want := []string{"--8=c", "--Upper=b", "--no-value=", "--true=d", "--z=a"}
	for _, r := range Releases(t) {
		got, output := command(t, r, text)
		if r.minor >= 37 {
			if got != nil || !strings.Contains(output, "uses an old API spec") {
				t.Errorf("kubeadm %s reads v1beta3: %s", r, output)
			}
		} else if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
			t.Errorf("kubeadm %s: got %q, want %q at the end\n%s", r, got, want, output)
		}
	}
}

// TestDocuments proves how kubeadm splits a file into documents and which of them it takes.
func TestDocuments(t *testing.T) {
	const (
		cluster = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.40.0\n"
		init    = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: 192.0.2.11}\n"
		json    = `{"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "kubernetesVersion": "v1.40.0"}`
		flow    = `{apiVersion: kubeadm.k8s.io/v1beta4, kind: ClusterConfiguration, kubernetesVersion: v1.40.0}`

		empty = "kind and apiVersion is mandatory information"
	)
	for _, test := range []struct {
		name, text string
		validate   string // the message of the refusal, "" for none
		manifest   string
	}{
		{"one separator first", "---\n" + cluster + "---\n" + init, "", ""},
		{"two separators first", "---\n---\n" + cluster + "---\n" + init, empty, empty},
		{"comment before the first separator", "# a\n---\n" + cluster + "---\n" + init, empty, empty},
		{"blank line before the first separator", "\n---\n" + cluster + "---\n" + init, empty, empty},
		{"two separators between", cluster + "---\n---\n" + init, "", ""},
		{"comment between separators", cluster + "---\n# a\n---\n" + init, empty, empty},
		{"separator last", cluster + "---\n" + init + "---\n", "", ""},
		{"separator and blank line last", cluster + "---\n" + init + "---\n\n", empty, empty},
		{"two separators last", cluster + "---\n" + init + "---\n---\n", empty, empty},
		{"comment on the separator", cluster + "--- # a\n" + init, "", ""},
		{"content on the separator", cluster + "--- {}\n" + init, "invalid Yaml document separator: {}", "invalid Yaml document separator: {}"},
		{"four dashes", cluster + "----\n" + init, "invalid Yaml document separator: -", "invalid Yaml document separator: -"},
		{"separator within a scalar", cluster + "clusterName: \"a\n---\n  b\"\n", "unexpected end of stream", "unexpected end of stream"},
		{"CRLF", strings.ReplaceAll(cluster+"---\n"+init, "\n", "\r\n"), "", ""},
		{"BOM", "\ufeff" + cluster + "---\n" + init, "", ""},
		{"directive", "%YAML 1.1\n---\n" + cluster + "---\n" + init, "did not find expected <document start>", "did not find expected <document start>"},
		{"the rest after an end mark is ignored", init + "---\n" + cluster + "...\n: ] nonsense\n", "", ""},
		{"JSON", json + "\n---\n" + init, "", ""},
		{"flow is taken for JSON", flow + "\n---\n" + init, "json parse error", "json parse error"},
		{"flow is taken for JSON, not first", init + "---\n" + flow, "json parse error", "json parse error"},
		{"flow after a comment", init + "---\n# a\n" + flow, "", ""},
		{"flow after a separator that stays", "---\n" + flow + "\n---\n" + init, "", ""},
		{"the kind twice", cluster + "---\n" + init + "---\n" + cluster, `kind "ClusterConfiguration" is specified twice`, `kind "ClusterConfiguration" is specified twice`},
		{"nothing", "", "", "no InitConfiguration or ClusterConfiguration kind was found"},
		{"object of no group", cluster + "---\n" + init + "---\napiVersion: v1\nkind: Pod\n", empty, empty},
		{"object of another group", cluster + "---\n" + init + "---\napiVersion: a.b/v1\nkind: Pod\n", "unknown configuration APIs", ""},
		{"kind in another case", cluster + "---\n" + init + "---\n" + strings.Replace(cluster, "Cluster", "cluster", 1), "unknown configuration APIs", ""},
		{"key of the version in another case", strings.Replace(cluster, "apiVersion", "apiversion", 1) + "---\n" + init, `unknown field "apiversion"`, ""},
		{"field in another case", cluster + "apiserver: {}\n---\n" + init, `unknown field "apiserver"`, ""},
		{"unknown field", cluster + "a: {}\n---\n" + init, `unknown field "a"`, ""},
		{"key twice", cluster + "clusterName: a\nclusterName: b\n---\n" + init, `key "clusterName" already set in map`, ""},
		{"anchor and merge", cluster + "apiServer: &a\n  extraArgs: []\nscheduler:\n  <<: *a\n---\n" + init, "", ""},
	} {
		for _, r := range Releases(t) {
			t.Run(r.Minor+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				k, file := r.Kubeadm(t), write(t, test.text)
				output, err := k.ConfigValidate(t.Context(), file)
				check(t, "validate", err, output, test.validate)
				_, output, err = k.Manifest(t.Context(), file)
				check(t, "manifest", err, output, test.manifest)
			})
		}
	}
}

func check(t *testing.T, what string, err error, output, want string) {
	t.Helper()
	switch refused := errors.Is(err, ErrRefused); {
	case err != nil && !refused:
		t.Fatal(err)
	case refused != (want != ""), !strings.Contains(output, want):
		t.Errorf("%s: want refusal with %q, got %v: %s", what, want, err, output)
	}
}

// list is the apiServer section with an extraArgs list of names and values.
func list(pairs ...string) string {
	var b strings.Builder
	b.WriteString("  extraArgs:\n")
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "  - name: %q\n    value: %q\n", pair[0], pair[1])
	}
	return b.String()
}

// command returns the arguments of the kube-apiserver that a text makes, nil when kubeadm refuses, and what it says.
func command(t *testing.T, r Release, text string) (args []string, output string) {
	t.Helper()
	file := write(t, WithNode(r.Pin(text), nodeName, nodeAddress))
	manifest, output, err := r.Kubeadm(t).Manifest(t.Context(), file)
	if errors.Is(err, ErrRefused) {
		return nil, output
	}
	if err != nil {
		t.Fatal(err)
	}
	var pod struct {
		Spec struct {
			Containers []struct{ Command []string }
		}
	}
	if err := yaml.Unmarshal(manifest, &pod); err != nil {
		t.Fatal(err)
	}
	return pod.Spec.Containers[0].Command[1:], output
}

func write(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "kubeadm.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
