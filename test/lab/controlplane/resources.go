//go:build linux

package controlplane

import (
	"bytes"
	"fmt"
	"strings"
)

// Resource is a resource or, with a slash in its name, a subresource that a server has.
type Resource struct {
	Group, Version, Name string
	Namespaced           bool
}

// AllResources returns those of the server's own documents, with subresources.
func (s *Server) AllResources(tb TB) []Resource {
	tb.Helper()
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct {
					Resource     string
					Scope        string
					Subresources []struct{ Subresource string }
				}
			}
		}
	}
	var out []Resource
	for _, path := range []string{"/api", "/apis"} {
		s.Get(tb, path, AcceptLocal).Into(tb, &list)
		for _, g := range list.Items {
			for _, v := range g.Versions {
				for _, r := range v.Resources {
					res := Resource{g.Metadata.Name, v.Version, r.Resource, r.Scope == "Namespaced"}
					out = append(out, res)
					for _, sub := range r.Subresources {
						res.Name = r.Resource + "/" + sub.Subresource
						out = append(out, res)
					}
				}
			}
		}
	}
	return out
}

// The answers of a server that does not have a resource itself; others are their status.
const (
	HandedOff = "handed off"
	NotFound  = "404"
)

// Answer tells what a client gets for a resource that the server does not have itself, by listing it or, for a subresource, by
// reading one of an object that there is not.
func (s *Server) Answer(tb TB, r Resource) string {
	tb.Helper()
	path := "/apis/" + r.Group + "/" + r.Version + "/"
	if r.Group == "" {
		path = "/api/" + r.Version + "/"
	}
	if name, sub, ok := strings.Cut(r.Name, "/"); ok {
		if r.Namespaced {
			path += "namespaces/default/"
		}
		path += name + "/nothing/" + sub
	} else {
		path += r.Name
	}
	a := s.Get(tb, path)
	switch {
	case a.Status == 200, a.Status == 404 && bytes.Contains(a.Body, []byte(`"name":"nothing"`)), a.Status == 405:
		return HandedOff
	case a.Status == 404:
		return NotFound
	}
	return fmt.Sprint(a.Status)
}
