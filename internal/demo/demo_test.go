package demo

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/probe"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// withArgs is a ClusterConfiguration with extraArgs, each NAME=VALUE.
func withArgs(args ...string) string {
	text := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\napiServer:\n  extraArgs:\n"
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		text += "  - {name: " + name + ", value: \"" + value + "\"}\n"
	}
	return text
}

const (
	gate = "feature-gates=UnknownVersionInteroperabilityProxy=true"
	ca   = "peer-ca-file=/etc/kubernetes/pki/ca.crt"
)

var prepared = withArgs(gate, ca)

func start(t testing.TB, configuration string) *ControlPlane {
	t.Helper()
	cp, err := Start(context.Background(), configuration)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cp.Close)
	return cp
}

// An answer is what a server answers.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request. Each header is "Name: value".
func send(t testing.TB, cfg *rest.Config, method, path string, headers ...string) answer {
	t.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequest(method, cfg.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

func get(t testing.TB, s *Server, path string, headers ...string) answer {
	t.Helper()
	return send(t, s.Config(), http.MethodGet, path, headers...)
}

// asked is what probe asks of a control plane.
func asked(t testing.TB, cp *ControlPlane) *evidence.ControlPlane {
	t.Helper()
	p, err := probe.New(probe.Options{Config: cp.Config(), Context: Context, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ev, err := p.Ask(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// said is what the rules say of that: a line for each server and finding.
func said(t testing.TB, cp *ControlPlane) (lines []string) {
	t.Helper()
	rules, err := checks.SelectLive(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := checks.RunLive(asked(t, cp), rules)
	if result.CannotTell != "" {
		lines = append(lines, "cannot tell: "+result.CannotTell)
	}
	for _, s := range result.Servers {
		lines = append(lines, s.Name+" "+s.Evidence.Version.GitVersion+": "+s.Says)
	}
	for _, f := range result.Findings {
		lines = append(lines, f.Severity.String()+" "+f.Rule.ID+" "+strings.Join(f.Servers, ","))
	}
	return lines
}

// The rules find on embedded servers what they find on real ones that are set up in the same way (test/lab/scenarios).
func TestProbe(t *testing.T) {
	const false404 = "cp-1 v1.35.4: FALSE 404 for 2 resources"
	tests := []struct {
		name, configuration string
		want                []string
	}{
		{"unprepared", Configuration, []string{
			false404, "cp-2 v1.36.3: no peer CA: hands nothing on", "cp-3 v1.36.3: no peer CA: hands nothing on",
			"error MVP503 cp-1", "error MVP504 cp-2,cp-3",
		}},
		{"prepared (H1)", prepared, []string{
			"cp-1 v1.35.4: ok, hands 2 resources to cp-2 and cp-3", "cp-2 v1.36.3: ok", "cp-3 v1.36.3: ok", "info MVP512 cp-1",
		}},
		{"no CA (H3)", withArgs(gate), []string{
			false404, "cp-2 v1.36.3: no peer CA: hands nothing on", "cp-3 v1.36.3: no peer CA: hands nothing on", "error MVP504 cp-1,cp-2,cp-3",
		}},
		{"another CA (H4)", withArgs(gate, "peer-ca-file=/etc/kubernetes/pki/etcd/ca.crt"), []string{
			false404, "cp-2 v1.36.3: cannot connect to its peers", "cp-3 v1.36.3: cannot connect to its peers",
			"error MVP505 cp-1", "error MVP505 cp-2", "error MVP505 cp-3",
		}},
		{"another name (H6)", withArgs(gate, ca, "requestheader-allowed-names=somebody-else"), []string{
			false404, "cp-2 v1.36.3: refused by its peers", "cp-3 v1.36.3: refused by its peers",
			"error MVP506 cp-1", "error MVP506 cp-2", "error MVP506 cp-3",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, said(t, start(t, tt.configuration))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A roll-out changes what the servers do and nothing else: not their addresses, nor who may ask.
func TestRollOut(t *testing.T) {
	cp := start(t, Configuration)
	before := asked(t, cp)
	if err := cp.RollOut(t.Context(), prepared); err != nil {
		t.Fatal(err)
	}
	after := asked(t, cp)
	if d := cmp.Diff(before.Shared.Endpoints, after.Shared.Endpoints); d != "" {
		t.Errorf("endpoints (-before +after):\n%s", d)
	}
	if got := cp.Configuration(); got != prepared {
		t.Errorf("configuration: %s", got)
	}
	if got := get(t, cp.Servers()[0], "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/"+Policy); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	if err := cp.RollOut(t.Context(), Configuration); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("FALSE 404 for 2 resources", strings.TrimPrefix(said(t, cp)[0], "cp-1 v1.35.4: ")); d != "" {
		t.Errorf("rolled back (-want +got):\n%s", d)
	}
}

// What makes real servers exit starts no embedded ones, and those that run go on.
func TestExits(t *testing.T) {
	cp := start(t, prepared)
	for _, tt := range []struct{ name, configuration, want string }{
		{"S1", withArgs(ca), "kube-apiserver v1.35.4 on cp-1 exits: peer-ca-file needs the gate UnknownVersionInteroperabilityProxy to be on (S1)"},
		{"S7", withArgs(gate, "peer-ca-file=/nowhere/ca.crt"), "kube-apiserver v1.35.4 on cp-1 exits: peer-ca-file: no such file: /nowhere/ca.crt (S7)"},
		{"S8", withArgs("feature-gates=NoSuchGate=true"), "kube-apiserver v1.35.4 on cp-1 exits: feature-gates: NoSuchGate is not known"},
		{"client CA", withArgs("client-ca-file=/nowhere"), "kube-apiserver v1.35.4 on cp-1 exits: client-ca-file: no such file: /nowhere"},
		{"resources that are not recorded", withArgs("runtime-config=api/all=true"), "kube-apiserver v1.35.4 on cp-1 exits: "},
		{"no configuration", "kind: Nothing\n", "ClusterConfiguration:1:1: no kubeadm document found"},
	} {
		if err := cp.RollOut(t.Context(), tt.configuration); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if _, err := Start(t.Context(), tt.configuration); err == nil {
			t.Errorf("%s: starts", tt.name)
		}
	}
	if got := said(t, cp)[0]; got != "cp-1 v1.35.4: ok, hands 2 resources to cp-2 and cp-3" {
		t.Errorf("afterwards: %s", got)
	}
}

// The recordings of real servers in testdata have the same signs and resources. test/lab/demo compares everything else.
func TestRecorded(t *testing.T) {
	f, err := os.Open(filepath.FromSlash("../../testdata/evidence/H1.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	real, err := evidence.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	got := asked(t, start(t, prepared))
	for i := range real.Servers {
		r, e := &real.Servers[i], &got.Servers[i]
		for _, part := range []struct {
			name       string
			real, demo any
		}{
			{"node", r.Node, e.Node}, {"identity", r.Identity, e.Identity}, {"version", r.Version, e.Version}, {"hooks", r.Hooks, e.Hooks},
			{"core", r.Core.Resources, e.Core.Resources}, {"merged", r.Merged.Resources, e.Merged.Resources}, {"local", r.Local.Resources, e.Local.Resources},
			{"gates", r.Metrics.Latest().Gates, e.Metrics.Latest().Gates}, {"objects", r.Objects, e.Objects},
			{"flags", r.Flags.State, e.Flags.State},
		} {
			if d := cmp.Diff(part.real, part.demo); d != "" {
				t.Errorf("%s, %s (-real +embedded):\n%s", r.Node, part.name, d)
			}
		}
	}
}

func ports(cp *ControlPlane) (addresses []string) {
	for _, s := range cp.Servers() {
		addresses = append(addresses, s.Address)
	}
	return addresses
}

// Nothing is left of a control plane: no port, and none of its goroutines.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	cp := start(t, prepared)
	addresses := ports(cp)
	if !slices.IsSorted(addresses) {
		t.Errorf("addresses: %v; reports sort them, and the nodes are to be in their order", addresses)
	}
	said(t, cp)
	cp.Close()
	cp.Close() // again, by the test's end, too
	for _, address := range addresses {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			t.Errorf("%s still listens", address)
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

// Servers are asked while they are started anew; go test -race sees to it.
func TestRollOutWhileAsked(t *testing.T) {
	cp := start(t, Configuration)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, s := range cp.Servers() {
		wg.Go(func() {
			for ctx.Err() == nil {
				for _, path := range []string{"/apis", "/metrics", "/api/v1/namespaces/kube-system/configmaps/kubeadm-config", "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"} {
					if got := get(t, s, path, "Accept: */*"); got.status != http.StatusOK && got.status != http.StatusNotFound {
						t.Errorf("%s %s: %d %s", s.Name, path, got.status, got.body)
					}
				}
			}
		})
	}
	for range 5 {
		for _, configuration := range []string{prepared, Configuration} {
			if err := cp.RollOut(t.Context(), configuration); err != nil {
				t.Error(err)
			}
		}
	}
	cancel()
	wg.Wait()
}

func TestKubeconfig(t *testing.T) {
	cp := start(t, prepared)
	text, err := cp.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "PRIVATE KEY") || strings.Contains(string(text), "key-data") {
		t.Error("there is a private key in the kubeconfig")
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": ports(cp)[0], "cp-1": ports(cp)[0], "cp-3": ports(cp)[2]} {
		cfg, _, err := probe.LoadConfig(file, name)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Host != "https://"+want {
			t.Errorf("context %q: %s, want %s", name, cfg.Host, want)
		}
		if got := send(t, cfg, http.MethodGet, "/api/v1/nodes"); got.status != http.StatusOK {
			t.Errorf("context %q: %d %s", name, got.status, got.body)
		}
	}
}

func into(t *testing.T, a answer, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		cp, err := Start(context.Background(), prepared)
		if err != nil {
			b.Fatal(err)
		}
		cp.Close()
	}
}
