package demo

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A request is what a path asks for, as API servers read it.
type request struct {
	path string
	// verb is get, list, watch, or what another method is called.
	verb string
	// group and version are set where the path begins with /api or /apis. In a path of a resource, resource is set too.
	group, version      string
	namespace, resource string
	name, sub           string
	versioned           bool
}

// parseRequest reads a path. In /apis/GROUP/VERSION/namespaces/NAME/RESOURCE/OBJECT/SUBRESOURCE all from namespaces on
// may be missing, and namespaces are resources themselves.
func parseRequest(r *http.Request) *request {
	q := &request{path: r.URL.Path, verb: strings.ToLower(r.Method)}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 1:
		q.version, q.versioned, parts = parts[1], true, parts[2:]
	case parts[0] == "apis" && len(parts) > 2:
		q.group, q.version, q.versioned, parts = parts[1], parts[2], true, parts[3:]
	default:
		return q
	}
	if len(parts) == 0 {
		return q
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		q.namespace, parts = parts[1], parts[2:]
	}
	q.resource = parts[0]
	if len(parts) > 1 {
		q.name = parts[1]
	}
	q.sub = strings.Join(parts[min(2, len(parts)):], "/")
	if q.verb == "get" && q.name == "" {
		q.verb = "list"
		if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
			q.verb = "watch"
		}
	}
	return q
}

func (q *request) groupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: q.group, Version: q.version, Resource: q.resource}
}
