package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// pair is an old server and a new one that hand requests to each other.
func pair(t testing.TB) (c *cluster, older, newer *fake) {
	c = newCluster(t)
	older, newer = c.newFake("old", "v1.35.4", oldOnes), c.newFake("new", "v1.36.3", newOnes)
	older.peers, newer.peers = []*fake{newer}, []*fake{older}
	c.listed = []*fake{older, newer}
	return c, older, newer
}

func TestAsk(t *testing.T) {
	c, older, newer := pair(t)
	c.leases = []any{lease("cp-1", older.address, 0), lease("cp-2", newer.address, 0)}
	cp := mustAsk(t, Options{Config: c.config(older), Context: "test", Version: "v1"})

	migrations := resource("storagemigration.k8s.io/v1 storageversionmigrations")
	ok := evidence.Told{State: evidence.OK}
	server := func(f *fake, node string, merged, local []evidence.Resource, o evidence.Object) evidence.Server {
		return evidence.Server{
			Address: f.address, Node: node, Identity: "apiserver-" + node, FoundBy: []string{"endpointslice", "lease"},
			Reached: ok, Version: evidence.Version{Told: ok, GitVersion: f.release}, Ready: true,
			Hooks:  evidence.Hooks{Told: ok, Names: []string{evidence.HookPeerProxy, evidence.HookReconciler}},
			Flags:  evidence.Flags{Told: evidence.Told{State: evidence.Absent, Reason: "404 Not Found"}},
			Core:   evidence.Document{Told: ok, Resources: resources("v1 configmaps", "v1 pods", "v1 pods/status")},
			Merged: evidence.Document{Told: ok, Resources: merged}, Local: evidence.Document{Told: ok, Resources: local},
			Metrics: evidence.Metrics{Told: ok}, Objects: []evidence.Object{o},
		}
	}
	want := []evidence.Server{
		server(older, "cp-1", newOnes, oldOnes, evidence.Object{Resource: migrations, Asked: evidence.Served, Alone: evidence.NotServed}),
		server(newer, "cp-2", newOnes, newOnes, evidence.Object{Resource: migrations, Alone: evidence.Served}),
	}
	if want[0].Address > want[1].Address {
		want[0], want[1] = want[1], want[0]
	}
	if diff := cmp.Diff(want, cp.Servers, cmpopts.IgnoreFields(evidence.Metrics{}, "Readings")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, s := range cp.Servers {
		if r := s.Metrics.Readings; len(r) != 1 || !r[0].Gates[evidence.Gate] || r[0].Started.Unix() != 1.7e9 {
			t.Errorf("%s: readings %+v", s.Address, r)
		}
	}
	for _, d := range cp.Shared.Dials {
		if !d.Connected || !d.Named || !d.Trusted || d.Error != "" {
			t.Errorf("dial %+v", d)
		}
	}
	if n := len(cp.Shared.Dials); n != 2 {
		t.Errorf("%d dials", n)
	}
	if cp.Found != "endpoints of default/kubernetes, identity leases" || !cp.Shared.Discovery.Authenticated ||
		!cmp.Equal(cp.Shared.Authentication.CASubjects, []string{"CN=kubernetes"}) {
		t.Errorf("found by %q, shared %+v", cp.Found, cp.Shared)
	}
	recorded(t, cp)
}
