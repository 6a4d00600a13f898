package report

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func probeAsText(t *testing.T, c called, r *ProbeReport) []byte {
	t.Helper()
	return writeCalled(t, "text", r, c)
}

func TestProbeText(t *testing.T) {
	tests := []struct {
		name   string
		opts   called
		report *ProbeReport
	}{
		{"handed-off", called{}, handedOff()},
		{"handed-off-verbose", called{Verbose: true}, handedOff()},
		{"handed-off-quiet", called{Quiet: true, Verbose: true}, handedOff()},
		{"without-ca", called{}, withoutCA()},
		{"without-ca-coloured", called{Color: true}, withoutCA()},
		{"complete", called{}, completeProbe()},
		{"complete-verbose", called{Verbose: true}, completeProbe()},
		{"complete-quiet", called{Quiet: true}, completeProbe()},
		{"unreachable", called{}, unreachable()},
		{"unreachable-coloured-verbose", called{Color: true, Verbose: true}, unreachable()},
		{"one-release", called{}, oneRelease()},
		{"one-release-verbose", called{Verbose: true}, oneRelease()},
		{"long-names-verbose", called{Verbose: true}, longNames()},
		{"fifty", called{}, fifty()},
		{"fifty-verbose", called{Verbose: true}, fifty()},
		{"fifty-quiet", called{Quiet: true}, fifty()},
		{"hostile", called{Verbose: true}, spoilt("\x1b[2J\u202e\n世\xff", false)},
		{"hostile-states", called{Verbose: true}, spoilt("\x1b]8;;x\x07\r\u2028名前", true)},
		{"nil", called{Verbose: true}, &ProbeReport{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			golden(t, "probe-"+test.name+".txt", probeAsText(t, test.opts, test.report))
		})
	}
}

// lineWith is the first line of a text that holds a string.
func lineWith(t *testing.T, text []byte, want string) string {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, want) {
			return strings.TrimSuffix(line, "\n")
		}
	}
	t.Errorf("no line with %q in\n%s", want, text)
	return ""
}

func TestProbeTextRows(t *testing.T) {
	plain := probed(1, "v1.36.3", 68, 68, "ok")
	for name, test := range map[string]struct {
		change func(*Server)
		want   string
	}{
		"all known":        {func(*Server) {}, "192.0.2.11:6443  cp-1  1.36.3   on    yes         68      68  ok"},
		"emulated":         {func(s *Server) { s.Emulated = "1.35" }, "192.0.2.11:6443  cp-1  1.36.3 as 1.35  on    yes         68      68  ok"},
		"emulated only":    {func(s *Server) { s.Release, s.Emulated = "", "1.35" }, "192.0.2.11:6443  cp-1  - as 1.35  on    yes         68      68  ok"},
		"beta":             {func(s *Server) { s.Release = "v1.38.0-beta.0" }, "192.0.2.11:6443  cp-1  1.38.0-beta.0  on    yes         68      68  ok"},
		"off":              {func(s *Server) { s.Gate, s.PeerCA = "off", "no" }, "192.0.2.11:6443  cp-1  1.36.3   off   no          68      68  ok"},
		"zero is known":    {func(s *Server) { s.Local, s.Merged = 0, -1 }, "192.0.2.11:6443  cp-1  1.36.3   on    yes          0       -  ok"},
		"large numbers":    {func(s *Server) { s.Local, s.Merged = 1234567, 12 }, "192.0.2.11:6443  cp-1  1.36.3   on    yes      1234567      12  ok"},
		"no node":          {func(s *Server) { s.Node = "" }, "192.0.2.11:6443  -     1.36.3   on    yes         68      68  ok"},
		"wide node":        {func(s *Server) { s.Node = "世界" }, "192.0.2.11:6443  世界  1.36.3   on    yes         68      68  ok"},
		"says nothing":     {func(s *Server) { s.Says = "" }, "192.0.2.11:6443  cp-1  1.36.3   on    yes         68      68  ok"},
		"nothing is known": {func(s *Server) { *s = Server{Local: -1, Merged: -1} }, "-       -     -        -     -            -       -  -"},
	} {
		s := plain
		test.change(&s)
		got := probeAsText(t, called{}, &ProbeReport{Servers: []Server{s}})
		if row := strings.Split(string(got), "\n")[3]; row != test.want {
			t.Errorf("%s:\n got %q\nwant %q", name, row, test.want)
		}
	}
}

