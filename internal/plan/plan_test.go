package plan

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// facts reads what a file of testdata/plan tells of the servers.
func facts(t *testing.T, name string, pair checks.Pair) checks.HandOff {
	t.Helper()
	file := "../../testdata/plan/" + name + ".yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	in, err := config.Read(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return checks.HandOffOf(checks.Input{Cluster: in.Clusters[0], Pair: pair, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
}

func TestOf(t *testing.T) {
	pair := checks.Pair{From: release.OfMinor(35), To: release.OfMinor(36), Upgrade: true}
	type row struct {
		Name     string
		Steps    int
		Rules    []string
		Verdict  report.Verdict
		Severity checks.Severity
		Wrong    bool
		Text     string
	}
	var got []row
	for _, name := range []string{"plain", "patched", "will-not-start"} {
		r := Of(Input{Pair: pair, Now: facts(t, name, pair)})
		w := row{Name: name, Steps: r.Summary.Steps, Verdict: r.Summary.Verdict, Text: r.Summary.Text}
		for _, f := range r.Findings {
			w.Rules = append(w.Rules, f.Rule)
		}
		w.Severity, w.Wrong = Severity(r)
		got = append(got, w)
	}
	want := []row{
		{"plain", 3, []string{"MVP101", "MVP201"}, report.VerdictNotReady, checks.Error, true, "false 404s in 2 of 3 steps."},
		{"patched", 3, nil, report.VerdictReady, checks.Info, false, "every server starts, and hands on what it lacks."},
		{"will-not-start", 0, []string{"MVP103"}, report.VerdictNotReady, checks.Error, true, "a server does not start."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Why patch does not change a file is part of the plan; without it there is nothing to compare with.
func TestRefused(t *testing.T) {
	pair := checks.Pair{From: release.OfMinor(35), To: release.OfMinor(36), Upgrade: true}
	r := Of(Input{Pair: pair, Now: facts(t, "plain", pair), Refused: "a reason"})
	if r.Patched == nil || r.Patched.Refused != "a reason" || len(r.Patched.Steps) > 0 || r.Unprepared != nil {
		t.Errorf("%+v, %+v", r.Patched, r.Unprepared)
	}
}
