package report

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// completePlan has a value in every field.
func completePlan() *PlanReport {
	route := func(server, resource string, servedBy ...string) Route {
		return Route{Server: server, Group: "storage.k8s.io", Version: "v1", Resource: resource, ServedBy: servedBy, Reasons: []string{"the sender's gate is off"}}
	}
	inside := route("cp-2", "csinodes/status", "cp-1")
	inside.Subresource = true
	moment := PlanMoment{
		Pairs: []Pair{
			{From: "cp-1", To: "cp-2", Verdict: "yes"},
			{From: "cp-2", To: "cp-1", Verdict: "no", Reasons: []string{"the sender's gate is off"}},
		},
		FalseNotFound: []Route{route("cp-2", "things", "cp-1"), inside},
		Unavailable:   []Route{route("cp-2", "gone")},
		HandedOff:     []Route{route("cp-1", "older", "cp-2")},
		NotServed:     []Route{route("cp-1", "nobodys")},
		Unknown:       []Route{route("cp-2", "doubtful", "cp-1")},
		Blind:         []string{"cp-3"},
		Crashing:      []PlanCrash{{Server: "cp-2", Peer: "cp-1", Reason: "the sender does not trust the peer", Certain: true}},
	}
	steps := []PlanStep{
		{Action: ActionNone, Releases: map[string]string{"cp-1": "v1.35.4", "cp-2": "v1.35.4"}},
		{Step: 1, Node: "cp-1", Action: ActionUpgrade, Releases: map[string]string{"cp-1": "v1.36.0", "cp-2": "v1.35.4"}, Replacing: &PlanMoment{}, PlanMoment: moment},
		{
			Step: 2, Node: "cp-2", Action: ActionUpgrade, Releases: map[string]string{"cp-1": "v1.36.0", "cp-2": "v1.35.4"}, Replacing: &PlanMoment{},
			NotStarting: []PlanFailure{{Node: "cp-2", Rule: "MVP103", Reason: "peer-ca-file is set while the gate is off"}},
		},
	}
	prepare := PlanStep{Step: 1, Node: "cp-1", Action: ActionPrepare, Replacing: &PlanMoment{}}
	place := &Location{File: "cluster.yaml", Document: 1, Line: 5, Column: 3, EndLine: 5, EndColumn: 9, Path: "apiServer"}
	return &PlanReport{
		Version: "v0.1.0", Source: "cluster.yaml", Argument: "cluster.yaml", Documents: "ClusterConfiguration", From: "v1.35.4", To: "v1.36.0",
		Why: "from: kubernetesVersion; to: the next minor", Order: []string{"cp-1", "cp-2"},
		PlanRoll:   PlanRoll{Steps: steps, Stopped: "the roll stops"},
		Patched:    &PlanPatched{Changes: []string{"MVP101 set the gate"}, Refused: "an alias", PlanRoll: PlanRoll{Steps: []PlanStep{steps[0], prepare}, Stopped: "no"}},
		Unprepared: &PlanRoll{Steps: steps[:2]},
		Added:      []PlanResource{{Group: "storage.k8s.io", Version: "v1", Resource: "things", Namespaced: true, Emptied: true, Collected: true}},
		Removed:    []PlanResource{{Group: "storage.k8s.io", Version: "v1", Resource: "older"}},
		Consequences: []PlanConsequence{
			{Kind: ConsequenceGarbage, Resources: []string{"storage.k8s.io/v1 things"}, Message: "garbage collection deletes what it should keep"},
		},
		Findings: []Finding{{
			Rule: "MVP101", Name: "gate-off-on-running", Severity: SeverityError, Message: "the gate is off.", Why: "404s", Fix: "set it", Fixable: new(true),
			Help: "docs/rules/MVP101.md", Consequence: "false-404", At: []string{"running"}, Location: place, Related: []Related{{Location: *place, Message: "here"}},
		}},
		CannotTell: "who knows",
		Summary:    PlanSummary{Nodes: 2, Steps: 2, Failing: 2, Resources: 2, Errors: 1, Verdict: VerdictNotReady, Text: "false 404s in 2 of 2 steps."},
	}
}

func writePlan(t *testing.T, format string, r *PlanReport, c called) []byte {
	t.Helper()
	return writeCalled(t, format, r, c)
}

func TestPlansAreValid(t *testing.T) {
	schema := compileSchema(t, "plan-report")
	for name, r := range map[string]*PlanReport{
		"complete": completePlan(),
		"empty":    {Source: "-", From: "v1.35.0", To: "v1.36.0", CannotTell: "no flags", Summary: PlanSummary{Verdict: VerdictCannotTell, Text: "no flags."}},
	} {
		fromYAML, err := yaml.YAMLToJSONStrict(writePlan(t, "yaml", r, called{}))
		if err != nil {
			t.Fatal(err)
		}
		for format, b := range map[string][]byte{"json": writePlan(t, "json", r, called{}), "yaml": fromYAML} {
			if err := schema.Validate(parse(t, b)); err != nil {
				t.Errorf("%s as %s: %v", name, format, err)
			}
		}
	}
}

