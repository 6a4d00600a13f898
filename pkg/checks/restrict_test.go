package checks

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
)

func readEvidence(t *testing.T, file string) *evidence.ControlPlane {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cp, err := evidence.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

// The missing --peer-ca-file explains the false 404s, whether its own rule is asked for or not.
func TestCauseLeftOut(t *testing.T) {
	cp := readEvidence(t, "../../testdata/evidence/H3.json")
	effect, _ := Find("MVP501")
	r := RunLive(cp, []*Rule{effect})
	if len(r.Findings) != 1 || len(r.Passed)+len(r.Skipped)+len(r.Unknown) > 0 {
		t.Fatalf("%+v", r)
	}
	f := r.Findings[0]
	want := Finding{
		Rule: effect, Severity: Error, Servers: []string{"cp-1"}, Consequence: FalseNotFound, Seen: f.Seen, Fix: f.Fix,
		Message: "answers 404 for admissionregistration.k8s.io/v1 mutatingadmissionpolicies, mutatingadmissionpolicybindings, which cp-2 serves.",
		Why:     "the cause is MVP504 on cp-1: runs without --peer-ca-file: it hands nothing to its peers.",
	}
	if diff := cmp.Diff(want, f, cmp.Comparer(func(a, b *Rule) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

// Which rules are told of changes nothing of what is true of the servers, nor what the others find.
func TestSelectionChangesNoTruth(t *testing.T) {
	files, err := filepath.Glob("../../testdata/evidence/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	type truth struct {
		Says, CannotTell string
		Outcome          handoff.Outcome
	}
	truths := func(r LiveResult) []truth {
		out := []truth{{CannotTell: r.CannotTell}}
		for _, s := range r.Servers {
			out = append(out, truth{Says: s.Name + " " + s.Says})
		}
		for _, route := range r.Routes {
			out = append(out, truth{Outcome: route.Outcome})
		}
		return out
	}
	for _, file := range files {
		cp := readEvidence(t, file)
		all := RunLive(cp, All())
		for _, rule := range All() {
			if rule.Live == nil {
				continue
			}
			for _, rules := range [][]*Rule{{rule}, slices.DeleteFunc(All(), func(r *Rule) bool { return r == rule })} {
				some := RunLive(cp, rules)
				if diff := cmp.Diff(truths(all), truths(some)); diff != "" {
					t.Errorf("%s, %d rules, %s: %s", file, len(rules), rule.ID, diff)
				}
				for _, f := range all.Findings {
					if !slices.Contains(rules, f.Rule) {
						continue
					}
					if !slices.ContainsFunc(some.Findings, func(g Finding) bool { return g.Rule == f.Rule && g.Message == f.Message }) {
						t.Errorf("%s, %d rules: %s is lost: %s", file, len(rules), f.Rule.ID, f.Message)
					}
				}
			}
		}
	}
}

// A rule about what follows names as After each rule whose findings explain it.
func TestAfter(t *testing.T) {
	var ids []string
	for _, r := range liveOrder(All()) {
		for _, id := range r.After {
			if !slices.Contains(ids, id) {
				t.Errorf("%s is after %s, which has not judged before it", r.ID, id)
			}
		}
		ids = append(ids, r.ID)
	}
	files, err := filepath.Glob("../../testdata/evidence/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	explained := 0
	for _, file := range files {
		for _, f := range RunLive(readEvidence(t, file), All()).Findings {
			for _, e := range f.Effects {
				for _, id := range e.Rules {
					effect, _ := Find(id)
					if effect != f.Rule && !slices.Contains(effect.After, f.Rule.ID) {
						t.Errorf("%s: %s explains %s, which is not after it", file, f.Rule.ID, id)
					}
					explained++
				}
			}
		}
	}
	if explained == 0 {
		t.Error("no evidence has an effect")
	}
}
