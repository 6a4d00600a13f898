//go:build lab && linux

package controlplane

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
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

// TestOldest proves what is different with 1.34, of which the gate is alpha and the code an early one.
func TestOldest(t *testing.T) {
	cp := New(t, Options{})
	peer := cp.Start(t, Node{Release: "1.35", Flags: []Change{HandOff}})[0]

	t.Run("a peer that cannot be read", func(t *testing.T) {
		s := cp.Add(t, Node{Release: "1.34", Flags: []Change{HandOff, Set("peer-ca-file", OtherCA)}})
		s.Start(t)
		var exit *ExitError
		if err := s.Ready(t.Context()); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		ended := s.WaitExit(t, 10*time.Second)
		if text := s.LogText(); !ended || !strings.Contains(text, "nil pointer dereference") || !strings.Contains(text, "fetchNewDiscoveryFor") {
			t.Errorf("ended: %v; want a crash in fetchNewDiscoveryFor: %s", ended, tail(text, 10))
		}
	})

	t.Run("a peer that starts later", func(t *testing.T) {
		s := cp.Start(t, Node{Release: "1.34", Flags: []Change{HandOff}})[0]
		cp.WaitPeers(t)
		if read := s.Metric(t, "apiserver_rerouted_request_total", `code="200"`); read == 0 {
			t.Errorf("has not read %s, which was there before", peer.Name)
		}
		cp.Start(t, Node{Release: "1.35", Flags: []Change{HandOff, Set("runtime-config", "coordination.k8s.io/v1beta1=true")}})
		cp.WaitPeers(t)
		time.Sleep(3 * time.Second)
		const path = "/apis/coordination.k8s.io/v1beta1/leasecandidates"
		if answer := s.Get(t, path); answer.Status != http.StatusNotFound {
			t.Errorf("hands off to a peer that started after it: %d %s", answer.Status, answer.Body)
		}
		// Its five tries may be over before it knows the peers' addresses, also when these were there before.
		var answer *Answer
		for range 5 {
			s.Restart(t)
			time.Sleep(3 * time.Second)
			if answer = s.Get(t, path); answer.Status == http.StatusOK {
				return
			}
		}
		t.Errorf("does not hand off after it was started again and again: %d %s", answer.Status, answer.Body)
	})
}
