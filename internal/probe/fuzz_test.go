package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// FuzzParseDiscovery proves that what is read of any document is in order and can be written and read again.
func FuzzParseDiscovery(f *testing.F) {
	f.Add(discoveryJSON(newOnes))
	f.Add(discoveryJSON(core))
	f.Add([]byte(`{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"freshness":"Stale","version":"v1","resources":[{"resource":"r","verbs":[]},null]}],"metadata":{"name":"g"}},null]}`))
	f.Add([]byte(`{"kind":"APIGroupList","groups":[]}`))
	f.Add([]byte(`{"items":[[[]]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := parseDiscovery(bytes.NewReader(text))
		if err != nil {
			if doc != nil {
				t.Error("a document beside an error")
			}
			checkReason(t, reason(err))
			return
		}
		if !json.Valid(text) {
			t.Errorf("not JSON, and no error")
		}
		for i, r := range doc.Resources {
			if i > 0 && evidence.CompareResources(doc.Resources[i-1], r) >= 0 {
				t.Errorf("%v before %v", doc.Resources[i-1], r)
			}
			if !doc.Lists(r) {
				t.Errorf("%v is not found", r)
			}
		}
		for _, r := range doc.noGet {
			if !doc.Lists(r) {
				t.Errorf("%v is not listed", r)
			}
		}
		if len(doc.Resources) > bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("null")) {
			t.Errorf("%d resources", len(doc.Resources))
		}
		s := newServer("192.0.2.1:6443", evidence.FromLease)
		s.Local = doc.Document
		recorded(t, &evidence.ControlPlane{APIVersion: evidence.APIVersion, Kind: evidence.Kind, Servers: []evidence.Server{s}})
	})
}

// FuzzReadMetrics proves that a reading of anything can be written.
func FuzzReadMetrics(f *testing.F) {
	f.Add([]byte("# TYPE apiserver_rerouted_request_total counter\napiserver_rerouted_request_total{code=\"200\",group=\"g\"} 3\n"))
	f.Add([]byte("process_start_time_seconds 1.7e+09\nkubernetes_feature_enabled{name=\"UnknownVersionInteroperabilityProxy\",stage=\"\"} 1"))
	f.Add([]byte("apiserver_peer_proxy_errors_total{type=\"x\\\"\\\\\"} +Inf 1\napiserver_peer_discovery_sync_errors_total{type=\"\"} NaN # {} 1\n"))
	f.Add([]byte("# TYPE apiserver_rerouted_request_total summary\napiserver_rerouted_request_total{quantile=\"0\"} 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := readMetrics(bytes.NewReader(text), now)
		if err != nil {
			checkReason(t, reason(err))
			return
		}
		for _, c := range r.Rerouted {
			if math.IsNaN(c.Value) || c.Value < 0 {
				t.Errorf("%+v", c)
			}
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}

// FuzzReadPod proves that no pod is too much, and that no credentials of its proxies are kept.
func FuzzReadPod(f *testing.F) {
	for _, p := range []any{
		mirrorPod("cp-1", "192.0.2.11", []string{"--advertise-address=192.0.2.11", "--feature-gates=A=true"}, "HTTPS_PROXY=http://u:p@proxy", "NO_PROXY=a"),
		mirrorPod("cp-1", "", nil), map[string]any{"metadata": map[string]string{"name": "x"}},
	} {
		raw, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"kube-apiserver","command":["sh","-c","exec kube-apiserver $X --secure-port=1"]}]}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, ok := readPod(raw)
		if !ok {
			if p.Name != "" || p.Flags != nil {
				t.Errorf("%+v", p)
			}
			return
		}
		for name, value := range p.Environment {
			if strings.Contains(value, "@") || !slices.Contains(proxyVariables, name) {
				t.Errorf("%s=%q", name, value)
			}
		}
		for name := range p.Flags {
			if !slices.Contains(readFlags, name) {
				t.Errorf("flag %s", name)
			}
		}
		for _, address := range []string{p.Published(), p.Own()} {
			if address != "" && evidence.Canonical(address) != address {
				t.Errorf("address %q", address)
			}
		}
		if _, err := json.Marshal(p); err != nil {
			t.Error(err)
		}
	})
}

// FuzzReadList proves that a list is read as encoding/json reads it.
func FuzzReadList(f *testing.F) {
	f.Add([]byte(`{"kind":"LeaseList","metadata":{"x":[{}]},"items":[{"metadata":{"name":"a"}},null,{}]}`))
	f.Add([]byte(`{"items":null,"kind":"List"}`))
	f.Add([]byte(`{"kind":"List","items":[{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}]} `))
	f.Fuzz(func(t *testing.T, text []byte) {
		type object struct {
			Metadata objectMeta `json:"metadata"`
		}
		items, err := readList[object](bytes.NewReader(text))
		if err != nil {
			if items != nil {
				t.Error("a list beside an error")
			}
			checkReason(t, reason(err))
			return
		}
		if !json.Valid(text) {
			t.Error("not JSON, and no error")
		}
		if len(items) > bytes.Count(text, []byte(","))+1 {
			t.Errorf("%d items", len(items))
		}
		for _, i := range items {
			if _, err := json.Marshal(utc(i.Metadata.Created)); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzMeaning proves that nothing but the answers of API servers is taken for a proof.
func FuzzMeaning(f *testing.F) {
	f.Add(404, []byte(`{"kind":"Status","details":{"name":"mvpcheck-no-such-object"}}`))
	f.Add(404, []byte("404 page not found\n"))
	f.Add(404, []byte(`{"kind":"Status","details":{}}`))
	f.Add(405, []byte(`{"kind":"Status"}`))
	f.Add(200, []byte(`{"kind":"Pod"}`))
	f.Add(503, []byte(""))
	f.Add(403, []byte(""))
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		isJSON := json.Valid(body)
		switch got := meaning(&reply{status: code, body: body}); {
		case got == evidence.Served && !(isJSON && (code == 200 || code == 404 || code == 405)),
			got == evidence.NotServed && !(code == 404 && (isJSON || strings.TrimSpace(string(body)) == "404 page not found")),
			got == evidence.Unavailable && code != 503,
			got == evidence.Denied && code != 401 && code != 403,
			got == evidence.NotAnswered:
			t.Errorf("%s", got)
		}
	})
}

// FuzzParseServer proves that whatever is taken for a server is asked with https, and that no password is quoted.
func FuzzParseServer(f *testing.F) {
	for _, s := range []string{"192.0.2.11", "cp-1:6443", "https://[2001:db8::1]:6443/x", "2001:db8::1", "http://u:p@h", "//x", "https://a b", "[::1%25lo]:1", "https:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := parseServer(s)
		if err != nil {
			if text := err.Error(); strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) || strings.Contains(text, "@") {
				t.Errorf("error %q", text)
			}
			return
		}
		_, port, err := net.SplitHostPort(hostPort(u))
		if n, _ := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || u.Scheme != "https" || u.User != nil || u.Hostname() == "" || u.RawQuery != "" {
			t.Errorf("%q: %#v", s, u)
		}
	})
}

// FuzzReason proves that a reason is one line of printable text.
func FuzzReason(f *testing.F) {
	f.Add("first\nsecond")
	f.Add("\x1b[31m\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		got := reason(errors.New(text))
		if strings.ContainsFunc(got, func(r rune) bool { return !strconv.IsPrint(r) }) || len([]rune(got)) > maxReason+1 {
			t.Errorf("%q", got)
		}
		if got := withoutCredentials(text); strings.Contains(got, "@") {
			t.Errorf("%q", got)
		}
	})
}
