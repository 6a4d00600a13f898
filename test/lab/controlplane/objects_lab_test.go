//go:build lab && linux

package controlplane

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// TestObjects tries what the lab offers to tests besides servers, on the oldest and the newest release.
func TestObjects(t *testing.T) {
	cp := New(t, Options{})
	servers := cp.Start(t, Node{Release: "1.34", Env: []string{"NO_PROXY=192.0.2.0/24"}}, Node{Release: "1.37", Flags: []Change{HandOff}})
	for _, s := range servers {
		t.Run(s.Release.Minor, func(t *testing.T) { tryObjects(t, s) })
	}
}

func tryObjects(t *testing.T, s *Server) {
	const accounts = "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n---\n" +
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: probe, namespace: lab}\n"
	s.Apply(t, accounts)
	s.Apply(t, accounts) // what is there already
	if got := userOf(t, s.KubeconfigWithToken(t, s.Token(t, "lab", "probe"))); got != "system:serviceaccount:lab:probe" {
		t.Errorf("the token is of %q", got)
	}
	if got := userOf(t, s.KubeconfigFor(t, "someone", "some")); got != "someone" {
		t.Errorf("the certificate is of %q", got)
	}
	if got := userOf(t, s.Kubeconfig(t)); got != "lab-admin" {
		t.Errorf("the admin is %q", got)
	}

	s.AddMirrorPod(t)
	s.AddMirrorPod(t)
	var pod struct {
		Spec struct {
			Containers []struct{ Command, Env []any }
		}
		Status struct{ HostIP, Phase string }
	}
	s.Get(t, "/api/v1/namespaces/kube-system/pods/kube-apiserver-"+s.Name).Into(t, &pod)
	if len(pod.Spec.Containers) != 1 || len(pod.Spec.Containers[0].Command) != 1+len(s.Args) || len(pod.Spec.Containers[0].Env) != len(s.Env) ||
		pod.Status.HostIP != s.Address || pod.Status.Phase != "Running" {
		t.Errorf("mirror pod: %+v", pod)
	}

	s.UploadConfig(t)
	if answer := s.Get(t, "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"); !strings.Contains(string(answer.Body), "kind: ClusterConfiguration") {
		t.Errorf("kubeadm-config: %d %s", answer.Status, answer.Body)
	}

	const custom = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: samples.lab.example}
spec:
  group: lab.example
  scope: Namespaced
  names: {plural: samples, kind: Sample}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: lab.example/v1
kind: Sample
metadata: {name: one, namespace: default}
`
	const path = "/apis/lab.example/v1/namespaces/default/samples/one"
	s.Apply(t, custom)
	if answer := s.Get(t, path); answer.Status != http.StatusOK {
		t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
	}
	s.Delete(t, custom)
	if answer := s.Get(t, path); answer.Status != http.StatusNotFound {
		t.Errorf("%s after it was deleted: %d %s", path, answer.Status, answer.Body)
	}
}

// userOf asks the server who the user of a kubeconfig is.
func userOf(t *testing.T, kubeconfig string) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	api, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	reviews := api.Resource(schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"})
	review, err := reviews.Create(t.Context(), &unstructured.Unstructured{Object: object{
		"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := unstructured.NestedString(review.Object, "status", "userInfo", "username")
	return name
}
