package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// ObjectName is the name of the object that named GETs ask for. None of that name is meant to exist; a role with
// this resourceName may read nothing else.
const ObjectName = "mvpcheck-no-such-object"

// maxObjects bounds the named GETs to one server.
const maxObjects = 500

// plainName is what API servers allow as the name of a resource and more than they allow for groups and versions. The
// documents come from servers, and parts of them from extensions: nothing in them is to make a path of another meaning.
var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// askable are the resources that a named GET can tell something about, at most maxObjects.
func askable(resources []evidence.Resource, docs *documents) []evidence.Resource {
	var out []evidence.Resource
	for _, r := range resources {
		name, sub, isSub := strings.Cut(r.Resource, "/")
		plain := (r.Group == "" || plainName.MatchString(r.Group)) && plainName.MatchString(r.Version) &&
			plainName.MatchString(name) && (!isSub || plainName.MatchString(sub))
		if plain && docs.readable(r) && len(out) < maxObjects {
			out = append(out, r)
		}
	}
	return out
}

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
// with its name in the details, or 405; one that does not have it answers 404 for the path, in a Status without details
// or in plain text.
func meaning(r *reply) evidence.Answer {
	if r.err != nil {
		return evidence.Unclear
	}
	var object struct {
		Kind    string `json:"kind"`
		Details struct {
			Name string `json:"name"`
		} `json:"details"`
	}
	isObject := json.Unmarshal(r.body, &object) == nil && object.Kind != ""
	isStatus := isObject && object.Kind == "Status"
	switch r.status {
	case http.StatusOK:
		if isObject {
			return evidence.Served
		}
	case http.StatusMethodNotAllowed:
		if isStatus {
			return evidence.Served
		}
	case http.StatusNotFound:
		switch {
		case isStatus && object.Details.Name != "":
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
	objects := make([]evidence.Object, len(resources))
	var wg sync.WaitGroup
	for i := range objects {
		objects[i].Resource = resources[i]
		path := objectPath(resources[i])
		wg.Go(func() {
			objects[i].Alone = meaning(c.get(ctx, question{path: path, accept: "application/json", limit: maxSmall,
				local: true}))
		})
		if !s.Serves(resources[i]) {
			wg.Go(func() {
				objects[i].Asked = meaning(c.get(ctx,
					question{path: path, accept: "application/json", limit: maxSmall}))
			})
		}
	}
	wg.Wait()
	return objects
}
