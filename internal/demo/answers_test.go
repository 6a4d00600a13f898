package demo

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/keyutil"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

const policies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"

const (
	noResource = "the server could not find the requested resource"
	noPage     = "404 page not found"
)

// The words are those of real servers; test/lab/demo compares more.
func TestAnswers(t *testing.T) {
	cp := start(t, Configuration)
	old, current := cp.Servers()[0], cp.Servers()[1]
	tests := []struct {
		server *Server
		path   string
		status int
		text   string
	}{
		{old, policies + "/x", 404, noResource},
		{old, policies + "/" + Policy, 404, noResource},
		{current, policies + "/x", 404, `mutatingadmissionpolicies.admissionregistration.k8s.io "x" not found`},
		{current, policies + "/" + Policy, 200, "MutatingAdmissionPolicy"},
		{current, policies, 200, "MutatingAdmissionPolicyList"},
		{old, "/apis/apps/v1/namespaces/default/deployments/x/scale", 404, `deployments.apps "x" not found`},
		{old, "/apis/apps/v1/namespaces/default/deployments/x/nothing", 404, noResource},
		{old, "/apis/apps/v1/deployments/x", 404, noResource},
		{old, "/apis/apps/v1/namespaces/default/deployments", 200, "DeploymentList"},
		{old, "/apis/apps/v7/deployments", 404, noResource},
		{old, "/apis/no.such.group/v1/things", 404, noPage},
		{old, "/apis/no.such.group", 404, noPage},
		{old, "/api/v1/namespaces/default/nodes", 404, noResource},
		{old, "/api/v1/namespaces/kube-system/pods/kube-apiserver-cp-2", 200, "Pod"},
		{old, "/api/v1/namespaces/default/pods/kube-apiserver-cp-2", 404, `pods "kube-apiserver-cp-2" not found`},
		{old, "/api/v1/namespaces/kube-system/pods/kube-apiserver-cp-2/log", 400, "the servers of mvpcheck demo have no log of anything"},
		{old, "/api/v1/namespaces/kube-system/pods/kube-apiserver-cp-2/status", 200, "Pod"},
		{old, "/api/v1/namespaces/kube-system/pods/x/proxy/any/path", 404, `pods "x" not found`},
		{old, "/apis/authentication.k8s.io/v1/tokenreviews", 405, "the server does not allow this method on the requested resource"},
		{old, "/apis/authentication.k8s.io/v1/tokenreviews/x", 404, noResource},
		{old, "/api/v1/pods?watch=true", 405, "the server does not allow this method on the requested resource"},
		{old, "/api/v1/pods?labelSelector=%3D", 400, "found '='"},
		{old, "/api/v1/pods?fieldSelector=metadata.name%3Dx", 400, "the servers of mvpcheck demo know no field selectors"},
		{old, "/api/v1/componentstatuses/x", 404, `componentstatus "x" not found`},
		{old, "/flagz", 404, noPage},
		{current, "/flagz", 200, "\npeer-ca-file:\n"},
		{old, "/nothing", 404, noPage},
		{old, "/readyz", 200, "ok"},
		{old, "/livez?verbose", 200, "[+]ping ok\n"},
	}
	for _, tt := range tests {
		got := get(t, tt.server, tt.path)
		if got.status != tt.status || !strings.Contains(words(t, got), tt.text) {
			t.Errorf("%s %s: %d %s, want %d %s", tt.server.Name, tt.path, got.status, words(t, got), tt.status, tt.text)
		}
	}
}

// words are the message or the kind of an answer in JSON, else its text.
func words(t *testing.T, a answer) string {
	t.Helper()
	if !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		return a.body
	}
	var object struct{ Kind, Message string }
	into(t, a, &object)
	if object.Message != "" {
		return object.Message
	}
	return object.Kind
}

// Nothing can be changed, whoever asks.
func TestReadOnly(t *testing.T) {
	cp := start(t, prepared)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		for _, path := range []string{"/api/v1/namespaces/default", "/api/v1/namespaces", policies, policies + "/" + Policy, "/apis", "/version"} {
			for _, s := range cp.Servers() {
				if got := send(t, s.Config(), method, path); got.status != http.StatusMethodNotAllowed {
					t.Errorf("%s: %s %s: %d %s", s.Name, method, path, got.status, got.body)
				}
			}
		}
	}
}

