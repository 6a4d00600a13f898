package report

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// golden compares got with a file in testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// in is a region of one line.
func in(file string, line, column, endColumn int) *Location {
	return &Location{File: Text(file), Line: line, Column: column, EndLine: line, EndColumn: endColumn}
}

func rules(list string) []string { return strings.Fields(list) }

func skipped(reason, list string) []Skipped {
	var s []Skipped
	for _, rule := range rules(list) {
		s = append(s, Skipped{Rule: rule, Reason: Text(reason)})
	}
	return s
}

// complete is a report in which every field has a value.
func complete() *CheckReport {
	c := notReady()
	c.Notes = []Note{
		{Text: "3 control-plane nodes are assumed; --nodes says otherwise"},
		{Text: "this document is passed over", Location: &Location{File: "cluster.yaml", Document: 3, Line: 50, Column: 1}},
	}
	c.Findings[1].Related = []Related{{Location: *in("cluster.yaml", 9, 3, 20), Message: "the address of cp-1"}}
	return finish(CheckReport{
		Clusters:   []Cluster{c, severalPairs(), ready(), template()},
		Errors:     []InputError{{File: "tabs.yaml", Line: 14, Column: 1, Message: "a tab is used as indentation"}},
		PassedOver: []PassedOver{{File: "values.yaml", Reason: "no kubeadm document"}},
	})
}

// finish is a report with what follows from the rest of it.
func finish(r CheckReport) *CheckReport {
	out := &CheckReport{APIVersion: APIVersion, Kind: KindCheck, Version: "v0.1.0"}
	for _, c := range r.Clusters {
		out.Add(c)
	}
	for _, e := range r.Errors {
		out.AddError(e)
	}
	for _, p := range r.PassedOver {
		out.AddPassedOver(p)
	}
	out.Summary = out.Sum()
	return out
}

// notReady is the cluster of the design's example.
func notReady() Cluster {
	return Cluster{
		Source:    "cluster.yaml",
		Argument:  "cluster.yaml",
		Documents: "ClusterConfiguration (document 2 of 3), kubeadm.k8s.io/v1beta4",
		From:      "v1.35.4",
		To:        "v1.36.0",
		Why:       "kubernetesVersion of the configuration; the next minor",
		Findings: []Finding{
			{
				Rule: "MVP101", Name: "gate-off-on-running", Severity: SeverityError,
				Message: "the gate UnknownVersionInteroperabilityProxy is off on the running 1.35 servers.",
				Why:     "until the last 1.35 server is replaced it answers 404 for 2 resources that 1.36 serves; garbage collection and namespace deletion believe it.",
				Fix:     "feature-gates: UnknownVersionInteroperabilityProxy=true, rolled out on 1.35 before the upgrade",
				Fixable: new(true), Help: "docs/rules/MVP101.md", Consequence: "false-404", At: []string{"running"},
				Location:   &Location{File: "cluster.yaml", Document: 2, Line: 21, Column: 3, EndLine: 21, EndColumn: 12, Path: "apiServer.extraArgs"},
				SourceLine: "  extraArgs:",
			},
			{
				Rule: "MVP302", Name: "advertise-address-shared", Severity: SeverityError,
				Message: "advertise-address 192.0.2.11 is the same on every control-plane node; peers would send every request to that one server.",
				Why:     "ClusterConfiguration is shared by all nodes. kubeadm fills the flag from each node's localAPIEndpoint.",
				Fix:     "remove the entry",
				Fixable: new(true), Help: "docs/rules/MVP302.md", Consequence: "false-404", At: []string{"running", "target"},
				Location: in("cluster.yaml", 23, 12, 22), SourceLine: "    value: 192.0.2.11",
			},
			{
				Rule: "MVP003", Name: "value-not-a-string", Severity: SeverityError,
				Message: "the value 6443 is a number; kubeadm refuses the file.",
				Fix:     `value: "6443"`,
				Fixable: new(true), Help: "docs/rules/MVP003.md", Consequence: "refused-by-kubeadm", At: []string{"running", "target"},
				Location: in("cluster.yaml", 28, 12, 16), SourceLine: "    value: 6443",
			},
		},
		Silenced: []Silenced{{
			Finding: Finding{
				Rule: "MVP303", Name: "peer-advertise-no-effect", Severity: SeverityWarning,
				Message: "peer-advertise-ip has no effect.", Help: "docs/rules/MVP303.md", Consequence: "none", At: []string{"running"},
				Location: in("cluster.yaml", 34, 5, 9),
			},
			Reason: "kept for 1.39", CommentLine: 33,
		}},
		Passed:  rules("MVP001 MVP002 MVP004 MVP005 MVP006 MVP007 MVP008 MVP009 MVP102 MVP103 MVP104 MVP105 MVP106 MVP107 MVP108"),
		Skipped: append(skipped("no certificates at hand", "MVP204 MVP207 MVP208"), skipped("no manifest was given", "MVP401 MVP402")...),
	}
}

func ready() Cluster {
	return Cluster{
		Source: "good.yaml", Argument: "good.yaml", Documents: "ClusterConfiguration, kubeadm.k8s.io/v1beta4",
		From: "v1.35.4", To: "v1.36.0", Why: "kubernetesVersion of the configuration; the next minor",
		Passed:  rules("MVP001 MVP002 MVP003"),
		Skipped: append(skipped("no certificates at hand", "MVP204"), append(skipped("no manifest was given", "MVP401"), skipped("no certificates at hand", "MVP207")...)...),
	}
}

