package demo

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The documents of discovery before it was aggregated. They never have what only peers serve.

func typeMeta(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "v1"} }

// serveVersions answers /api.
func (p *process) serveVersions(w http.ResponseWriter, r *http.Request, address string) {
	writeJSON(w, r, http.StatusOK, metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: address}},
	})
}

// groups are the API groups but for core, in the order of the documents.
func (p *process) groups() []metav1.APIGroup {
	var out []metav1.APIGroup
	for _, r := range p.resources {
		if r.Group == "" {
			continue
		}
		i := slices.IndexFunc(out, func(g metav1.APIGroup) bool { return g.Name == r.Group })
		if i < 0 {
			i = len(out)
			out = append(out, metav1.APIGroup{Name: r.Group})
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: r.GroupVersion(), Version: r.Version}
		if !slices.Contains(out[i].Versions, version) {
			out[i].Versions = append(out[i].Versions, version)
		}
		out[i].PreferredVersion = out[i].Versions[0]
	}
	return out
}

// serveGroups answers /apis.
func (p *process) serveGroups(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, r, http.StatusOK, metav1.APIGroupList{TypeMeta: typeMeta("APIGroupList"), Groups: p.groups()})
}

// serveGroup answers /apis/GROUP.
func (p *process) serveGroup(w http.ResponseWriter, r *http.Request, name string) {
	for _, g := range p.groups() {
		if g.Name == name {
			g.TypeMeta = typeMeta("APIGroup")
			writeJSON(w, r, http.StatusOK, g)
			return
		}
	}
	pageNotFound(w)
}

// serveResources answers /api/VERSION and /apis/GROUP/VERSION.
func (p *process) serveResources(w http.ResponseWriter, r *http.Request, group, version string) {
	list := metav1.APIResourceList{TypeMeta: typeMeta("APIResourceList")}
	if group == "" {
		list.TypeMeta = metav1.TypeMeta{Kind: "APIResourceList"}
	}
	for _, res := range p.resources {
		if res.Group != group || res.Version != version {
			continue
		}
		list.GroupVersion = res.GroupVersion()
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: res.Name, SingularName: res.singular, Namespaced: res.Namespaced, Group: res.group, Version: res.version,
			Kind: res.kind.kind, Verbs: res.verbs, ShortNames: res.short, Categories: res.categories,
		})
	}
	if list.GroupVersion == "" {
		writeStatus(w, r, noSuchResource(r))
		return
	}
	writeJSON(w, r, http.StatusOK, list)
}
