package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// mirrorPod is the mirror pod of an API server with flags and environment variables.
func mirrorPod(node, hostIP string, flags []string, env ...string) any {
	vars := []any{}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		vars = append(vars, map[string]string{"name": name, "value": value})
	}
	return map[string]any{
		"metadata": map[string]any{"name": "kube-apiserver-" + node, "namespace": "kube-system", "labels": map[string]string{"component": "kube-apiserver"}},
		"spec": map[string]any{"nodeName": node, "containers": []any{map[string]any{
			"name": "kube-apiserver", "image": "registry.k8s.io/kube-apiserver:v1.36.3", "command": append([]string{"kube-apiserver"}, flags...), "env": vars,
		}}},
		"status": map[string]string{"hostIP": hostIP},
	}
}

func port(f *fake) string { return fmt.Sprintf("--secure-port=%d", f.port()) }

// A node has a certificate of the cluster's CA that is valid for its address. What leases and pods name is therefore
// asked as kubernetes.default.svc, and gets not even a request before its certificate is valid for that.
func TestFoundServersMustBeAPIServers(t *testing.T) {
	named := []string{"leases", "pods", "endpoints", "lookalike endpoints"}
	for _, by := range named {
		t.Run(by, func(t *testing.T) {
			c, older, _ := pair(t)
			node := c.newFake("node", "v1.36.3", newOnes, certificate(c.ca.Issue(t, "system:node:worker", valid, certstest.DNS("worker"), ips("127.0.0.1"))))
			var want string
			switch by {
			case "leases":
				c.leases = []any{lease("worker", node.address, 0)}
				want = "its certificate is not valid for kubernetes.default.svc but for worker, 127.0.0.1"
			case "pods":
				c.pods = []any{mirrorPod("worker", "127.0.0.1", []string{port(node), "--advertise-address=127.0.0.1"})}
				want = "its certificate is not valid for kubernetes.default.svc but for worker, 127.0.0.1"
			case "endpoints":
				// Nobody but API servers writes these, and a server without the name is to be found out.
				c.listed = append(c.listed, node)
			case "lookalike endpoints":
				c.moreSlices = []any{endpointSlice("kubernetes-abcde", node)}
			}
			cp := mustAsk(t, Options{Config: c.config(older)})
			i := slices.IndexFunc(cp.Servers, func(s evidence.Server) bool { return s.Address == node.address })
			switch {
			case by == "lookalike endpoints":
				if i >= 0 || node.conns.Load() > 0 {
					t.Errorf("servers %+v, %d connections", cp.Servers, node.conns.Load())
				}
			case cp.Servers[i].Reached.Reason != want:
				t.Errorf("%+v, want %q", cp.Servers[i].Reached, want)
			}
			if paths := node.paths(); want != "" && len(paths) > 0 {
				t.Errorf("it was asked for %q", paths)
			}
			checkReasons(t, cp)
		})
	}
}

// Leases are untrusted text. What is no IP address with a port is not connected to.
func TestAddressesOfLeases(t *testing.T) {
	c, older, newer := pair(t)
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var conns atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			conn.Close()
		}
	}()
	_, p, _ := net.SplitHostPort(l.Addr().String())
	published := []string{
		"localhost:" + p, "LOCALHOST:" + p, "127.0.0.1:" + p + "/path", "127.0.0.1:" + p + "?x", "https://127.0.0.1:" + p, "user:" + testPassword + "@127.0.0.1:" + p,
		"127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:70000", "127.0.0.1:-1", "127.0.0.1:https", "127.1:" + p, "0x7f.0.0.1:" + p, "2130706433:" + p,
		"[::1%lo]:" + p, "::1:" + p, "[::1]", "0.0.0.0:" + p, "[::]:" + p, "[::ffff:0.0.0.0]:" + p, "224.0.0.1:" + p, " 127.0.0.1:" + p, "127.0.0.1:" + p + "\n", "\x1b[31m:" + p,
	}
	for i, address := range published {
		c.leases = append(c.leases, lease(fmt.Sprintf("cp-%02d", i), address, 0))
	}
	cp := mustAsk(t, Options{Config: c.config(older)})
	if n := conns.Load(); n > 0 {
		t.Errorf("%d connections", n)
	}
	if len(cp.Servers) != 2 || serverAt(t, cp, older) == nil || serverAt(t, cp, newer) == nil {
		t.Errorf("servers %+v", cp.Servers)
	}
	if len(cp.Shared.Dials) != len(published) {
		t.Errorf("%d dials of %d", len(cp.Shared.Dials), len(published))
	}
	for _, d := range cp.Shared.Dials {
		if d.Error != "no address with a port" && d.Error != "no IP address of a server with a port" || d.Connected {
			t.Errorf("%+v", d)
		}
	}
}

