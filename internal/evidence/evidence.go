// Package evidence is what API servers of a live control plane said: data with its sources, written to a file and read
// again. Package probe gathers it, and the rules MVP5xx of package checks judge it, live or recorded.
package evidence

import (
	"slices"
	"strings"
	"time"
)

// The identity of the document that a ControlPlane is written as.
const (
	APIVersion = "mvpcheck.dev/v1alpha1"
	Kind       = "ProbeEvidence"
)

// Gate is the feature gate of the Mixed Version Proxy, as metrics name it.
const Gate = "UnknownVersionInteroperabilityProxy"

// The start hooks that tell how a server is set up, as /readyz?verbose names them. The first is there where the gate
// is on, the second where --peer-ca-file is set too.
const (
	HookReconciler = "peer-endpoint-reconciler-controller"
	HookPeerProxy  = "mixed-version-proxy-handler"
)

// ControlPlane is what was asked of one control plane and what came back.
type ControlPlane struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Version is that of mvpcheck.
	Version string `json:"version"`
	// Context is the kubeconfig's context.
	Context string `json:"context,omitempty"`
	// Started and Ended are when the first request was sent and the last one answered.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Found says in words where the list of servers comes from.
	Found string `json:"found"`
	// ObjectProbe: the named GETs were asked for.
	ObjectProbe bool     `json:"objectProbe"`
	Servers     []Server `json:"servers"`
	Shared      Shared   `json:"shared"`
	// Requests are all that were sent, in the order of servers and paths.
	Requests []Request `json:"requests"`
}

// Request is one request and what became of it.
type Request struct {
	// Server is the address that was asked.
	Server string `json:"server"`
	// Path is the path with its query. Profile and Local tell requests to one path apart: the profile of the discovery
	// document, and whether the header x-kubernetes-peer-proxied kept the server from handing the request on.
	Path    string `json:"path"`
	Profile string `json:"profile,omitempty"`
	Local   bool   `json:"local,omitempty"`
	// Status is the HTTP status, 0 where there was no answer.
	Status int `json:"status,omitempty"`
	// Bytes is how much of the body was read, after decompression, and SHA256 the digest of these bytes.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
	// Milliseconds is the time until the last byte.
	Milliseconds int64 `json:"milliseconds"`
	// Error says why the answer could not be used.
	Error string `json:"error,omitempty"`
}

// State says whether a piece of evidence is at hand, and if not, why.
type State string

// The states. Absent is what a server does not have (404, or nothing to ask for), Forbidden a 401 or 403, Failed any
// other answer or none.
const (
	OK        State = "ok"
	Absent    State = "absent"
	Forbidden State = "forbidden"
	Failed    State = "failed"
	NotAsked  State = "not-asked"
)

// Told is the state of a source and, unless it is OK, the reason in words.
type Told struct {
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
}

// OK tells whether the source has told something.
func (t Told) OK() bool { return t.State == OK }

// The sources of a server's address.
const (
	FromEndpoints  = "endpointslice"
	FromLease      = "lease"
	FromPod        = "pod"
	FromGiven      = "given"
	FromKubeconfig = "kubeconfig"
)

// Server is what one API server said.
type Server struct {
	// Address is the host and port that was asked.
	Address string `json:"address"`
	// Node is the name of its node, empty where nothing tells it.
	Node string `json:"node,omitempty"`
	// Identity is the name of its identity lease, empty where it is not known which one that is.
	Identity string `json:"identity,omitempty"`
	// Pod is the name of its mirror pod, empty where none is known.
	Pod string `json:"pod,omitempty"`
	// FoundBy names the sources of the address: endpointslice, lease, pod, given, kubeconfig.
	FoundBy []string `json:"foundBy"`
	// Reached says whether the server answered a request with our credentials, and if not, why it could not be asked.
	Reached Told `json:"reached"`

	Version Version `json:"version"`
	// Ready says that /readyz is 200. Hooks are its start hooks, without the prefix poststarthook/.
	Ready bool     `json:"ready"`
	Hooks Hooks    `json:"hooks"`
	Flags Flags    `json:"flags"`
	Core  Document `json:"core"`
	// Merged and Local are /apis without and with profile=nopeer.
	Merged Document `json:"merged"`
	Local  Document `json:"local"`
	// Metrics are the readings of /metrics in the order of time.
	Metrics Metrics `json:"metrics"`
	// Objects are the named GETs.
	Objects []Object `json:"objects,omitempty"`
}

