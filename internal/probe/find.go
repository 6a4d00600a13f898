package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
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
	left := s.Leases.Fresh()
	take := func(server *evidence.Server, belongs func(evidence.Lease) bool) {
		i := slices.IndexFunc(left, belongs)
		if server.Identity != "" || i < 0 || slices.ContainsFunc(left[i+1:], belongs) {
			return
		}
		server.Identity, server.Node = left[i].Name, cmp.Or(server.Node, left[i].Hostname)
		left = slices.Delete(left, i, i+1)
	}
	for i := range servers {
		if node := servers[i].Node; node != "" {
			take(&servers[i], func(l evidence.Lease) bool { return l.Hostname == node })
		}
	}
	// Two leases with one address are nobody's, before one of them is taken and after.
	published := map[string]int{}
	for _, l := range s.Leases.Fresh() {
		published[evidence.Canonical(l.Published)]++
	}
	for i := range servers {
		// Where it was asked, or where its flags tell it to be: a server that publishes an address at which it does not
		// answer was asked elsewhere.
		for _, address := range []string{servers[i].Address, intended(&servers[i], s)} {
			if address != "" && published[address] == 1 {
				take(&servers[i], func(l evidence.Lease) bool { return evidence.Canonical(l.Published) == address })
			}
		}
	}
	// One server and one lease that are left belong together.
	var nameless []*evidence.Server
	for i := range servers {
		if servers[i].Identity == "" && servers[i].Reached.OK() {
			nameless = append(nameless, &servers[i])
		}
	}
	if len(nameless) == 1 {
		take(nameless[0], func(evidence.Lease) bool { return true })
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

// parseServer reads a --server: a URL, or a host with or without a port. Errors do not quote what can have a password
// in it.
func parseServer(s string) (*url.URL, error) {
	text, bare := s, !strings.Contains(s, "://")
	switch {
	case strings.Contains(s, "@"):
		return nil, errors.New("a server's URL has a host, a port and perhaps a path; credentials are the kubeconfig's")
	case bare && strings.Contains(s, ":") && net.ParseIP(s) != nil:
		text = "https://[" + s + "]"
	case bare:
		text = "https://" + s
	}
	u, err := url.Parse(text)
	if err == nil && u.Hostname() != "" {
		_, _, err = net.SplitHostPort(hostPort(u)) // brackets that are no address's
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no URL of a server", s)
	case u.Scheme != "https":
		return nil, fmt.Errorf("%q: credentials are sent with https only", s)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%q names no host", s)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%q: a server's URL has a host, a port and perhaps a path, nothing else", s)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("%q: %s is no port", s, port)
		}
	} else if bare {
		u.Host = net.JoinHostPort(u.Hostname(), "6443")
	}
	return u, nil
}
