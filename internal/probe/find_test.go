package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

var (
	ok  = evidence.Told{State: evidence.OK}
	now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
)

// leasesOf reads HOST=PUBLISHED; HOST=PUBLISHED=stale is the lease of a server that has gone.
func leasesOf(texts ...string) evidence.Leases {
	leases := evidence.Leases{Told: ok, Now: now}
	for _, text := range texts {
		part := strings.Split(text, "=")
		l := evidence.Lease{Name: "lease-" + part[0], Hostname: part[0], Published: part[1], Renewed: now.Add(-5 * time.Second)}
		if len(part) > 2 {
			l.Renewed = now.Add(-2 * evidence.LeaseLife)
		}
		leases.Items = append(leases.Items, l)
	}
	return leases
}

// podsOf reads NODE=HOSTIP=ADVERTISED, the last empty where it is not known.
func podsOf(texts ...string) evidence.Pods {
	pods := evidence.Pods{Told: ok}
	for _, text := range texts {
		part := strings.Split(text, "=")
		p := evidence.Pod{Name: "pod-" + part[0], Node: part[0], HostIP: part[1], Flags: map[string]string{}}
		if part[2] != "" {
			p.Flags["advertise-address"] = part[2]
		}
		pods.Items = append(pods.Items, p)
	}
	return pods
}