// Version is what /version tells.
type Version struct {
	Told
	// GitVersion is such as v1.36.3. Emulated is such as 1.35, empty where it is the same minor or not told.
	GitVersion string `json:"gitVersion,omitempty"`
	Emulated   string `json:"emulated,omitempty"`
}

// Hooks are the start hooks that /readyz?verbose lists.
type Hooks struct {
	Told
	Names []string `json:"names,omitempty"`
}

// Has tells whether a hook is listed.
func (h Hooks) Has(name string) bool { return slices.Contains(h.Names, name) }

// Flags are command-line flags of a server that the rules read, from /flagz or its mirror pod.
type Flags struct {
	Told
	// Source is flagz or pod.
	Source string `json:"source,omitempty"`
	// Values are the flags by their names without dashes. A flag that is not there was not set (pod) or is not known
	// to the server (flagz).
	Values map[string]string `json:"values,omitempty"`
}

// Document is a discovery document.
type Document struct {
	Told
	// Resources are what the document lists, sorted.
	Resources []Resource `json:"resources,omitempty"`
	// Stale are the group versions, such as metrics.k8s.io/v1beta1, that the aggregator marks as not fresh.
	Stale []string `json:"stale,omitempty"`
	// Same says that the document is the same as that of the other view or of another server, in which case Resources
	// are left out of a recording. It is empty otherwise.
	Same string `json:"same,omitempty"`
}

// Resource is one resource or subresource (RESOURCE/SUBRESOURCE) of one version of one group.
type Resource struct {
	Group      string `json:"group"`
	Version    string `json:"version"`
	Resource   string `json:"resource"`
	Namespaced bool   `json:"namespaced,omitempty"`
}

// GroupVersion returns such as apps/v1, and v1 for the core group.
func (r Resource) GroupVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// String returns such as "apps/v1 deployments".
func (r Resource) String() string { return r.GroupVersion() + " " + r.Resource }

// IsSubresource tells deployments/status from deployments.
func (r Resource) IsSubresource() bool { return strings.Contains(r.Resource, "/") }

// Metrics are readings of a server's counters.
type Metrics struct {
	Told
	Readings []Reading `json:"readings,omitempty"`
}

// Reading is the state of the counters that matter at one time.
type Reading struct {
	Time time.Time `json:"time"`
	// Gates are the values of kubernetes_feature_enabled for the gates that matter.
	Gates map[string]bool `json:"gates,omitempty"`
	// Started is when the server's process started, zero where it does not say.
	Started time.Time `json:"processStarted,omitzero"`
	// Rerouted is apiserver_rerouted_request_total.
	Rerouted []Count `json:"rerouted,omitempty"`
	// ProxyErrors and SyncErrors are apiserver_peer_proxy_errors_total and
	// apiserver_peer_discovery_sync_errors_total by type.
	ProxyErrors map[string]float64 `json:"proxyErrors,omitempty"`
	SyncErrors  map[string]float64 `json:"syncErrors,omitempty"`
}

// Count is one series of apiserver_rerouted_request_total. Before 1.36 only Code is told; a Resource with empty
// fields is a request for a discovery document then and later.
type Count struct {
	Code string `json:"code"`
	Resource
	Value float64 `json:"value"`
}

// Object is what a server answers to the named GET of a resource: an object that cannot exist.
type Object struct {
	Resource
	// Asked is the answer of the server as clients get it, Alone that with the header x-kubernetes-peer-proxied, which
	// keeps the server from handing the request on. Asked is NotAnswered where the server has the resource itself.
	Asked Answer `json:"asked"`
	Alone Answer `json:"alone"`
}

// Answer says what the answer to a named GET means.
type Answer string

// The answers. Served: an answer that only a server with the resource can give. NotServed: 404 for the resource, not
// for the object. Unavailable: 503, with which a server says that the peer to hand the request to cannot be reached.
const (
	Served      Answer = "served"
	NotServed   Answer = "not-served"
	Unavailable Answer = "unavailable"
	Denied      Answer = "forbidden"
	Unclear     Answer = "unclear"
	NotAnswered Answer = ""
)

