//go:build lab && linux

package campaign

import (
	"fmt"
	"slices"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	cp "github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// ownFiles tells whether a node has a file of its own that its peers judge: the configurations tell nothing of that.
func (p plane) ownFiles() bool {
	return slices.ContainsFunc(p.nodes, func(n drawnNode) bool { return n.has(func(f fault) bool { return f.own }) })
}

// compareExit compares the end of a server with what mvpcheck reads from the manifests and files of those that ran, as mvpcheck
// plan does.
func compareExit(a *attempt, servers []*cp.Server, gone *cp.Server, how string) planeResult {
	now := walk(a, servers)
	name := gone.HostPort()
	said := "nothing"
	switch {
	case slices.Contains(now.NotStarting, name):
		said = "no start"
	case slices.ContainsFunc(now.Up.Crashes, func(c handoff.Crash) bool { return c.Server == name }):
		said = "crash"
	}
	result := planeResult{said: map[string]int{fmt.Sprintf("configured %s, exits", said): 1}}
	if said == "nothing" {
		result.wrong = []string{fmt.Sprintf("%s %s: the configurations do not say that it %s", name, gone.Release, how)}
	}
	return result
}

// compareConfigured compares what mvpcheck reads so with what the servers answer.
func (p plane) compareConfigured(a *attempt, servers []*cp.Server, real answers, into *planeResult) {
	if p.ownFiles() {
		return
	}
	now := walk(a, servers).Up
	for _, pair := range now.Pairs {
		into.text += fmt.Sprintf("by the configurations, does %s hand to %s: %s %q\n", pair.From, pair.To, pair.Verdict, pair.Causes)
	}
	for _, c := range now.Crashes {
		if c.Certain {
			into.wrong = append(into.wrong, fmt.Sprintf("%s runs, and the configurations say that it crashes on %s: %s", c.Server, c.Peer, c.Cause))
		}
	}
	if len(now.Blind) > 0 {
		into.said[fmt.Sprintf("configured: blind for %d", len(now.Blind))]++
		return
	}
	said := map[string]handoff.Route{}
	for _, r := range now.Routes {
		said[routeKey(r.Server, r.Resource)] = r
	}
	for q, answer := range real {
		key := routeKey(q.server, handoff.Resource{Group: q.Group, Version: q.Version, Name: q.Name})
		outcome := said[key].Outcome
		// Whoever answers at the address of several may happen to have it.
		chance := outcome == handoff.NotFound && answer == cp.HandedOff && slices.Contains(said[key].Causes, handoff.SharedAddress)
		delete(said, key)
		want := map[handoff.Outcome]string{handoff.HandedOff: cp.HandedOff, handoff.NotFound: cp.NotFound}[outcome]
		if want != answer && outcome != handoff.Unsure && !chance {
			into.wrong = append(into.wrong, fmt.Sprintf("%s: the configurations say %q, the server answers %q", key, outcome, answer))
		}
		into.said[fmt.Sprintf("configured %s, answers %s", outcome, answer)]++
	}
	for key, r := range said {
		into.wrong = append(into.wrong, fmt.Sprintf("%s: the configurations say %q, and the servers do not differ in it", key, r.Outcome))
	}
	slices.Sort(into.wrong)
}

// walk is what the configurations of the servers say of the control plane now that one has been started after the other. That
// is the end of a roll that replaces each by its like.
func walk(a *attempt, servers []*cp.Server) handoff.Step {
	var nodes []handoff.Node
	for _, s := range servers {
		state := configured(a, s)
		for _, other := range servers {
			if other == s {
				continue
			}
			if other.Flag("advertise-address") == s.Flag("advertise-address") && other.Flag("secure-port") == s.Flag("secure-port") {
				state.Address = handoff.No
			}
			if host(other) == host(s) {
				state.Identity = handoff.No
			}
		}
		nodes = append(nodes, handoff.Node{Name: s.HostPort(), Before: state, After: state})
	}
	steps := handoff.Walk(nodes)
	return steps[len(steps)-1]
}

func routeKey(server string, r handoff.Resource) string {
	return fmt.Sprintf("%s %s/%s %s", server, r.Group, r.Version, r.Name)
}

func host(s *cp.Server) string {
	if s.Host != "" {
		return s.Host
	}
	return s.Name
}

// configured is what the manifest and the files of one node tell.
func configured(a *attempt, s *cp.Server) handoff.State {
	in, err := config.Read(s.Name+".yaml", s.Manifest(a))
	if err != nil {
		a.Fatalf("mvpcheck reads the manifest of %s: %v", s.Name, err)
	}
	r, err := release.Parse(s.Release.Version)
	if err != nil {
		a.Fatalf("%v", err)
	}
	h := checks.HandOffOf(checks.Input{Cluster: in.Clusters[0], Pair: checks.Pair{From: r, To: r}, Root: s.Root, Now: time.Now(), CertDays: 30})
	if h.Unreadable != "" || len(h.Nodes) == 0 {
		a.Fatalf("%s: %s", s.Name, h.Unreadable)
	}
	return h.Nodes[0].Running.State
}
