//go:build lab && linux

package demo

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/demo"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// recordedDir has what the embedded servers answer.
const recordedDir = "../../../internal/demo/recorded"

// object is an object as JSON has it.
type object = map[string]any

// A recording is what the real servers of a release answer; internal/demo reads it.
type recording struct {
	// Documents are the answers to paths, Aggregated those in the form of apidiscovery.k8s.io/v2, without what peers
	// have.
	Documents  map[string]any `json:"documents"`
	Aggregated map[string]any `json:"aggregated"`
	// Health are the lines of /readyz, /livez and /healthz by default, HandOff those of a server that hands off.
	Health  map[string][]string `json:"health"`
	HandOff map[string][]string `json:"handOff"`
	// Metrics are the lines of the families that tell of the hand-off.
	Metrics []string `json:"metrics"`
	// Flags are those of /flagz, where it is served by default. Those of the command line are empty.
	Flags map[string]string `json:"flags,omitempty"`
}

// recordings are those of the releases, and the objects that all servers share by "GROUP/RESOURCE".
type recordings struct {
	releases map[string]*recording
	objects  map[string][]any
}

func newRecordings() *recordings {
	r := &recordings{releases: map[string]*recording{}}
	for _, n := range demo.Nodes {
		r.releases[n.Release.MinorString()] = &recording{}
	}
	return r
}

// record asks the servers, by default and prepared, for what the embedded ones are to answer.
func (r *recordings) record(t *testing.T, p *pair, prepared bool) {
	t.Helper()
	for _, s := range p.real[:2] { // one of each release
		of := r.releases[s.Release.Minor]
		if prepared {
			of.HandOff = health(t, s)
		} else {
			of.Documents, of.Aggregated = documents(t, s), aggregated(t, s)
			of.Health, of.Flags = health(t, s), flagz(t, s)
		}
	}
	if prepared {
		r.objects = objects(t, p)
	}
}

// recordMetrics asks prepared servers for their metrics. Errors are only counted where there are any: one of the peers
// is gone for good afterwards.
func (r *recordings) recordMetrics(t *testing.T, p *pair) {
	t.Helper()
	gone, s := p.real[0], p.real[1]
	r.releases[gone.Release.Minor].Metrics = metrics(t, gone)
	gone.Kill()
	s.Restart(t)
	s.WaitMetric(t, 0, "apiserver_rerouted_request_total", `code="200"`)
	s.WaitMetric(t, 0, "apiserver_peer_discovery_sync_errors_total")
	r.releases[s.Release.Minor].Metrics = metrics(t, s)
}

// document returns the JSON of an answer.
func document(t *testing.T, s *controlplane.Server, path string, headers ...string) object {
	t.Helper()
	answer := s.Get(t, path, headers...)
	if answer.Status != 200 {
		t.Fatalf("%s: GET %s: %d %s", s.Name, path, answer.Status, answer.Body)
	}
	var o object
	answer.Into(t, &o)
	return o
}

func documents(t *testing.T, s *controlplane.Server) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, path := range []string{"/api", "/apis", "/api/v1"} {
		out[path] = document(t, s, path)
	}
	out["/api"].(object)["serverAddressByClientCIDRs"].([]any)[0].(object)["serverAddress"] = "$(address)"
	for _, group := range out["/apis"].(object)["groups"].([]any) {
		path := "/apis/" + group.(object)["name"].(string)
		out[path] = document(t, s, path)
		for _, version := range group.(object)["versions"].([]any) {
			path := "/apis/" + version.(object)["groupVersion"].(string)
			out[path] = document(t, s, path)
		}
	}
	for _, o := range out {
		// Their order is that of a hash table.
		if resources, ok := o.(object)["resources"].([]any); ok {
			name := func(resource any) string { return resource.(object)["name"].(string) }
			slices.SortFunc(resources, func(a, b any) int { return strings.Compare(name(a), name(b)) })
		}
	}
	version := document(t, s, "/version")
	maps.Copy(version, object{
		"gitCommit": "mvpcheck-demo", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z",
		"goVersion": "$(goVersion)", "platform": "$(platform)",
	})
	out["/version"] = version
	return out
}

