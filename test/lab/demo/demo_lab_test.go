//go:build lab && linux

package demo

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/internal/demo"
	"github.com/mvpcheck/mvpcheck/internal/probe"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

func TestMain(m *testing.M) { controlplane.Main(m) }

// TestAgainstReal starts the control plane of the demo twice, real and embedded, with one ClusterConfiguration: as it is, and
// as mvpcheck patch writes it. Both are asked the same.
func TestAgainstReal(t *testing.T) {
	allowed, compared := newAllowance(), 0
	recorded := newRecordings()
	states := []struct{ name, configuration string }{{"unprepared", demo.Configuration}, {"prepared", patched(t)}}
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			prepared := state.name == "prepared"
			p := startReal(t, state.configuration, prepared)
			recorded.record(t, p, prepared)
			if !*update {
				p.startEmbedded(t, state.configuration)
				t.Run("probe", p.compareProbe)
				t.Run("metrics", p.compareMetrics)
				t.Run("resources", func(t *testing.T) { p.compareResources(t, allowed) })
				t.Run("requests", func(t *testing.T) {
					p.compareRequests(t, allowed)
					compared++
				})
			}
			// With -run there may only be half of it.
			if prepared && recorded.releases["1.35"].Documents != nil {
				recorded.recordMetrics(t, p)
				t.Run("recordings", recorded.compare)
			}
		})
	}
	// With -run or -update only some are asked for.
	if !t.Failed() && compared == len(states) {
		for _, a := range allowed.left() {
			t.Errorf("no answer differs in %q any more", a)
		}
	}
}

// patched is the configuration of the demo as mvpcheck patch writes it.
func patched(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(demo.Configuration), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := cli.Main(t.Context(), []string{"mvpcheck", "patch", file}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != 0 {
		t.Fatalf("mvpcheck patch: exit code %d: %s", code, errs.String())
	}
	return out.String()
}

// A pair is the same control plane, real and embedded.
type pair struct {
	real     []*controlplane.Server
	plane    *controlplane.ControlPlane
	embedded *demo.ControlPlane
}

//go:embed given.yaml
var given string

func startReal(t *testing.T, configuration string, handsOff bool) *pair {
	t.Helper()
	p := &pair{plane: controlplane.New(t, controlplane.Options{})}
	var nodes []controlplane.Node
	for _, n := range demo.Nodes {
		// kubeadm upgrade writes the new release into the configuration.
		own := strings.Replace(configuration, "v1.35.4", versionOf(t, n), 1)
		nodes = append(nodes, controlplane.Node{Name: n.Name, Release: n.Release.MinorString(), Config: own})
	}
	p.real = p.plane.Start(t, nodes...)
	p.plane.AddMirrorPods(t)
	p.real[1].Apply(t, given)
	if handsOff {
		p.plane.WaitPeers(t)
	}
	p.settle(t)
	return p
}

func (p *pair) startEmbedded(t *testing.T, configuration string) {
	t.Helper()
	var err error
	if p.embedded, err = demo.Start(t.Context(), configuration); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.embedded.Close)
}

func versionOf(t *testing.T, n demo.Node) string {
	t.Helper()
	of, ok := release.CatalogueOf(n.Release)
	if !ok {
		t.Fatalf("no catalogue of %s", n.Release)
	}
	return of.Version
}