func TestWhoMayAsk(t *testing.T) {
	cp := start(t, prepared)
	s := cp.Servers()[1]
	jane, err := s.ConfigFor("jane", "developers")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := s.ConfigFor("root", groupMasters)
	if err != nil {
		t.Fatal(err)
	}
	wrong, nobody := s.Config(), s.Config()
	wrong.BearerToken, nobody.BearerToken = "wrong", ""
	foreign, proxy := s.Config(), s.Config()
	stranger, err := cp.pki.client(etcdCAFile, "root", groupMasters)
	if err != nil {
		t.Fatal(err)
	}
	foreign.BearerToken, foreign.CertData, foreign.KeyData = "", certPEM(stranger), keyPEM(t, stranger)
	proxy.BearerToken, proxy.CertData, proxy.KeyData = "", certPEM(cp.pki.frontProxy), keyPEM(t, cp.pki.frontProxy)
	const noUser = `User "system:anonymous" cannot`
	for name, tt := range map[string]struct {
		got  answer
		want int
		text string
	}{
		"the administrator":             {send(t, s.Config(), "GET", "/api/v1/nodes"), 200, ""},
		"another one":                   {send(t, admin, "GET", "/api/v1/nodes"), 200, ""},
		"a user, documents":             {send(t, jane, "GET", "/apis/apps/v1"), 200, ""},
		"a user, metrics":               {send(t, jane, "GET", "/metrics"), 403, `forbidden: User "jane" cannot get path "/metrics"`},
		"a user, objects":               {send(t, jane, "GET", "/apis/apps/v1/namespaces/x/deployments/y"), 403, `deployments.apps "y" is forbidden: User "jane" cannot get resource "deployments" in API group "apps" in the namespace "x"`},
		"a user, a subresource":         {send(t, jane, "GET", policies), 403, `cannot list resource "mutatingadmissionpolicies" in API group "admissionregistration.k8s.io" at the cluster scope`},
		"a user, a namespace":           {send(t, jane, "GET", "/api/v1/namespaces/x"), 403, `in the namespace "x"`},
		"a user who writes":             {send(t, jane, "DELETE", "/api/v1/namespaces/x"), 403, "cannot delete"},
		"a wrong token":                 {send(t, wrong, "GET", "/version"), 401, "Unauthorized"},
		"a foreign certificate":         {send(t, foreign, "GET", "/version"), 401, "Unauthorized"},
		"anybody, version":              {send(t, nobody, "GET", "/version"), 200, ""},
		"anybody, health":               {send(t, nobody, "GET", "/readyz?verbose"), 200, ""},
		"anybody, documents":            {send(t, nobody, "GET", "/apis"), 403, noUser},
		"anybody who says who they are": {send(t, nobody, "GET", "/api/v1/nodes", "X-Remote-User: root", "X-Remote-Group: system:masters"), 403, noUser},
		"a peer for a user":             {send(t, proxy, "GET", "/api/v1/nodes", "X-Remote-User: jane", "X-Remote-Group: developers"), 403, `User "jane" cannot`},
		"a peer for an administrator":   {send(t, proxy, "GET", "/api/v1/nodes", "X-Remote-User: root", "X-Remote-Group: system:masters"), 200, ""},
		"a peer for nobody":             {send(t, proxy, "GET", "/version"), 401, "Unauthorized"},
	} {
		if tt.got.status != tt.want || !strings.Contains(tt.got.body, strings.ReplaceAll(tt.text, `"`, `\"`)) {
			t.Errorf("%s: %d %s, want %d %s", name, tt.got.status, tt.got.body, tt.want, tt.text)
		}
	}
}

// The old server hands on what it does not have, once, and for the user who asks.
func TestHandOff(t *testing.T) {
	cp := start(t, prepared)
	old := cp.Servers()[0]
	got := get(t, old, policies+"/x")
	if got.status != 404 || !strings.Contains(words(t, got), `"x" not found`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if n := len(got.header.Values("Audit-Id")); n != 2 {
		t.Errorf("%d audit IDs; a handed-off answer has both servers'", n)
	}
	if got := get(t, old, policies+"/x", peerHeader+": true"); got.status != 404 || words(t, got) != noResource {
		t.Errorf("as a peer: %d %s", got.status, got.body)
	}
	jane, err := old.ConfigFor("jane", "developers")
	if err != nil {
		t.Fatal(err)
	}
	if got := send(t, jane, "GET", policies); got.status != http.StatusForbidden || !strings.Contains(got.body, "jane") {
		t.Errorf("as jane: %d %s", got.status, got.body)
	}
	if metrics := get(t, old, "/metrics").body; !strings.Contains(metrics, "apiserver_rerouted_request_total{code=\"200\"} 4\n") ||
		!strings.Contains(metrics, "apiserver_rerouted_request_total{code=\"404\"} 1\n") {
		t.Errorf("counters: %s", metrics)
	}
	// The new ones have read each other, and say what for.
	if metrics := get(t, cp.Servers()[1], "/metrics").body; !strings.Contains(metrics, `apiserver_rerouted_request_total{code="200",group="",resource="",version=""} 4`) {
		t.Errorf("counters of a new server: %s", metrics)
	}
}

// A peer that has gone is a 503, never a 404 (H10).
func TestPeersGone(t *testing.T) {
	cp := start(t, prepared)
	for _, s := range cp.Servers()[1:] {
		s.close()
	}
	if got := get(t, cp.Servers()[0], policies); got.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", got.status, got.body)
	}
	if metrics := get(t, cp.Servers()[0], "/metrics").body; !strings.Contains(metrics, `{code="503"} 1`) {
		t.Errorf("counters: %s", metrics)
	}
}

