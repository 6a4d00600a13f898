//go:build lab && linux

package controlplane

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
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
	if got := userOf(t, s, s.KubeconfigWithToken(t, s.Token(t, "lab", "probe"))); got != "system:serviceaccount:lab:probe" {
		t.Errorf("the token is of %q", got)
	}
	if got := userOf(t, s, s.KubeconfigFor(t, "someone", "some")); got != "someone" {
		t.Errorf("the certificate is of %q", got)
	}
	if got := userOf(t, s, s.Kubeconfig(t)); got != "lab-admin" {
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
metadata: {name: one}
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
func userOf(t *testing.T, s *Server, kubeconfig string) string {
	t.Helper()
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Users []struct {
			User struct {
				Token string
				Cert  []byte `json:"client-certificate-data"`
				Key   []byte `json:"client-key-data"`
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	user := config.Users[0].User
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/apis/authentication.k8s.io/v1/selfsubjectreviews",
		strings.NewReader(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	c, err := client(user.Cert, user.Key)
	if err != nil {
		t.Fatal(err)
	}
	if user.Token != "" {
		request.Header.Set("Authorization", "Bearer "+user.Token)
	}
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := readAnswer(response)
	if err != nil {
		t.Fatal(err)
	}
	var review struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	answer.Into(t, &review)
	return review.Status.UserInfo.Username
}
