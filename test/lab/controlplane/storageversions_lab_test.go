//go:build lab && linux

package controlplane

import (
	"strings"
	"testing"
	"time"
)

// TestStorageVersions has a server that waits in vain for the API of storage versions, in a cluster that there was before.
func TestStorageVersions(t *testing.T) {
	cp := New(t, Options{})
	node := func(name string, changes ...Change) *Server {
		return cp.Add(t, Node{Release: "1.36", Name: name, Address: Addresses[0], Flags: changes})
	}
	gate := Add("feature-gates", "StorageVersionAPI=true")
	before := node("before")
	before.Start(t)
	before.WaitReady(t)
	before.Kill()

	alone := node("alone", gate)
	alone.Start(t)
	if !alone.WaitExit(t, time.Minute) || !strings.Contains(alone.LogText(), "unable to initialize roles") {
		t.Errorf("with the gate alone: want an end without roles: %s", tail(alone.LogText(), 10))
	}
	served := node("served", gate, Add("runtime-config", "internal.apiserver.k8s.io/v1alpha1=true"))
	served.Start(t)
	served.WaitReady(t)
}
