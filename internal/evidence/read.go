package evidence

import (
	"cmp"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CompareResources orders resources by group, version and name.
func CompareResources(a, b Resource) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version),
		strings.Compare(a.Resource, b.Resource))
}

// Lists tells whether the document has a resource.
func (d Document) Lists(r Resource) bool {
	_, found := slices.BinarySearchFunc(d.Resources, r, CompareResources)
	return found
}

// Doubtful returns the resources that not every server serves itself, by the servers' own documents, and those that a
// merged document offers though no server serves them. Group versions that are not built in are left out.
func (c *ControlPlane) Doubtful() []Resource {
	notBuiltIn := c.NotBuiltIn()
	count := map[Resource]int{}
	told := 0
	for i := range c.Servers {
		s := &c.Servers[i]
		if !s.Local.OK() || !s.Core.OK() {
			continue
		}
		told++
		for _, r := range s.Local.Resources {
			count[r]++
		}
		for _, r := range s.Core.Resources {
			count[r]++
		}
	}
	if told == 0 {
		return nil
	}
	for i := range c.Servers {
		for _, r := range c.Servers[i].Merged.Resources {
			if _, served := count[r]; !served {
				count[r] = 0
			}
		}
	}
	var out []Resource
	for r, n := range count {
		if n < told && !notBuiltIn[r.GroupVersion()] {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, CompareResources)
	return out
}

// Serves tells whether a server has a resource itself, by its documents.
func (s *Server) Serves(r Resource) bool {
	if r.Group == "" {
		return s.Core.Lists(r)
	}
	return s.Local.Lists(r)
}

// Object returns the answer to the named GET of a resource; nil where it was not asked.
func (s *Server) Object(r Resource) *Object {
	for i := range s.Objects {
		if CompareResources(s.Objects[i].Resource, r) == 0 {
			return &s.Objects[i]
		}
	}
	return nil
}

// NotBuiltIn returns the group versions of custom resources and aggregated API servers.
func (c *ControlPlane) NotBuiltIn() map[string]bool {
	set := map[string]bool{}
	for _, s := range c.Shared.APIServices.Items {
		set[s.GroupVersion] = true
	}
	return set
}

// LeaseLife is how long after its renewal a lease stands for a server that runs. Servers renew theirs every 10 s; the
// lease itself stays for an hour.
const LeaseLife = 60 * time.Second

// Fresh returns the leases of servers that run.
func (l Leases) Fresh() []Lease {
	var fresh []Lease
	for _, lease := range l.Items {
		if l.Now.Sub(lease.Renewed) <= LeaseLife {
			fresh = append(fresh, lease)
		}
	}
	return fresh
}

// Published is the address that the server is told to publish to its peers, as far as its pod tells it:
// advertise-address with secure-port.
func (p Pod) Published() string {
	if p.Flags == nil {
		return Canonical(p.Endpoint)
	}
	if p.Flags["advertise-address"] == "" {
		return ""
	}
	return Canonical(net.JoinHostPort(p.Flags["advertise-address"], cmp.Or(p.Flags["secure-port"], "6443")))
}

// Own is an address of the server that no other server has.
func (p Pod) Own() string {
	host := p.HostIP
	if ip := net.ParseIP(p.Flags["bind-address"]); ip != nil && !ip.IsUnspecified() {
		host = ip.String()
	}
	return Canonical(net.JoinHostPort(host, cmp.Or(p.Flags["secure-port"], "6443")))
}

// Canonical is Address, empty where there is none.
func Canonical(s string) string {
	address, err := Address(s)
	if err != nil {
		return ""
	}
	return address
}

// Address returns an address in its usual form, if it is an IP address with a port: what leases and endpoints
// name is untrusted, and API servers publish nothing else.
func Address(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", errors.New("no address with a port")
	}
	ip := net.ParseIP(host)
	n, err := strconv.Atoi(port)
	if ip == nil || ip.IsUnspecified() || ip.IsMulticast() || err != nil || n < 1 || n > 65535 {
		return "", errors.New("no IP address of a server with a port")
	}
	return net.JoinHostPort(ip.String(), strconv.Itoa(n)), nil
}

// Latest is the last reading, the zero Reading where there is none.
func (m Metrics) Latest() Reading {
	if len(m.Readings) == 0 {
		return Reading{}
	}
	return m.Readings[len(m.Readings)-1]
}

// Total adds up the counter of requests handed on that ended in one of the codes, as it stands at the last reading.
func (m Metrics) Total(codes ...string) float64 { return m.Latest().total(codes) }

// Growth is how much Total grew from the first reading to the last; 0 with less than two readings. A server that was
// started anew in between has counted from zero.
func (m Metrics) Growth(codes ...string) float64 {
	if len(m.Readings) < 2 {
		return 0
	}
	first, last := m.Readings[0], m.Latest()
	grown := last.total(codes) - first.total(codes)
	if grown < 0 || !first.Started.Equal(last.Started) {
		return last.total(codes)
	}
	return grown
}

func (r Reading) total(codes []string) float64 {
	sum := 0.0
	for _, c := range r.Rerouted {
		if slices.Contains(codes, c.Code) {
			sum += c.Value
		}
	}
	return sum
}
