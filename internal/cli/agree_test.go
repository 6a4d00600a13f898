package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// TestPlanAgreesWithCheck holds what plan says of real files and of the samples of every rule against what check says of
// them: where check finds what leads to false 404s or keeps a server from starting, plan is not ready, or cannot tell; where
// check finds no error, plan knows of no false 404.
func TestPlanAgreesWithCheck(t *testing.T) {
	files, err := filepath.Glob(repo + "testdata/cases/*")
	if err != nil {
		t.Fatal(err)
	}
	samples, err := filepath.Glob(repo + "testdata/rules/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range slices.Concat(files, samples) {
		var c report.CheckReport
		var p report.PlanReport
		if json.Unmarshal([]byte(runMain(t, "check", "-o", "json", file).out), &c) != nil ||
			json.Unmarshal([]byte(runMain(t, "plan", "-o", "json", file).out), &p) != nil {
			continue // one of them says why it cannot
		}
		compared++
		if c.Summary.Verdict == report.VerdictReady && p.Summary.Verdict == report.VerdictNotReady {
			t.Errorf("%s: check is ready, and plan says: %s", file, p.Summary.Text)
		}
		if c.Summary.Verdict == report.VerdictCannotTell && p.Summary.Verdict == report.VerdictReady {
			t.Errorf("%s: plan is ready, and check says: %s", file, c.Clusters[0].CannotTell)
		}
		for i := range c.Clusters {
			for _, f := range c.Clusters[i].Findings {
				bad := f.Consequence == string(checks.WillNotStart) || f.Consequence == string(checks.FalseNotFound)
				if bad && f.Severity == report.SeverityError && p.Summary.Verdict == report.VerdictReady {
					t.Errorf("%s: plan is ready, and check says: %s [%s]", file, f.Message, f.Rule)
				}
			}
		}
	}
	if compared < 300 {
		t.Errorf("%d files were compared", compared)
	}
}

// TestPlanCannotTell has settings of which check cannot tell whether the servers start with them: plan cannot either.
func TestPlanCannotTell(t *testing.T) {
	for _, tc := range []struct {
		name, arg string
		verdict   report.Verdict
		want      string
	}{
		{"a template mark where a number belongs", `{name: max-requests-inflight, value: "{{ n }}"}`, report.VerdictCannotTell, "values with template marks were not judged; render the template and check the result"},
		{"an address of one node", `{name: bind-address, value: 192.0.2.99}`, report.VerdictNotReady, "kube-apiserver exits on a node that does not have the address 192.0.2.99 of bind-address; which nodes have it is not known"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "cluster.yaml")
			text := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.3\ncontrolPlaneEndpoint: lb:6443\n" +
				"apiServer:\n  extraArgs:\n  - {name: peer-ca-file, value: /etc/kubernetes/pki/ca.crt}\n  - " + tc.arg + "\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var c report.CheckReport
			var p report.PlanReport
			if err := json.Unmarshal([]byte(runMain(t, "check", "-o", "json", file).out), &c); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(runMain(t, "plan", "-o", "json", file).out), &p); err != nil {
				t.Fatal(err)
			}
			if c.Summary.Verdict != tc.verdict || string(c.Clusters[0].CannotTell) != tc.want {
				t.Errorf("check: %s: %s", c.Summary.Verdict, c.Clusters[0].CannotTell)
			}
			if p.Summary.Verdict != tc.verdict || p.CannotTell != tc.want {
				t.Errorf("plan: %s: %s", p.Summary.Verdict, p.CannotTell)
			}
		})
	}
}
