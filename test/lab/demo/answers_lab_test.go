//go:build lab && linux

package demo

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

var update = flag.Bool("update", false, "write internal/demo/recorded anew")

// clients are those of one user to both servers of a node.
type clients struct{ real, embedded *client }

// A client sends requests as a user to a server.
type client struct {
	http *http.Client
	url  string
	// token is sent as a bearer token, if there is one.
	token string
}

func newClient(t *testing.T, url string, cert, key []byte) *client {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	if cert != nil {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		// Whatever CAs the server names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{http: &http.Client{Timeout: 30 * time.Second, Transport: transport}, url: url}
}

func withToken(c *client, token string) *client {
	c.token = token
	return c
}

// admins are the clients of an administrator, for each node.
func (p *pair) admins(t *testing.T) []clients {
	return p.users(t, p.plane.Admin, "lab-admin", "system:masters")
}

// others are the clients of users who may do little or nothing.
func (p *pair) others(t *testing.T) map[string][]clients {
	out := map[string][]clients{
		"a user": p.users(t, p.plane.CA.Issue(t, controlplane.Subject{Name: "jane", Groups: []string{"developers"}}), "jane", "developers"),
	}
	for i, s := range p.real {
		e := "https://" + p.embedded.Servers()[i].Address
		out["anybody"] = append(out["anybody"], clients{newClient(t, s.URL(), nil, nil), newClient(t, e, nil, nil)})
		out["a wrong token"] = append(out["a wrong token"], clients{
			withToken(newClient(t, s.URL(), nil, nil), "wrong"), withToken(newClient(t, e, nil, nil), "wrong"),
		})
		foreign := p.plane.EtcdCA.Issue(t, controlplane.Subject{Name: "lab-admin", Groups: []string{"system:masters"}})
		out["a certificate of another CA"] = append(out["a certificate of another CA"], clients{
			newClient(t, s.URL(), foreign.CertPEM(), foreign.KeyPEM()), newClient(t, e, foreign.CertPEM(), foreign.KeyPEM()),
		})
	}
	return out
}

func (p *pair) users(t *testing.T, id *controlplane.Identity, name string, groups ...string) (out []clients) {
	t.Helper()
	for i, s := range p.embedded.Servers() {
		cfg, err := s.ConfigFor(name, groups...)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, clients{newClient(t, p.real[i].URL(), id.CertPEM(), id.KeyPEM()), newClient(t, cfg.Host, cfg.CertData, cfg.KeyData)})
	}
	return out
}

// An answer is what a server answers.
type answer struct {
	status int
	header http.Header
	body   string
}

func ask(t *testing.T, c *client, path string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := c.http.Do(req)
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

// addresses replaces what names servers by their nodes, which both control planes have in common.
func (p *pair) addresses(text string) string {
	for i, s := range p.real {
		text = strings.ReplaceAll(text, s.HostPort(), "<"+s.Name+">")
		text = strings.ReplaceAll(text, p.embedded.Servers()[i].Address, "<"+s.Name+">")
	}
	return text
}

var flagLine = regexp.MustCompile(`^([a-z0-9-]+)[:= ]+(.*)$`)

// headers are those that are compared. Length, time, audit ID and what flow control says of itself are each answer's own.
var headers = []string{"Content-Type", "Cache-Control", "Vary", "X-Content-Type-Options", "Location", "Www-Authenticate"}

// normal is an answer as a map of its parts: status, headers, and each value of its JSON by its path.
func (p *pair) normal(a answer) map[string]string {
	out := map[string]string{"status": fmt.Sprint(a.status)}
	for _, name := range headers {
		if values := a.header.Values(name); len(values) > 0 {
			out["header "+name] = strings.Join(values, " & ")
		}
	}
	for _, name := range []string{"Audit-Id", "Etag"} {
		if n := len(a.header.Values(name)); n > 0 {
			out["header "+name] = fmt.Sprintf("%d times", n)
		}
	}
	body := p.addresses(a.body)
	var value any
	switch {
	case json.Unmarshal([]byte(body), &value) == nil:
		flatten(out, "", value)
	case strings.HasPrefix(body, "\napiserver flagz"):
		for line := range strings.Lines(body) {
			// What stands between is drawn at each start of a server, so that nobody relies on it.
			if m := flagLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				out["/flags/"+m[1]] = m[2]
			}
		}
	default:
		out["body"] = body
	}
	return out
}

// flatten writes the values of JSON by their paths. Resources of a legacy document go by their names: their order is that
// of a hash table.
func flatten(out map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			out[path] = "{}"
		}
		for key, member := range v {
			flatten(out, path+"/"+key, member)
		}
	case []any:
		if len(v) == 0 {
			out[path] = "[]"
		}
		for i, member := range v {
			key := fmt.Sprint(i)
			if o, ok := member.(map[string]any); ok && path == "/resources" {
				key = fmt.Sprint(o["name"])
			}
			flatten(out, path+"/"+key, member)
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}

func mapKeys(of ...map[string]string) iter.Seq[string] {
	all := map[string]bool{}
	for _, m := range of {
		for key := range m {
			all[key] = true
		}
	}
	return maps.Keys(all)
}

// A difference is one that may be between the answers of a real and an embedded server.
type difference struct {
	// path is that of the request, part the part of the answer (see normal), both regular expressions for the whole.
	path, part string
	// why it may be.
	why string
}

// allowance are the differences that may be, and which of them there have been.
type allowance struct {
	path, part []*regexp.Regexp
	used       []bool
}

func newAllowance() *allowance {
	a := &allowance{used: make([]bool, len(differences))}
	for _, d := range differences {
		a.path = append(a.path, regexp.MustCompile("^(?:"+d.path+")$"))
		a.part = append(a.part, regexp.MustCompile("^(?:"+d.part+")$"))
	}
	return a
}

func (a *allowance) allows(path, part string) bool {
	for i := range differences {
		if a.path[i].MatchString(path) && a.part[i].MatchString(part) {
			a.used[i] = true
			return true
		}
	}
	return false
}

// left are the differences that there have not been.
func (a *allowance) left() []string {
	var out []string
	for i, d := range differences {
		if !a.used[i] {
			out = append(out, d.path+" "+d.part)
		}
	}
	return out
}
