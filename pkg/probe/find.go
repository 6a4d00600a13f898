package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/pkg/evidence"
)

// found is an address with what names it.
type found struct {
	address string
	sources []string
	pod     *evidence.Pod
}

// findServers puts the list of servers together. It is the EndpointSlice's, with mirror pods and leases beside it. An
// address that several servers publish is that of a load balancer, or of one of them, and is not asked where
// the servers' own addresses are known.
func findServers(s *evidence.Shared) []found {
	var list []found
	add := func(address, source string, pod *evidence.Pod) {
		if address == "" {
			return
		}
		i := slices.IndexFunc(list, func(f found) bool { return f.address == address })
		if i < 0 {
			i = len(list)
			list = append(list, found{address: address})
		}
		if !slices.Contains(list[i].sources, source) {
			list[i].sources = append(list[i].sources, source)
		}
		if pod != nil {
			list[i].pod = pod
		}
	}
	publishers := map[string]int{}
	for i := range s.Pods.Items {
		publishers[s.Pods.Items[i].Published()]++
	}
	fresh := s.Leases.Fresh()
	leases := map[string]int{}
	for _, l := range fresh {
		leases[evidence.Canonical(l.Published)]++
	}
	// Nothing is left out unless every server has a pod that tells its own address.
	podsOfAll := len(s.Pods.Items) > 0 && s.Leases.OK() && len(s.Pods.Items) >= len(fresh)
	for _, address := range s.Endpoints.Addresses {
		if publishers[address] > 1 && podsOfAll {
			continue
		}
		add(address, evidence.FromEndpoints, nil)
	}
	for i := range s.Pods.Items {
		pod := &s.Pods.Items[i]
		if published := pod.Published(); published != "" && publishers[published] == 1 {
			add(published, evidence.FromPod, pod)
		} else {
			add(pod.Own(), evidence.FromPod, pod)
		}
	}
	for _, l := range fresh {
		if published := evidence.Canonical(l.Published); published != "" && leases[published] == 1 {
			add(published, evidence.FromLease, nil)
		}
	}
	slices.SortFunc(list, func(a, b found) int { return strings.Compare(a.address, b.address) })
	return list
}

// identify fills in the lease and the node of each server, where something tells them.
func identify(servers []evidence.Server, s *evidence.Shared) {
	taken := map[string]bool{}
	take := func(server *evidence.Server, l evidence.Lease) {
		server.Identity, server.Node = l.Name, cmp.Or(server.Node, l.Hostname)
		taken[l.Name] = true
	}
	fresh := s.Leases.Fresh()
	for i := range servers {
		server := &servers[i]
		var matching []evidence.Lease
		for _, l := range fresh {
			if server.Node != "" && l.Hostname == server.Node {
				matching = []evidence.Lease{l}
				break
			}
			if published := evidence.Canonical(l.Published); published != "" && (published == server.Address || published == intended(server, s)) {
				matching = append(matching, l)
			}
		}
		if len(matching) == 1 && !taken[matching[0].Name] {
			take(server, matching[0])
		}
	}
	// One server and one lease that are left belong together.
	rest := slices.DeleteFunc(slices.Clone(fresh), func(l evidence.Lease) bool { return taken[l.Name] })
	var nameless []*evidence.Server
	for i := range servers {
		if servers[i].Identity == "" && servers[i].Reached.OK() {
			nameless = append(nameless, &servers[i])
		}
	}
	if len(rest) == 1 && len(nameless) == 1 {
		take(nameless[0], rest[0])
	}
}

// intended is the address that a server is to publish by its flags, as far as these are known.
func intended(server *evidence.Server, s *evidence.Shared) string {
	if server.Flags.OK() {
		return evidence.Pod{Flags: server.Flags.Values}.Published()
	}
	for _, pod := range s.Pods.Items {
		if server.Pod != "" && pod.Name == server.Pod {
			return pod.Published()
		}
	}
	return ""
}

// parseServer reads a --server: a URL, or a host with or without a port.
func parseServer(s string) (*url.URL, error) {
	text := s
	if !strings.Contains(s, "://") {
		text = "https://" + s
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no URL of a server", s)
	case u.Scheme != "https":
		return nil, fmt.Errorf("%q: credentials are sent with https only", s)
	case u.Host == "" || u.Hostname() == "":
		return nil, fmt.Errorf("%q names no host", s)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a server's URL has a host, a port and perhaps a path, nothing else")
	}
	if u.Port() == "" && !strings.Contains(s, "://") {
		u.Host = net.JoinHostPort(u.Hostname(), "6443")
	}
	return u, nil
}
