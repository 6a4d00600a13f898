package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// writeJSON writes an answer in JSON, of another media type where the header says so; indented for people, where curl
// or a browser asks.
func writeJSON(w http.ResponseWriter, r *http.Request, code int, v any) {
	body, err := json.Marshal(v)
	for _, agent := range []string{"curl/", "Wget/", "Mozilla/"} {
		if strings.HasPrefix(r.UserAgent(), agent) {
			body, err = json.MarshalIndent(v, "", "  ")
		}
	}
	if err != nil {
		panic(err) // nothing here is of a kind that JSON does not have
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(code)
	_, _ = w.Write(append(body, '\n'))
}

// writeStatus answers with a Status, in the words of API servers.
func writeStatus(w http.ResponseWriter, r *http.Request, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	if status.Code == http.StatusForbidden {
		w.Header().Set("X-Content-Type-Options", "nosniff")
	}
	writeJSON(w, r, int(status.Code), status)
}

// pageNotFound is the answer to a path that nothing has registered.
func pageNotFound(w http.ResponseWriter) { http.Error(w, "404 page not found", http.StatusNotFound) }

// noSuchObject is the 404 of a server that has the resource, and in it no object of the name.
func noSuchObject(q *request) *apierrors.StatusError {
	resource := q.resource
	if resource == "componentstatuses" {
		resource = "componentstatus" // as real servers have it
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: q.group, Resource: resource}, q.name)
}

// generic is the answer to what there is not at all, "the server could not find the requested resource", or cannot be
// asked in this way.
func generic(code int, r *http.Request) *apierrors.StatusError {
	return apierrors.NewGenericServerResponse(code, strings.ToLower(r.Method), schema.GroupResource{}, "", "", 0, false)
}

func unauthorized() *apierrors.StatusError {
	err := apierrors.NewUnauthorized("Unauthorized")
	err.ErrStatus.Details = nil
	return err
}

func notAcceptableStatus() *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: application/json",
	}}
}

// forbidden says what a user may not do.
func forbidden(who user, q *request) *apierrors.StatusError {
	if q.resource == "" {
		err := apierrors.NewForbidden(schema.GroupResource{}, "", nil)
		err.ErrStatus.Message = fmt.Sprintf("forbidden: User %q cannot %s path %q", who.name, q.verb, q.path)
		return err
	}
	resource := q.resource
	if q.sub != "" {
		resource += "/" + q.sub
	}
	scope := "at the cluster scope"
	switch {
	case q.namespace != "":
		scope = fmt.Sprintf("in the namespace %q", q.namespace)
	case q.group == "" && q.resource == "namespaces" && q.name != "":
		scope = fmt.Sprintf("in the namespace %q", q.name)
	}
	text := fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", who.name, q.verb, resource, q.group, scope)
	return apierrors.NewForbidden(schema.GroupResource{Group: q.group, Resource: q.resource}, q.name, errors.New(text))
}
