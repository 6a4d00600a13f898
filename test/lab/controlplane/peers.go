//go:build linux

package controlplane

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// peersTimeout is ample: two servers that are ready at the same time know each other after a second or two.
const peersTimeout = 30 * time.Second

// WaitPeers waits until each running server that has the gate and a CA has read the discovery of each that has the gate.
// Of a control plane that is broken on purpose, that may never come. A server of 1.34 never reads a peer that starts after
// it: start it last, or again, where it is to hand off.
func (cp *ControlPlane) WaitPeers(tb TB) {
	tb.Helper()
	var readers, published []*Server
	for _, s := range cp.Servers() {
		if p := s.current(); p == nil {
			continue
		} else if _, exited := p.exited(); exited {
			continue
		}
		gate, handOff := s.Hooks(tb)
		if gate {
			published = append(published, s)
		}
		if handOff {
			readers = append(readers, s)
		}
	}
	var missing string
	ctx, cancel := context.WithTimeout(tb.Context(), peersTimeout)
	defer cancel()
	err := poll(ctx, 200*time.Millisecond, func() (bool, error) {
		missing = ""
		for _, s := range readers {
			if missing = s.unknownPeers(tb, published); missing != "" {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		tb.Fatalf("after %s: %s", peersTimeout, missing)
	}
}

// unknownPeers says what the server does not know yet of the others, "" when it knows all.
func (s *Server) unknownPeers(tb TB, published []*Server) string {
	tb.Helper()
	peers := slices.DeleteFunc(slices.Clone(published), func(p *Server) bool {
		return p == s || s.Minor() < 35 && p.started.After(s.started)
	})
	// It reads two documents of each peer, /api and /apis. Nothing else shows that it has, where the peer serves nothing
	// that it does not serve itself, or where it does not merge (1.34).
	if read := s.Metric(tb, "apiserver_rerouted_request_total", `code="200"`); int(read) < 2*len(peers) {
		return fmt.Sprintf("%s has read %v documents of %d peers", s.Name, read, len(peers))
	}
	if s.Minor() < 35 {
		return ""
	}
	merged := s.Resources(tb, AcceptMerged)
	for _, p := range peers {
		for _, resource := range p.Resources(tb, AcceptLocal) {
			if _, found := slices.BinarySearch(merged, resource); !found {
				return fmt.Sprintf("%s does not list %s, which %s serves", s.Name, resource, p.Name)
			}
		}
	}
	return ""
}

// WaitMetric waits until a metric, summed over the lines that have the labels, each NAME="VALUE", is above a number.
func (s *Server) WaitMetric(tb TB, above float64, name string, labels ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), peersTimeout)
	defer cancel()
	err := poll(ctx, 200*time.Millisecond, func() (bool, error) { return s.Metric(tb, name, labels...) > above, nil })
	if err != nil {
		tb.Fatalf("%s: %s %q is not above %v after %s: %q", s.Name, name, labels, above, peersTimeout, s.Metrics(tb, name))
	}
}
