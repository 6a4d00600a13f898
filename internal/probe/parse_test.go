package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

func TestMeaning(t *testing.T) {
	object := func(details string) string {
		return `{"kind":"Status","apiVersion":"v1","status":"Failure","details":` + details + "}"
	}
	tests := []struct {
		name string
		code int
		body string
		want evidence.Answer
	}{
		{"the object is not there", 404, object(`{"name":"` + ObjectName + `","group":"g","kind":"things"}`), evidence.Served},
		{"the resource is not there", 404, object(`{}`), evidence.NotServed},
		{"the resource is not there, without details", 404, `{"kind":"Status"}`, evidence.NotServed},
		{"plain text", 404, "404 page not found\n", evidence.NotServed},
		{"HTML", 404, "<html>404 page not found</html>", evidence.Unclear},
		{"other text", 404, "Not Found", evidence.Unclear},
		{"other JSON", 404, `{"error":"404"}`, evidence.Unclear},
		{"empty", 404, "", evidence.Unclear},
		{"cut off", 404, `{"kind":"Status","details":{"name":"` + ObjectName, evidence.Unclear},
		{"method", 405, object(`{}`), evidence.Served},
		{"method of something else", 405, "Method Not Allowed", evidence.Unclear},
		{"somebody has made it", 200, `{"kind":"Thing","metadata":{"name":"` + ObjectName + `"}}`, evidence.Served},
		{"a page", 200, "<html></html>", evidence.Unclear},
		{"an empty page", 200, "", evidence.Unclear},
		{"JSON without a kind", 200, "{}", evidence.Unclear},
		{"forbidden", 403, object(`{"name":"` + ObjectName + `"}`), evidence.Denied},
		{"unauthorized", 401, "", evidence.Denied},
		{"the peer is not there", 503, "Error getting ip and port info of the remote server while proxying", evidence.Unavailable},
		{"the peer is not there, in JSON", 503, object(`{}`), evidence.Unavailable},
		{"gone", 410, object(`{}`), evidence.Unclear},
		{"redirect", 302, "", evidence.Unclear},
		{"too many", 429, "", evidence.Unclear},
		{"broken", 500, object(`{"name":"` + ObjectName + `"}`), evidence.Unclear},
		{"gateway", 502, "", evidence.Unclear},
		{"nothing", 204, "", evidence.Unclear},
	}
	for _, tt := range tests {
		if got := meaning(&reply{status: tt.code, body: []byte(tt.body)}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := meaning(&reply{status: 404, body: []byte("404 page not found"), err: errors.New("cut off")}); got != evidence.Unclear {
		t.Errorf("half an answer: %s", got)
	}
}

func TestObjectPath(t *testing.T) {
	tests := map[evidence.Resource]string{
		{Version: "v1", Resource: "nodes"}:                                          "/api/v1/nodes/" + ObjectName,
		{Version: "v1", Resource: "pods", Namespaced: true}:                         "/api/v1/namespaces/default/pods/" + ObjectName,
		{Version: "v1", Resource: "pods/status", Namespaced: true}:                  "/api/v1/namespaces/default/pods/" + ObjectName + "/status",
		{Group: "g.example", Version: "v1", Resource: "things"}:                     "/apis/g.example/v1/things/" + ObjectName,
		{Group: "g.example", Version: "v1", Resource: "things/x", Namespaced: true}: "/apis/g.example/v1/namespaces/default/things/" + ObjectName + "/x",
	}
	for r, want := range tests {
		if got := objectPath(r); got != want {
			t.Errorf("%v: %s, want %s", r, got, want)
		}
	}
}

// Names from documents, some of them those of extensions, make no path of another meaning.
func TestAskable(t *testing.T) {
	good := resources("v1 pods", "apps/v1 deployments", "apps/v1 deployments/status", "g.example/v1beta1 things", "policy/v1 pod-things.x")
	bad := []evidence.Resource{
		{}, {Group: "apps", Version: "v1"}, {Group: "apps", Resource: "deployments"},
		resource("apps/v1 ../../../api/v1/secrets"), resource("apps/v1 .."), resource("apps/v1 things/.."), resource("apps/v1 things/."), resource("../x/v1 things"),
		resource("apps/v1 things?watch=true"), resource("apps/v1 things#x"), resource("apps/v1 a/b/c"), resource("apps/v1 a//b"), resource("apps/v1 a/"),
		resource("apps/v1 a%2fb"), resource("apps/v1 a\nb"), resource("apps/v1 a\\b"), resource("apps/v1? things"), resource("apps/v1/../v2 things"), resource("apps/v1 Things"),
		{Group: "..", Version: "v1", Resource: "things"}, {Group: "a/b", Version: "v1", Resource: "things"},
	}
	docs := &documents{noGet: map[evidence.Resource]bool{resource("v1 bindings"): true}}
	all := append(append(resources("v1 bindings"), bad...), good...)
	if diff := cmp.Diff(good, askable(all, docs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var many []evidence.Resource
	for i := range 2 * maxObjects {
		many = append(many, resource(fmt.Sprintf("apps/v1 things%d", i)))
	}
	if n := len(askable(many, docs)); n != maxObjects {
		t.Errorf("%d of %d", n, len(many))
	}
}

// What cannot be read by name is not asked for: a server that has it answers as one that does not.
func TestUnreadableResources(t *testing.T) {
	c, older, newer := pair(t)
	body := string(discoveryJSON(newer.local))
	i := strings.LastIndex(body, `"verbs":[`)
	body = body[:i] + `"verbs":["create"]` + body[i+strings.Index(body[i:], "]")+1:]
	at("/apis", answers(200, "", "", body))(newer)
	cp := mustAsk(t, Options{Config: c.config(older)})
	for _, s := range cp.Servers {
		if !s.Local.OK() || s.Objects != nil {
			t.Errorf("%+v", s)
		}
	}
	if doubtful := cp.Doubtful(); len(doubtful) != 1 {
		t.Errorf("%v", doubtful)
	}
}

func TestParseDiscovery(t *testing.T) {
	const head = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":`
	group := func(rest string) string { return head + `[{"metadata":{"name":"g"},"versions":[` + rest + `]}]}` }
	tests := []struct {
		name, text string
		resources  []evidence.Resource
		noGet      []evidence.Resource
		stale      []string
		err        string
	}{
		{name: "empty", text: head + `[]}`},
		{name: "null", text: head + `null}`},
		{name: "no items", text: `{"kind":"APIGroupDiscoveryList"}`},
		{name: "kind at the end", text: `{"items":[{"versions":[{"resources":[{"resource":"r"}],"version":"v1"}],"metadata":{"name":"g"}}],"kind":"APIGroupDiscoveryList"}`,
			resources: []evidence.Resource{{Group: "g", Version: "v1", Resource: "r"}}},
		{name: "sorted, with subresources", text: group(`{"version":"v1","resources":[
			{"resource":"z","scope":"Namespaced","verbs":["list","get"],"responseKind":{"kind":"Z"},"subresources":[{"subresource":"status","verbs":["get"]},{"subresource":"act","verbs":["create"]}]},
			{"resource":"a","scope":"Cluster","verbs":["create"]}]},{"version":"v1beta1","resources":[{"resource":"z","verbs":null}]}`),
			resources: []evidence.Resource{
				{Group: "g", Version: "v1", Resource: "a"}, {Group: "g", Version: "v1", Resource: "z", Namespaced: true},
				{Group: "g", Version: "v1", Resource: "z/act", Namespaced: true}, {Group: "g", Version: "v1", Resource: "z/status", Namespaced: true},
				{Group: "g", Version: "v1beta1", Resource: "z"},
			},
			noGet: []evidence.Resource{{Group: "g", Version: "v1", Resource: "z/act", Namespaced: true}, {Group: "g", Version: "v1", Resource: "a"}, {Group: "g", Version: "v1beta1", Resource: "z"}},
		},
		{name: "twice", text: group(`{"version":"v1","resources":[{"resource":"r"},{"resource":"r","scope":"Namespaced"},{"resource":"r"}]}`),
			resources: []evidence.Resource{{Group: "g", Version: "v1", Resource: "r"}}},
		{name: "stale", text: group(`{"version":"v2","freshness":"Stale"},{"version":"v1","freshness":"Stale","resources":[]},{"version":"v3","freshness":"Current"}`), stale: []string{"g/v1", "g/v2"}},
		{name: "core", text: head + `[{"metadata":{"creationTimestamp":null},"versions":[{"version":"v1","resources":[{"resource":"pods"}]}]}]}`,
			resources: []evidence.Resource{{Version: "v1", Resource: "pods"}}},
		{name: "nulls", text: head + `[null,{"metadata":null,"versions":null},{"versions":[null,{"resources":[{"subresources":null}]}]}]}`, resources: []evidence.Resource{{}}},
		{name: "another kind", text: `{"kind":"APIGroupList","groups":[]}`, err: "the answer is not aggregated discovery (kind APIGroupDiscoveryList)"},
		{name: "nothing", text: "", err: "JSON"},
		{name: "an array", text: "[]", err: "JSON"},
		{name: "text", text: `"x"`, err: "JSON"},
		{name: "half", text: head + `[{"metadata":`, err: "JSON"},
		{name: "text after it", text: head + `[]} x`, err: "JSON"},
		{name: "another after it", text: head + `[]}{}`, err: "JSON"},
		{name: "types", text: head + `7}`, err: "JSON"},
		{name: "types of a group", text: head + `[7]}`, err: "JSON"},
		{name: "types of a name", text: head + `[{"metadata":{"name":7}}]}`, err: "JSON"},
		{name: "types of a resource", text: group(`{"version":"v1","resources":[{"resource":["x"]}]}`), err: "JSON"},
		{name: "types of a version", text: group(`{"version":1}`), err: "JSON"},
		{name: "no UTF-8", text: group(`{"version":"v` + "\xff" + `"}`)},
	}
	for _, tt := range tests {
		doc, err := parseDiscovery(strings.NewReader(tt.text))
		if err != nil || tt.err != "" {
			if want := strings.Replace(tt.err, "JSON", "the answer is not JSON of a discovery document", 1); err == nil || err.Error() != want || doc != nil {
				t.Errorf("%s: error %v, want %s", tt.name, err, want)
			}
			continue
		}
		if diff := cmp.Diff(tt.resources, doc.Resources) + cmp.Diff(tt.noGet, doc.noGet) + cmp.Diff(tt.stale, doc.Stale); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// One document is kept once, whether it is held or too long for that.
func TestDocuments(t *testing.T) {
	for _, n := range []int{10, 10_000} {
		text := discoveryJSON(manyResources(n))
		if long := len(text) > maxHeld; long != (n > 10) {
			t.Fatalf("%d bytes", len(text))
		}
		var docs documents
		first, err := docs.read(bytes.NewReader(text))
		if err != nil || len(first.Resources) != n || !first.OK() {
			t.Fatal(len(first.Resources), err)
		}
		second, err := docs.read(bytes.NewReader(text))
		if err != nil || len(second.Resources) != n || &first.Resources[0] != &second.Resources[0] {
			t.Errorf("%d resources: two copies, error %v", n, err)
		}
		for range 2 {
			if _, err := docs.read(bytes.NewReader(text[:len(text)-1])); err == nil || err.Error() != "the answer is not JSON of a discovery document" {
				t.Errorf("error %v", err)
			}
		}
	}
	var docs documents
	if _, err := docs.read(io.MultiReader(strings.NewReader("{"), iotest.ErrReader(io.ErrUnexpectedEOF))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

func TestReadMetrics(t *testing.T) {
	const started = "process_start_time_seconds 1.7e+09\n"
	at := time.Unix(1.7e9, 0).UTC()
	count := func(code string, r evidence.Resource, value float64) evidence.Count {
		return evidence.Count{Code: code, Resource: r, Value: value}
	}
	none := evidence.Resource{}
	tests := []struct {
		name, text string
		want       evidence.Reading
		err        string
	}{
		{"as a server writes it", "# HELP go_goroutines Number.\n# TYPE go_goroutines gauge\ngo_goroutines 7\n" +
			"# HELP kubernetes_feature_enabled [BETA] x\n# TYPE kubernetes_feature_enabled gauge\n" +
			`kubernetes_feature_enabled{name="APIServerIdentity",stage="BETA"} 1` + "\n" + `kubernetes_feature_enabled{name="Other",stage=""} 1` + "\n" +
			`kubernetes_feature_enabled{name="UnknownVersionInteroperabilityProxy",stage="BETA"} 0` + "\n" +
			"# TYPE apiserver_rerouted_request_total counter\n" +
			`apiserver_rerouted_request_total{code="503",group="g",resource="r",version="v1"} 2` + "\n" +
			`apiserver_rerouted_request_total{code="200",group="",resource="",version=""} 3` + "\n" +
			`apiserver_peer_proxy_errors_total{type="x"} 4` + "\n" + `apiserver_peer_proxy_errors_total{type="x",more="y"} 5` + "\n" +
			`apiserver_peer_discovery_sync_errors_total{type="hostport_resolution"} 6` + "\n# TYPE process_start_time_seconds gauge\n" + started,
			evidence.Reading{
				Gates: map[string]bool{"APIServerIdentity": true, evidence.Gate: false}, Started: at,
				Rerouted:    []evidence.Count{count("200", none, 3), count("503", evidence.Resource{Group: "g", Version: "v1", Resource: "r"}, 2)},
				ProxyErrors: map[string]float64{"x": 9}, SyncErrors: map[string]float64{"hostport_resolution": 6},
			}, ""},
		{"no newline at the end", `apiserver_rerouted_request_total{code="200"} 3`, evidence.Reading{Rerouted: []evidence.Count{count("200", none, 3)}}, ""},
		{"without labels", "apiserver_rerouted_request_total 3\n", evidence.Reading{Rerouted: []evidence.Count{count("", none, 3)}}, ""},
		{"carriage returns of no one", started + "go_goroutines 7\r\n", evidence.Reading{Started: at}, ""},
		{"times", `apiserver_rerouted_request_total{code="200"} 3 1700000000000` + "\n", evidence.Reading{Rerouted: []evidence.Count{count("200", none, 3)}}, ""},
		{"quotes in a label", `apiserver_rerouted_request_total{code="2\"0\\0\n",group="a,b}",resource="x 5"} 3` + "\n",
			evidence.Reading{Rerouted: []evidence.Count{count("2\"0\\0\n", evidence.Resource{Group: "a,b}", Resource: "x 5"}, 3)}}, ""},
		{"names that begin as ours", started + "apiserver_rerouted_request_total_more 3\nkubernetes_feature_enabledx{} 1\napiserver_rerouted_request_total_created{code=\"200\"} 1e9\n", evidence.Reading{Started: at}, ""},
		{"very long lines", "x{y=\"" + strings.Repeat("z", 300<<10) + "\"} 1\n" + started + "apiserver_rerouted_request_total{code=\"" + strings.Repeat("2", 100<<10) + "\"} 1\n" + strings.Repeat("w", 64<<10) + "\n" + strings.Repeat("#", 64<<10-1) + "\n", evidence.Reading{Started: at}, ""},
		{"OpenMetrics", "# TYPE apiserver_rerouted_request counter\napiserver_rerouted_request_total{code=\"200\"} 3.0\n# EOF\n", evidence.Reading{Rerouted: []evidence.Count{count("200", none, 3)}}, ""},
		{"exemplars", "apiserver_rerouted_request_total{code=\"200\"} 3 # {trace_id=\"x\"} 1\n", evidence.Reading{}, "not in the Prometheus text format"},
		{"NaN", "apiserver_rerouted_request_total{code=\"200\"} NaN\n", evidence.Reading{}, "a counter that is no count"},
		{"infinite", "apiserver_rerouted_request_total{code=\"200\"} +Inf\n", evidence.Reading{}, "a counter that is no count"},
		{"negative", "apiserver_rerouted_request_total{code=\"200\"} -1\n", evidence.Reading{}, "a counter that is no count"},
		{"a start that is no time", "process_start_time_seconds 1e300\n", evidence.Reading{}, "a counter that is no count"},
		{"no number", "apiserver_rerouted_request_total{code=\"200\"} many\n", evidence.Reading{}, "not in the Prometheus text format"},
		{"no value", "apiserver_rerouted_request_total{code=\"200\"}\n", evidence.Reading{}, "not in the Prometheus text format"},
		{"labels without end", "apiserver_rerouted_request_total{code=\"200\n", evidence.Reading{}, "not in the Prometheus text format"},
		{"two types", "# TYPE apiserver_rerouted_request_total counter\n# TYPE apiserver_rerouted_request_total gauge\napiserver_rerouted_request_total 3\n", evidence.Reading{}, "not in the Prometheus text format"},
		{"another type", "# TYPE apiserver_rerouted_request_total histogram\napiserver_rerouted_request_total_bucket{le=\"1\"} 3\n", evidence.Reading{}, ""},
		{"garbage", "\x00\x01\x02", evidence.Reading{}, "none of the metrics of an API server"},
		{"nothing", "", evidence.Reading{}, "none of the metrics of an API server"},
		{"HTML", "<html>\nkubernetes_feature_enabled</html>", evidence.Reading{}, "none of the metrics of an API server"},
	}
	for _, tt := range tests {
		got, err := readMetrics(strings.NewReader(tt.text), now)
		if err != nil || tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: error %v, want %s", tt.name, err, tt.err)
			}
			continue
		}
		tt.want.Time = now
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestReadPod(t *testing.T) {
	pod := func(container string) string {
		return `{"metadata":{"name":"p","annotations":{"kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint":"192.0.2.11:6443"}},"spec":{"nodeName":"n","containers":[` + container + `]},"status":{"hostIP":"192.0.2.11"}}`
	}
	plain := evidence.Pod{Name: "p", Node: "n", Endpoint: "192.0.2.11:6443", HostIP: "192.0.2.11"}
	with := func(image string, flags map[string]string) evidence.Pod {
		p := plain
		p.Image, p.Flags = image, flags
		return p
	}
	tests := []struct {
		name, raw string
		want      evidence.Pod
		ok        bool
	}{
		{"flags", pod(`{"name":"kube-apiserver","image":"i:v1","command":["kube-apiserver","--advertise-address=192.0.2.11","--secure-port","6443","--service-account-key-file=x","--feature-gates=A=true","--feature-gates=B=false","--peer_ca_file=/ca"]}`),
			with("i:v1", map[string]string{"advertise-address": "192.0.2.11", "secure-port": "6443", "feature-gates": "A=true,B=false", "peer-ca-file": "/ca"}), true},
		{"arguments", pod(`{"name":"kube-apiserver","command":["kube-apiserver"],"args":["--secure-port=1","--secure-port=2"]}`), with("", map[string]string{"secure-port": "2"}), true},
		{"a shell", pod(`{"name":"kube-apiserver","command":["/bin/wrapper","--secure-port=6443"]}`), with("", nil), true},
		{"no containers", `{"metadata":{"name":"p"}}`, evidence.Pod{Name: "p"}, true},
		{"too big", pod(`{"name":"kube-apiserver","command":["kube-apiserver","--peer-ca-file=` + strings.Repeat("x", maxPod) + `"]}`), plain, true},
		{"escapes", pod(`{"name":"kube-apiserver","command":["kube-apiserver","--peer-ca-file=/\u003c\u2028\ud83d\ude00/"]}`), plain, true},
		{"no name", `{}`, evidence.Pod{}, false},
		{"null", `null`, evidence.Pod{}, false},
		{"a number", `5`, evidence.Pod{}, false},
		{"types", `{"metadata":{"name":5}}`, evidence.Pod{}, false},
	}
	for _, tt := range tests {
		got, ok := readPod([]byte(tt.raw))
		if diff := cmp.Diff(tt.want, got); diff != "" && tt.name != "escapes" || ok != tt.ok {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, ok, diff)
		}
	}
}

// A pod with very many values takes no longer than its length.
func TestReadPodQuickly(t *testing.T) {
	raw := []byte(`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"kube-apiserver","command":["kube-apiserver"` + strings.Repeat(`,""`, maxPod/3-100) + `]}]}}`)
	start := time.Now()
	if _, ok := readPod(raw); !ok || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %s", ok, time.Since(start))
	}
}

func TestWithoutCredentials(t *testing.T) {
	tests := map[string]string{
		"":                               "",
		"http://proxy.example:3128":      "http://proxy.example:3128",
		"proxy.example:3128":             "proxy.example:3128",
		"http://user:pw@proxy.example":   "http://proxy.example",
		"user:pw@proxy.example:3128":     "proxy.example:3128",
		"http://user:p@w@proxy.example/": "http://proxy.example/",
		"http://user:p w%zz@proxy":       "http://proxy",
		"http://user:pw://x@proxy":       "http://proxy",
		"user@x://y:pw@proxy":            "proxy",
		"10.0.0.0/8,.svc,a@b":            "b",
	}
	for text, want := range tests {
		if got := withoutCredentials(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestReason(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, err := range []error{
		errors.New("first\nsecond"), errors.New("a\x1b[31m\u202e\u2028\x00b"), errors.New(long), fmt.Errorf("x: %w", textproto.ProtocolError(long)),
	} {
		checkReason(t, reason(err))
	}
}

func TestUTC(t *testing.T) {
	for i, tt := range []struct {
		t, want time.Time
	}{{now, now}, {time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}}, {time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}}, {now.In(time.FixedZone("x", 3600)), now}, {time.Time{}, time.Time{}}} {
		if got := utc(tt.t); !got.Equal(tt.want) || got.Location() != time.UTC {
			t.Errorf("%d: %v, want %v", i, got, tt.want)
		}
	}
}
