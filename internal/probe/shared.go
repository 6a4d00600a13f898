package probe

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// The paths of what all servers share.
const (
	pathLeases      = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver"
	pathEndpoints   = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes"
	pathPods        = "/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkube-apiserver"
	pathAuth        = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	pathBinding     = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:discovery"
	pathAPIServices = "/apis/apiregistration.k8s.io/v1/apiservices"
)

// askShared asks one server for what is kept in etcd.
func askShared(ctx context.Context, c *client) evidence.Shared {
	var s evidence.Shared
	var wg sync.WaitGroup
	for _, ask := range []func(){
		func() { s.Leases = askLeases(ctx, c) },
		func() { s.Endpoints = askEndpoints(ctx, c) },
		func() { s.Pods = askPods(ctx, c) },
		func() { s.Authentication = askAuthentication(ctx, c) },
		func() { s.Discovery = askBinding(ctx, c) },
		func() { s.APIServices = askAPIServices(ctx, c) },
	} {
		wg.Go(ask)
	}
	wg.Wait()
	return s
}

// objectMeta is what is read of an object's metadata.
type objectMeta struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Created     time.Time         `json:"creationTimestamp"`
}

// askList gets a list of objects with the fields that are read.
func askList[T any](ctx context.Context, c *client, path string, limit int64) (items []T,
	told evidence.Told, r *reply) {
	r = c.get(ctx, question{path: path, accept: "application/json", limit: limit, retry: true,
		read: func(body io.Reader) (err error) {
			items, err = readList[T](body)
			return err
		}})
	if told = r.told(); !told.OK() {
		return nil, told, r
	}
	return items, told, r
}

// askObject gets an object of a kind with the fields that are read.
func askObject[T any](ctx context.Context, c *client, path, kind string) (object T, told evidence.Told) {
	r := c.get(ctx, question{path: path, accept: "application/json", limit: maxObject, retry: true})
	if told = r.told(); !told.OK() {
		return object, told
	}
	var is struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(r.body, &is) != nil || is.Kind != kind || json.Unmarshal(r.body, &object) != nil {
		var none T
		return none, evidence.Told{State: evidence.Failed, Reason: errNotJSON.Error()}
	}
	return object, told
}

