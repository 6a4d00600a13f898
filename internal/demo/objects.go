package demo

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// object is an object as JSON has it, without kind and apiVersion.
type object = map[string]any

// Policy is the MutatingAdmissionPolicy that there is: an object of a resource that only the newer servers have.
const Policy = "add-owner-label"

// leaseRenewal is how often a server renews its identity lease.
const leaseRenewal = 10 * time.Second

// uid is an identifier in the form of a UUID.
func uid() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// objects are what etcd would hold of a resource, in the order of namespaces and names.
func (s *Server) objects(q *request) ([]unstructured.Unstructured, error) {
	text, ok := s.cp.objects[q.group+"/"+q.resource]
	if !ok {
		return nil, nil
	}
	var items []object
	if err := json.Unmarshal([]byte(fill(string(text), s.values())), &items); err != nil {
		return nil, err
	}
	out := make([]unstructured.Unstructured, len(items))
	for i, item := range items {
		if m := item["metadata"].(object); m["annotations"] == nil {
			delete(m, "annotations")
		}
		out[i].Object = item
	}
	return out, nil
}

// values are what varies in documents and objects.
func (s *Server) values() map[string]any {
	cp := s.cp
	names, _ := json.Marshal(splitList(cp.servers[0].process.Load().args.Value(release.FlagRequestHeaderNames)))
	values := map[string]any{
		"address": s.Address, "goVersion": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		"created":                      cp.created.UTC().Format(time.RFC3339),
		"configuration":                cp.Configuration(),
		"client-ca-file":               string(certPEM(cp.pki.cas[caFile])),
		"requestheader-client-ca-file": string(certPEM(cp.pki.cas[frontProxyCAFile])),
		"requestheader-allowed-names":  string(names),
	}
	for _, s := range cp.servers {
		p := s.process.Load()
		values[s.Name+".address"], values[s.Name+".port"] = s.Address, s.port()
		values[s.Name+".command"] = append([]string{"kube-apiserver"}, p.args.Args()...)
		values[s.Name+".holder"] = p.uid
		values[s.Name+".renewed"] = p.started.Add(time.Since(p.started).Truncate(leaseRenewal)).UTC().Format("2006-01-02T15:04:05.000000Z")
		values[s.Name+".annotations"] = nil
		if p.published != "" {
			values[s.Name+".annotations"] = object{"kubernetes.io/peer-advertise-address": p.published}
		}
	}
	return values
}