func aggregated(t *testing.T, s *controlplane.Server) map[string]any {
	t.Helper()
	return map[string]any{"/api": document(t, s, "/api", acceptNoPeer), "/apis": document(t, s, "/apis", acceptNoPeer)}
}

func health(t *testing.T, s *controlplane.Server) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, path := range []string{"/readyz", "/livez", "/healthz"} {
		out[path] = strings.Split(strings.TrimSpace(string(s.Get(t, path+"?verbose").Body)), "\n")
	}
	return out
}

// The families in which the embedded servers say something, and the gates of which they tell.
const (
	counters = `apiserver_peer_discovery_sync_errors_total|apiserver_rerouted_request_total`
	gauges   = `kubernetes_feature_enabled|process_start_time_seconds`
	gates    = release.Identity + "|" + release.Gate
)

var (
	about   = regexp.MustCompile(`^# (HELP|TYPE) (` + counters + "|" + gauges + `) `)
	counter = regexp.MustCompile(`^(` + counters + `)\{`)
	gauge   = regexp.MustCompile(`^(kubernetes_feature_enabled\{name="(` + gates + `)".*\}|process_start_time_seconds) `)
	label   = regexp.MustCompile(`(\w+)="[^"]*"`)
)

// metrics are the lines of these families. A counter has one series, whose labels vary.
func metrics(t *testing.T, s *controlplane.Server) (out []string) {
	t.Helper()
	for _, line := range s.Metrics(t) {
		switch {
		case about.MatchString(line):
		case counter.MatchString(line):
			line = label.ReplaceAllString(line[:strings.LastIndex(line, "}")+1], `$1="$$($1)"`)
		case gauge.MatchString(line):
			m := gauge.FindStringSubmatch(line)
			line = m[1] + " $(" + cmp.Or(m[2], "started") + ")"
		default:
			continue
		}
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

func flagz(t *testing.T, s *controlplane.Server) map[string]string {
	t.Helper()
	answer := s.Get(t, "/flagz", acceptFlagz)
	if answer.Status != 200 {
		return nil
	}
	var document struct{ Flags map[string]string }
	answer.Into(t, &document)
	for _, arg := range s.Args {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		// A list is known by its brackets.
		if value := document.Flags[name]; strings.HasPrefix(value, "[") {
			document.Flags[name] = "[]"
		} else {
			document.Flags[name] = ""
		}
	}
	// Only the lab sets it.
	of, _ := release.CatalogueOf(release.OfMinor(s.Minor()))
	f, _ := of.Flag(release.FlagBindAddress)
	document.Flags[release.FlagBindAddress] = f.Default
	document.Flags["external-hostname"] = "127.0.0.1"
	document.Flags["watch-cache-sizes"] = "[]" // in any order
	return document.Flags
}

// recordedObjects are what the embedded servers have, and where: the lists and objects of "GROUP/RESOURCE".
var recordedObjects = []struct{ of, path string }{
	{"/namespaces", "/api/v1/namespaces"},
	{"/nodes", "/api/v1/nodes"},
	{"/pods", "/api/v1/namespaces/kube-system/pods"},
	{"/services", "/api/v1/namespaces/default/services/kubernetes"},
	{"/configmaps", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"},
	{"/configmaps", "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"},
	{"admissionregistration.k8s.io/mutatingadmissionpolicies", policyPath},
	{"apiregistration.k8s.io/apiservices", "/apis/apiregistration.k8s.io/v1/apiservices"},
	{"coordination.k8s.io/leases", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"},
	{"discovery.k8s.io/endpointslices", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"},
	{"rbac.authorization.k8s.io/clusterrolebindings", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:discovery"},
}

func objects(t *testing.T, p *pair) map[string][]any {
	t.Helper()
	out := map[string][]any{}
	for _, r := range recordedObjects {
		o := document(t, p.real[1], r.path)
		items, ok := o["items"].([]any)
		if !ok {
			items = []any{o}
		}
		for _, item := range items {
			item := item.(object)
			delete(item, "kind")
			delete(item, "apiVersion")
			p.vary(path.Base(r.of), item)
		}
		out[r.of] = append(out[r.of], items...)
	}
	return out
}

// vary replaces what is of the moment and of the control plane by the names of internal/demo.
func (p *pair) vary(resource string, item object) {
	m := item["metadata"].(object)
	for _, key := range []string{"managedFields", "generation"} {
		delete(m, key)
	}
	m["creationTimestamp"], m["resourceVersion"] = "$(created)", "1"
	h := sha256.Sum256(fmt.Append(nil, resource, m["namespace"], m["name"]))
	m["uid"] = fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
	switch resource {
	case "leases":
		name := m["labels"].(object)["kubernetes.io/hostname"].(string)
		m["annotations"] = "$(" + name + ".annotations)"
		spec := item["spec"].(object)
		spec["holderIdentity"], spec["renewTime"] = "$("+name+".holder)", "$("+name+".renewed)"
	case "endpointslices":
		// One address with the port of each server, where real ones have an address each and one port.
		item["endpoints"] = []any{object{"addresses": []string{"127.0.0.1"}, "conditions": object{"ready": true}}}
		var ports []any
		for i, s := range p.real {
			name := "https"
			if i > 0 {
				name = fmt.Sprintf("https-%d", i+1)
			}
			ports = append(ports, object{"name": name, "protocol": "TCP", "port": "$(" + s.Name + ".port)"})
		}
		item["ports"] = ports
	case "nodes":
		// There is no kubelet that would tell more, and no controller that would take the first taint away.
		delete(item["spec"].(object), "taints")
		status := item["status"].(object)
		status["nodeInfo"] = object{"kubeletVersion": status["nodeInfo"].(object)["kubeletVersion"]}
		p.varyValues(item, "")
	case "pods":
		name := item["spec"].(object)["nodeName"].(string)
		item["spec"].(object)["containers"].([]any)[0].(object)["command"] = "$(" + name + ".command)"
		p.varyValues(item, name)
	case "apiservices":
		item["status"].(object)["conditions"].([]any)[0].(object)["lastTransitionTime"] = "$(created)"
	case "configmaps":
		data := item["data"].(object)
		for _, key := range []string{"client-ca-file", "requestheader-client-ca-file", "requestheader-allowed-names"} {
			if data[key] != nil {
				data[key] = "$(" + key + ")"
			}
		}
	default:
		p.varyValues(item, p.real[0].Name)
	}
}

// varyValues replaces addresses and ports: those of the server of the name, as far as they are not told apart.
func (p *pair) varyValues(value any, name string) any {
	switch v := value.(type) {
	case object:
		for key, member := range v {
			v[key] = p.varyValues(member, name)
		}
	case []any:
		for i, member := range v {
			v[i] = p.varyValues(member, name)
		}
	case float64:
		if v == 6443 {
			return "$(" + name + ".port)"
		}
	case string:
		for _, s := range p.real {
			v = strings.ReplaceAll(v, s.HostPort(), "$("+s.Name+".address)")
			v = strings.ReplaceAll(v, s.Address, "127.0.0.1")
		}
		return v
	}
	return value
}

// compare compares what was recorded with what the embedded servers have. With -update it writes it.
func (r *recordings) compare(t *testing.T) {
	files := map[string]any{"objects.json": r.objects}
	for minor, recording := range r.releases {
		files[minor+".json"] = recording
	}
	for name, value := range files {
		file := filepath.Join(recordedDir, name)
		want := lines(t, value, "") + "\n"
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s (-want +got), -update writes it:\n%s", file, d)
		}
	}
}

// lines is JSON whose objects and lists take a line for each member where one line would be too long.
func lines(t *testing.T, value any, indent string) string {
	t.Helper()
	text := encode(t, value)
	if len(text) <= 120 {
		return text
	}
	var members []string
	inner := indent + " "
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) == nil {
		for _, member := range list {
			members = append(members, inner+lines(t, member, inner))
		}
		return "[\n" + strings.Join(members, ",\n") + "\n" + indent + "]"
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil {
		return text
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		members = append(members, inner+encode(t, key)+": "+lines(t, fields[key], inner))
	}
	return "{\n" + strings.Join(members, ",\n") + "\n" + indent + "}"
}

func encode(t *testing.T, value any) string {
	t.Helper()
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
