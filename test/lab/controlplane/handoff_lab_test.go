//go:build lab && linux

package controlplane

import (
	"net/http"
	"testing"
)

// newIn136 is a resource that 1.36 serves and 1.35 does not.
const newIn136 = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"

// TestHandOff is the lab's own proof that its servers are those of the facts: H1.
func TestHandOff(t *testing.T) {
	cp := New(t, Options{})
	servers := cp.Start(t,
		Node{Release: "1.35", Flags: []Change{HandOff}},
		Node{Release: "1.36", Flags: []Change{HandOff}})
	cp.WaitPeers(t)

	for i, want := range []struct{ merged, local int }{{51, 49}, {51, 51}} {
		s := servers[i]
		if merged, local := len(s.Resources(t, AcceptMerged)), len(s.Resources(t, AcceptLocal)); merged != want.merged || local != want.local {
			t.Errorf("%s %s: %d/%d resources, want %d/%d", s.Name, s.Release, merged, local, want.merged, want.local)
		}
	}
	old := servers[0]
	if answer := old.Get(t, newIn136); answer.Status != http.StatusOK {
		t.Errorf("%s %s: %d %s", old.Name, old.Release, answer.Status, answer.Body)
	}
	// The same with the header that peers send: from its own resources only.
	if answer := old.Get(t, newIn136, "X-Kubernetes-Peer-Proxied: true"); answer.Status != http.StatusNotFound {
		t.Errorf("%s %s, as a peer: %d %s", old.Name, old.Release, answer.Status, answer.Body)
	}
}
