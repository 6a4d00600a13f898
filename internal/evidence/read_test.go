package evidence

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	ok  = Told{State: OK}
	now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
)

// resource reads such as "apps/v1 deployments".
func resource(text string) Resource {
	gv, name, _ := strings.Cut(text, " ")
	group, version, found := strings.Cut(gv, "/")
	if !found {
		group, version = "", gv
	}
	return Resource{Group: group, Version: version, Resource: name}
}

func document(resources ...string) Document {
	d := Document{Told: ok}
	for _, r := range resources {
		d.Resources = append(d.Resources, resource(r))
	}
	return d
}

func TestResource(t *testing.T) {
	tests := []struct {
		r           Resource
		text, gv    string
		subresource bool
	}{
		{resource("v1 pods"), "v1 pods", "v1", false},
		{resource("v1 pods/status"), "v1 pods/status", "v1", true},
		{resource("apps/v1 deployments"), "apps/v1 deployments", "apps/v1", false},
		{resource("apps/v1beta1 deployments"), "apps/v1beta1 deployments", "apps/v1beta1", false},
		{resource("batch/v1 cronjobs"), "batch/v1 cronjobs", "batch/v1", false},
	}
	for i, tt := range tests {
		if tt.r.String() != tt.text || tt.r.GroupVersion() != tt.gv || tt.r.IsSubresource() != tt.subresource {
			t.Errorf("%+v: %q %q %v", tt.r, tt.r, tt.r.GroupVersion(), tt.r.IsSubresource())
		}
		for j := range tests {
			if got := CompareResources(tt.r, tests[j].r); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%v and %v: %d", tt.r, tests[j].r, got)
			}
		}
	}
}

