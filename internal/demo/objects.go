package demo

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
func (p *process) objects(q *request) (objects []unstructured.Unstructured) {
	text, ok := p.cp.objects[q.group+"/"+q.resource]
	if !ok {
		return nil
	}
	var items []object
	decode([]byte(fill(string(text), p.variables())), &items)
	for _, item := range items {
		if m := item["metadata"].(object); m["annotations"] == nil {
			delete(m, "annotations")
		}
		objects = append(objects, unstructured.Unstructured{Object: item})
	}
	return objects
}

// variables are what varies in documents and objects.
func (p *process) variables() map[string]any {
	cp := p.cp
	names, _ := json.Marshal(cp.servers[0].process.Load().allowed)
	values := map[string]any{
		"address": p.Address, "goVersion": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
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
		renewed := p.started.Add(time.Since(p.started).Truncate(leaseRenewal))
		values[s.Name+".renewed"] = renewed.UTC().Format("2006-01-02T15:04:05.000000Z")
		values[s.Name+".annotations"] = nil
		if p.published != "" {
			values[s.Name+".annotations"] = object{"kubernetes.io/peer-advertise-address": p.published}
		}
	}
	return values
}
