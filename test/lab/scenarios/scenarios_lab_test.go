//go:build lab && linux

package scenarios

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

var update = flag.Bool("update", false, "record the evidence anew that make test replays (testdata/evidence)")

func TestMain(m *testing.M) { controlplane.Main(m) }

// evidenceDir is where the evidence of each scenario is kept.
const evidenceDir = "../../../testdata/evidence"

// result is what a run of mvpcheck probe came to.
type result struct {
	code   int
	report report.ProbeReport
	stderr string
}

// probe runs mvpcheck probe as a user does.
func probe(t *testing.T, args ...string) result {
	t.Helper()
	record := filepath.Join(t.TempDir(), "evidence.json")
	var out, errs bytes.Buffer
	args = append([]string{"mvpcheck", "probe", "-o", "json", "--record", record}, args...)
	r := result{code: cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}), stderr: errs.String()}
	if out.Len() == 0 {
		t.Fatalf("%s: exit code %d, nothing reported: %s", strings.Join(args, " "), r.code, r.stderr)
	}
	if err := json.Unmarshal(out.Bytes(), &r.report); err != nil {
		t.Fatalf("%v:\n%s", err, out.Bytes())
	}
	replayed := text(t, "probe", "--replay", record)
	t.Logf("exit code %d\n%s%s", r.code, r.stderr, replayed)
	if *update && !strings.HasPrefix(t.Name(), "TestLeastPrivilege") && !strings.HasPrefix(t.Name(), "TestPatched") && t.Name() != "TestWait" && t.Name() != "TestRandomPeer" {
		keep(t, record)
	}
	return r
}

// text returns the text that a command prints.
func text(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cli.Main(t.Context(), append([]string{"mvpcheck"}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return out.String() + errs.String()
}

// run runs a command that must end with an exit code.
func run(t *testing.T, want int, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Main(t.Context(), append([]string{"mvpcheck"}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != want {
		t.Fatalf("mvpcheck %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
}

// replaced is a configuration for a version.
func replaced(config, version string) string { return strings.ReplaceAll(config, "VERSION", version) }

// keep keeps the evidence of a scenario, once a scenario.
func keep(t *testing.T, record string) {
	t.Helper()
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(t.Name(), "Test"), "HandOff/"), "/", "-")
	if err := os.MkdirAll(evidenceDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(evidenceDir, name+".json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// findings lists the rules that fired, each with its severity and servers, but for notes.
func (r result) findings() []string {
	var out []string
	for _, f := range r.report.Findings {
		if f.Severity != report.SeverityInfo {
			servers := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(f.Servers)), ","), "[]")
			out = append(out, fmt.Sprintf("%s %s %s", f.Severity, f.Rule, servers))
		}
	}
	slices.Sort(out)
	return out
}

// findingsByAddress is findings with the servers' addresses for their names, which not every source tells.
func (r result) findingsByAddress() []string {
	out := r.findings()
	for _, s := range r.report.Servers {
		for i := range out {
			out[i] = strings.ReplaceAll(out[i], s.Name, s.Address)
		}
	}
	return out
}

// notes lists the rules that fired as notes.
func (r result) notes() []string {
	var out []string
	for _, f := range r.report.Findings {
		if f.Severity == report.SeverityInfo && !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return out
}

// judgeTruth compares what the report says of each resource with what the server itself answers to a plain client.
func (r result) judgeTruth(t *testing.T, servers []*controlplane.Server) {
	t.Helper()
	address := map[string]string{}
	for _, s := range r.report.Servers {
		address[s.Name] = s.Address
	}
	said := map[string]string{}
	for _, route := range r.report.FalseNotFound {
		said[key(address[route.Server], route.Group, route.Version, route.Resource)] = controlplane.NotFound
	}
	for _, route := range r.report.HandedOff {
		said[key(address[route.Server], route.Group, route.Version, route.Resource)] = controlplane.HandedOff
	}
	for _, route := range r.report.Refused {
		said[key(address[route.Server], route.Group, route.Version, route.Resource)] = "403"
	}
	all := map[controlplane.Resource][]*controlplane.Server{}
	for _, s := range servers {
		if _, _, gone := s.Exited(); gone {
			continue
		}
		for _, r := range s.AllResources(t) {
			all[r] = append(all[r], s)
		}
	}
	compared := 0
	for res, serving := range all {
		for _, s := range servers {
			if _, _, gone := s.Exited(); gone || slices.Contains(serving, s) {
				continue
			}
			compared++
			want := s.Answer(t, res)
			if got := said[key(s.HostPort(), res.Group, res.Version, res.Name)]; got != want {
				t.Errorf("%s %v: the report says %q, the server answers %q", s.Name, res, got, want)
			}
		}
	}
	if n := len(said); n > compared {
		t.Errorf("the report lists %d resources, the servers differ in %d", n, compared)
	}
}

func key(server, group, version, resource string) string {
	return server + " " + group + "/" + version + " " + resource
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
