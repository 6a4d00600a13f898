package cli

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/report"
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
		var c report.Report
		var p report.PlanReport
		if json.Unmarshal([]byte(runMain(t, "check", "-o", "json", file).out), &c) != nil ||
			json.Unmarshal([]byte(runMain(t, "plan", "-o", "json", file).out), &p) != nil {
			continue // one of them says why it cannot
		}
		compared++
		if c.Summary.Verdict == report.VerdictReady && p.Summary.Verdict == report.VerdictNotReady {
			t.Errorf("%s: check is ready, and plan says: %s", file, p.Summary.Text)
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
