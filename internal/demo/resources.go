package demo

import (
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// serveResource answers what a path of a resource asks for.
func (p *process) serveResource(w http.ResponseWriter, r *http.Request, q *request) {
	if !p.recorded.hasGroup(q.group) {
		pageNotFound(w)
		return
	}
	res, ok := p.recorded.resources[q.groupVersionResource()]
	asked := res
	if ok && q.sub != "" {
		// Whatever stands behind proxy is for what is proxied to.
		sub, rest, _ := strings.Cut(q.sub, "/")
		of := q.groupVersionResource()
		of.Resource += "/" + sub
		asked, ok = p.recorded.resources[of]
		ok = ok && (rest == "" || sub == "proxy")
	}
	switch {
	case !ok, q.namespace != "" && !res.Namespaced, !hasPath(asked, q):
		writeStatus(w, r, generic(http.StatusNotFound, r))
	case r.Method != http.MethodGet, q.verb == "watch", !slices.Contains(asked.Verbs, q.verb):
		writeStatus(w, r, generic(http.StatusMethodNotAllowed, r))
	case negotiate(r, false) == notAcceptable:
		writeStatus(w, r, notAcceptableStatus())
	default:
		p.serveObjects(w, r, q, res)
	}
}

// hasPath tells whether a path has anything that can be done with it. Nobody can ask for tokenreviews/NAME, and objects
// of all namespaces can be listed at most.
func hasPath(res metav1.APIResource, q *request) bool {
	can := func(verb string) bool { return slices.Contains(res.Verbs, verb) }
	switch {
	case res.Namespaced && q.namespace == "":
		return q.name == "" && can("list")
	case q.name == "", q.sub != "":
		return true
	}
	return slices.ContainsFunc([]string{"get", "update", "patch", "delete"}, can)
}

// serveObjects answers with the list of the objects that are asked for, or with the one.
func (p *process) serveObjects(w http.ResponseWriter, r *http.Request, q *request, res metav1.APIResource) {
	list, query := q.verb == "list", r.URL.Query()
	selector, err := labels.Parse(query.Get("labelSelector"))
	switch {
	case list && err != nil:
		writeStatus(w, r, apierrors.NewBadRequest(err.Error()))
		return
	case list && query.Get("fieldSelector") != "":
		writeStatus(w, r, apierrors.NewBadRequest("the servers of mvpcheck demo know no field selectors"))
		return
	}
	version := q.groupVersionResource().GroupVersion().String()
	items := []object{}
	for _, o := range p.objects(q) {
		switch {
		case q.namespace != "" && o.GetNamespace() != q.namespace:
		case list && selector.Matches(labels.Set(o.GetLabels())):
			items = append(items, o.Object)
		case q.name != o.GetName():
		case q.sub != "" && q.sub != "status":
			writeStatus(w, r, apierrors.NewBadRequest("the servers of mvpcheck demo have no "+q.sub+" of anything"))
			return
		default:
			o.SetKind(res.Kind)
			o.SetAPIVersion(version)
			writeJSON(w, r, http.StatusOK, o.Object)
			return
		}
	}
	if !list {
		writeStatus(w, r, noSuchObject(q))
		return
	}
	writeJSON(w, r, http.StatusOK, object{
		"kind": res.Kind + "List", "apiVersion": version, "metadata": object{"resourceVersion": "1"}, "items": items,
	})
}