func TestPlanSchema(t *testing.T) {
	schema := readSchema(t, "plan-report")
	r := completePlan()
	r.Findings[0].Pairs = []string{"1.35 -> 1.36"}
	written := writePlan(t, "json", r, called{})
	checkClosedAndUsed(t, schema, written)
	checkSchemaIsType[PlanReport](t, schema)
	checkRefused(t, compileSchema(t, "plan-report"), written, [][2]string{
		{`"kind": "PlanReport"`, `"kind": "CheckReport"`},
		{`"kind": "PlanReport"`, `"kind": "PlanReport", "extra": 1`},
		{`"from": "v1.35.4"`, `"from": ""`},
		{`"verdict": "no"`, `"verdict": "perhaps"`},
		{`"action": "upgrade"`, `"action": "none"`},
		{`"step": 0`, `"step": -1`},
		{`"inside": true`, `"inside": false`},
		{`"rule": "MVP103"`, `"rule": "MVP3"`},
		{`"certain": true`, `"certain": "yes"`},
		{`"kind": "garbage-collection"`, `"kind": "gc"`},
		{`"verdict": "not-ready"`, `"verdict": "ready"`},
		{`"notStarting": []`, `"notStarting": null`},
	})
}

// What comes from a configuration reaches neither the terminal nor the markup as it is.
func TestPlanIsEscaped(t *testing.T) {
	r := completePlan()
	const evil = "\x1b[31m<b>|`x`*\n"
	r.Source, r.Documents, r.Order[0], r.PlanRoll.Stopped = evil, evil, evil, evil
	r.Steps[1].Node, r.Steps[2].NotStarting[0] = evil, PlanFailure{Node: evil, Reason: evil}
	r.Patched = &PlanPatched{Changes: []string{evil}, PlanRoll: PlanRoll{Steps: r.Steps, Stopped: evil}}
	r.Findings[0].Message, r.Findings[0].Fix, r.Consequences[0].Message, r.Summary.Text = evil, evil, evil, evil
	for _, format := range []string{"text", "markdown"} {
		got := writePlan(t, format, r, called{Verbose: true})
		if bytes.ContainsRune(got, '\x1b') {
			t.Errorf("%s: an escape sequence in %q", format, got)
		}
		if format == "markdown" && (bytes.Contains(got, []byte("<b>")) && !onlyInCode(got, "<b>")) {
			t.Errorf("markup in %s", got)
		}
	}
}

// onlyInCode tells whether a text stands only between backticks.
func onlyInCode(b []byte, text string) bool {
	for line := range strings.Lines(string(b)) {
		for i, part := range strings.Split(strings.ReplaceAll(line, "\\`", ""), "`") {
			if i%2 == 0 && strings.Contains(part, text) {
				return false
			}
		}
	}
	return true
}

// Colour only adds to the text, and only where it is asked for.
func TestPlanColor(t *testing.T) {
	r := completePlan()
	plain, coloured := string(writePlan(t, "text", r, called{})), string(writePlan(t, "text", r, called{Color: true}))
	stripped := coloured
	for {
		before, rest, ok := strings.Cut(stripped, "\x1b[")
		if !ok {
			break
		}
		_, after, _ := strings.Cut(rest, "m")
		stripped = before + after
	}
	if stripped != plain || coloured == plain || strings.Contains(plain, "\x1b") {
		t.Errorf("plain:\n%s\ncoloured:\n%s", plain, coloured)
	}
}

func TestPlanCells(t *testing.T) {
	route := func(server, resource string) Route {
		return Route{Server: server, Version: "v1", Resource: resource}
	}
	inside := Route{Server: "b", Version: "v1", Resource: "pods/new", Subresource: true}
	for _, tc := range []struct {
		name   string
		moment PlanMoment
		failed []PlanFailure
		want   planCell
	}{
		{"all right", PlanMoment{HandedOff: []Route{route("a", "x")}}, nil, planCell{text: "ok"}},
		{"404", PlanMoment{FalseNotFound: []Route{route("a", "x"), route("b", "x"), route("b", "x/status")}}, nil, planCell{"404 for 1 resource on a, b", SeverityError}},
		{"subresources only", PlanMoment{FalseNotFound: []Route{route("a", "x/a"), route("a", "x/b")}}, nil, planCell{"404 for 2 subresources on a", SeverityError}},
		{"inside", PlanMoment{FalseNotFound: []Route{inside}}, nil, planCell{"404 for 1 subresource on b [MVP518]", SeverityInfo}},
		{"both", PlanMoment{FalseNotFound: []Route{route("a", "x"), inside}}, nil, planCell{"404 for 1 resource on a", SeverityError}},
		{"503", PlanMoment{Unavailable: []Route{route("a", "x")}}, nil, planCell{"503 for 1 resource on a", SeverityWarning}},
		{"unknown", PlanMoment{Unknown: []Route{route("a", "x")}, Blind: []string{"c"}}, nil, planCell{"unknown for 1 resource on a; all unknown on c", SeverityWarning}},
		{"does not start", PlanMoment{}, []PlanFailure{{Node: "a"}, {Node: "a"}}, planCell{"a does not start", SeverityError}},
		{"none starts", PlanMoment{}, []PlanFailure{{Node: "a"}, {Node: "b"}}, planCell{"a, b do not start", SeverityError}},
		{"crash", PlanMoment{Crashing: []PlanCrash{{Server: "a", Certain: true}, {Server: "b"}}}, nil, planCell{"crash on their peers: a; may crash on their peers: b", SeverityError}},
	} {
		if got := tc.moment.cell(tc.failed); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}
