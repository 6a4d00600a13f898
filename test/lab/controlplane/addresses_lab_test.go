//go:build lab && linux

package controlplane

import (
	"errors"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// TestAddresses proves which address servers tell their peers, and where these send to.
func TestAddresses(t *testing.T) {
	cp := New(t, Options{})
	// Of these two flags no release takes notice. Should one begin to, so must mvpcheck.
	peerAdvertise := func(args []string) []string {
		args = Set(release.FlagPeerAdvertiseIP, SharedAddress)(HandOff(args))
		return Set(release.FlagPeerAdvertisePort, "7443")(args)
	}
	servers := cp.Start(t,
		Node{Release: "1.35", Flags: []Change{peerAdvertise}},
		Node{Release: "1.36", Flags: []Change{peerAdvertise}},
		Node{Release: "1.37", Flags: []Change{peerAdvertise}},
		// No address at all: the server finds its own, as if the flag were not set.
		Node{Release: "1.36", Flags: []Change{HandOff, Set(release.FlagAdvertiseAddress, "0.0.0.0")}},
	)
	cp.WaitPeers(t) // nothing listens on the other address and port
	leases := map[string]Lease{}
	for _, lease := range servers[0].Leases(t) {
		leases[lease.Host] = lease
	}
	for _, s := range servers {
		if peer := leases[s.Name].Peer; peer != s.HostPort() {
			t.Errorf("%s %s, %s: tells its peers %q, want %q", s.Name, s.Release, strings.Join(s.Args, " "), peer, s.HostPort())
		}
	}
}

// TestBindAddressElsewhere proves that a server exits that is to listen on an address that its node does not have.
func TestBindAddressElsewhere(t *testing.T) {
	cp := New(t, Options{})
	for _, minor := range []string{"1.35", "1.36"} {
		s := cp.Add(t, Node{Release: minor, Flags: []Change{HandOff, Set(release.FlagBindAddress, "192.0.2.99")}})
		s.Start(t)
		var exit *ExitError
		if err := s.Ready(t.Context()); !errors.As(err, &exit) || !strings.Contains(exit.Log, "cannot assign requested address") {
			t.Errorf("%s %s: %v", s.Name, s.Release, err)
		}
	}
}
