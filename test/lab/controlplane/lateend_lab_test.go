//go:build lab && linux

package controlplane

import (
	"strings"
	"testing"
)

// TestLateEnds has servers that listen, cannot write their default roles, and end half a minute later: in a cluster that there
// was before, as at an upgrade.
func TestLateEnds(t *testing.T) {
	cp := New(t, Options{})
	node := func(name string, changes ...Change) *Server {
		s := cp.Add(t, Node{Release: "1.36", Name: name, Address: Addresses[0], Flags: changes})
		s.Start(t)
		return s
	}
	gate := Add("feature-gates", "StorageVersionAPI=true")
	cp.Begin(t, Node{Release: "1.36", Name: "before", Address: Addresses[0]})

	for name, change := range map[string]Change{
		"gate-without-api": gate,
		"no-time":          Set("request-timeout", "1ms"),
	} {
		t.Run(name, func(t *testing.T) {
			s := node(name, change)
			defer s.Kill()
			ended, text := s.WaitExit(t, readyTimeout), s.LogText()
			// Which hook has waited longest is the moment's: of the roles, or of the addresses of Services.
			if !ended || !strings.Contains(text, "] PostStartHook ") {
				t.Errorf("ended: %v; want an end in vain: %s", ended, tail(text, 10))
			}
		})
	}
	for name, changes := range map[string][]Change{
		"gate-with-api": {gate, Add("runtime-config", "internal.apiserver.k8s.io/v1alpha1=true")},
		"some-time":     {Set("request-timeout", "1s")},
	} {
		t.Run(name, func(t *testing.T) {
			s := node(name, changes...)
			defer s.Kill()
			s.WaitReady(t)
		})
	}
}
