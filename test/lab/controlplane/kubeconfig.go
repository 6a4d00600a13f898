//go:build linux

package controlplane

import (
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Kubeconfig writes a kubeconfig for the admin, and returns its path. The server is the one that is asked through it,
// like the address of a load balancer in a real cluster.
func (s *Server) Kubeconfig(tb TB) (path string) {
	tb.Helper()
	return s.kubeconfig(tb, identityUser(s.cp.Admin))
}

// KubeconfigFor writes a kubeconfig for a client certificate of the user and the groups.
func (s *Server) KubeconfigFor(tb TB, user string, groups ...string) (path string) {
	tb.Helper()
	return s.kubeconfig(tb, identityUser(s.cp.CA.Issue(tb, Subject{Name: user, Groups: groups})))
}

// KubeconfigWithToken writes a kubeconfig with a bearer token.
func (s *Server) KubeconfigWithToken(tb TB, token string) (path string) {
	tb.Helper()
	return s.kubeconfig(tb, object{"token": token})
}

func identityUser(id *Identity) object {
	return object{"client-certificate-data": id.CertPEM(), "client-key-data": id.KeyPEM()}
}

func (s *Server) kubeconfig(tb TB, user object) (path string) {
	tb.Helper()
	text, err := yaml.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "lab",
		"clusters": []any{object{"name": "lab", "cluster": object{
			"server": s.URL(), "certificate-authority-data": s.cp.CA.CertPEM(),
		}}},
		"users":    []any{object{"name": "lab", "user": user}},
		"contexts": []any{object{"name": "lab", "context": object{"cluster": "lab", "user": "lab"}}},
	})
	if err != nil {
		tb.Fatalf("kubeconfig: %v", err)
	}
	file, err := os.CreateTemp(s.cp.Dir, s.Name+"-*.kubeconfig")
	if err != nil {
		tb.Fatalf("kubeconfig: %v", err)
	}
	defer file.Close()
	if _, err := file.Write(text); err != nil {
		tb.Fatalf("kubeconfig: %v", err)
	}
	return file.Name()
}

// Token returns a token for a ServiceAccount, which must be there.
func (s *Server) Token(tb TB, namespace, name string) string {
	tb.Helper()
	api, err := s.api()
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	request := &unstructured.Unstructured{Object: object{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": object{},
		"metadata": object{"name": name},
	}}
	accounts := api.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"})
	if request, err = accounts.Namespace(namespace).Create(tb.Context(), request, metav1.CreateOptions{}, "token"); err != nil {
		tb.Fatalf("%s: a token of %s/%s: %v", s.Name, namespace, name, err)
	}
	token, _, _ := unstructured.NestedString(request.Object, "status", "token")
	return token
}

// UploadConfig has kubeadm write the ConfigMap kube-system/kubeadm-config from the server's kubeadm configuration.
func (s *Server) UploadConfig(tb TB) {
	tb.Helper()
	k, err := kubeadm(tb.Context(), s.Release)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	if output, err := k.UploadConfig(tb.Context(), s.ConfigFile, s.Kubeconfig(tb)); err != nil {
		tb.Fatalf("%s: %v: %s", s.Name, err, output)
	}
}
