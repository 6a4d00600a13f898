//go:build linux

package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Answer is what a server answers.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Into reads the answer's JSON.
func (a *Answer) Into(tb TB, into any) {
	tb.Helper()
	if err := json.Unmarshal(a.Body, into); err != nil {
		tb.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
}

// Ask gets a path as admin, for the answer as it is. Each header is "Name: value".
func (s *Server) Ask(ctx context.Context, path string, headers ...string) (*Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+path, nil)
	if err != nil {
		return nil, err
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	response, err := s.admin.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return &Answer{Status: response.StatusCode, Header: response.Header, Body: text}, err
}

// Get is Ask for a test.
func (s *Server) Get(tb TB, path string, headers ...string) *Answer {
	tb.Helper()
	answer, err := s.Ask(tb.Context(), path, headers...)
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	return answer
}

// object is an object as JSON has it.
type object = map[string]any

// applyOptions make objects the lab's, whoever they were of.
var applyOptions = metav1.ApplyOptions{FieldManager: "lab", Force: true}

// Apply creates the objects of a YAML text, or replaces those that are there. Those with a namespace say so. Kinds of
// CustomResourceDefinitions that the same text makes are waited for.
func (s *Server) Apply(tb TB, text string) {
	tb.Helper()
	s.each(tb, text, s.apply)
}

// Delete deletes the objects of a YAML text that are there.
func (s *Server) Delete(tb TB, text string) {
	tb.Helper()
	s.each(tb, text, s.delete)
}

func (s *Server) each(tb TB, text string, do func(context.Context, *unstructured.Unstructured) error) {
	tb.Helper()
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		var o object
		if err := documents.Decode(&o); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			tb.Fatalf("%v:\n%s", err, text)
		}
		if o == nil {
			continue
		}
		if err := do(tb.Context(), &unstructured.Unstructured{Object: o}); err != nil {
			tb.Fatalf("%s: %v", s.Name, err)
		}
	}
}

// api is the admin's client for objects.
func (s *Server) api() (dynamic.Interface, error) {
	return dynamic.NewForConfigAndClient(&rest.Config{Host: s.URL(), WarningHandler: rest.NoWarnings{}}, s.admin)
}

// objects is the client for the objects of an object's kind and namespace.
func (s *Server) objects(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	return api.Resource(resource).Namespace(o.GetNamespace()), nil
}

func (s *Server) apply(ctx context.Context, o *unstructured.Unstructured) error {
	objects, err := s.objects(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	// The kind of a new CustomResourceDefinition takes a moment to appear.
	_ = poll(ctx, 200*time.Millisecond, func() (bool, error) {
		_, err = objects.Apply(ctx, o.GetName(), o, applyOptions)
		return !apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

func (s *Server) delete(ctx context.Context, o *unstructured.Unstructured) error {
	objects, err := s.objects(o)
	if err != nil {
		return err
	}
	if err := objects.Delete(ctx, o.GetName(), *metav1.NewDeleteOptions(0)); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}
