package evidence

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// controlPlane is evidence with something in every field.
func controlPlane() *ControlPlane {
	old := document("apps/v1 deployments", "apps/v1 deployments/status")
	all := document("apps/v1 deployments", "apps/v1 deployments/status", "storagemigration.k8s.io/v1 storageversionmigrations")
	all.Stale = []string{"metrics.k8s.io/v1beta1"}
	server := func(address string, local Document) Server {
		return Server{
			Address: address, Node: "cp", Identity: "apiserver-x", Pod: "kube-apiserver-cp", FoundBy: []string{FromEndpoints, FromLease},
			Reached: ok, Version: Version{Told: ok, GitVersion: "v1.36.3", Emulated: "1.35"}, Ready: true,
			Hooks: Hooks{Told: ok, Names: []string{HookPeerProxy, HookReconciler}},
			Flags: Flags{Told: ok, Source: "flagz", Values: map[string]string{"secure-port": "6443", "bind-address": "<\x1b\u009b\u202e\U000e0001>"}},
			Core:  document("v1 pods"), Merged: all, Local: local,
			Metrics: Metrics{Told: ok, Readings: []Reading{{
				Time: now, Gates: map[string]bool{Gate: true, "APIServerIdentity": false}, Started: now,
				Rerouted:    []Count{{Code: "200", Value: 3}, {Code: "503", Resource: resource("a/v1 x"), Value: 1e9}},
				ProxyErrors: map[string]float64{"b": 1, "a": 2}, SyncErrors: map[string]float64{"hostport_resolution": 12},
			}}},
			Objects: []Object{{Resource: resource("storagemigration.k8s.io/v1 storageversionmigrations"), Asked: Served, Alone: NotServed}},
		}
	}
	failed := Told{State: Failed, Reason: "connection refused"}
	not := Told{State: NotAsked}
	return &ControlPlane{
		APIVersion: APIVersion, Kind: Kind, Version: "v0.1.0", Context: "admin@prod", Started: now, Ended: now, Found: "endpoints of default/kubernetes", ObjectProbe: true,
		Servers: []Server{
			server("192.0.2.11:6443", old), server("192.0.2.12:6443", all),
			{Address: "192.0.2.13:6443", FoundBy: []string{FromLease}, Reached: failed, Version: Version{Told: failed}, Hooks: Hooks{Told: not}, Flags: Flags{Told: not},
				Core: Document{Told: not}, Merged: Document{Told: not}, Local: Document{Told: not}, Metrics: Metrics{Told: not}},
		},
		Shared: Shared{
			Leases:         Leases{Told: ok, Now: now, Items: []Lease{{Name: "apiserver-x", Hostname: "cp", Published: "192.0.2.11:6443", Renewed: now, Created: now}}},
			Endpoints:      Endpoints{Told: ok, Addresses: []string{"192.0.2.11:6443"}},
			Pods:           Pods{Told: ok, Items: []Pod{{Name: "kube-apiserver-cp", Node: "cp", HostIP: "192.0.2.11", Endpoint: "192.0.2.11:6443", Image: "i:v1", Flags: map[string]string{"a": "b"}, Environment: map[string]string{"NO_PROXY": "x"}}}},
			Authentication: Authentication{Told: ok, AllowedNames: []string{"front-proxy-client"}, CASubjects: []string{"CN=front-proxy-ca"}},
			Discovery:      Binding{Told: ok, Authenticated: true},
			APIServices:    APIServices{Told: ok, Items: []APIService{{GroupVersion: "metrics.k8s.io/v1beta1", Service: "kube-system/metrics-server", Reason: "MissingEndpoints"}}},
			Dials:          []Dial{{Address: "192.0.2.11:6443", Connected: true, Trusted: true, Named: true, Subject: "CN=kube-apiserver", Issuer: "CN=kubernetes", Names: []string{"kubernetes.default.svc"}, NotAfter: now}, {Address: "x", Unverified: true, Error: "no address with a port"}},
		},
		Requests: []Request{{Server: "192.0.2.11:6443", Path: "/apis", Profile: "nopeer", Local: true, Status: 200, Bytes: 5, SHA256: "00", Milliseconds: 7, Error: "x"}},
	}
}

