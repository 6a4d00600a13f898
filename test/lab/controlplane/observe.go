//go:build linux

package controlplane

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Accept headers of the aggregated discovery documents.
const (
	AcceptMerged = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	AcceptLocal  = AcceptMerged + ";profile=nopeer"
)

// Resources returns the resources of the server's merged view of /apis, or with [AcceptLocal] of its own, as
// "GROUP/VERSION RESOURCE", sorted, without subresources.
func (s *Server) Resources(tb TB, accept string) []string {
	tb.Helper()
	answer := s.Get(tb, "/apis", accept)
	resources, err := discovered(answer)
	if err != nil {
		tb.Fatalf("%s: /apis: %d %v", s.Name, answer.Status, err)
	}
	return resources
}

func discovered(answer *Answer) ([]string, error) {
	var list struct {
		Kind  string
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct{ Resource string }
			}
		}
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		return nil, err
	}
	if list.Kind != "APIGroupDiscoveryList" {
		return nil, fmt.Errorf("a %s", list.Kind)
	}
	var out []string
	for _, group := range list.Items {
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				out = append(out, group.Metadata.Name+"/"+version.Version+" "+r.Resource)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// Metrics returns the lines of /metrics that begin with one of the names, all without names.
func (s *Server) Metrics(tb TB, names ...string) []string {
	tb.Helper()
	var lines []string
	for line := range strings.Lines(string(s.Get(tb, "/metrics").Body)) {
		line = strings.TrimSpace(line)
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(line, name) }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Metric returns the sum of a metric over all of its labels, or over those lines that have the labels, each
// NAME="VALUE".
func (s *Server) Metric(tb TB, name string, labels ...string) float64 {
	tb.Helper()
	sum := 0.0
	for _, line := range s.Metrics(tb, name+"{", name+" ") {
		if slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(line, label) }) {
			continue
		}
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			tb.Fatalf("%s: %q: %v", s.Name, line, err)
		}
		sum += value
	}
	return sum
}

// Lease is a server's identity lease.
type Lease struct {
	Name, Host string
	// Peer is the address that the server tells its peers, "" where the gate is off.
	Peer string
	// Renewed is its renewTime.
	Renewed string
}

// Leases returns the identity leases of all servers, also of those that have gone, as the server tells them.
func (s *Server) Leases(tb TB) []Lease {
	tb.Helper()
	api, err := s.api()
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	resource := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	list, err := api.Resource(resource).Namespace("kube-system").List(tb.Context(), metav1.ListOptions{
		LabelSelector: "apiserver.kubernetes.io/identity=kube-apiserver",
	})
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	var leases []Lease
	for _, item := range list.Items {
		renewed, _, _ := unstructured.NestedString(item.Object, "spec", "renewTime")
		leases = append(leases, Lease{
			Name: item.GetName(), Host: item.GetLabels()["kubernetes.io/hostname"],
			Peer: item.GetAnnotations()["kubernetes.io/peer-advertise-address"], Renewed: renewed,
		})
	}
	return leases
}

// Hooks tells which of the start hooks of the hand-off the server has: gate for the one that comes with the gate,
// handOff for the one that comes with gate and CA.
func (s *Server) Hooks(tb TB) (gate, handOff bool) {
	tb.Helper()
	text := string(s.Get(tb, "/readyz?verbose").Body)
	return strings.Contains(text, "poststarthook/peer-endpoint-reconciler-controller"), strings.Contains(text, "poststarthook/mixed-version-proxy-handler")
}
