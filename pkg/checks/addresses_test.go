package checks

import "testing"

// TestListensElsewhere has addresses to listen on: a server exits where its node does not have it, which a configuration tells
// of no address but the one that its node is known by.
func TestListensElsewhere(t *testing.T) {
	node := func(s string) string {
		return "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: 192.0.2.11}\n---\n" + s
	}
	for _, tc := range []struct {
		name   string
		bind   string
		change func(string) string
		known  bool
	}{
		{"all", "0.0.0.0", nil, true},
		{"all of both families", "::", nil, true},
		{"loopback", "127.0.0.1", nil, true},
		{"one for all nodes", "192.0.2.11", nil, false},
		{"the advertised one", "192.0.2.11", arg("advertise-address", "192.0.2.11"), true},
		{"another than the advertised one", "192.0.2.99", arg("advertise-address", "192.0.2.11"), false},
		{"the node's", "192.0.2.11", node, true},
		{"another than the node's", "192.0.2.99", node, false},
		{"a template mark", "{{ address }}", nil, true}, // which is MVP006's
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := handOffInput(t, 36, func(s string) string {
				if s = arg("bind-address", tc.bind)(s); tc.change != nil {
					s = tc.change(s)
				}
				return s
			})
			r := Run(in, []*Rule{invalidAddressValue})
			if known := len(r.Unknown) == 0; known != tc.known || len(r.Findings) > 0 {
				t.Errorf("not told: %v, findings: %v", r.Unknown, r.Findings)
			}
		})
	}
}