// Shared is what the control plane keeps in etcd, the same for all servers.
type Shared struct {
	Leases         Leases         `json:"leases"`
	Endpoints      Endpoints      `json:"endpoints"`
	Pods           Pods           `json:"pods"`
	Authentication Authentication `json:"authentication"`
	Discovery      Binding        `json:"discoveryBinding"`
	APIServices    APIServices    `json:"apiServices"`
	// Dials are own TLS connections to each address that a server publishes to its peers.
	Dials []Dial `json:"dials,omitempty"`
}

// Leases are the identity leases in kube-system.
type Leases struct {
	Told
	// Now is the clock of the server that told of them.
	Now   time.Time `json:"now,omitzero"`
	Items []Lease   `json:"items,omitempty"`
}

// Lease is the identity lease of one API server.
type Lease struct {
	Name     string `json:"name"`
	Hostname string `json:"hostname,omitempty"`
	// Published is the annotation kubernetes.io/peer-advertise-address, host and port.
	Published string    `json:"published,omitempty"`
	Renewed   time.Time `json:"renewed"`
	Created   time.Time `json:"created"`
}

// Endpoints are the addresses of the EndpointSlices of default/kubernetes, host and port.
type Endpoints struct {
	Told
	Addresses []string `json:"addresses,omitempty"`
}

// Pods are the mirror pods of the API servers.
type Pods struct {
	Told
	Items []Pod `json:"items,omitempty"`
}

// Pod is what a mirror pod tells of its API server.
type Pod struct {
	Name string `json:"name"`
	Node string `json:"node,omitempty"`
	// HostIP is the node's address, Endpoint kubeadm's annotation with the advertise address and port.
	HostIP   string `json:"hostIP,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	Image    string `json:"image,omitempty"`
	// Flags are those that the rules read; nil where the command line was not understood.
	Flags map[string]string `json:"flags,omitempty"`
	// Environment are the proxy variables, without any credentials in their URLs.
	Environment map[string]string `json:"environment,omitempty"`
}

// Authentication is the ConfigMap kube-system/extension-apiserver-authentication. All servers write theirs into it.
type Authentication struct {
	Told
	// AllowedNames are requestheader-allowed-names; none means that all are allowed.
	AllowedNames []string `json:"allowedNames,omitempty"`
	// CASubjects are the subjects of requestheader-client-ca-file.
	CASubjects []string `json:"caSubjects,omitempty"`
}

// Binding is the ClusterRoleBinding system:discovery, which lets peers read discovery documents.
type Binding struct {
	Told
	// Authenticated: its subjects include the group system:authenticated.
	Authenticated bool `json:"authenticated,omitempty"`
}

// APIServices are the APIService objects, which tell group versions of custom resources and aggregated API servers
// from those that are built in.
type APIServices struct {
	Told
	Items []APIService `json:"items,omitempty"`
}

// APIService is one group version that API servers do not serve by themselves.
type APIService struct {
	GroupVersion string `json:"groupVersion"`
	// Service is the service of an aggregated API server, NAMESPACE/NAME, empty for custom resources.
	Service   string `json:"service,omitempty"`
	Available bool   `json:"available"`
	Reason    string `json:"reason,omitempty"`
}

// Dial is an own TLS connection, without credentials, to an address that a server publishes.
type Dial struct {
	Address string `json:"address"`
	// Connected: there was a TLS handshake, whether or not the certificate is fine.
	Connected bool `json:"connected"`
	// Trusted: the certificate is signed by the kubeconfig's CA. Named: it is valid for kubernetes.default.svc.
	Trusted bool `json:"trusted"`
	// Unverified: the kubeconfig has no CA to verify it with, so Trusted tells nothing.
	Unverified bool `json:"unverified,omitempty"`
	Named      bool `json:"named"`
	// Subject, Issuer, Names and NotAfter are of the certificate.
	Subject  string    `json:"subject,omitempty"`
	Issuer   string    `json:"issuer,omitempty"`
	Names    []string  `json:"names,omitempty"`
	NotAfter time.Time `json:"notAfter,omitzero"`
	Error    string    `json:"error,omitempty"`
}
