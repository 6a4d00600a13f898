package demo

import (
	"sigs.k8s.io/yaml"
)

// Context is the name of the kubeconfig's context for the control plane. There is one for each server, too, by its
// name.
const Context = "demo"

// Kubeconfig is a kubeconfig of an administrator, with the token: whoever can read it may do anything here.
func (cp *ControlPlane) Kubeconfig() ([]byte, error) {
	var clusters, contexts []object
	add := func(name string, s *Server) {
		clusters = append(clusters, object{"name": name, "cluster": object{
			"server": "https://" + s.Address, "certificate-authority-data": certPEM(cp.pki.cas[caFile]),
		}})
		contexts = append(contexts, object{"name": name, "context": object{"cluster": name, "user": "demo-admin"}})
	}
	add(Context, cp.servers[0])
	for _, s := range cp.servers {
		add(s.Name, s)
	}
	return yaml.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": Context,
		"clusters": clusters, "contexts": contexts,
		"users": []object{{"name": "demo-admin", "user": object{"token": cp.token}}},
	})
}