// The columns of the table are the same in every row, however wide the letters.
func TestProbeTextColumns(t *testing.T) {
	r := probeOf(probed(1, "v1.36.3", 68, 68, "ok"), probed(2, "v1.36.3", 68, 68, "ok"), probed(3, "v1.36.3", 68, 68, "ok"))
	r.Servers[0].Node, r.Servers[1].Node = "世界\x1b", "e\u0301"
	r.Servers[2].Address = "ip-10-0-12-34.eu-central-1.compute.internal:6443"
	for _, row := range strings.Split(string(probeAsText(t, called{}, r)), "\n")[3:6] {
		if got := textColumns(strings.TrimSuffix(row, "ok")); got != 48+2+8+2+len("RELEASE  GATE  PEER CA  LOCAL  MERGED  ") {
			t.Errorf("RESULT begins in column %d of %q", got, row)
		}
	}
}

func TestProbeTextHeadlines(t *testing.T) {
	r := probeOf(probed(1, "v1.36.3", 68, 68, "ok"), probed(2, "v1.36.3", 68, 68, "ok"), probed(3, "v1.36.3", 68, 68, "ok"), probed(4, "v1.36.3", 68, 68, "ok"))
	r.Servers[1].Node = ""
	r.Servers[2].Node, r.Servers[2].Address = "cp-3.example", "cp-3.example:6443"
	for _, test := range []struct{ servers, want string }{
		{"", "error: it is broken. [MVP504]"},
		{"cp-1", "192.0.2.11:6443 (cp-1): error: it is broken. [MVP504]"},
		{"cp-2", "192.0.2.12:6443: error: it is broken. [MVP504]"},
		{"cp-3", "cp-3.example:6443: error: it is broken. [MVP504]"},
		{"other", "other: error: it is broken. [MVP504]"},
		{"cp-4 cp-1", "192.0.2.14:6443 (cp-4), 192.0.2.11:6443 (cp-1): error: it is broken. [MVP504]"},
		{"cp-4 cp-1 cp-2 cp-3", "192.0.2.14:6443 (cp-4), 192.0.2.11:6443 (cp-1), 192.0.2.12:6443 and 1 more: error: it is broken. [MVP504]"},
	} {
		r.Findings = []Finding{{Rule: "MVP504", Severity: SeverityError, Servers: texts(rules(test.servers)), Message: "it is broken."}}
		for _, quiet := range []bool{false, true} {
			if got := lineWith(t, probeAsText(t, called{Quiet: quiet}, r), "broken"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		}
	}

	for _, test := range []struct {
		change func(*ProbeReport)
		want   string
	}{
		{func(*ProbeReport) {}, "context admin@prod: 4 API servers (endpoints of default/kubernetes)"},
		{func(r *ProbeReport) { r.Context = "" }, "4 API servers (endpoints of default/kubernetes)"},
		{func(r *ProbeReport) { r.Found, r.Servers = "", r.Servers[:1] }, "context admin@prod: 1 API server"},
		{func(r *ProbeReport) { r.Context, r.Replayed = "", "e.json" }, "e.json, recorded 2026-11-30 10:00 UTC: 4 API servers (endpoints of default/kubernetes)"},
		{func(r *ProbeReport) { r.Replayed, r.Time = "e.json", time.Time{} }, "e.json: context admin@prod: 4 API servers (endpoints of default/kubernetes)"},
	} {
		changed := *r
		test.change(&changed)
		if got := lineWith(t, probeAsText(t, called{}, &changed), "API server"); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestProbeTextLeftOut(t *testing.T) {
	custom := ProbeLeftOut{Group: "a.example", Version: "v1", Kind: "custom-resources"}
	aggregated := ProbeLeftOut{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "aggregated"}
	stale := aggregated
	stale.Stale = "no endpoints"
	for _, test := range []struct {
		leftOut []ProbeLeftOut
		want    string
	}{
		{[]ProbeLeftOut{custom}, "left out: 1 group version of custom resources"},
		{[]ProbeLeftOut{custom, aggregated, custom}, "left out: 2 group versions of custom resources, 1 aggregated"},
		{[]ProbeLeftOut{aggregated}, "left out: 1 aggregated group version"},
		{[]ProbeLeftOut{stale, aggregated}, "left out: 2 aggregated group versions (metrics.k8s.io/v1beta1: stale, no endpoints)"},
		{[]ProbeLeftOut{stale, stale, stale, stale, custom},
			"left out: 1 group version of custom resources, 4 aggregated (metrics.k8s.io/v1beta1: stale, no endpoints;" +
				" metrics.k8s.io/v1beta1: stale, no endpoints; metrics.k8s.io/v1beta1: stale, no endpoints and 1 more)"},
	} {
		if got := lineWith(t, probeAsText(t, called{}, &ProbeReport{LeftOut: test.leftOut}), "left out"); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestProbeTextLast(t *testing.T) {
	two := withoutCA()
	two.Servers[1].Result = "fail"
	two.FalseNotFound = append(two.FalseNotFound, mutating("cp-2", "documents", "cp-1")...)
	add(two, 2, VerdictNotReady, "")
	otherwise := withoutCA()
	otherwise.FalseNotFound = nil
	// A resource that is not found because of another server is no fault of the one that says so.
	innocent := withoutCA()
	innocent.FalseNotFound[0].Server, innocent.FalseNotFound[1].Server = "cp-2", "cp-2"
	for _, test := range []struct {
		report *ProbeReport
		want   string
	}{
		{two, "3 servers, 2 releases: 1 ok, 2 answer false 404s. NOT READY."},
		{otherwise, "3 servers, 2 releases: 2 ok, 1 failing. Do not go on with the upgrade."},
		{innocent, "3 servers, 2 releases: 2 ok, 1 failing. Do not go on with the upgrade."},
		{add(&ProbeReport{Servers: []Server{unreached(1)}}, 0, VerdictCannotTell, ""), "1 server: 1 unknown. CANNOT TELL."},
		{add(probeOf(probed(1, "v1.36.3", 68, 68, "ok")), 1, VerdictReady, "Go on"), "1 server, 1 release: 1 ok. Go on."},
		{add(&ProbeReport{}, 0, VerdictReady, ""), "0 servers. READY."},
		{&ProbeReport{}, "0 servers. CANNOT TELL."},
	} {
		got := strings.Split(strings.TrimSuffix(string(probeAsText(t, called{}, test.report)), "\n"), "\n")
		if last := got[len(got)-1]; last != test.want {
			t.Errorf("got %q, want %q", last, test.want)
		}
	}
}

// Resources stand together by group version, and servers that have the same to say.
func TestProbeTextRoutes(t *testing.T) {
	r := &ProbeReport{
		HandedOff: slices.Concat(mutating("cp-2", "named-get", "cp-1"), mutating("cp-3", "named-get", "cp-1"), mutating("cp-4", "documents", "cp-1", "cp-5")),
		FalseNotFound: append(mutating("cp-6", "", "cp-1"),
			Route{Server: "cp-6", Version: "v1", Resource: "pods/resize", ServedBy: []string{"cp-1"}},
			Route{Server: "cp-6", Group: "apps", Version: "v1", Resource: "deployments"},
			Route{Server: "cp-7", Group: "apps", Version: "v1", Resource: "deployments"}),
	}
	const want = `0 API servers

cp-2, cp-3 hand to cp-1 (shown by named GETs):
   admissionregistration.k8s.io/v1 mutatingadmissionpolicies,
   mutatingadmissionpolicybindings
cp-4 hands to cp-1, cp-5 (shown by discovery documents):
   admissionregistration.k8s.io/v1 mutatingadmissionpolicies,
   mutatingadmissionpolicybindings
cp-6 answers 404 for what cp-1 has:
   admissionregistration.k8s.io/v1 mutatingadmissionpolicies,
   mutatingadmissionpolicybindings, v1 pods/resize
cp-6, cp-7 answer 404 for what no server has:
   apps/v1 deployments

0 servers. CANNOT TELL.
`
	if diff := cmp.Diff(want, string(probeAsText(t, called{Verbose: true}, r))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A report with very many findings is written in pieces, and each finding in it is whole.
func TestProbeTextManyFindings(t *testing.T) {
	r := completeProbe()
	for len(r.Findings) < 200 {
		r.Findings = append(r.Findings, r.Findings...)
	}
	for _, opts := range []called{{}, {Quiet: true}} {
		text := string(probeAsText(t, opts, r))
		if got := strings.Count(text, "[MVP504]\n"); got != len(r.Findings)/4 {
			t.Errorf("%d headlines of %d", got, len(r.Findings)/4)
		}
		if blanks := strings.Count(text, "\n\n"); opts.Quiet != (blanks == 0) || strings.Contains(text, "\n\n\n") {
			t.Errorf("%d blank lines", blanks)
		}
	}
}

// What all servers have in common is said once.
func TestProbeTextPairs(t *testing.T) {
	servers := func(n int) *ProbeReport {
		var all []Server
		for i := range n {
			all = append(all, probed(i+1, "v1.35.4", 66, 66, "ok"))
		}
		return probeOf(all...)
	}
	for name, test := range map[string]struct {
		n      int
		change func(*ProbeReport)
		want   []string
	}{
		"all yes":   {3, func(*ProbeReport) {}, nil},
		"many yes":  {13, func(*ProbeReport) {}, []string{"who hands requests to whom: 156 of 156 pairs of servers"}},
		"none":      {3, func(r *ProbeReport) { setPairs(r, "", "", "no", "gate off") }, []string{"no: each server -> all others: gate off"}},
		"none of 2": {2, func(r *ProbeReport) { setPairs(r, "", "", "no", "gate off") }, []string{"no: cp-1 -> cp-2: gate off", "no: cp-2 -> cp-1: gate off"}},
		"to one":    {4, func(r *ProbeReport) { setPairs(r, "", "cp-2", "unknown") }, []string{"?:  all others -> cp-2"}},
		"from all but one": {3, func(r *ProbeReport) { setPairs(r, "", "", "no", "off"); setPairs(r, "cp-1", "", "unknown", "x", "y") },
			[]string{"?:  cp-1 -> all others:", "no: cp-2, cp-3 -> all others: off"}},
		"different reasons": {3, func(r *ProbeReport) { setPairs(r, "cp-1", "cp-2", "no", "a"); setPairs(r, "cp-1", "cp-3", "no", "b") },
			[]string{"no: cp-1 -> cp-2: a", "no: cp-1 -> cp-3: b"}},
		"odd verdict": {2, func(r *ProbeReport) { setPairs(r, "cp-1", "", "perhaps") }, []string{"?:  cp-1 -> cp-2"}},
	} {
		r := servers(test.n)
		test.change(r)
		var got []string
		for line := range strings.Lines(string(probeAsText(t, called{Verbose: true}, r))) {
			if strings.Contains(line, " -> ") || strings.Contains(line, "pairs") {
				got = append(got, strings.TrimSuffix(line, "\n"))
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
}

// Lists fit the terminal; headlines, effects, reasons and fixes are not broken, so that they can be searched for and copied.
func TestProbeTextWidth(t *testing.T) {
	r := fifty()
	r.Findings[1].Servers = nil
	for _, s := range r.Servers {
		r.Findings[1].Servers = append(r.Findings[1].Servers, Text(s.Name))
		r.Findings[1].Seen = append(r.Findings[1].Seen, Text(s.Address+": connection refused"))
	}
	r.Findings[1].Fix = Text(strings.Repeat("long ", 50))
	r.HandedOff = mutating("cp-2", "named-get", "cp-1")
	for i := range 40 {
		r.LeftOut = append(r.LeftOut, ProbeLeftOut{Group: fmt.Sprintf("group-%d.example", i), Version: "v1", Kind: "custom-resources"})
		route := r.HandedOff[0]
		route.Resource = fmt.Sprintf("resources%d", i)
		r.HandedOff = append(r.HandedOff, route)
	}
	_, text, _ := strings.Cut(string(probeAsText(t, called{Verbose: true}, r)), "cp-50 ") // behind the table
	wide := regexp.MustCompile(`: error: |^   effect: |^   fix:    |^50 servers`)
	for line := range strings.Lines(text) {
		if textColumns(strings.TrimSuffix(line, "\n")) > lineColumns && !wide.MatchString(line) {
			t.Errorf("wide: %s", line)
		}
	}
	if !strings.Contains(text, "\n   fix:    "+string(r.Findings[1].Fix)+"\n") {
		t.Error("the fix is broken into lines")
	}
}

// Colour is there for the level, the rules and the result only, and nothing depends on it.
func TestProbeTextColour(t *testing.T) {
	for name, r := range map[string]*ProbeReport{"complete": completeProbe(), "unreachable": unreachable(), "fifty": fifty()} {
		for _, opts := range []called{{}, {Verbose: true}, {Quiet: true}} {
			plain := probeAsText(t, opts, r)
			opts.Color = true
			coloured := probeAsText(t, opts, r)
			if bytes.Equal(plain, coloured) {
				t.Errorf("%s has no colour", name)
			}
			if !bytes.Equal(plain, colours.ReplaceAll(coloured, nil)) {
				t.Errorf("%s is another text in colour:\n%s", name, coloured)
			}
		}
	}
}