// utc is a time that can be written: some that can be read cannot.
func utc(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

func askLeases(ctx context.Context, c *client) evidence.Leases {
	type lease struct {
		Metadata objectMeta `json:"metadata"`
		Spec     struct {
			RenewTime time.Time `json:"renewTime"`
		} `json:"spec"`
	}
	found, told, r := askList[lease](ctx, c, pathLeases, maxList)
	leases := evidence.Leases{Told: told}
	if !told.OK() {
		return leases
	}
	leases.Now = serverTime(r)
	for _, l := range found {
		leases.Items = append(leases.Items, evidence.Lease{
			Name:      l.Metadata.Name,
			Hostname:  l.Metadata.Labels["kubernetes.io/hostname"],
			Published: l.Metadata.Annotations["kubernetes.io/peer-advertise-address"],
			Renewed:   utc(l.Spec.RenewTime),
			Created:   utc(l.Metadata.Created),
		})
	}
	slices.SortFunc(leases.Items, func(a, b evidence.Lease) int {
		return cmp.Or(strings.Compare(a.Hostname, b.Hostname), strings.Compare(a.Name, b.Name))
	})
	return leases
}

// serverTime is the clock of the server: times in objects are told by it.
func serverTime(r *reply) time.Time {
	if t, err := http.ParseTime(r.header.Get("Date")); err == nil {
		return t.UTC()
	}
	return time.Now().UTC()
}

func askEndpoints(ctx context.Context, c *client) evidence.Endpoints {
	type slice struct {
		Metadata  objectMeta `json:"metadata"`
		Endpoints []struct {
			Addresses []string `json:"addresses"`
		} `json:"endpoints"`
		Ports []struct {
			Port int32 `json:"port"`
		} `json:"ports"`
	}
	found, told, _ := askList[slice](ctx, c, pathEndpoints, maxList)
	endpoints := evidence.Endpoints{Told: told}
	for _, s := range found {
		// The API servers write this one and no other, whatever else someone labels as of their service.
		if s.Metadata.Name != "kubernetes" {
			continue
		}
		for _, e := range s.Endpoints {
			for _, ip := range e.Addresses {
				for _, p := range s.Ports {
					if address, err := address(ip, p.Port); err == nil {
						endpoints.Addresses = append(endpoints.Addresses, address)
					}
				}
			}
		}
	}
	slices.Sort(endpoints.Addresses)
	endpoints.Addresses = slices.Compact(endpoints.Addresses)
	return endpoints
}

// address joins an IP address and a port.
func address(ip string, port int32) (string, error) {
	if port < 1 || port > 65535 {
		return "", errors.New("no port")
	}
	return evidence.Address(net.JoinHostPort(ip, strconv.Itoa(int(port))))
}

func askPods(ctx context.Context, c *client) evidence.Pods {
	found, told, _ := askList[json.RawMessage](ctx, c, pathPods, maxPods)
	pods := evidence.Pods{Told: told}
	for _, raw := range found {
		if pod, ok := readPod(raw); ok {
			pods.Items = append(pods.Items, pod)
		}
	}
	slices.SortFunc(pods.Items, func(a, b evidence.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// maxPod bounds the pods whose command line is read. They have some kilobytes.
const maxPod = 128 << 10

// readPod reads a mirror pod. Its command line is understood by the same code that reads manifests.
func readPod(raw []byte) (evidence.Pod, bool) {
	var pod struct {
		Metadata objectMeta `json:"metadata"`
		Spec     struct {
			NodeName string `json:"nodeName"`
		} `json:"spec"`
		Status struct {
			HostIP string `json:"hostIP"`
		} `json:"status"`
	}
	if json.Unmarshal(raw, &pod) != nil || pod.Metadata.Name == "" {
		return evidence.Pod{}, false
	}
	p := evidence.Pod{
		Name:     pod.Metadata.Name,
		Node:     pod.Spec.NodeName,
		Endpoint: pod.Metadata.Annotations["kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"],
		HostIP:   pod.Status.HostIP,
	}
	// Finding the place of a value takes as long as its line is.
	var lines bytes.Buffer
	if len(raw) > maxPod || json.Indent(&lines, raw, "", " ") != nil {
		return p, true
	}
	// The items of a list do not say what they are.
	in, err := config.Read(p.Name,
		append([]byte(`{"apiVersion":"v1","kind":"Pod",`), bytes.TrimPrefix(lines.Bytes(), []byte("{"))...))
	if err != nil || len(in.Clusters) == 0 || len(in.Clusters[0].Manifests) == 0 {
		return p, true
	}
	m := in.Clusters[0].Manifests[0]
	p.Image = m.Image
	server := m.Server()
	if !server.FlagsUnknown {
		p.Flags = map[string]string{}
		for _, f := range server.Flags {
			if slices.Contains(readFlags, f.Name) {
				p.Flags[f.Name] = joinFlag(p.Flags, f.Name, f.Value)
			}
		}
	}
	for _, e := range server.Envs {
		if slices.Contains(proxyVariables, e.Name) && !e.Unknown {
			p.Environment = put(p.Environment, e.Name, withoutCredentials(e.Value))
		}
	}
	return p, true
}

// proxyVariables are those of the environment that decide about proxies.
var proxyVariables = []string{"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}

// readFlags are the flags that the rules read. Others are not kept, whatever they hold.
var readFlags = []string{
	"advertise-address", "bind-address", "secure-port", "peer-advertise-ip", "peer-advertise-port", "peer-ca-file",
	"feature-gates", "emulated-version", "proxy-client-cert-file", "proxy-client-key-file",
	"requestheader-allowed-names",
	"requestheader-client-ca-file", "tls-cert-file", "egress-selector-config-file", "runtime-config",
}

// joinFlag is the value of a flag given once more: lists add up, of others the last counts.
func joinFlag(flags map[string]string, name, value string) string {
	before, again := flags[name]
	if again && release.Accumulates(name) {
		return before + "," + value
	}
	return value
}

// withoutCredentials takes the user and the password out of a proxy's URL.
func withoutCredentials(proxy string) string {
	u, err := url.Parse(proxy)
	if err == nil && u.User == nil && !strings.Contains(proxy, "@") {
		return proxy
	}
	rest := proxy[strings.LastIndexByte(proxy, '@')+1:]
	if scheme, _, ok := strings.Cut(proxy, "://"); ok && len(scheme)+len(rest) < len(proxy) &&
		!strings.ContainsAny(scheme, ":@") {
		return scheme + "://" + rest
	}
	return rest
}

func askAuthentication(ctx context.Context, c *client) evidence.Authentication {
	type configMap struct {
		Data map[string]string `json:"data"`
	}
	found, told := askObject[configMap](ctx, c, pathAuth, "ConfigMap")
	a := evidence.Authentication{Told: told}
	if !told.OK() {
		return a
	}
	if text, ok := found.Data["requestheader-allowed-names"]; ok {
		if err := json.Unmarshal([]byte(text), &a.AllowedNames); err != nil {
			a.Told = evidence.Told{State: evidence.Failed, Reason: "requestheader-allowed-names is not a list in JSON"}
		}
	}
	a.CASubjects = subjects([]byte(found.Data["requestheader-client-ca-file"]))
	return a
}

// subjects are those of the certificates in a PEM bundle.
func subjects(bundle []byte) []string {
	var out []string
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return out
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			out = append(out, line(cert.Subject.String()))
		}
	}
}

func askBinding(ctx context.Context, c *client) evidence.Binding {
	type binding struct {
		Subjects []struct{ Kind, Name string } `json:"subjects"`
	}
	found, told := askObject[binding](ctx, c, pathBinding, "ClusterRoleBinding")
	b := evidence.Binding{Told: told}
	for _, s := range found.Subjects {
		if s.Kind == "Group" && s.Name == "system:authenticated" {
			b.Authenticated = true
		}
	}
	return b
}

func askAPIServices(ctx context.Context, c *client) evidence.APIServices {
	type apiService struct {
		Metadata objectMeta `json:"metadata"`
		Spec     struct {
			Group   string `json:"group"`
			Version string `json:"version"`
			Service *struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"service"`
		} `json:"spec"`
		Status struct {
			Conditions []struct {
				Type   string `json:"type"`
				Status string `json:"status"`
				Reason string `json:"reason"`
			} `json:"conditions"`
		} `json:"status"`
	}
	found, told, _ := askList[apiService](ctx, c, pathAPIServices, maxList)
	services := evidence.APIServices{Told: told}
	for _, s := range found {
		// What is built in is made anew at each start of a server; the others come from CustomResourceDefinitions or
		// people.
		if s.Spec.Service == nil && s.Metadata.Labels["kube-aggregator.kubernetes.io/automanaged"] == "onstart" {
			continue
		}
		gv := evidence.Resource{Group: s.Spec.Group, Version: s.Spec.Version}.GroupVersion()
		item := evidence.APIService{GroupVersion: gv, Available: true}
		if s.Spec.Service != nil {
			item.Service = s.Spec.Service.Namespace + "/" + s.Spec.Service.Name
		}
		for _, condition := range s.Status.Conditions {
			if condition.Type == "Available" && condition.Status != "True" {
				item.Available, item.Reason = false, condition.Reason
			}
		}
		services.Items = append(services.Items, item)
	}
	slices.SortFunc(services.Items,
		func(a, b evidence.APIService) int { return strings.Compare(a.GroupVersion, b.GroupVersion) })
	return services
}
