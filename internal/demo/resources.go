package demo

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// serveResource answers what a path of a resource asks for.
func (s *Server) serveResource(p *process, w http.ResponseWriter, r *http.Request, q *request) {
	if q.group != "" && !p.hasVersion(q.group, "") {
		pageNotFound(w)
		return
	}
	res := p.find(q.group, q.version, q.resource)
	if res == nil || q.namespace != "" && !res.Namespaced {
		writeStatus(w, r, noSuchResource(r))
		return
	}
	asked := res
	if q.sub != "" {
		// Whatever stands behind proxy is for what is proxied to.
		sub, _, _ := strings.Cut(q.sub, "/")
		if asked = p.find(q.group, q.version, q.resource+"/"+sub); asked == nil || sub != q.sub && sub != "proxy" {
			writeStatus(w, r, noSuchResource(r))
			return
		}
	}
	switch {
	case !hasPath(asked, q):
		writeStatus(w, r, noSuchResource(r))
	case r.Method != http.MethodGet, q.verb == "watch", !asked.can(q.verb):
		writeStatus(w, r, notAllowed(r))
	case negotiate(r, false) == notAcceptable:
		writeStatus(w, r, notAcceptableStatus())
	case q.verb == "list":
		s.serveList(p, w, r, q, res)
	default:
		s.serveObject(p, w, r, q, res)
	}
}

// hasPath tells whether a path has anything that can be done with it. Nobody can ask for tokenreviews/NAME, and objects of
// all namespaces can be listed at most.
func hasPath(res *resource, q *request) bool {
	switch {
	case res.Namespaced && q.namespace == "":
		return q.name == "" && res.can("list")
	case q.name == "", q.sub != "":
		return true
	}
	return slices.ContainsFunc([]string{"get", "update", "patch", "delete"}, res.can)
}

func (s *Server) serveList(p *process, w http.ResponseWriter, r *http.Request, q *request, res *resource) {
	query := r.URL.Query()
	selector, err := labels.Parse(query.Get("labelSelector"))
	switch {
	case err != nil:
		writeStatus(w, r, badRequest(err.Error()))
		return
	case query.Get("fieldSelector") != "":
		writeStatus(w, r, badRequest("the servers of mvpcheck demo know no field selectors"))
		return
	}
	items := []object{}
	for _, o := range s.objects(p, q) {
		m := o["metadata"].(object)
		l, _ := m["labels"].(map[string]string)
		if (q.namespace == "" || m["namespace"] == q.namespace) && selector.Matches(labels.Set(l)) {
			items = append(items, o)
		}
	}
	writeJSON(w, r, http.StatusOK, object{
		"kind": res.kind.kind + "List", "apiVersion": res.GroupVersion(), "metadata": object{"resourceVersion": resourceVersion}, "items": items,
	})
}

func (s *Server) serveObject(p *process, w http.ResponseWriter, r *http.Request, q *request, res *resource) {
	for _, o := range s.objects(p, q) {
		m := o["metadata"].(object)
		if m["name"] != q.name || res.Namespaced && m["namespace"] != q.namespace {
			continue
		}
		if q.sub != "" && q.sub != "status" {
			writeStatus(w, r, badRequest("the servers of mvpcheck demo have no "+q.sub+" of anything"))
			return
		}
		o["kind"], o["apiVersion"] = res.kind.kind, res.GroupVersion()
		writeJSON(w, r, http.StatusOK, o)
		return
	}
	writeStatus(w, r, noSuchObject(q))
}