func TestDiscovery(t *testing.T) {
	cp := start(t, prepared)
	old, current := cp.Servers()[0], cp.Servers()[1]
	const v2 = "Accept: " + aggregatedType
	merged, local := get(t, old, "/apis", v2), get(t, old, "/apis", v2+";profile=nopeer")
	if merged.body != get(t, current, "/apis", v2).body {
		t.Error("the merged documents of two servers differ")
	}
	if merged.body == local.body || strings.Contains(local.body, "mutatingadmissionpolicies") || !strings.Contains(merged.body, "mutatingadmissionpolicies") {
		t.Errorf("the local document: %s", local.body)
	}
	for _, accept := range []string{aggregatedType, "application/yaml," + aggregatedType, "text/html, " + aggregatedType + ",application/json"} {
		if got := get(t, old, "/apis", "Accept: "+accept); got.header.Get("Content-Type") != aggregatedType {
			t.Errorf("Accept: %s: %s", accept, got.header.Get("Content-Type"))
		}
	}
	for accept, want := range map[string]int{
		"application/json": 200, "*/*": 200, "application/*": 200, "text/html": 406, "application/json;as=Table;v=v1;g=meta.k8s.io": 406, ";": 406,
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList": 406,
	} {
		if got := get(t, old, "/apis", "Accept: "+accept); got.status != want {
			t.Errorf("Accept: %s: %d, want %d", accept, got.status, want)
		}
	}
	if got := get(t, old, "/apis", v2, "If-None-Match: "+merged.header.Get("Etag")); got.status != http.StatusNotModified || got.body != "" {
		t.Errorf("If-None-Match: %d %s", got.status, got.body)
	}
	if got := get(t, old, "/apis", v2, "If-None-Match: "+local.header.Get("Etag")); got.status != http.StatusOK {
		t.Errorf("If-None-Match of another document: %d", got.status)
	}
	var list metav1.APIResourceList
	into(t, get(t, old, "/apis/admissionregistration.k8s.io/v1"), &list)
	for _, r := range list.APIResources {
		if strings.HasPrefix(r.Name, "mutatingadmissionpolic") {
			t.Errorf("legacy discovery of the old server lists %s", r.Name)
		}
	}
}

// The recordings are of servers that serve what the releases serve by default. The document of the newer release is that of
// both, merged.
func TestRecordings(t *testing.T) {
	var all []*recording
	for _, minor := range []int{35, 36} {
		of, _ := release.CatalogueOf(release.OfMinor(minor))
		served, err := of.Serves(release.APISettings{})
		if err != nil {
			t.Fatal(err)
		}
		r := readRecording(of.Release())
		if !r.serves(served) {
			t.Errorf("1.%d: the recording is not of what the catalogue has", minor)
		}
		all = append(all, r)
	}
	for of, old := range all[0].resources {
		old.StorageVersionHash = all[1].resources[of].StorageVersionHash // of how objects are stored
		if d := cmp.Diff(old, all[1].resources[of]); d != "" {
			t.Errorf("%s (-old +new): %s", of, d)
		}
	}
}

func TestFill(t *testing.T) {
	got := fill(`{"a":"$(list)","b":"at $(text)","c":"$(other)"}`, map[string]any{"list": []int{1, 2}, "text": "once"})
	if want := `{"a":[1,2],"b":"at once","c":"$(other)"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseRequest(t *testing.T) {
	for path, want := range map[string]request{
		"/version":                             {verb: "get"},
		"/api":                                 {verb: "get"},
		"/api/v1":                              {verb: "get", version: "v1", versioned: true},
		"/apis/apps":                           {verb: "get"},
		"/apis/apps/v1/":                       {verb: "get", group: "apps", version: "v1", versioned: true},
		"/api/v1/nodes":                        {verb: "list", version: "v1", versioned: true, resource: "nodes"},
		"/api/v1/namespaces":                   {verb: "list", version: "v1", versioned: true, resource: "namespaces"},
		"/api/v1/namespaces/a":                 {verb: "get", version: "v1", versioned: true, resource: "namespaces", name: "a"},
		"/api/v1/namespaces/a/status":          {verb: "get", version: "v1", versioned: true, resource: "namespaces", name: "a", sub: "status"},
		"/api/v1/namespaces/a/pods?watch=1":    {verb: "watch", version: "v1", versioned: true, namespace: "a", resource: "pods"},
		"/api/v1/namespaces/a/pods/b/proxy/c/": {verb: "get", version: "v1", versioned: true, namespace: "a", resource: "pods", name: "b", sub: "proxy/c"},
	} {
		r, err := http.NewRequest(http.MethodGet, "https://server"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		want.path = r.URL.Path
		if d := cmp.Diff(&want, parseRequest(r), cmp.AllowUnexported(request{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", path, d)
		}
	}
}

// People read JSON that is indented.
func TestPretty(t *testing.T) {
	s := start(t, Configuration).Servers()[0]
	for agent, want := range map[string]string{"curl/8.5": "{\n  \"", "kubectl/v1.36": "{\""} {
		if got := get(t, s, "/version", fmt.Sprintf("User-Agent: %s", agent)).body; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", agent, got)
		}
	}
}

func keyPEM(t *testing.T, id *tls.Certificate) []byte {
	t.Helper()
	text, err := keyutil.MarshalPrivateKeyToPEM(id.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
