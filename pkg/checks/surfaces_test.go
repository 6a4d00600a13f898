package checks

import (
	"slices"
	"strings"
	"testing"
)

// What MVP201 says for an upgrade depends on what the two releases serve with the settings.
func TestLacking(t *testing.T) {
	noCA := swap("  - {name: peer-ca-file, value: /etc/kubernetes/pki/ca.crt}\n", "")
	emulated := func(s string) string { return arg("emulated-version", "1.35")(noCA(s)) }
	for _, tc := range []struct {
		name    string
		change  func(string) string
		why     string
		skipped string
	}{
		{"what the target adds", noCA, "while 1.36 and 1.37 servers run side by side, the old ones answer 404 for 4 resources that only 1.37 serves; ", ""},
		{"both emulate one release", emulated, "", "1.36 and 1.37 serve the same resources with these settings: there is nothing to hand off"},
		{"a template mark", func(s string) string { return arg("runtime-config", "{{ apis }}")(noCA(s)) },
			"while 1.36 and 1.37 servers run side by side, each answers 404 for what only the other release serves; ", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Run(handOffInput(t, 36, tc.change), []*Rule{peerCAMissing})
			why, skipped := "", ""
			if len(r.Findings) > 0 {
				why = r.Findings[0].Why
			}
			if len(r.Skipped) > 0 {
				skipped = r.Skipped[0].Reason
			}
			if !strings.HasPrefix(why, tc.why) || (why == "") != (tc.why == "") || skipped != tc.skipped {
				t.Errorf("why %q, skipped %q", why, skipped)
			}
		})
	}
	// Nothing is known of the release after the newest: that must not look like two releases that serve the same.
	in := handOffInput(t, 37, noCA)
	in.Pair.To = in.Pair.From
	if r := Run(in, []*Rule{peerCAMissing}); !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == peerCAMissing }) {
		t.Errorf("skipped: %v", r.Skipped)
	}
}

// What spoils the hand-off does no harm where the servers serve the same, and is told all the same. What keeps a server from
// starting harms everywhere.
func TestHarmless(t *testing.T) {
	shared := arg("advertise-address", "192.0.2.11")
	for _, tc := range []struct {
		name        string
		from        int
		change      func(string) string
		rule        *Rule
		severity    Severity
		consequence Consequence
		why         string
	}{
		{"the releases differ", 36, shared, advertiseAddressShared, Error, FalseNotFound, "the ClusterConfiguration is shared by all nodes."},
		{"the releases serve the same", 34, shared, advertiseAddressShared, Warning, None, "1.34 and 1.35 serve the same with these settings: nothing needs the hand-off in this upgrade. In general: "},
		{"both emulate one release", 36, func(s string) string { return arg("emulated-version", "1.35")(shared(s)) }, advertiseAddressShared, Warning, None, "1.36 and 1.37 serve the same"},
		{"an API that only one has", 34, func(s string) string { return arg("runtime-config", "api/all=true")(shared(s)) }, advertiseAddressShared, Error, FalseNotFound, "the ClusterConfiguration is shared by all nodes."},
		{"no start", 34, arg("advertise-address", "x"), advertiseAddressUnusable, Error, WillNotStart, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Run(handOffInput(t, tc.from, tc.change), []*Rule{tc.rule})
			if len(r.Findings) == 0 {
				t.Fatalf("no finding: %+v", r)
			}
			f := r.Findings[0]
			if f.Severity != tc.severity || f.Consequence != tc.consequence || !strings.HasPrefix(f.Why, tc.why) {
				t.Errorf("%s %s: %s", f.Severity, f.Consequence, f.Why)
			}
		})
	}
}

func TestPeerCAMissingWhy(t *testing.T) {
	p := &Pass{Input: new(handOffInput(t, 36, func(s string) string { return s }))}
	for _, tc := range []struct {
		lacks lacking
		want  string
	}{
		{lacking{}, "each answers 404 for what only the other release serves"},
		{lacking{true, 1, 0}, "the old ones answer 404 for 1 resource that only 1.37 serves"},
		{lacking{true, 0, 2}, "the new ones answer 404 for 2 resources that only 1.36 serves"},
		{lacking{true, 1, 2}, "the old ones answer 404 for 1 resource that only 1.37 serves, the new ones for 2 resources that only 1.36 serves"},
	} {
		if got := peerCAMissingWhy(p, tc.lacks); got != tc.want {
			t.Errorf("%+v: %s", tc.lacks, got)
		}
	}
	for _, tc := range []struct {
		lacks lacking
		want  string
	}{
		{lacking{}, "until the last 1.36 server is replaced it answers 404 for what only 1.37 serves; " + silent404 + "."},
		{lacking{true, 2, 1}, "until the last 1.36 server is replaced it answers 404 for 2 resources that only 1.37 serves; " + silent404 + "."},
		{lacking{true, 0, 1}, "until the last 1.36 server is replaced no peer finds it: the others answer 404 for 1 resource that only 1.36 serves; " + silent404 + "."},
	} {
		if got := gateOffWhy(p, tc.lacks); got != tc.want {
			t.Errorf("%+v: %s", tc.lacks, got)
		}
	}
}
