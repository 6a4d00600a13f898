//go:build linux

package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
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

// Do sends a request as admin. Each header is "Name: value". The body is JSON unless a Content-Type says otherwise.
func (s *Server) Do(ctx context.Context, method, path string, body []byte, headers ...string) (*Answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.URL()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	response, err := s.admin.Do(r)
	if err != nil {
		return nil, err
	}
	return readAnswer(response)
}

func readAnswer(response *http.Response) (*Answer, error) {
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return &Answer{Status: response.StatusCode, Header: response.Header, Body: text}, err
}

// Get gets a path as admin. Each header is "Name: value".
func (s *Server) Get(tb TB, path string, headers ...string) *Answer {
	tb.Helper()
	answer, err := s.Do(tb.Context(), http.MethodGet, path, nil, headers...)
	if err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	return answer
}

// object is an object as JSON has it.
type object = map[string]any

// Apply creates the objects of a YAML text, or replaces those that are there. Kinds of CustomResourceDefinitions that the
// same text makes are waited for.
func (s *Server) Apply(tb TB, text string) {
	tb.Helper()
	for _, o := range parseObjects(tb, text) {
		if err := s.apply(tb.Context(), o); err != nil {
			tb.Fatalf("%s: %v", s.Name, err)
		}
	}
}

// Delete deletes the objects of a YAML text that are there.
func (s *Server) Delete(tb TB, text string) {
	tb.Helper()
	for _, o := range parseObjects(tb, text) {
		_, path, err := s.paths(tb.Context(), o)
		if err != nil {
			tb.Fatalf("%s: %v", s.Name, err)
		}
		answer, err := s.Do(tb.Context(), http.MethodDelete, path, nil)
		if err != nil {
			tb.Fatalf("%s: %v", s.Name, err)
		}
		if answer.Status >= 300 && answer.Status != http.StatusNotFound {
			tb.Fatalf("%s: DELETE %s: %d %s", s.Name, path, answer.Status, answer.Body)
		}
	}
}

func parseObjects(tb TB, text string) []object {
	tb.Helper()
	var objects []object
	for _, document := range strings.Split("\n"+text, "\n---") {
		var o object
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			tb.Fatalf("%v:\n%s", err, document)
		}
		if o != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

func (s *Server) apply(ctx context.Context, o object) error {
	collection, path, err := s.paths(ctx, o)
	if err != nil {
		return err
	}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	answer, err := s.Do(ctx, http.MethodPost, collection, body)
	if err != nil {
		return err
	}
	if answer.Status == http.StatusConflict {
		// What is there may have fields that must stay, such as the resourceVersion: those of the text replace the others.
		answer, err = s.Do(ctx, http.MethodPatch, path, body, "Content-Type: application/merge-patch+json")
		if err != nil {
			return err
		}
	}
	if answer.Status >= 300 {
		return fmt.Errorf("%s: %d %s", path, answer.Status, answer.Body)
	}
	return nil
}

// paths returns where the object is created, and where it is then.
func (s *Server) paths(ctx context.Context, o object) (collection, path string, err error) {
	apiVersion, _ := o["apiVersion"].(string)
	kind, _ := o["kind"].(string)
	metadata, _ := o["metadata"].(object)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	prefix := "/apis/" + apiVersion
	if !strings.Contains(apiVersion, "/") {
		prefix = "/api/" + apiVersion
	}
	resource, namespaced, err := s.resource(ctx, prefix, kind)
	if err != nil {
		return "", "", err
	}
	if namespaced {
		if namespace == "" {
			namespace = "default"
		}
		prefix += "/namespaces/" + namespace
	}
	collection = prefix + "/" + resource
	return collection, collection + "/" + name, nil
}

// resource finds the resource of a kind. The kind of a new CustomResourceDefinition takes a moment to appear.
func (s *Server) resource(ctx context.Context, prefix, kind string) (name string, namespaced bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	err = poll(ctx, 200*time.Millisecond, func() (bool, error) {
		answer, err := s.Do(ctx, http.MethodGet, prefix, nil)
		if err != nil {
			return false, err
		}
		var list struct {
			Resources []struct {
				Name, Kind string
				Namespaced bool
			}
		}
		if answer.Status == http.StatusOK {
			if err := json.Unmarshal(answer.Body, &list); err != nil {
				return false, err
			}
		}
		for _, r := range list.Resources {
			if r.Kind == kind && !strings.Contains(r.Name, "/") {
				name, namespaced = r.Name, r.Namespaced
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return "", false, fmt.Errorf("%s: no kind %q: %w", prefix, kind, err)
	}
	return name, namespaced, nil
}
