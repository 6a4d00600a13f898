package probe

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// The secrets of the tests' kubeconfig. None of them is ever to be seen.
const (
	testToken    = "t0ken-that-nobody-may-see"
	testPassword = "passw0rd-that-nobody-may-see"
)

func resource(text string) evidence.Resource {
	gv, name, _ := strings.Cut(text, " ")
	group, version, ok := strings.Cut(gv, "/")
	if !ok {
		group, version = "", gv
	}
	return evidence.Resource{Group: group, Version: version, Resource: name, Namespaced: true}
}

func resources(texts ...string) (out []evidence.Resource) {
	for _, t := range texts {
		out = append(out, resource(t))
	}
	return out
}

var (
	core    = resources("v1 pods", "v1 pods/status", "v1 configmaps")
	oldOnes = resources("apps/v1 deployments", "apps/v1 deployments/status", "batch/v1 jobs")
	newOnes = append(slices.Clone(oldOnes), resources("storagemigration.k8s.io/v1 storageversionmigrations")...)
)

// A cluster is a control plane of fake API servers on loopback addresses.
type cluster struct {
	t  testing.TB
	ca *certstest.Identity
	// listed are the ports of the EndpointSlice; leases, pods and moreSlices are items of the lists.
	listed     []*fake
	leases     []any
	pods       []any
	moreSlices []any
	// accepts tells whether a request has the right credentials.
	accepts func(*http.Request) bool
}

// valid is a validity around the time of the test.
func valid(c *x509.Certificate) {
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
}

func ips(texts ...string) certstest.Option {
	return func(c *x509.Certificate) {
		for _, text := range texts {
			c.IPAddresses = append(c.IPAddresses, net.ParseIP(text))
		}
	}
}

func newCluster(t testing.TB) *cluster {
	return &cluster{
		t: t, ca: certstest.NewCA(t, "kubernetes", valid),
		accepts: func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+testToken },
	}
}

// identity is the serving certificate of an API server.
func (c *cluster) identity() *certstest.Identity {
	return c.ca.Issue(c.t, "kube-apiserver", valid, certstest.DNS(certstest.PeerNames...), ips("127.0.0.1", "::1"), certstest.Usage(x509.ExtKeyUsageServerAuth))
}

// config is the kubeconfig, with a server as its server.
func (c *cluster) config(f *fake) *rest.Config {
	return &rest.Config{Host: "https://" + f.address, BearerToken: testToken, TLSClientConfig: rest.TLSClientConfig{CAData: certstest.PEM(c.ca)}}
}

// A fake is an API server.
type fake struct {
	c       *cluster
	name    string
	address string
	release string
	local   []evidence.Resource
	peers   []*fake
	// instead answers a request in its own way; it returns false to leave that to the fake.
	instead func(w http.ResponseWriter, r *http.Request) bool
	// asked are the paths of all requests, conns counts connections.
	mu     sync.Mutex
	asked  []string
	conns  atomic.Int32
	moved  atomic.Int64 // requests handed on
	server *httptest.Server
	// docs are the documents by path and number of lists, has the paths of named GETs of what is local.
	docs  *sync.Map
	has   func() map[string]bool
	close func()
}

// newFake starts an API server of a release. It has local and serves what its peers have, too.
func (c *cluster) newFake(name, release string, local []evidence.Resource, options ...func(*fake)) *fake {
	f := &fake{c: c, name: name, release: release, local: local, docs: &sync.Map{}}
	f.has = sync.OnceValue(func() map[string]bool {
		has := map[string]bool{}
		for _, r := range f.local {
			has[objectPath(r)] = true
		}
		return has
	})
	f.server = httptest.NewUnstartedServer(f)
	f.server.EnableHTTP2 = true
	f.server.TLS = serving(c.identity())
	f.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			f.conns.Add(1)
		}
	}
	for _, o := range options {
		o(f)
	}
	f.server.StartTLS()
	f.address = f.server.Listener.Addr().String()
	f.close = sync.OnceFunc(f.server.Close)
	c.t.Cleanup(f.close)
	return f
}

// newRaw starts a server that speaks no HTTP. The connection is closed when serve returns.
func (c *cluster) newRaw(identity *certstest.Identity, serve func(net.Conn)) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	f := &fake{c: c, name: "raw", address: l.Addr().String()}
	if identity != nil {
		l = tls.NewListener(l, serving(identity))
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		open = map[net.Conn]bool{}
	)
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f.conns.Add(1)
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			wg.Go(func() {
				serve(conn)
				conn.Close()
				mu.Lock()
				delete(open, conn)
				mu.Unlock()
			})
		}
	})
	f.close = sync.OnceFunc(func() {
		l.Close()
		mu.Lock()
		for conn := range open {
			conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	c.t.Cleanup(f.close)
	return f
}

func serving(identity *certstest.Identity) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{identity.Cert.Raw}, PrivateKey: identity.Key}},
		ClientAuth:   tls.RequestClientCert,
	}
}

