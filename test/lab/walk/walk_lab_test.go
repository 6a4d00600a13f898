//go:build lab && linux

package walk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/test/lab"
	cp "github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

func TestMain(m *testing.M) { cp.Main(m) }

// upgrades are the configurations that are walked with, and the releases. VERSION is the release before.
var upgrades = []struct{ name, from, to, config string }{
	{"1.35-1.36", "1.35", "1.36", plain},
	{"1.36-1.37", "1.36", "1.37", plain},
	// 1.35 serves versions that 1.36 no longer has, and the other way round.
	{"1.35-1.36-all", "1.35", "1.36", plain + "apiServer:\n  extraArgs:\n  - name: runtime-config\n    value: api/all=true\n"},
}

const plain = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: VERSION
controlPlaneEndpoint: api.example.com:6443
`

// The ways to go. Each has the configuration that the servers run before.
const (
	unpatched  = "as configured"
	patched    = "patched"
	unprepared = "patched, not rolled out first"
)

func TestWalk(t *testing.T) {
	for i, u := range upgrades {
		if testing.Short() && i >= 2 {
			break // make lab does the first two
		}
		for _, way := range []string{unpatched, patched, unprepared} {
			t.Run(u.name+"/"+way, func(t *testing.T) {
				w := newWalk(t, u.from, u.to, u.config)
				w.steps(t, way)
			})
		}
	}
}

// walk is one upgrade, before it begins.
type walk struct {
	from, to     string
	before, with string // configurations: as it is, and patched
	plan         report.PlanReport
	compared     int
}

func newWalk(t *testing.T, from, to, config string) *walk {
	w := &walk{from: from, to: to}
	r := release(t, from)
	w.before = strings.ReplaceAll(config, "VERSION", r)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(w.before), 0o644); err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for i := range 3 {
		nodes = append(nodes, fmt.Sprintf("cp-%d=%s", i+1, cp.Addresses[i]))
	}
	flags := []string{"--to", to, "--nodes", strings.Join(nodes, ","), file}
	if err := json.Unmarshal(run(t, append([]string{"plan", "-o", "json"}, flags...)...), &w.plan); err != nil {
		t.Fatal(err)
	}
	w.with = string(run(t, "patch", "--to", to, file))
	return w
}

// run runs mvpcheck and returns what it writes. Findings are not an error.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), append([]string{"mvpcheck"}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if code > 1 {
		t.Fatalf("mvpcheck %q: exit code %d\n%s%s", args, code, out.String(), errs.String())
	}
	return out.Bytes()
}

// steps goes one of the ways, and compares at each moment of it.
func (w *walk) steps(t *testing.T, way string) {
	roll, config := w.plan.PlanRoll, w.before
	switch way {
	case patched:
		roll, config = w.plan.Patched.PlanRoll, w.with
	case unprepared:
		roll, config = *w.plan.Unprepared, w.with
	}
	if roll.Stopped != "" {
		t.Fatalf("the plan stops: %s", roll.Stopped)
	}
	c := cp.New(t, cp.Options{Config: w.before})
	servers := c.Start(t, cp.Node{Release: w.from}, cp.Node{Release: w.from}, cp.Node{Release: w.from})
	for _, step := range roll.Steps {
		at := fmt.Sprintf("step %d, %s %s", step.Step, step.Action, step.Node)
		if step.Action != report.ActionNone {
			s := servers[slices.IndexFunc(servers, func(s *cp.Server) bool { return s.Name == step.Node })]
			s.Stop(t)
			w.compare(t, at+", while it is down", servers, step.Replacing)
			minor := w.from
			if step.Action == report.ActionUpgrade {
				minor = w.to
			}
			s.Upgrade(t, minor, config)
			s.Start(t)
			s.WaitReady(t)
		}
		c.WaitPeers(t)
		w.compare(t, at, servers, &step.PlanMoment)
		for _, s := range servers {
			if want := step.Releases[s.Name]; !strings.HasPrefix(want, "v"+s.Release.Minor+".") {
				t.Errorf("%s: the plan has %s at %s, it runs %s", at, s.Name, want, s.Release)
			}
		}
	}
	t.Logf("%d steps, %d answers compared", len(roll.Steps), w.compared)
	if w.compared == 0 {
		t.Error("no resource differs anywhere")
	}
}

// settleTime is for what servers learn of each other, and forget.
const settleTime = 40 * time.Second

// compare holds what the plan says of a moment against what the servers answer, for every resource that they differ in.
func (w *walk) compare(t *testing.T, at string, servers []*cp.Server, said *report.PlanMoment) {
	t.Helper()
	servers = slices.DeleteFunc(slices.Clone(servers), func(s *cp.Server) bool { _, _, gone := s.Exited(); return gone })
	want := predicted(said)
	var diff string
	// A right answer must stand: it is asked for twice.
	right := 0
	for deadline := time.Now().Add(settleTime); ; time.Sleep(2 * time.Second) {
		got, err := w.answers(t, servers, want)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if diff = cmp.Diff(want, got); diff == "" {
			right++
		} else {
			right = 0
		}
		if right == 2 {
			w.compared += len(got)
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s: answers (-plan +servers):\n%s", at, diff)
			return
		}
	}
}

// predicted lists what the plan says that servers answer for what they lack.
func predicted(m *report.PlanMoment) map[string]string {
	all := map[string]string{}
	for answer, routes := range map[string][]report.Route{
		cp.NotFound: slices.Concat(m.FalseNotFound, m.NotServed), "503": m.Unavailable, cp.HandedOff: m.HandedOff, "unknown": m.Unknown,
	} {
		for _, r := range routes {
			all[key(r.Server, r.Group, r.Version, r.Resource)] = answer
		}
	}
	for _, server := range m.Blind {
		all[server] = "unknown"
	}
	return all
}

func key(server, group, version, resource string) string {
	return server + ": " + group + "/" + version + " " + resource
}

// answers asks each server for everything that it lacks: what another one has, and what the plan speaks of.
func (w *walk) answers(t *testing.T, servers []*cp.Server, said map[string]string) (map[string]string, error) {
	having := map[cp.Resource][]*cp.Server{}
	known := map[string]cp.Resource{}
	for _, s := range servers {
		for _, r := range s.AllResources(t) {
			having[r] = append(having[r], s)
		}
	}
	for r := range having {
		for _, s := range servers {
			known[key(s.Name, r.Group, r.Version, r.Name)] = r
		}
	}
	got := map[string]string{}
	for r, with := range having {
		for _, s := range servers {
			if !slices.Contains(with, s) {
				got[key(s.Name, r.Group, r.Version, r.Name)] = s.Answer(t, r)
			}
		}
	}
	// What no server has that runs: the plan knows of it from those that did, or will.
	for _, q := range slices.Sorted(maps.Keys(said)) {
		if _, had := known[q]; had {
			continue
		}
		name, rest, _ := strings.Cut(q, ": ")
		gv, resource, _ := strings.Cut(rest, " ")
		group, version, ok := strings.Cut(gv, "/")
		i := slices.IndexFunc(servers, func(s *cp.Server) bool { return s.Name == name })
		if !ok || i < 0 {
			return nil, errors.New("the plan speaks of a server that does not run: " + q)
		}
		got[q] = servers[i].Answer(t, cp.Resource{Group: group, Version: version, Name: resource})
	}
	return got, nil
}

// release is the lab's release of a minor, in full.
func release(t *testing.T, minor string) string {
	t.Helper()
	r, err := lab.FindRelease(minor)
	if err != nil {
		t.Fatal(err)
	}
	return r.Version
}
