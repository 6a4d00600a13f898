//go:build lab && linux

package scenarios

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/report"
	cp "github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

const rbacFile = "../../../deploy/rbac.yaml"

// permissions are those of deploy/rbac.yaml, one after the other: what to take out of the file, and what MVP513 says then.
var permissions = []struct {
	name, from, to string
	// costs is part of the note; "" where the cluster gives the permission to every user anyway.
	costs string
}{
	// By the binding system:discovery, without which servers could not read each other's documents.
	{"discovery", "/version, /readyz, /api, /apis, ", "", ""},
	{"metrics", "/metrics, ", "", "/metrics cannot be read"},
	{"flagz", ", /flagz", "", "/flagz cannot be read"},
	{"objects", "resourceNames: [mvpcheck-no-such-object]", "resourceNames: [another]", "an object by name cannot be read"},
	{"apiservices", "resources: [apiservices]", "resources: [none]", "the APIServices cannot be read"},
	{"binding", `resourceNames: ["system:discovery"]`, "resourceNames: [another]", "the ClusterRoleBinding system:discovery cannot be read"},
	{"leases", "resources: [leases]", "resources: [none]", "the identity leases cannot be read"},
	{"pods", "resources: [pods]", "resources: [none]", "the mirror pods cannot be read"},
	{"configmap", "resourceNames: [extension-apiserver-authentication]", "resourceNames: [another]", "extension-apiserver-authentication cannot be read"},
	{"endpointslices", "resources: [endpointslices]", "resources: [none]", "the EndpointSlice default/kubernetes cannot be read"},
}

// TestLeastPrivilege runs mvpcheck probe with the ServiceAccount of deploy/rbac.yaml, whole and with each permission taken
// away, on control planes that are right and wrong in different ways.
func TestLeastPrivilege(t *testing.T) {
	for _, sc := range []scenario{
		{name: "handed-off", nodes: nodes(node(old), node(current)), peers: true, pods: true},
		{name: "refused", nodes: nodes(node(old), node(current, cp.Set("requestheader-allowed-names", "somebody-else"))), tried: true},
		{name: "one-release", nodes: nodes(node(current), node(current)), peers: true},
		{name: "one-release-wrong-CA", nodes: nodes(node(current, cp.Set("peer-ca-file", cp.OtherCA)), node(current)), tried: true},
	} {
		t.Run(sc.name, func(t *testing.T) {
			c := cp.New(t, cp.Options{})
			servers := c.Start(t, sc.nodes(t, c)...)
			if sc.pods {
				c.AddMirrorPods(t)
			}
			if sc.peers {
				c.WaitPeers(t)
			}
			sc.wait(t, servers)
			leastPrivilege(t, servers[0])
		})
	}
}

func leastPrivilege(t *testing.T, s *cp.Server) {
	text, err := os.ReadFile(rbacFile)
	if err != nil {
		t.Fatal(err)
	}
	s.Apply(t, string(text))
	admin := probe(t, "--kubeconfig", s.Kubeconfig(t))
	kubeconfig := s.KubeconfigWithToken(t, s.Token(t, "mvpcheck", "mvpcheck"))
	time.Sleep(time.Second) // the servers' authorizers learn of the role
	whole := probe(t, "--kubeconfig", kubeconfig)
	diff(t, "findings with the role", admin.findings(), whole.findings())
	diff(t, "notes with the role", admin.notes(), whole.notes())
	diff(t, "verdict with the role", admin.report.Summary.Verdict, whole.report.Summary.Verdict)
	diff(t, "exit code with the role", admin.code, whole.code)

	for _, p := range permissions {
		t.Run("without-"+p.name, func(t *testing.T) {
			less := strings.Replace(string(text), p.from, p.to, 1)
			if less == string(text) {
				t.Fatalf("%s has no %q", rbacFile, p.from)
			}
			s.Apply(t, less)
			defer s.Apply(t, string(text))
			time.Sleep(time.Second)
			r := probe(t, "--kubeconfig", kubeconfig)
			for _, f := range r.findingsByAddress() {
				if !slices.Contains(admin.findingsByAddress(), f) && !explainedElsewhere(f, admin) {
					t.Errorf("%s, which an administrator's probe does not find", f)
				}
			}
			if v := r.report.Summary.Verdict; v != admin.report.Summary.Verdict && v != report.VerdictCannotTell {
				t.Errorf("verdict %s, an administrator's is %s", v, admin.report.Summary.Verdict)
			}
			var costs []string
			for _, f := range r.report.Findings {
				if f.Rule == "MVP513" {
					costs = append(costs, string(f.Message))
				}
			}
			said := slices.ContainsFunc(costs, func(m string) bool { return strings.Contains(m, p.costs) })
			// A GET of an object is asked for only where servers differ, a pod's flags make up for /flagz.
			needed := p.costs != "" && (p.name != "objects" || len(admin.report.FalseNotFound)+len(admin.report.HandedOff) > 0) &&
				(p.name != "flagz" || !strings.Contains(admin.report.Found, "mirror pods"))
			if said != needed && p.costs != "" || p.costs == "" && len(costs) > 0 {
				t.Errorf("MVP513 says %q, want %q (%v)", costs, p.costs, needed)
			}
		})
	}
}

// explainedElsewhere: a false 404 without its cause is right, if the cause could not be seen.
func explainedElsewhere(finding string, admin result) bool {
	return (strings.HasPrefix(finding, "error MVP501 ") || strings.HasPrefix(finding, "error MVP502 ")) && len(admin.report.FalseNotFound) > 0
}
