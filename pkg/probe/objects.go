package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/mvpcheck/mvpcheck/pkg/evidence"
)

// ObjectName is the name of the object that named GETs ask for. None of that name is meant to exist; a role with
// this resourceName may read nothing else.
const ObjectName = "mvpcheck-no-such-object"

// maxObjects bounds the named GETs to one server.
const maxObjects = 500

// objectPath is the path of a named GET.
func objectPath(r evidence.Resource) string {
	path := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		path = "/api/" + r.Version
	}
	if r.Namespaced {
		path += "/namespaces/default"
	}
	name, sub, isSub := strings.Cut(r.Resource, "/")
	path += "/" + name + "/" + ObjectName
	if isSub {
		path += "/" + sub
	}
	return path
}

// meaning says what the answer to a named GET shows. An API server that has the resource answers 404 for the object,
// with its name in the details, or 405; one that does not have it answers 404 for the path, in a Status without details or in plain text.
func meaning(r *reply) evidence.Answer {
	if r.err != nil {
		return evidence.Unclear
	}
	var status struct {
		Kind    string `json:"kind"`
		Details struct {
			Name string `json:"name"`
		} `json:"details"`
	}
	isStatus := json.Unmarshal(r.body, &status) == nil && status.Kind == "Status"
	switch r.status {
	case http.StatusOK:
		return evidence.Served
	case http.StatusMethodNotAllowed:
		if isStatus {
			return evidence.Served
		}
	case http.StatusNotFound:
		switch {
		case isStatus && status.Details.Name != "":
			return evidence.Served
		case isStatus, strings.TrimSpace(string(r.body)) == "404 page not found":
			return evidence.NotServed
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		return evidence.Denied
	case http.StatusServiceUnavailable:
		return evidence.Unavailable
	}
	return evidence.Unclear
}

// askObjects asks a server for an object of each of the resources: as clients do, and with the header that keeps it
// from handing the request on. What it has itself is asked the second way only.
func askObjects(ctx context.Context, c *client, s *evidence.Server, resources []evidence.Resource) []evidence.Object {
	objects := make([]evidence.Object, min(len(resources), maxObjects))
	var wg sync.WaitGroup
	for i := range objects {
		objects[i].Resource = resources[i]
		path := objectPath(resources[i])
		wg.Go(func() {
			objects[i].Alone = meaning(c.get(ctx, question{path: path, accept: "application/json", limit: maxSmall, local: true}))
		})
		if !s.Serves(resources[i]) {
			wg.Go(func() {
				objects[i].Asked = meaning(c.get(ctx, question{path: path, accept: "application/json", limit: maxSmall}))
			})
		}
	}
	wg.Wait()
	return objects
}
