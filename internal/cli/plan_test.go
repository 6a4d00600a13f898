package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/report"
)

var update = flag.Bool("update", false, "write the golden files in testdata/plan")

const planDir = repo + "testdata/plan/"

// planCases are the files of testdata/plan with what the roll with each comes to.
var planCases = []struct {
	name string
	args []string
	code int
}{
	{"plain", nil, exitFindings},
	{"patched", nil, exitOK},
	{"subresource", nil, exitOK},
	{"will-not-start", nil, exitFindings},
	{"target-will-not-start", nil, exitFindings},
	{"same", nil, exitOK},
	{"beta", nil, exitFindings},
	{"single", []string{"--nodes", "1"}, exitOK},
	{"unknown", nil, exitFailed},
	{"refused", nil, exitFindings},
	{"oldest", nil, exitFailed},
}

// TestPlans compares the reports with those in testdata/plan. The JSON is that of two nodes, which is enough to read.
func TestPlans(t *testing.T) {
	t.Chdir(planDir)
	schema := compileSchema(t, "plan-report.schema.json")
	for _, tc := range planCases {
		t.Run(tc.name, func(t *testing.T) {
			file := tc.name + ".yaml"
			for ending, args := range map[string][]string{
				"txt": {"-o", "text"}, "md": {"-o", "markdown"}, "json": {"-o", "json", "--nodes", "2"},
			} {
				r := runMain(t, slices.Concat([]string{"plan"}, args, tc.args, []string{file})...)
				if r.code != tc.code || r.err != "" {
					t.Errorf("-o %s: exit code %d, want %d: %s", args[1], r.code, tc.code, r.err)
				}
				got := []byte(r.out)
				if ending == "json" {
					if err := validate(schema, got); err != nil {
						t.Error(err)
					}
					got = regexp.MustCompile(`(?m)^  "version": .*\n`).ReplaceAll(got, nil)
				}
				golden(t, tc.name+"."+ending, got)
			}
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// TestPlanFiles: each file of testdata/plan is a case.
func TestPlanFiles(t *testing.T) {
	files, err := filepath.Glob(planDir + "*.yaml")
	if err != nil || len(files) != len(planCases) {
		t.Errorf("%d files, %d cases: %v", len(files), len(planCases), err)
	}
}

func planOf(t *testing.T, args ...string) (r report.PlanReport, code int) {
	t.Helper()
	out := runMain(t, append([]string{"plan", "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(out.out), &r); err != nil {
		t.Fatalf("%v: %s", err, out.err)
	}
	return r, out.code
}

// failingOn are the servers with false 404s in each step, after it.
func failingOn(steps []report.PlanStep) []string {
	var out []string
	for _, s := range steps {
		var servers []string
		for _, r := range s.FalseNotFound {
			if !slices.Contains(servers, r.Server) {
				servers = append(servers, r.Server)
			}
		}
		out = append(out, strings.Join(servers, ","))
	}
	return out
}

// What no kubeadm reads is told of in every format.
func TestPlanOfUnreadable(t *testing.T) {
	const file = "../../testdata/cases/001-v1beta2-too-old.yaml"
	for _, format := range formatNames(false) {
		got := runMain(t, "plan", "-o", format, file)
		if got.code != exitFindings || !strings.Contains(got.out, "no kubeadm of these releases reads kubeadm.k8s.io/v1beta2") {
			t.Errorf("%s: exit code %d\n%s%s", format, got.code, got.out, got.err)
		}
	}
}

func TestPlanOrder(t *testing.T) {
	nodes := "a=192.0.2.1,b=192.0.2.2,c=192.0.2.3"
	r, _ := planOf(t, "--nodes", nodes, "--order", "c,a,b", planDir+"plain.yaml")
	if d := cmp.Diff([]string{"c", "a", "b"}, r.Order); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"", "a,b", "b", ""}, failingOn(r.Steps)); d != "" {
		t.Error(d)
	}
	if got := r.Steps[1].Releases; got["c"] != "v1.36.0" || got["a"] != "v1.35.4" {
		t.Errorf("releases: %v", got)
	}
	for _, order := range []string{"a,b", "a,b,c,c", "a,b,d", "a,a,b"} {
		if out := runMain(t, "plan", "--nodes", nodes, "--order", order, planDir+"plain.yaml"); out.code != exitUsage || !strings.Contains(out.err, "--order must name each control-plane node once: a,b,c") {
			t.Errorf("%s: exit code %d: %s", order, out.code, out.err)
		}
	}
}

// What runs on a node is told by its manifest; the upgrade writes it anew.
func TestPlanManifests(t *testing.T) {
	dir := t.TempDir()
	manifest := writeFile(t, filepath.Join(dir, "manifest.yaml"), `apiVersion: v1
kind: Pod
metadata:
  name: kube-apiserver-a
  labels: {component: kube-apiserver}
spec:
  nodeName: a
  containers:
  - name: kube-apiserver
    image: registry.k8s.io/kube-apiserver:v1.35.4
    command: [kube-apiserver, --advertise-address=192.0.2.1, --secure-port=6443]
`)
	r, code := planOf(t, "--nodes", "a=192.0.2.1,b=192.0.2.2", "--order", "b,a", "--manifest", manifest, planDir+"patched.yaml")
	if code != exitFindings {
		t.Errorf("exit code %d", code)
	}
	if d := cmp.Diff([]string{"", "a", ""}, failingOn(r.Steps)); d != "" {
		t.Error(d)
	}
	if got := r.Steps[1].FalseNotFound[0].Reasons; !slices.Equal(got, []string{"the sender's gate is off"}) {
		t.Errorf("reasons: %q", got)
	}
}

// Findings with a place in one node's document are about that node.
func TestPlanNodesDiffer(t *testing.T) {
	text, err := os.ReadFile(planDir + "patched.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, filepath.Join(t.TempDir(), "c.yaml"), string(text)+`---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration: {name: a}
localAPIEndpoint: {advertiseAddress: 192.0.2.1}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
nodeRegistration: {name: b}
controlPlane: {localAPIEndpoint: {advertiseAddress: 192.0.2.1}}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
nodeRegistration: {name: c}
controlPlane: {localAPIEndpoint: {advertiseAddress: 192.0.2.3}}
`)
	r, _ := planOf(t, file)
	verdicts := map[string]string{}
	for _, p := range r.Steps[0].Pairs {
		verdicts[p.From+">"+p.To] = p.Verdict
	}
	want := map[string]string{"a>b": "no", "a>c": "yes", "b>a": "no", "b>c": "yes", "c>a": "no", "c>b": "no"}
	if d := cmp.Diff(want, verdicts); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// YAML is the same document.
func TestPlanYAML(t *testing.T) {
	file := planDir + "plain.yaml"
	j, y := runMain(t, "plan", "-o", "json", file), runMain(t, "plan", "-o", "yaml", file)
	fromYAML, err := yaml.YAMLToJSON([]byte(y.out))
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal([]byte(j.out), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(fromYAML, &b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	if !bytes.HasPrefix([]byte(y.out), []byte("apiVersion: mvpcheck.dev/v1alpha1\nkind: PlanReport\n")) {
		t.Errorf("begins with %.60q", y.out)
	}
}

// Every input that check reads has a plan or a reason why not, and the document is what the schema says.
func TestPlansMatchSchema(t *testing.T) {
	schema := compileSchema(t, "plan-report.schema.json")
	files, err := filepath.Glob(repo + "testdata/cases/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, args := range [][]string{{"--from", "1.35", "--to", "1.36"}, {"--from", "1.36", "--to", "1.37", "--nodes", "2"}} {
		planned := 0
		for _, file := range files {
			r := runMain(t, slices.Concat([]string{"plan", "-o", "json"}, args, []string{file})...)
			if strings.Contains(r.err, "internal error") {
				t.Errorf("%s: %s", file, r.err)
			}
			if r.out == "" {
				if r.err == "" || r.code != exitFailed && r.code != exitUsage {
					t.Errorf("%s: exit code %d and nothing said", file, r.code)
				}
				continue
			}
			planned++
			if err := validate(schema, []byte(r.out)); err != nil {
				t.Errorf("%s %v: %v", file, args, err)
			}
		}
		if planned < len(files)/2 {
			t.Errorf("%d plans of %d files", planned, len(files))
		}
	}
}
