package demo

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// object is an object as JSON has it, without kind and apiVersion.
type object = map[string]any

// resourceVersion is that of everything: nothing ever changes.
const resourceVersion = "1"

// leaseRenewal is how often a server renews its identity lease.
const leaseRenewal = 10 * time.Second

// Policy is the MutatingAdmissionPolicy that there is: an object of a resource that only the newer servers have.
const Policy = "add-owner-label"

// objects are what etcd would hold of a resource, in the order of namespaces and names.
func (s *Server) objects(p *process, q *request) []object {
	cp := s.cp
	switch q.group + "/" + q.resource {
	case "/namespaces":
		return cp.namespaces()
	case "/nodes":
		return each(cp.servers, cp.node)
	case "/pods":
		return each(cp.servers, cp.mirrorPod)
	case "/services":
		return []object{cp.service()}
	case "/configmaps":
		return []object{cp.authentication(), cp.kubeadmConfig()}
	case "coordination.k8s.io/leases":
		leases := each(cp.servers, cp.lease)
		slices.SortFunc(leases, func(a, b object) int {
			return strings.Compare(a["metadata"].(object)["name"].(string), b["metadata"].(object)["name"].(string))
		})
		return leases
	case "discovery.k8s.io/endpointslices":
		return []object{cp.endpointSlice()}
	case "rbac.authorization.k8s.io/clusterrolebindings":
		return []object{cp.discoveryBinding()}
	case "apiregistration.k8s.io/apiservices":
		return cp.apiServices(p)
	case "admissionregistration.k8s.io/mutatingadmissionpolicies":
		return []object{cp.policy()}
	}
	return nil
}

func each(servers []*Server, of func(*Server) object) []object {
	var out []object
	for _, s := range servers {
		out = append(out, of(s))
	}
	return out
}

// uid is an identifier in the form of a UUID.
func uid(of ...string) string {
	h := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

func (cp *ControlPlane) metadata(kind, namespace, name string, labels, annotations map[string]string) object {
	m := object{
		"name": name, "uid": uid(kind, namespace, name), "resourceVersion": resourceVersion,
		"creationTimestamp": cp.created.UTC().Format(time.RFC3339),
	}
	if namespace != "" {
		m["namespace"] = namespace
	}
	if len(labels) > 0 {
		m["labels"] = labels
	}
	if len(annotations) > 0 {
		m["annotations"] = annotations
	}
	return m
}

func (cp *ControlPlane) namespaces() []object {
	var out []object
	for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
		out = append(out, object{
			"metadata": cp.metadata("Namespace", "", name, map[string]string{"kubernetes.io/metadata.name": name}, nil),
			"spec":     object{"finalizers": []string{"kubernetes"}}, "status": object{"phase": "Active"},
		})
	}
	return out
}

func (cp *ControlPlane) node(s *Server) object {
	labels := map[string]string{"kubernetes.io/hostname": s.Name, "node-role.kubernetes.io/control-plane": ""}
	return object{
		"metadata": cp.metadata("Node", "", s.Name, labels, nil), "spec": object{},
		"status": object{
			"addresses":  []object{{"type": "InternalIP", "address": loopback.String()}, {"type": "Hostname", "address": s.Name}},
			"conditions": []object{{"type": "Ready", "status": "True"}},
			"nodeInfo":   object{"kubeletVersion": s.Release()},
		},
	}
}

// leaseName is the name of a server's identity lease, which comes from that of its host (pkg/server/config.go of
// k8s.io/apiserver).
func leaseName(host string) string {
	var data []byte
	for _, part := range []string{host, "kube-apiserver"} {
		data = append(binary.BigEndian.AppendUint16(data, uint16(len(part))), part...)
	}
	hash := sha256.Sum256(data)
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(hash[:16]))
}

// lease is the identity lease of a server.
func (cp *ControlPlane) lease(s *Server) object {
	p := s.process.Load()
	name := leaseName(s.Name)
	annotations := map[string]string{}
	if p.published != "" {
		annotations["kubernetes.io/peer-advertise-address"] = p.published
	}
	renewed := p.started.Add(time.Since(p.started).Truncate(leaseRenewal))
	return object{
		"metadata": cp.metadata("Lease", "kube-system", name, map[string]string{
			"apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": s.Name,
		}, annotations),
		"spec": object{
			"holderIdentity":       name + "_" + uid(name, p.started.String()),
			"leaseDurationSeconds": 3600,
			"renewTime":            renewed.UTC().Format("2006-01-02T15:04:05.000000Z"),
		},
	}
}

// endpointSlice lists the servers: an address with the port of each, where real ones have an address each and one port.
func (cp *ControlPlane) endpointSlice() object {
	var ports []object
	for i, s := range cp.servers {
		name := "https"
		if i > 0 {
			name += "-" + strconv.Itoa(i+1)
		}
		ports = append(ports, object{"name": name, "protocol": "TCP", "port": s.port()})
	}
	return object{
		"metadata":    cp.metadata("EndpointSlice", "default", "kubernetes", map[string]string{"kubernetes.io/service-name": "kubernetes"}, nil),
		"addressType": "IPv4",
		"endpoints":   []object{{"addresses": []string{loopback.String()}, "conditions": object{"ready": true}}},
		"ports":       ports,
	}
}