func written(t testing.TB, c *ControlPlane) string {
	t.Helper()
	var buf bytes.Buffer
	if err := c.Write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestWrite(t *testing.T) {
	c := controlPlane()
	got := written(t, c)
	for range 20 {
		if written(t, c) != got {
			t.Fatal("two recordings of one control plane differ")
		}
	}
	if diff := cmp.Diff(controlPlane(), c); diff != "" {
		t.Errorf("Write has changed what it writes (-before +after):\n%s", diff)
	}
	path := filepath.Join("testdata", "recording.json")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := strings.Count(got, "\"resource\": \"deployments\"\n"); n != 2 {
		t.Errorf("a document that three servers have, and another, are written %d times", n)
	}
	if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }) {
		t.Error("the recording is not printable")
	}
	again, err := Read(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	if err := c.Write(brokenWriter{}); err == nil || err.Error() != "broken" {
		t.Errorf("error %v of the writer", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

// Lists that a reader may rely on are there when they are empty.
func TestWriteEmpty(t *testing.T) {
	c := &ControlPlane{APIVersion: APIVersion, Kind: Kind}
	if got := written(t, c); !strings.Contains(got, `"servers": [],`) || !strings.Contains(got, `"requests": []`) {
		t.Error(got)
	}
	c.Servers = []Server{{Address: "192.0.2.11:6443"}}
	got := written(t, c)
	if !strings.Contains(got, `"foundBy": [],`) || strings.Contains(got, "null") || c.Servers[0].FoundBy != nil {
		t.Error(got)
	}
	if _, err := Read(strings.NewReader(got)); err != nil {
		t.Error(err)
	}
}

func TestReadErrors(t *testing.T) {
	good := written(t, controlPlane())
	with := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	line := func(part string) int { return 1 + strings.Count(good[:strings.Index(good, part)], "\n") }
	const kind = `not evidence that mvpcheck probe --record wrote (apiVersion %q, kind %q; wanted mvpcheck.dev/v1alpha1, ProbeEvidence)`
	tests := []struct{ name, text, want string }{
		{"empty", "", "line 1: unexpected end of JSON input"},
		{"text", "hello\n", "line 1: invalid character 'h' looking for beginning of value"},
		{"a report", `{"apiVersion":"mvpcheck.dev/v1alpha1","kind":"ProbeReport"}`, fmt.Sprintf(kind, APIVersion, "ProbeReport")},
		{"another version", with("v1alpha1", "v1"), fmt.Sprintf(kind, "mvpcheck.dev/v1", Kind)},
		{"hostile kind", `{"kind":"\u001b\n"}`, fmt.Sprintf(kind, "", "\x1b\n")},
		{"an array", "[]", "line 1: json: cannot unmarshal array into Go value of type *"},
		{"cut off", good[:len(good)/2], fmt.Sprintf("line %d: unexpected end of JSON input", 1+strings.Count(good[:len(good)/2], "\n"))},
		{"two", good + "{}\n", fmt.Sprintf("line %d: invalid character '{' after top-level value", 1+strings.Count(good, "\n"))},
		{"a comma too many", with(`"ready": true,`, `"ready": true,,`), fmt.Sprintf("line %d: invalid character ',' looking for beginning of object key string", line(`"ready"`))},
		{"wrong type", with(`"ready": true,`, `"ready": "yes",`), fmt.Sprintf("line %d: json: cannot unmarshal string into Go struct field *", line(`"ready"`))},
		{"wrong time", with(`"started": "2026`, `"started": "last year`), "*parsing time*"},
		{"unknown field", with(`"ready": true,`, `"ready": true, "steady": true,`), `json: unknown field "steady"; it was recorded by mvpcheck "v0.1.0"`},
		{"the same as what is not there", with(`"same": "192.0.2.11:6443 core"`, `"same": "192.0.2.19:6443 core"`), `document "192.0.2.12:6443 core" refers to "192.0.2.19:6443 core", which is not before it`},
		{"the same as itself", strings.ReplaceAll(good, `"same": "192.0.2.11:6443 core"`, `"same": "192.0.2.12:6443 core"`), `document "192.0.2.12:6443 core" refers to "192.0.2.12:6443 core", which is not before it`},
		{"the same as several that are not there", strings.ReplaceAll(good, `"same": "192.0.2.11:6443`, `"same": "nowhere`), `document "192.0.2.12:6443 core" refers to "nowhere core", which is not before it`},
		{"one server twice", with(`"address": "192.0.2.13:6443"`, `"address": "192.0.2.12:6443"`), "server 3 has no address of its own"},
		{"a server of no address", with(`"address": "192.0.2.13:6443"`, `"address": ""`), "server 3 has no address of its own"},
	}
	for _, tt := range tests {
		c, err := Read(strings.NewReader(tt.text))
		if err == nil || c != nil {
			t.Errorf("%s: no error, or something beside it", tt.name)
			continue
		}
		got := err.Error()
		if part := strings.Trim(tt.want, "*"); part == tt.want && got != part || !strings.Contains(got, part) {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return !strconv.IsPrint(r) }) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	if _, err := read(io.LimitReader(spaces{}, 3<<20), 2<<20); err == nil || err.Error() != "longer than 2 MiB" {
		t.Errorf("huge: %v", err)
	}
	if _, err := Read(iotest.ErrReader(errors.New("broken"))); err == nil || err.Error() != "broken" {
		t.Errorf("broken: %v", err)
	}
}

// spaces is without end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A recording that someone has edited is put in order: the rules search in the lists.
func TestReadUnsorted(t *testing.T) {
	c := controlPlane()
	for i := range c.Servers {
		slices.Reverse(c.Servers[i].Local.Resources)
	}
	got, err := Read(strings.NewReader(written(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	if r := resource("apps/v1 deployments"); !got.Servers[0].Serves(r) || !got.Servers[1].Serves(r) {
		t.Errorf("%v is not found", r)
	}
}