func oneHTTP(f *fake) { f.server.EnableHTTP2 = false }

func certificate(identity *certstest.Identity) func(*fake) {
	return func(f *fake) { f.server.TLS.Certificates = serving(identity).Certificates }
}

func answering(instead func(w http.ResponseWriter, r *http.Request) bool) func(*fake) {
	return func(f *fake) { f.instead = instead }
}

// at answers requests to one path, all where it is empty.
func at(path string, h http.HandlerFunc) func(*fake) {
	return answering(func(w http.ResponseWriter, r *http.Request) bool {
		if path != "" && r.URL.Path != path && !(strings.HasSuffix(path, "/") && strings.HasPrefix(r.URL.Path, path)) {
			return false
		}
		h(w, r)
		return true
	})
}

func (f *fake) port() int {
	_, port, _ := net.SplitHostPort(f.address)
	n, _ := strconv.Atoi(port)
	return n
}

func (f *fake) paths() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.URL.RequestURI())
	f.mu.Unlock()
	if r.Method != http.MethodGet {
		f.c.t.Errorf("%s got a %s of %s; nothing but GET is ever to be sent", f.name, r.Method, r.URL)
	}
	if f.instead != nil && f.instead(w, r) {
		return
	}
	if !f.c.accepts(r) {
		status(w, http.StatusUnauthorized, "")
		return
	}
	local := r.Header.Get("x-kubernetes-peer-proxied") != ""
	switch path := r.URL.Path; path {
	case "/version":
		minor := strings.Split(f.release, ".")[1]
		writeJSON(w, map[string]string{"major": "1", "minor": minor, "gitVersion": f.release, "emulationMajor": "1", "emulationMinor": minor})
	case "/readyz":
		fmt.Fprintf(w, "[+]ping ok\n[+]poststarthook/%s ok\n[+]poststarthook/%s ok\nreadyz check passed\n", evidence.HookPeerProxy, evidence.HookReconciler)
	case "/api":
		f.document(w, r, func(r evidence.Resource) bool { return r.Group == "" }, core)
	case "/apis":
		lists := [][]evidence.Resource{f.local}
		if !strings.Contains(r.Header.Get("Accept"), "profile=nopeer") {
			for _, p := range f.peers {
				lists = append(lists, p.local)
			}
		}
		f.document(w, r, func(r evidence.Resource) bool { return r.Group != "" }, lists...)
	case "/metrics":
		fmt.Fprintf(w, "# TYPE go_goroutines gauge\ngo_goroutines 7\n# TYPE kubernetes_feature_enabled gauge\n"+
			"kubernetes_feature_enabled{name=%q,stage=\"BETA\"} 1\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1.7e+09\n"+
			"# TYPE apiserver_rerouted_request_total counter\napiserver_rerouted_request_total{code=\"200\"} %d\n", evidence.Gate, f.moved.Load())
	case "/flagz":
		status(w, http.StatusNotFound, "")
	case "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases":
		writeJSON(w, list("LeaseList", f.c.leases))
	case "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices":
		writeJSON(w, list("EndpointSliceList", append([]any{endpointSlice("kubernetes", f.c.listed...)}, f.c.moreSlices...)))
	case "/api/v1/namespaces/kube-system/pods":
		writeJSON(w, list("PodList", f.c.pods))
	case "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication":
		writeJSON(w, map[string]any{"kind": "ConfigMap", "data": map[string]string{
			"requestheader-allowed-names": `["front-proxy-client"]`, "requestheader-client-ca-file": string(certstest.PEM(f.c.ca)),
		}})
	case "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:discovery":
		writeJSON(w, map[string]any{"kind": "ClusterRoleBinding", "subjects": []any{map[string]string{"kind": "Group", "name": "system:authenticated"}}})
	case "/apis/apiregistration.k8s.io/v1/apiservices":
		writeJSON(w, list("APIServiceList", nil))
	default:
		f.named(w, path, local)
	}
}

// named answers the GET of an object that does not exist.
func (f *fake) named(w http.ResponseWriter, path string, local bool) {
	served := f.has()[path]
	if !served && !local {
		served = slices.ContainsFunc(f.peers, func(p *fake) bool { return p.has()[path] })
		if served {
			f.moved.Add(1)
		}
	}
	if served {
		status(w, http.StatusNotFound, ObjectName)
		return
	}
	http.Error(w, "404 page not found", http.StatusNotFound)
}