func TestDoubtful(t *testing.T) {
	server := func(local, merged Document) Server {
		return Server{Core: document("v1 pods"), Local: local, Merged: merged}
	}
	failed := Document{Told: Told{State: Failed, Reason: "x"}}
	tests := []struct {
		name     string
		servers  []Server
		services []string
		want     []string
	}{
		{"none", nil, nil, nil},
		{"the same", []Server{server(document("a/v1 x"), document("a/v1 x")), server(document("a/v1 x"), document("a/v1 x"))}, nil, nil},
		{"one has more", []Server{server(document("a/v1 x"), document("a/v1 x")), server(document("a/v1 x", "b/v1 y", "b/v1 y/status"), document("a/v1 x", "b/v1 y"))}, nil, []string{"b/v1 y", "b/v1 y/status"}},
		{"each has more", []Server{server(document("b/v1 y"), failed), server(document("a/v1 x"), failed)}, nil, []string{"a/v1 x", "b/v1 y"}},
		{"offered and served by none", []Server{server(document("a/v1 x"), document("a/v1 x", "c/v1 z"))}, nil, []string{"c/v1 z"}},
		{"offered by one that tells nothing of its own", []Server{server(document("a/v1 x"), document("a/v1 x")), server(failed, document("a/v1 x", "c/v1 z"))}, nil, []string{"c/v1 z"}},
		{"one tells nothing", []Server{server(document("a/v1 x"), document("a/v1 x")), server(failed, failed)}, nil, nil},
		{"none tells anything of its own", []Server{server(failed, document("a/v1 x"))}, nil, nil},
		{"not built in", []Server{server(document("a/v1 x"), failed), server(document("a/v1 x", "crd.example/v1 z", "crd.example/v2 z"), failed)}, []string{"crd.example/v1"}, []string{"crd.example/v2 z"}},
		{"of the core", []Server{server(document(), failed), {Core: document("v1 pods", "v1 things"), Local: document()}}, nil, []string{"v1 things"}},
	}
	for _, tt := range tests {
		c := &ControlPlane{Servers: tt.servers}
		for _, gv := range tt.services {
			c.Shared.APIServices.Items = append(c.Shared.APIServices.Items, APIService{GroupVersion: gv})
		}
		var got []string
		for _, r := range c.Doubtful() {
			got = append(got, r.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestServes(t *testing.T) {
	s := Server{Core: document("v1 pods"), Local: document("a/v1 x", "a/v1 x/status"), Objects: []Object{{Resource: resource("b/v1 y"), Asked: Served}}}
	for text, want := range map[string]bool{"v1 pods": true, "v1 things": false, "a/v1 x": true, "a/v1 x/status": true, "a/v2 x": false, "b/v1 y": false} {
		if got := s.Serves(resource(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if o := s.Object(resource("b/v1 y")); o == nil || o.Asked != Served || s.Object(resource("b/v1 z")) != nil {
		t.Errorf("%+v", o)
	}
}

func TestCounters(t *testing.T) {
	started := now.Add(-time.Hour)
	reading := func(started time.Time, counts ...float64) Reading {
		r := Reading{Time: now, Started: started}
		for i, n := range counts {
			r.Rerouted = append(r.Rerouted, Count{Code: []string{"200", "503", "200"}[i], Resource: resource("a/v1 x"), Value: n})
		}
		return r
	}
	tests := []struct {
		name          string
		readings      []Reading
		codes         []string
		total, growth float64
	}{
		{"none", nil, []string{"200"}, 0, 0},
		{"one", []Reading{reading(started, 5, 2, 1)}, []string{"200"}, 6, 0},
		{"two", []Reading{reading(started, 5, 2), reading(started, 7, 2)}, []string{"200"}, 7, 2},
		{"several codes", []Reading{reading(started, 5, 2), reading(started, 7, 3)}, []string{"200", "503"}, 10, 3},
		{"no codes", []Reading{reading(started, 5, 2), reading(started, 7, 3)}, nil, 0, 0},
		{"the first and the last of three", []Reading{reading(started, 5), reading(started, 50), reading(started, 7)}, []string{"200"}, 7, 2},
		{"new series", []Reading{reading(started), reading(started, 4)}, []string{"200"}, 4, 4},
		{"started anew, and beyond where it was", []Reading{reading(started, 5), reading(now, 9)}, []string{"200"}, 9, 9},
		{"started anew, and less", []Reading{reading(started, 5), reading(now, 3)}, []string{"200"}, 3, 3},
		{"started anew without saying so", []Reading{reading(time.Time{}, 5), reading(time.Time{}, 3)}, []string{"200"}, 3, 3},
	}
	for _, tt := range tests {
		m := Metrics{Readings: tt.readings}
		if total, growth := m.Total(tt.codes...), m.Growth(tt.codes...); total != tt.total || growth != tt.growth {
			t.Errorf("%s: total %v, growth %v; want %v, %v", tt.name, total, growth, tt.total, tt.growth)
		}
	}
}

func TestFresh(t *testing.T) {
	lease := func(name string, age time.Duration) Lease { return Lease{Name: name, Renewed: now.Add(-age)} }
	l := Leases{Now: now, Items: []Lease{
		lease("now", 0), lease("ten-seconds", 10*time.Second), lease("at-the-end", LeaseLife), lease("over", LeaseLife+time.Millisecond),
		lease("hour", time.Hour), lease("clock-ahead", -time.Minute), {Name: "never"},
	}}
	var got []string
	for _, l := range l.Fresh() {
		got = append(got, l.Name)
	}
	if diff := cmp.Diff([]string{"now", "ten-seconds", "at-the-end", "clock-ahead"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Leases{}).Fresh(); got != nil {
		t.Errorf("%v", got)
	}
}

func TestAddress(t *testing.T) {
	tests := map[string]string{
		"192.0.2.11:6443": "192.0.2.11:6443", "192.0.2.11:06443": "192.0.2.11:6443", "127.0.0.1:1": "127.0.0.1:1",
		"[2001:db8::1]:6443": "[2001:db8::1]:6443", "[2001:0DB8:0:0::1]:65535": "[2001:db8::1]:65535", "[::ffff:192.0.2.11]:6443": "192.0.2.11:6443",
		"": "", ":6443": "", "192.0.2.11": "", "192.0.2.11:": "", "192.0.2.11:0": "", "192.0.2.11:65536": "", "192.0.2.11:-1": "", "192.0.2.11:99999999999999999999": "",
		"192.0.2.11:https": "", "cp-1:6443": "", "localhost:6443": "", "192.0.2.011:6443": "", "192.0.2:6443": "", "0x7f000001:6443": "", "2001:db8::1:6443": "", "[2001:db8::1]": "",
		"[fe80::1%eth0]:6443": "", "0.0.0.0:6443": "", "[::]:6443": "", "[::ffff:0.0.0.0]:6443": "", "224.0.0.1:6443": "", "[ff02::1]:6443": "",
		"https://192.0.2.11:6443": "", "user:pw@192.0.2.11:6443": "", "192.0.2.11:6443/x": "", " 192.0.2.11:6443": "", "192.0.2.11:6443\n": "", "192.0.2.11: 6443": "",
	}
	for text, want := range tests {
		got, err := Address(text)
		if got != want || (err != nil) != (want == "") || Canonical(text) != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestPodAddresses(t *testing.T) {
	tests := []struct {
		name           string
		pod            Pod
		published, own string
	}{
		{"kubeadm", Pod{HostIP: "192.0.2.11", Flags: map[string]string{"advertise-address": "192.0.2.11", "secure-port": "6443"}}, "192.0.2.11:6443", "192.0.2.11:6443"},
		{"default port", Pod{HostIP: "192.0.2.11", Flags: map[string]string{"advertise-address": "192.0.2.1"}}, "192.0.2.1:6443", "192.0.2.11:6443"},
		{"bound", Pod{HostIP: "192.0.2.11", Flags: map[string]string{"advertise-address": "192.0.2.1", "bind-address": "192.0.2.12", "secure-port": "7443"}}, "192.0.2.1:7443", "192.0.2.12:7443"},
		{"bound to all", Pod{HostIP: "192.0.2.11", Flags: map[string]string{"bind-address": "::"}}, "", "192.0.2.11:6443"},
		{"bound to a name", Pod{HostIP: "192.0.2.11", Flags: map[string]string{"bind-address": "cp-1"}}, "", "192.0.2.11:6443"},
		{"flags unknown", Pod{HostIP: "192.0.2.11", Endpoint: "192.0.2.1:6443"}, "192.0.2.1:6443", "192.0.2.11:6443"},
		{"IPv6", Pod{HostIP: "2001:db8::11", Flags: map[string]string{"advertise-address": "2001:db8::1"}}, "[2001:db8::1]:6443", "[2001:db8::11]:6443"},
		{"no addresses", Pod{HostIP: "cp-1", Flags: map[string]string{"advertise-address": "$(IP)", "secure-port": "0"}}, "", ""},
		{"nothing", Pod{}, "", ""},
	}
	for _, tt := range tests {
		if got := tt.pod.Published(); got != tt.published {
			t.Errorf("%s: publishes %q, want %q", tt.name, got, tt.published)
		}
		if got := tt.pod.Own(); got != tt.own {
			t.Errorf("%s: has %q, want %q", tt.name, got, tt.own)
		}
	}
}