func TestTooManyServers(t *testing.T) {
	c, older, _ := pair(t)
	for i := range maxServers + 1 {
		c.leases = append(c.leases, lease(fmt.Sprint(i), fmt.Sprintf("192.0.2.%d:%d", i%250+1, 6000+i), 0))
	}
	_, err := ask(t, Options{Config: c.config(older)})
	if err == nil || err.Error() != "the control plane names 259 addresses of API servers, more than any has; choose with --server" {
		t.Errorf("error %v", err)
	}
}

func TestInsecure(t *testing.T) {
	c, older, newer := pair(t)
	cfg := c.config(older)
	cfg.TLSClientConfig = rest.TLSClientConfig{Insecure: true}
	if _, err := ask(t, Options{Config: cfg}); err == nil || !strings.HasPrefix(err.Error(), "the kubeconfig sets insecure-skip-tls-verify:") {
		t.Errorf("error %v", err)
	}
	c.leases = []any{lease("cp-1", older.address, 0), lease("cp-2", newer.address, 0)}
	cp := mustAsk(t, Options{Config: cfg, Servers: []string{older.address, newer.address}})
	for _, s := range cp.Servers {
		if !s.Reached.OK() || !slices.Equal(s.FoundBy, []string{"given"}) {
			t.Errorf("%+v", s)
		}
	}
	// There is no CA to judge certificates by.
	for _, d := range cp.Shared.Dials {
		if !d.Connected || !d.Unverified || d.Trusted || !d.Named || d.Error != "" {
			t.Errorf("%+v", d)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	c, older, _ := pair(t)
	with := func(change func(*rest.Config)) *rest.Config {
		cfg := c.config(older)
		change(cfg)
		return cfg
	}
	key := c.identity()
	tests := []struct {
		name    string
		config  *rest.Config
		servers []string
		want    string
	}{
		{"http", with(func(cfg *rest.Config) { cfg.Host = "http://" + older.address }), nil, "the kubeconfig's server " + older.address + " is not https; mvpcheck sends credentials with https only"},
		{"http without a scheme", &rest.Config{Host: older.address, BearerToken: testToken}, nil, "the kubeconfig's server " + older.address + " is not https; mvpcheck sends credentials with https only"},
		{"no URL", with(func(cfg *rest.Config) { cfg.Host = "https://user:" + testPassword + "@host:x" }), nil, "the kubeconfig's server is no URL"},
		{"--server http", c.config(older), []string{"http://" + older.address}, `--server "http://` + older.address + `": credentials are sent with https only`},
		{"--server with credentials", c.config(older), []string{"https://user:" + testPassword + "@host"}, "--server a server's URL has a host, a port and perhaps a path; credentials are the kubeconfig's"},
		{"key of another certificate", with(func(cfg *rest.Config) {
			cfg.CertData, cfg.KeyData = certstest.PEM(c.identity()), key.KeyPEM(t)
		}), nil, "the kubeconfig: tls: private key does not match public key"},
		{"no key", with(func(cfg *rest.Config) { cfg.CertData, cfg.KeyData = certstest.PEM(key), []byte(testPassword) }), nil, "the kubeconfig: tls: failed to find any PEM data in key input"},
		{"no CA", with(func(cfg *rest.Config) { cfg.CAData = []byte(testPassword) }), nil, "the kubeconfig: unable to load root certificates: unable to parse bytes as PEM block"},
		{"token and password", with(func(cfg *rest.Config) { cfg.Username, cfg.Password = "user", testPassword }), nil, "the kubeconfig: username/password or bearer token may be set, but not both"},
		{"CA file that is not there", with(func(cfg *rest.Config) { cfg.CAData, cfg.CAFile = nil, "/nowhere/ca.crt" }), nil, "the kubeconfig: open /nowhere/ca.crt: no such file or directory"},
	}
	for _, tt := range tests {
		_, err := ask(t, Options{Config: tt.config, Servers: tt.servers})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

// The password of a proxy in the environment of an API server is not kept.
func TestProxyPasswords(t *testing.T) {
	c, older, _ := pair(t)
	c.pods = []any{
		mirrorPod("cp-1", "127.0.0.1", []string{port(older)}, "HTTPS_PROXY=http://user:"+testPassword+"@proxy.example:3128", "NO_PROXY=10.0.0.0/8"),
		mirrorPod("cp-2", "127.0.0.1", []string{port(older)}, "https_proxy=user:"+testPassword+"@proxy.example", "TOKEN="+testToken, "HTTP_PROXY=http://user:"+testPassword+"@proxy.example"),
		mirrorPod("cp-3", "127.0.0.1", []string{port(older), "--token-auth-file=" + testPassword}),
	}
	cp := mustAsk(t, Options{Config: c.config(older)})
	var got []map[string]string
	for _, p := range cp.Shared.Pods.Items {
		got = append(got, p.Environment)
	}
	want := []map[string]string{{"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": "10.0.0.0/8"}, {"https_proxy": "proxy.example"}, nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkReasons(t, cp)
}

// dialPeer shakes hands and does nothing else, whatever the kubeconfig has.
func TestDialPeer(t *testing.T) {
	c := newCluster(t)
	type contact struct {
		certificates, sent int
		name               string
	}
	contacts := make(chan contact, 10)
	listen := func(identity *certstest.Identity, change func(*tls.Config)) string {
		f := c.newRaw(nil, func(conn net.Conn) {
			cfg := serving(identity)
			change(cfg)
			s := tls.Server(conn, cfg)
			_ = s.Handshake()
			n, _ := io.Copy(io.Discard, s)
			state := s.ConnectionState()
			contacts <- contact{len(state.PeerCertificates), int(n), state.ServerName}
		})
		return f.address
	}
	cfg := c.config(&fake{})
	client := c.ca.Issue(t, "admin", valid, certstest.Usage(x509.ExtKeyUsageClientAuth))
	cfg.CertData, cfg.KeyData = certstest.PEM(client), client.KeyPEM(t)
	cfg.ServerName = "another.example"
	other := certstest.NewCA(t, "other", valid)
	tests := []struct {
		name     string
		identity *certstest.Identity
		change   func(*tls.Config)
		want     evidence.Dial
	}{
		{"fine", c.identity(), func(*tls.Config) {}, evidence.Dial{Connected: true, Trusted: true, Named: true}},
		{"TLS 1.2", c.identity(), func(cfg *tls.Config) { cfg.MaxVersion = tls.VersionTLS12 }, evidence.Dial{Connected: true, Trusted: true, Named: true}},
		{"demands a certificate", c.identity(), func(cfg *tls.Config) { cfg.ClientAuth = tls.RequireAnyClientCert }, evidence.Dial{Connected: true, Trusted: true, Named: true}},
		{"another CA", other.Issue(t, "x", valid, certstest.DNS(peerServerName)), func(*tls.Config) {}, evidence.Dial{Connected: true, Named: true, Error: "its certificate is not signed by the kubeconfig's CA"}},
		{"another name", c.ca.Issue(t, "x\x1b\n", valid, certstest.DNS("cp-1")), func(*tls.Config) {}, evidence.Dial{Connected: true, Trusted: true, Error: "its certificate is not valid for kubernetes.default.svc but for cp-1"}},
		{"only old TLS", c.identity(), func(cfg *tls.Config) { cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS10 }, evidence.Dial{Error: "it refuses the TLS handshake: tls: protocol version not supported"}},
	}
	for _, tt := range tests {
		address := listen(tt.identity, tt.change)
		got := dialPeer(t.Context(), cfg, address, 10*time.Second)
		if tt.want.Connected {
			if got.Subject == "" || strings.ContainsAny(got.Subject, "\x1b\n") || got.NotAfter.IsZero() || len(got.Names) == 0 {
				t.Errorf("%s: %+v", tt.name, got)
			}
			got.Subject, got.Issuer, got.Names, got.NotAfter = "", "", nil, time.Time{}
		}
		tt.want.Address = address
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if got := <-contacts; got.certificates > 0 || got.sent > 0 || got.name != peerServerName && got.name != "" {
			t.Errorf("%s: the server saw %+v", tt.name, got)
		}
	}
}

// The time of a dial is bounded, and it is over when it returns.
func TestDialPeerSilent(t *testing.T) {
	c := newCluster(t)
	silent := c.newRaw(nil, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	got := dialPeer(t.Context(), c.config(silent), silent.address, 300*time.Millisecond)
	if diff := cmp.Diff(evidence.Dial{Address: silent.address, Error: "no connection within 300ms"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	plain := c.newRaw(nil, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		_, _ = io.WriteString(conn, "HTTP/1.0 400 Bad Request\r\n\r\n")
	})
	if got := dialPeer(t.Context(), c.config(plain), plain.address, 10*time.Second); got.Connected || got.Error != "the answer is not TLS" && got.Error != "connection reset" {
		t.Errorf("%+v", got)
	}
}

// When a probe is called off it ends soon, and sends nothing more.
func TestCancel(t *testing.T) {
	c, older, newer := pair(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	newer.instead = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/apis" {
			cancel(fmt.Errorf("called off"))
			<-r.Context().Done()
		}
		return false
	}
	p, err := New(Options{Config: c.config(older), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	start := time.Now()
	if cp, err := p.Ask(ctx); err == nil || err.Error() != "called off" || cp != nil {
		t.Errorf("%v, %v", cp, err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	// The servers may still be about to note what was under way.
	count := func() int { return len(older.paths()) + len(newer.paths()) }
	before := -1
	for before != count() {
		before = count()
		time.Sleep(300 * time.Millisecond)
	}
	if _, err := p.Ask(ctx); err == nil || err.Error() != "called off" {
		t.Errorf("error %v", err)
	}
	time.Sleep(100 * time.Millisecond)
	if after := count(); after != before {
		t.Errorf("%d requests more", after-before)
	}
}

// Each round has its own requests, and connections that have died meanwhile do no harm.
func TestRounds(t *testing.T) {
	c, older, newer := pair(t)
	p, err := New(Options{Config: c.config(older), Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	goroutines := 0
	var first *evidence.ControlPlane
	for round := range 4 {
		cp, err := p.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first, goroutines = cp, runtime.NumGoroutine()
		}
		type request struct {
			server, path, profile string
			local                 bool
		}
		var requests [2][]request
		for i, cp := range []*evidence.ControlPlane{first, cp} {
			for _, r := range cp.Requests {
				requests[i] = append(requests[i], request{r.Server, r.Path, r.Profile, r.Local})
			}
		}
		if diff := cmp.Diff(requests[0], requests[1], cmp.AllowUnexported(request{})); diff != "" {
			t.Errorf("round %d (-first +now):\n%s", round, diff)
		}
		for _, s := range cp.Servers {
			if !s.Reached.OK() {
				t.Errorf("round %d: %s %+v", round, s.Address, s.Reached)
			}
		}
		if round == 1 {
			older.server.CloseClientConnections()
			newer.server.CloseClientConnections()
			time.Sleep(200 * time.Millisecond) // until the client has seen it
		}
	}
	if n := runtime.NumGoroutine(); n > goroutines+8 {
		t.Errorf("%d goroutines after the first round, %d after the last", goroutines, n)
	}
}

// A server that does not answer where it is published is asked at its own address.
func TestElsewhere(t *testing.T) {
	c, older, newer := pair(t)
	c.listed = []*fake{older}
	c.pods = []any{
		mirrorPod("cp-1", "127.0.0.1", []string{port(older), "--advertise-address=127.0.0.1"}),
		mirrorPod("cp-2", "127.0.0.1", []string{port(newer), "--advertise-address=127.0.0.2"}),
	}
	cp := mustAsk(t, Options{Config: c.config(older), Timeout: 10 * time.Second})
	s := serverAt(t, cp, newer)
	if !s.Reached.OK() || s.Node != "cp-2" || s.Pod != "kube-apiserver-cp-2" || !slices.Equal(s.FoundBy, []string{"pod"}) || !s.Local.OK() {
		t.Errorf("%+v", s)
	}
	if len(cp.Servers) != 2 {
		t.Errorf("servers %+v", cp.Servers)
	}
}

func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6")
	}
	c, older, _ := pair(t)
	six := c.newFake("six", "v1.36.3", newOnes, func(f *fake) {
		f.server.Listener.Close()
		f.server.Listener = l
	})
	c.moreSlices = []any{map[string]any{
		"metadata": map[string]string{"name": "kubernetes"}, "addressType": "IPv6", "ports": []any{map[string]any{"name": "https", "port": six.port()}},
		"endpoints": []any{map[string]any{"addresses": []string{"0:0:0:0:0:0:0:1"}}},
	}}
	c.leases = []any{lease("cp-6", six.address, 0)}
	for _, o := range []Options{{}, {Servers: []string{six.address}}, {Servers: []string{"https://" + six.address + "/"}}} {
		o.Config = c.config(older)
		cp := mustAsk(t, o)
		s := serverAt(t, cp, six)
		if !s.Reached.OK() || s.Identity != "apiserver-cp-6" {
			t.Errorf("%+v", s)
		}
		if d := cp.Shared.Dials; len(d) != 1 || !d[0].Trusted || d[0].Address != six.address {
			t.Errorf("%+v", d)
		}
	}
}