func TestFindServers(t *testing.T) {
	tests := []struct {
		name   string
		shared evidence.Shared
		want   []string // ADDRESS SOURCES POD
	}{
		{"nothing", evidence.Shared{}, nil},
		{"all say the same", evidence.Shared{
			Endpoints: evidence.Endpoints{Told: ok, Addresses: []string{"10.0.0.1:6443", "10.0.0.2:6443"}},
			Leases:    leasesOf("a=10.0.0.1:6443", "b=10.0.0.2:6443"), Pods: podsOf("a=10.0.0.1=10.0.0.1", "b=10.0.0.2=10.0.0.2"),
		}, []string{"10.0.0.1:6443 endpointslice,pod,lease pod-a", "10.0.0.2:6443 endpointslice,pod,lease pod-b"}},
		{"endpoints alone", evidence.Shared{Endpoints: evidence.Endpoints{Told: ok, Addresses: []string{"10.0.0.1:6443"}}}, []string{"10.0.0.1:6443 endpointslice"}},
		{"leases alone", evidence.Shared{Leases: leasesOf("b=10.0.0.2:6443", "a=10.0.0.1:6443", "gone=10.0.0.3:6443=stale", "off=")}, []string{"10.0.0.1:6443 lease", "10.0.0.2:6443 lease"}},
		{"pods alone", evidence.Shared{Pods: podsOf("a=10.0.0.1=10.1.0.1", "b=10.0.0.2=")}, []string{"10.0.0.2:6443 pod pod-b", "10.1.0.1:6443 pod pod-a"}},
		{"one spelling of an address", evidence.Shared{
			Endpoints: evidence.Endpoints{Told: ok, Addresses: []string{"[2001:db8::1]:6443"}}, Leases: leasesOf("a=[2001:0DB8:0::1]:06443"),
		}, []string{"[2001:db8::1]:6443 endpointslice,lease"}},
		{"a load balancer for all, with pods", evidence.Shared{
			Endpoints: evidence.Endpoints{Told: ok, Addresses: []string{"10.9.9.9:6443"}}, Leases: leasesOf("a=10.9.9.9:6443", "b=10.9.9.9:6443"),
			Pods: podsOf("a=10.0.0.1=10.9.9.9", "b=10.0.0.2=10.9.9.9"),
		}, []string{"10.0.0.1:6443 pod pod-a", "10.0.0.2:6443 pod pod-b"}},
		{"a load balancer for all, without pods", evidence.Shared{
			Endpoints: evidence.Endpoints{Told: ok, Addresses: []string{"10.9.9.9:6443"}}, Leases: leasesOf("a=10.9.9.9:6443", "b=10.9.9.9:6443"),
		}, []string{"10.9.9.9:6443 endpointslice"}},
		{"a load balancer, and a pod that is missing", evidence.Shared{
			Endpoints: evidence.Endpoints{Told: ok, Addresses: []string{"10.9.9.9:6443"}}, Leases: leasesOf("a=10.9.9.9:6443", "b=10.9.9.9:6443", "c=10.9.9.9:6443"),
			Pods: podsOf("a=10.0.0.1=10.9.9.9", "b=10.0.0.2=10.9.9.9"),
		}, []string{"10.0.0.1:6443 pod pod-a", "10.0.0.2:6443 pod pod-b", "10.9.9.9:6443 endpointslice"}},
		{"what is no address", evidence.Shared{
			Leases: leasesOf("a=cp-1:6443", "b=10.0.0.2:0", "c=0.0.0.0:6443"), Pods: podsOf("a=nowhere=cp-1", "b==", "c=10.0.0.3=::"),
		}, []string{"10.0.0.3:6443 pod pod-c"}},
	}
	for _, tt := range tests {
		var got []string
		for _, f := range findServers(&tt.shared) {
			text := f.address + " " + strings.Join(f.sources, ",")
			if f.pod != nil {
				text += " " + f.pod.Name
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestIdentify(t *testing.T) {
	tests := []struct {
		name    string
		servers string // ADDRESS or ADDRESS=NODE; with ! one that did not answer
		leases  evidence.Leases
		want    string // IDENTITY@NODE of each
	}{
		{"by node", "10.0.0.1=a 10.0.0.2=b", leasesOf("a=", "b="), "lease-a@a lease-b@b"},
		{"by address", "10.0.0.1 10.0.0.2", leasesOf("b=10.0.0.2:6443", "a=10.0.0.1:6443"), "lease-a@a lease-b@b"},
		{"by a node of another name", "10.0.0.1=a.example", leasesOf("a=10.0.0.1:6443"), "lease-a@a.example"},
		{"the node says more than the address", "10.0.0.1=b 10.0.0.2=a", leasesOf("a=10.0.0.1:6443", "b=10.0.0.2:6443"), "lease-b@b lease-a@a"},
		{"no lease is of two servers", "10.0.0.1 10.0.0.2=a", leasesOf("a=10.0.0.1:6443"), "@ lease-a@a"},
		{"one address for two", "10.0.0.1", leasesOf("a=10.0.0.1:6443", "b=10.0.0.1:6443"), "@"},
		{"one address for two, of which one is known", "10.0.0.1 10.0.0.2=b", leasesOf("a=10.0.0.1:6443", "b=10.0.0.1:6443"), "lease-a@a lease-b@b"},
		{"two leases of one host", "10.0.0.1=a", leasesOf("a=", "a="), "@a"},
		{"what is left", "10.0.0.1 10.0.0.2", leasesOf("a=10.0.0.1:6443", "b="), "lease-a@a lease-b@b"},
		{"two are left", "10.0.0.1 10.0.0.2", leasesOf("a=", "b="), "@ @"},
		{"one lease for two", "10.0.0.1 10.0.0.2", leasesOf("a="), "@ @"},
		{"two leases for one", "10.0.0.1", leasesOf("a=", "b="), "@"},
		{"one that did not answer", "10.0.0.1 10.0.0.2!", leasesOf("a="), "lease-a@a @"},
		{"what is left publishes another address", "10.0.0.1", leasesOf("a=10.9.9.9:6443"), "lease-a@a"},
		{"one that has gone", "10.0.0.1", leasesOf("a=10.0.0.1:6443=stale"), "@"},
		{"no leases", "10.0.0.1", evidence.Leases{}, "@"},
	}
	for _, tt := range tests {
		var servers []evidence.Server
		for text := range strings.FieldsSeq(tt.servers) {
			text, dead := strings.CutSuffix(text, "!")
			address, node, _ := strings.Cut(text, "=")
			s := newServer(address+":6443", evidence.FromEndpoints)
			s.Node = node
			if !dead {
				s.Reached = ok
			}
			servers = append(servers, s)
		}
		identify(servers, &evidence.Shared{Leases: tt.leases})
		var got []string
		for _, s := range servers {
			got = append(got, s.Identity+"@"+s.Node)
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A server that was asked elsewhere than where it publishes itself has the lease of the address in its flags.
func TestIdentifyByFlags(t *testing.T) {
	flags := map[string]string{"advertise-address": "10.9.9.1", "secure-port": "6443"}
	servers := []evidence.Server{newServer("10.0.0.1:6443", evidence.FromPod), newServer("10.0.0.2:6443", evidence.FromPod), newServer("10.0.0.3:6443", evidence.FromEndpoints)}
	servers[0].Flags = evidence.Flags{Told: ok, Source: "flagz", Values: flags}
	servers[1].Pod = "pod-b"
	identify(servers, &evidence.Shared{Leases: leasesOf("a=10.9.9.1:6443", "b=10.9.9.2:6443", "c=", "d="), Pods: podsOf("b=10.0.0.2=10.9.9.2")})
	for i, want := range []string{"lease-a", "lease-b", ""} {
		if servers[i].Identity != want {
			t.Errorf("%s: %q, want %q", servers[i].Address, servers[i].Identity, want)
		}
	}
}

func TestParseServer(t *testing.T) {
	const rest = "a server's URL has a host, a port and perhaps a path"
	tests := []struct{ text, want, err string }{
		{"192.0.2.11", "https://192.0.2.11:6443", ""},
		{"192.0.2.11:8443", "https://192.0.2.11:8443", ""},
		{"cp-1.example", "https://cp-1.example:6443", ""},
		{"https://cp-1.example", "https://cp-1.example", ""},
		{"https://cp-1.example:8443/k8s/", "https://cp-1.example:8443/k8s/", ""},
		{"2001:db8::1", "https://[2001:db8::1]:6443", ""},
		{"[2001:db8::1]", "https://[2001:db8::1]:6443", ""},
		{"[2001:db8::1]:8443", "https://[2001:db8::1]:8443", ""},
		{"HTTPS://cp-1", "https://cp-1", ""},
		{"", "", `"" names no host`},
		{":6443", "", `":6443" names no host`},
		{"https://", "", `"https://" names no host`},
		{"https:///path", "", `"https:///path" names no host`},
		{"http://cp-1", "", `"http://cp-1": credentials are sent with https only`},
		{"tcp://cp-1", "", `"tcp://cp-1": credentials are sent with https only`},
		{"https://user:secret@cp-1", "", rest + "; credentials are the kubeconfig's"},
		{"user:secret@cp-1", "", rest + "; credentials are the kubeconfig's"},
		{"http://user:secret@cp 1", "", rest + "; credentials are the kubeconfig's"},
		{"https://cp-1?x=y", "", `"https://cp-1?x=y": ` + rest + ", nothing else"},
		{"https://cp-1#x", "", `"https://cp-1#x": ` + rest + ", nothing else"},
		{"cp-1:0", "", `"cp-1:0": 0 is no port`},
		{"cp-1:70000", "", `"cp-1:70000": 70000 is no port`},
		{"cp-1:https", "", `"cp-1:https" is no URL of a server`},
		{"cp 1", "", `"cp 1" is no URL of a server`},
		{"cp-1\n", "", `"cp-1\n" is no URL of a server`},
		{"]", "", `"]" is no URL of a server`},
		{"https://[2001:db8::1", "", `"https://[2001:db8::1" is no URL of a server`},
	}
	for _, tt := range tests {
		u, err := parseServer(tt.text)
		got, msg := "", ""
		if err != nil {
			msg = err.Error()
		} else {
			got = u.String()
		}
		if got != tt.want || msg != tt.err {
			t.Errorf("%q: %q, %q; want %q, %q", tt.text, got, msg, tt.want, tt.err)
		}
	}
}