func warnings() Cluster {
	c := ready()
	c.Source, c.Argument = "warn.yaml", "warn.yaml"
	c.Findings = []Finding{
		{
			Rule: "MVP309", Name: "single-control-plane", Severity: SeverityInfo, Message: "no controlPlaneEndpoint is set.",
			Help: "docs/rules/MVP309.md", Consequence: "none",
		},
		{
			Rule: "MVP303", Name: "peer-advertise-no-effect", Severity: SeverityWarning, Message: "peer-advertise-ip has no effect in 1.35 and 1.36.",
			Why: "peers use advertise-address.", Help: "docs/rules/MVP303.md", Consequence: "none",
			Location: in("warn.yaml", 7, 11, 28), SourceLine: "  - name: peer-advertise-ip",
			Related: []Related{{Location: Location{File: "warn.yaml", Line: 9, Column: 11}, Message: "peer-advertise-port stands here"}},
		},
	}
	return c
}

func severalPairs() Cluster {
	c := notReady()
	c.Source, c.Argument = "stable.yaml", "stable.yaml"
	c.From, c.To = "", ""
	c.Why = "kubernetesVersion is stable"
	c.Pairs = []Upgrade{{"v1.33.0", "v1.34.0"}, {"v1.34.0", "v1.35.0"}, {"v1.35.0", "v1.36.0"}, {"v1.36.0", "v1.37.0"}}
	c.Silenced = nil
	c.Findings = c.Findings[:2]
	for i := range c.Findings {
		l := *c.Findings[i].Location
		l.File = "stable.yaml"
		c.Findings[i].Location = &l
	}
	c.Findings[0].Pairs = []string{"1.34 -> 1.35", "1.35 -> 1.36"}
	c.Findings[1].Severity = SeverityWarning
	return c
}

func template() Cluster {
	return Cluster{
		Source: "template.yaml", Argument: "template.yaml", Documents: "ClusterConfiguration, kubeadm.k8s.io/v1beta4",
		From: "v1.35.4", To: "v1.36.0",
		Passed:     rules("MVP001"),
		Skipped:    skipped("a template mark stands where the value should", "MVP101 MVP201"),
		CannotTell: "feature-gates is a template mark; render the file first",
	}
}

func TestTally(t *testing.T) {
	if diff := cmp.Diff(Summary{Verdict: VerdictCannotTell}, (&CheckReport{}).Sum()); diff != "" {
		t.Errorf("nothing seen (-want +got):\n%s", diff)
	}
	tests := map[string]struct {
		report CheckReport
		want   Summary
	}{
		"ready":                   {CheckReport{Clusters: []Cluster{ready(), ready()}}, Summary{Verdict: VerdictReady}},
		"warnings are ready":      {CheckReport{Clusters: []Cluster{ready(), warnings()}}, Summary{Warnings: 1, Infos: 1, Verdict: VerdictReady}},
		"one not ready":           {CheckReport{Clusters: []Cluster{ready(), notReady(), template()}}, Summary{Errors: 3, Silenced: 1, Fixable: 3, Verdict: VerdictNotReady}},
		"one cannot tell":         {CheckReport{Clusters: []Cluster{ready(), template()}}, Summary{Verdict: VerdictCannotTell}},
		"input error":             {CheckReport{Clusters: []Cluster{ready()}, Errors: make([]InputError, 1)}, Summary{Verdict: VerdictCannotTell}},
		"input error and errors":  {CheckReport{Clusters: []Cluster{notReady()}, Errors: make([]InputError, 1)}, Summary{Errors: 3, Silenced: 1, Fixable: 3, Verdict: VerdictNotReady}},
		"only passed over files":  {CheckReport{PassedOver: make([]PassedOver, 3)}, Summary{Verdict: VerdictCannotTell}},
		"errors and cannot judge": {CheckReport{Clusters: []Cluster{func() Cluster { c := notReady(); c.CannotTell = "x"; return c }()}}, Summary{Errors: 3, Silenced: 1, Fixable: 3, Verdict: VerdictNotReady}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, finish(test.report).Summary); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSort(t *testing.T) {
	sorted := []Finding{
		{Rule: "MVP510"},
		{Rule: "MVP009", Location: in("a.yaml", 3, 1, 2)},
		{Rule: "MVP101", Severity: SeverityError, Location: in("b.yaml", 2, 1, 2)},
		{Rule: "MVP102", Severity: SeverityError, Location: in("b.yaml", 2, 4, 5)},
		{Rule: "MVP201", Severity: SeverityError, Location: in("b.yaml", 2, 4, 5)},
		{Rule: "MVP001", Severity: SeverityWarning, Location: in("b.yaml", 2, 4, 5)},
		{Rule: "MVP000", Severity: SeverityInfo, Location: in("b.yaml", 2, 4, 5)},
		{Rule: "MVP001", Location: in("b.yaml", 10, 1, 2)},
	}
	for shift := range sorted {
		got := append(append([]Finding{}, sorted[shift:]...), sorted[:shift]...)
		Sort(got)
		if diff := cmp.Diff(sorted, got); diff != "" {
			t.Fatalf("turned by %d (-want +got):\n%s", shift, diff)
		}
	}
}

// failing fails after some bytes.
type failing struct{ room int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}