// settle waits until the real servers have written what they write some time after they are ready.
func (p *pair) settle(t *testing.T) {
	t.Helper()
	for range 60 {
		var list struct {
			Items []struct {
				Endpoints []struct{ Addresses []string }
			}
		}
		p.real[0].Get(t, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices").Into(t, &list)
		if len(list.Items) == 1 && len(list.Items[0].Endpoints) == len(p.real) && len(p.real[0].Leases(t)) == len(p.real) {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Fatal("the endpoints or the leases do not list all servers")
}

// policyPath is of an object that all servers with its resource have.
const policyPath = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/" + demo.Policy

// The Accept headers of clients.
const (
	acceptV2     = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	acceptNoPeer = acceptV2 + ";profile=nopeer"
	acceptAll    = acceptV2 + ",application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
	acceptTable  = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
	acceptFlagz  = "Accept: application/json;as=Flagz;v=v1beta1;g=config.k8s.io"
	fromPeer     = "X-Kubernetes-Peer-Proxied: true"
)

// A question is a GET with headers, each "Name: value".
type question struct {
	path    string
	headers []string
}

func (q question) String() string { return strings.Join(append([]string{q.path}, q.headers...), " ") }

// questions are what probe and kubectl ask, and what they might.
func questions() []question {
	q := func(path string, headers ...string) question { return question{path, headers} }
	named := "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/" + probe.ObjectName
	list := []question{
		q("/version"), q("/readyz"), q("/readyz?verbose"), q("/livez"), q("/livez?verbose"), q("/healthz"), q("/healthz?verbose"),
		q("/api"), q("/apis"), q("/api", acceptV2), q("/apis", acceptV2), q("/apis", acceptNoPeer), q("/api", acceptNoPeer),
		q("/apis", acceptAll), q("/apis", acceptV2, fromPeer), q("/apis", acceptNoPeer, fromPeer), q("/apis", "Accept: text/html"), q("/apis", "Accept: */*"),
		q("/apis", "Accept: application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"),
		q("/api/v1"), q("/apis/admissionregistration.k8s.io"), q("/apis/admissionregistration.k8s.io/v1"), q("/apis/admissionregistration.k8s.io/v1beta1"),
		q("/apis/apps"), q("/apis/apps/v1"), q("/apis/apps/v7"), q("/apis/autoscaling"), q("/apis/autoscaling/v2"), q("/apis/no.such.group"),
		q("/apis/no.such.group/v1"), q("/apis/no.such.group/v1/things/x"), q("/api/v2"), q("/api/v2/foo/bar"), q("/api/v1/nosuch"), q("/nosuch"),
		q("/apis/apps/v1/nosuch"), q("/apis/apps/v1/nosuch/x"), q("/apis/apps/v1/namespaces/default/nosuch/x"),
		q("/apis/apps/v1/deployments/x"), q("/apis/apps/v1/namespaces/default/deployments/x"), q("/apis/apps/v1/namespaces/default/deployments/x/status"),
		q("/apis/apps/v1/namespaces/default/deployments/x/nosuch"), q("/apis/apps/v1/namespaces/default/deployments"),
		q("/api/v1/namespaces/x"), q("/api/v1/namespaces/default/nodes"), q("/api/v1/namespaces/default/pods/x/log"),
		q(named), q(named, fromPeer), q(named, acceptTable), q(policyPath), q(policyPath, fromPeer),
		q("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"), q("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies", fromPeer),
		q("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies", acceptTable),
		q("/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies"),
		q("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver"),
		q("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes"),
		q("/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkube-apiserver"),
		q("/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dnothing"), q("/api/v1/namespaces/kube-system/pods?labelSelector=%3D%3D"),
		q("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"),
		q("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:discovery"),
		q("/apis/apiregistration.k8s.io/v1/apiservices"), q("/api/v1/namespaces"), q("/api/v1/namespaces/default"),
		q("/api/v1/namespaces/default/services/kubernetes"),
		q("/flagz", acceptFlagz), q("/flagz"),
	}
	return list
}

// compareRequests asks as different users. What none of them but the administrator may do is the same for all paths.
func (p *pair) compareRequests(t *testing.T, allowed *allowance) {
	for i, admin := range p.admins(t) {
		for _, q := range questions() {
			p.compare(t, i, "administrator", admin, q, allowed)
		}
	}
	for name, clients := range p.others(t) {
		for i, c := range clients {
			for _, path := range []string{
				"/version", "/readyz?verbose", "/healthz", "/api", "/apis", "/apis/apps", "/apis/apps/v1", "/metrics", "/flagz", "/nosuch",
				"/apis/apps/v1/deployments", "/apis/apps/v1/namespaces/default/deployments/x", "/apis/apps/v1/namespaces/default/deployments/x/status",
				"/api/v1/namespaces/x", "/api/v1/pods?watch=1", policyPath, "/apis/no.such.group/v1/things",
			} {
				p.compare(t, i, name, c, question{path: path}, allowed)
			}
		}
	}
}

// compareResources asks for each resource that the newest server has, for an object of each that does not exist, and for
// each subresource of that: with leave to hand the request on and without.
func (p *pair) compareResources(t *testing.T, allowed *allowance) {
	admins := p.admins(t)
	for _, r := range p.real[len(p.real)-1].AllResources(t) {
		prefix := "/apis/" + r.Group + "/" + r.Version + "/"
		if r.Group == "" {
			prefix = "/api/" + r.Version + "/"
		}
		name, sub, isSub := strings.Cut(r.Name, "/")
		paths := []string{prefix + name}
		if r.Namespaced {
			prefix += "namespaces/default/"
			paths = append(paths, prefix+name)
		}
		object := prefix + name + "/" + probe.ObjectName
		if isSub {
			paths = []string{object + "/" + sub}
		} else {
			paths = append(paths, object)
		}
		for i := range admins {
			for _, path := range paths {
				p.compare(t, i, "administrator, any resource", admins[i], question{path: path}, allowed)
				p.compare(t, i, "administrator, any resource", admins[i], question{path, []string{fromPeer}}, allowed)
			}
		}
	}
}

// compare asks both servers of a node the same.
func (p *pair) compare(t *testing.T, i int, who string, c clients, q question, allowed *allowance) {
	t.Helper()
	want, got := p.normal(ask(t, c.real, q.path, q.headers...)), p.normal(ask(t, c.embedded, q.path, q.headers...))
	var lines []string
	for _, key := range slices.Sorted(mapKeys(want, got)) {
		if strings.HasSuffix(who, "any resource") && strings.HasPrefix(key, "/items") {
			continue // a cluster has objects by itself: roles, flow schemas, priority classes
		}
		if w, g := want[key], got[key]; w != g && !allowed.allows(q.String(), key) {
			lines = append(lines, fmt.Sprintf("   %s: real %q, embedded %q", key, short(w), short(g)))
		}
	}
	if len(lines) > 0 {
		more := ""
		if n := len(lines); n > 12 {
			lines, more = lines[:12], fmt.Sprintf("\n   and %d more", n-12)
		}
		t.Errorf("%s %s, %s: GET %s\n%s%s", p.real[i].Name, p.real[i].Release.Version, who, q, strings.Join(lines, "\n"), more)
	}
}

func short(s string) string {
	if len(s) > 160 {
		return s[:160] + "…"
	}
	return s
}