func (f *fake) document(w http.ResponseWriter, r *http.Request, want func(evidence.Resource) bool, lists ...[]evidence.Resource) {
	key := r.URL.Path + strconv.Itoa(len(lists))
	body, ok := f.docs.Load(key)
	if !ok {
		seen := map[evidence.Resource]bool{}
		for _, l := range lists {
			for _, r := range l {
				if want(r) {
					seen[r] = true
				}
			}
		}
		body, _ = f.docs.LoadOrStore(key, compressed(discoveryJSON(slices.SortedFunc(maps.Keys(seen), evidence.CompareResources))))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(body.([]byte))
}

func compressed(text []byte) []byte {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, 1)
	_, _ = z.Write(text)
	_ = z.Close()
	return buf.Bytes()
}

// discoveryJSON is a document as API servers write it.
func discoveryJSON(sorted []evidence.Resource) []byte {
	type object = map[string]any
	var items, versions, all, subs []any
	for i, r := range sorted {
		name, sub, isSub := strings.Cut(r.Resource, "/")
		kind := object{"group": r.Group, "version": r.Version, "kind": strings.ToUpper(name[:1]) + strings.TrimSuffix(name[1:], "s")}
		if isSub {
			subs = append(subs, object{"subresource": sub, "responseKind": kind, "verbs": []string{"get", "patch", "update"}})
		} else {
			subs = nil
			scope := "Cluster"
			if r.Namespaced {
				scope = "Namespaced"
			}
			all = append(all, object{
				"resource": name, "responseKind": kind, "scope": scope, "singularResource": strings.TrimSuffix(name, "s"),
				"verbs": []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
			})
		}
		if len(subs) > 0 {
			all[len(all)-1].(object)["subresources"] = subs
		}
		last := i+1 == len(sorted)
		if last || sorted[i+1].Version != r.Version || sorted[i+1].Group != r.Group {
			versions = append(versions, object{"version": r.Version, "freshness": "Current", "resources": all})
			all, subs = nil, nil
		}
		if last || sorted[i+1].Group != r.Group {
			items = append(items, object{"metadata": object{"name": r.Group, "creationTimestamp": nil}, "versions": versions})
			versions = nil
		}
	}
	text, err := json.Marshal(list("APIGroupDiscoveryList", items))
	if err != nil {
		panic(err)
	}
	return text
}

func list(kind string, items []any) map[string]any {
	if items == nil {
		items = []any{}
	}
	return map[string]any{"kind": kind, "apiVersion": "v1", "metadata": map[string]string{}, "items": items}
}

// endpointSlice lists servers, which are all at one address.
func endpointSlice(name string, servers ...*fake) any {
	ports := []any{}
	for _, s := range servers {
		ports = append(ports, map[string]any{"name": "https", "port": s.port()})
	}
	return map[string]any{
		"metadata": map[string]string{"name": name}, "addressType": "IPv4", "ports": ports,
		"endpoints": []any{map[string]any{"addresses": []string{"127.0.0.1"}}},
	}
}

func lease(host, published string, age time.Duration) any {
	now := time.Now().UTC()
	return map[string]any{
		"metadata": map[string]any{
			"name": "apiserver-" + host, "labels": map[string]string{"kubernetes.io/hostname": host}, "creationTimestamp": now.Add(-time.Hour),
			"annotations": map[string]string{"kubernetes.io/peer-advertise-address": published},
		},
		"spec": map[string]any{"renewTime": now.Add(-age)},
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// status answers with a Status, for an object where it has a name.
func status(w http.ResponseWriter, code int, name string) {
	details := map[string]string{}
	if name != "" {
		details = map[string]string{"name": name, "kind": "things"}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "details": details, "code": code})
}

// ask asks the cluster once.
func ask(t testing.TB, o Options) (*evidence.ControlPlane, error) {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	p, err := New(o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Ask(context.Background())
}

func mustAsk(t testing.TB, o Options) *evidence.ControlPlane {
	t.Helper()
	cp, err := ask(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

// serverAt returns what a server said.
func serverAt(t testing.TB, cp *evidence.ControlPlane, f *fake) *evidence.Server {
	t.Helper()
	i := slices.IndexFunc(cp.Servers, func(s evidence.Server) bool { return s.Address == f.address })
	if i < 0 {
		t.Fatalf("%s is not among the servers", f.address)
	}
	return &cp.Servers[i]
}

// recorded is the evidence as it is written. It can be read again.
func recorded(t testing.TB, cp *evidence.ControlPlane) string {
	t.Helper()
	var buf bytes.Buffer
	if err := cp.Write(&buf); err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.Read(bytes.NewReader(buf.Bytes())); err != nil {
		t.Errorf("the recording cannot be read: %v", err)
	}
	return buf.String()
}