func (cp *ControlPlane) service() object {
	labels := map[string]string{"component": "apiserver", "provider": "kubernetes"}
	return object{
		"metadata": cp.metadata("Service", "default", "kubernetes", labels, nil),
		"spec": object{
			"type": "ClusterIP", "clusterIP": "10.96.0.1", "clusterIPs": []string{"10.96.0.1"},
			"ipFamilies": []string{"IPv4"}, "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster", "sessionAffinity": "None",
			"ports": []object{{"name": "https", "protocol": "TCP", "port": 443, "targetPort": cp.servers[0].port()}},
		},
		"status": object{"loadBalancer": object{}},
	}
}

// authentication is what servers tell extension servers about who is believed.
func (cp *ControlPlane) authentication() object {
	args := cp.servers[0].process.Load().args
	list := func(flag string) string {
		text, _ := json.Marshal(splitList(args.Value(flag)))
		return string(text)
	}
	return object{
		"metadata": cp.metadata("ConfigMap", "kube-system", "extension-apiserver-authentication", nil, nil),
		"data": map[string]string{
			"client-ca-file":                     string(cp.pki.ca.pem()),
			"requestheader-allowed-names":        list(release.FlagRequestHeaderNames),
			"requestheader-client-ca-file":       string(cp.pki.frontProxyCA.pem()),
			"requestheader-extra-headers-prefix": list("requestheader-extra-headers-prefix"),
			"requestheader-group-headers":        list("requestheader-group-headers"),
			"requestheader-username-headers":     list("requestheader-username-headers"),
		},
	}
}

// kubeadmConfig is where kubeadm keeps the configuration.
func (cp *ControlPlane) kubeadmConfig() object {
	return object{
		"metadata": cp.metadata("ConfigMap", "kube-system", "kubeadm-config", nil, nil),
		"data":     map[string]string{"ClusterConfiguration": cp.Configuration()},
	}
}

func (cp *ControlPlane) discoveryBinding() object {
	return object{
		"metadata": cp.metadata("ClusterRoleBinding", "", "system:discovery",
			map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"}, map[string]string{"rbac.authorization.kubernetes.io/autoupdate": "true"}),
		"subjects": []object{{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": groupAuthenticated}},
		"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:discovery"},
	}
}

// apiServices are one for each group version that is built in.
func (cp *ControlPlane) apiServices(p *process) []object {
	byName := map[string]object{}
	for _, r := range p.resources {
		if r.Group == "apiregistration.k8s.io" {
			continue // that of these objects is nobody's to announce
		}
		name := r.Version + "." + r.Group
		spec := object{"version": r.Version, "groupPriorityMinimum": 1000, "versionPriority": 15}
		if r.Group != "" {
			spec["group"] = r.Group
		}
		byName[name] = object{
			"metadata": cp.metadata("APIService", "", name, map[string]string{"kube-aggregator.kubernetes.io/automanaged": "onstart"}, nil),
			"spec":     spec,
			"status": object{"conditions": []object{{
				"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available",
				"lastTransitionTime": cp.created.UTC().Format(time.RFC3339),
			}}},
		}
	}
	var out []object
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}

// mirrorPod is the static pod of a server, as its kubelet shows it.
func (cp *ControlPlane) mirrorPod(s *Server) object {
	const hash = "00000000000000000000000000000000"
	command := append([]string{"kube-apiserver"}, s.process.Load().args.Args()...)
	return object{
		"metadata": cp.metadata("Pod", "kube-system", "kube-apiserver-"+s.Name,
			map[string]string{"component": "kube-apiserver", "tier": "control-plane"},
			map[string]string{
				"kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint": net.JoinHostPort(loopback.String(), strconv.Itoa(s.port())),
				"kubernetes.io/config.hash":                                       hash, "kubernetes.io/config.mirror": hash, "kubernetes.io/config.source": "file",
			}),
		"spec": object{
			"nodeName": s.Name, "hostNetwork": true,
			"containers": []object{{
				"name": "kube-apiserver", "image": "registry.k8s.io/kube-apiserver:" + s.Release(), "command": command,
				"volumeMounts": []object{{"name": "k8s-certs", "mountPath": pkiDir, "readOnly": true}},
			}},
			"volumes": []object{{"name": "k8s-certs", "hostPath": object{"path": pkiDir, "type": "DirectoryOrCreate"}}},
		},
		"status": object{
			"phase": "Running", "hostIP": loopback.String(), "podIP": loopback.String(),
			"conditions": []object{{"type": "Ready", "status": "True"}},
		},
	}
}

// policy is an object that every server knows that has the resource.
func (cp *ControlPlane) policy() object {
	return object{
		"metadata": cp.metadata("MutatingAdmissionPolicy", "", Policy, nil, nil),
		"spec": object{
			"failurePolicy": "Fail", "reinvocationPolicy": "Never",
			"matchConstraints": object{
				"matchPolicy": "Equivalent", "namespaceSelector": object{}, "objectSelector": object{},
				"resourceRules": []object{{
					"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE"}, "resources": []string{"configmaps"}, "scope": "*",
				}},
			},
			"mutations": []object{{
				"patchType": "ApplyConfiguration",
				"applyConfiguration": object{
					"expression": `Object{metadata: Object.metadata{labels: {"owner": "demo"}}}`,
				},
			}},
		},
	}
}
