package probe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
)

// A connectProxy is a proxy for CONNECT requests.
type connectProxy struct {
	*fake
	mu      sync.Mutex
	targets []string
	logins  []string
}

// newProxy starts a proxy. It connects to what route says of a target.
func (c *cluster) newProxy(tls bool, route func(target string) string) *connectProxy {
	p := &connectProxy{}
	serve := func(conn net.Conn) {
		r := bufio.NewReader(conn)
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if req.Method != http.MethodConnect || req.Header.Get("Authorization") != "" {
			c.t.Errorf("the proxy got a %s with %v", req.Method, req.Header)
		}
		p.mu.Lock()
		p.targets, p.logins = append(p.targets, req.Host), append(p.logins, req.Header.Get("Proxy-Authorization"))
		p.mu.Unlock()
		to := route(req.Host)
		if to == "" {
			_, _ = io.WriteString(conn, "HTTP/1.1 403 "+bodyText+"\x1b[31m\r\nContent-Length: 14\r\n\r\n"+bodyText)
			return
		}
		up, err := net.Dial("tcp", to)
		if err != nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
			return
		}
		defer up.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(up, r)
			up.Close()
		}()
		_, _ = io.Copy(conn, up)
	}
	if tls {
		p.fake = c.newRaw(c.identity(), serve)
	} else {
		p.fake = c.newRaw(nil, serve)
	}
	return p
}

func (p *connectProxy) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(p.targets)))
}

func straight(target string) string { return target }

func TestProxyURL(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			c, older, newer := pair(t)
			c.leases = []any{lease("cp-1", older.address, 0), lease("cp-2", newer.address, 0)}
			proxy := c.newProxy(scheme == "https", straight)
			cfg := c.config(older)
			cfg.Proxy = http.ProxyURL(&url.URL{Scheme: scheme, Host: proxy.address, User: url.UserPassword("user", testPassword)})
			cp := mustAsk(t, Options{Config: cfg})
			for _, f := range []*fake{older, newer} {
				if s := serverAt(t, cp, f); !s.Reached.OK() || !s.Merged.OK() || !s.Metrics.OK() {
					t.Errorf("%+v", s)
				}
			}
			want := []string{older.address, newer.address}
			slices.Sort(want)
			if got := proxy.asked(); !slices.Equal(got, want) {
				t.Errorf("the proxy was asked for %q, want %q", got, want)
			}
			for _, login := range proxy.logins {
				if !strings.HasPrefix(login, "Basic ") {
					t.Errorf("Proxy-Authorization %q", login)
				}
			}
			for _, d := range cp.Shared.Dials {
				if scheme == "http" && !(d.Connected && d.Trusted && d.Named) ||
					scheme == "https" && d.Error != "not asked through a proxy that is asked with https itself" {
					t.Errorf("%+v", d)
				}
			}
			checkReasons(t, cp)
		})
	}
}

// What a proxy does wrong is said of the proxy.
func TestBrokenProxies(t *testing.T) {
	c, older, newer := pair(t)
	c.leases = []any{lease("cp-2", newer.address, 0)}
	down := c.newRaw(nil, func(net.Conn) {})
	down.close()
	tests := []struct {
		name  string
		proxy string
		want  string
	}{
		{"refuses", c.newProxy(false, func(target string) string {
			if target == newer.address {
				return ""
			}
			return target
		}).address, "the proxy refuses the connection: 403 Forbidden"},
		{"cannot reach it", c.newProxy(false, func(target string) string {
			if target == newer.address {
				return down.address
			}
			return target
		}).address, "the proxy refuses the connection: 502 Bad Gateway"},
		{"leads elsewhere", c.newProxy(false, func(target string) string {
			if target == newer.address {
				return c.newRaw(nil, func(conn net.Conn) { fmt.Fprint(conn, bodyText+hostileText) }).address
			}
			return target
		}).address, "the answer is not TLS|" + cutOff + "|connection reset"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := c.config(older)
			cfg.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: tt.proxy, User: url.UserPassword("user", testPassword)})
			cp := mustAsk(t, Options{Config: cfg})
			if s := serverAt(t, cp, newer); !oneOf(s.Reached.Reason, tt.want) {
				t.Errorf("%+v, want %q", s.Reached, tt.want)
			}
			if s := serverAt(t, cp, older); !s.Reached.OK() {
				t.Errorf("%+v", s.Reached)
			}
			if d := cp.Shared.Dials; len(d) != 1 || !oneOf(d[0].Error, tt.want) || d[0].Connected {
				t.Errorf("%+v, want %q", d, tt.want)
			}
			checkReasons(t, cp)
		})
	}
	silent := c.newRaw(nil, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	for _, tt := range []struct{ address, want string }{
		{down.address, "the proxy: connection refused"},
		{silent.address, "no connection within 300ms"},
		{c.newRaw(nil, says(bodyText+"\r\n\r\n")).address, "the answer is not HTTP"},
	} {
		cfg := c.config(older)
		cfg.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: tt.address, User: url.UserPassword("user", testPassword)})
		_, err := ask(t, Options{Config: cfg, Timeout: 300 * time.Millisecond})
		if want := "cannot ask " + older.address + ": " + tt.want + "; name the API servers with --server if this one is down"; err == nil || err.Error() != want {
			t.Errorf("error %v\nwant %s", err, want)
		}
	}
}

// The environment is read once in the life of a process, hence a process of its own. It never is that of loopback
// addresses, hence others.
func TestProxyOfEnvironment(t *testing.T) {
	const child = "MVPCHECK_TEST_PROXY"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProxyOfEnvironment$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1", "NO_PROXY=", "no_proxy=", "https_proxy=")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestProxyOfEnvironment") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	c, older, newer := pair(t)
	names := map[string]string{"192.0.2.11:6443": older.address, "192.0.2.12:6443": newer.address}
	for _, f := range []*fake{older, newer} {
		f.server.TLS.Certificates = serving(c.ca.Issue(t, "x", valid, certstest.DNS(peerServerName), ips("192.0.2.11", "192.0.2.12"))).Certificates
	}
	c.listed, c.leases = nil, []any{lease("cp-1", "192.0.2.11:6443", 0), lease("cp-2", "192.0.2.12:6443", 0)}
	proxy := c.newProxy(false, func(target string) string { return names[target] })
	cfg := c.config(older)
	cfg.Host = "https://192.0.2.11:6443"
	t.Setenv("HTTPS_PROXY", "http://user:"+testPassword+"@"+proxy.address)
	cp, err := ask(t, Options{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	if len(cp.Servers) != 2 || !cp.Servers[0].Reached.OK() || !cp.Servers[1].Reached.OK() {
		t.Errorf("%+v", cp.Servers)
	}
	for _, d := range cp.Shared.Dials {
		if !d.Connected || !d.Trusted || !d.Named {
			t.Errorf("%+v", d)
		}
	}
	if got := proxy.asked(); !slices.Equal(got, []string{"192.0.2.11:6443", "192.0.2.12:6443"}) {
		t.Errorf("the proxy was asked for %q", got)
	}
	checkReasons(t, cp)
}
