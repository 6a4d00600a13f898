package demo

import (
	"cmp"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// The documents of aggregated discovery, apidiscovery.k8s.io/v2.
type discoveryList struct {
	Kind       string           `json:"kind"`
	APIVersion string           `json:"apiVersion"`
	Metadata   struct{}         `json:"metadata"`
	Items      []groupDiscovery `json:"items"`
}

type groupDiscovery struct {
	Metadata struct {
		Name string `json:"name,omitempty"`
	} `json:"metadata"`
	Versions []versionDiscovery `json:"versions"`
}

type versionDiscovery struct {
	Version   string              `json:"version"`
	Resources []resourceDiscovery `json:"resources"`
	Freshness string              `json:"freshness"`
}

type resourceDiscovery struct {
	Resource     string                 `json:"resource"`
	ResponseKind groupVersionKind       `json:"responseKind"`
	Scope        string                 `json:"scope"`
	Singular     string                 `json:"singularResource"`
	Verbs        []string               `json:"verbs"`
	ShortNames   []string               `json:"shortNames,omitempty"`
	Categories   []string               `json:"categories,omitempty"`
	Subresources []subresourceDiscovery `json:"subresources,omitempty"`
}

type subresourceDiscovery struct {
	Subresource  string           `json:"subresource"`
	ResponseKind groupVersionKind `json:"responseKind"`
	Verbs        []string         `json:"verbs"`
}

type groupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// An entry is a resource of a document.
type entry struct {
	group, version string
	resource       resourceDiscovery
}

func (e entry) key() string {
	gv := e.version
	if e.group != "" {
		gv = e.group + "/" + e.version
	}
	return gv + " " + e.resource.Resource
}

// entries are the resources of a document, in its order.
func (l *discoveryList) entries() []entry {
	var out []entry
	for _, g := range l.Items {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				out = append(out, entry{g.Metadata.Name, v.Version, r})
			}
		}
	}
	return out
}

// newDiscoveryList is the document that lists the entries. It has them in the order in which they stand.
func newDiscoveryList(entries []entry) *discoveryList {
	list := &discoveryList{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2", Items: []groupDiscovery{}}
	for _, e := range entries {
		if n := len(list.Items); n == 0 || list.Items[n-1].Metadata.Name != e.group {
			var g groupDiscovery
			g.Metadata.Name = e.group
			list.Items = append(list.Items, g)
		}
		group := &list.Items[len(list.Items)-1]
		if n := len(group.Versions); n == 0 || group.Versions[n-1].Version != e.version {
			group.Versions = append(group.Versions, versionDiscovery{Version: e.version, Freshness: "Current"})
		}
		version := &group.Versions[len(group.Versions)-1]
		version.Resources = append(version.Resources, e.resource)
	}
	return list
}

// local are the entries of what the server serves itself, of the core group or of all others.
func (p *process) local(core bool) []entry {
	var out []entry
	for _, r := range p.resources {
		if (r.Group == "") != core {
			continue
		}
		answer := groupVersionKind{r.group, r.version, r.kind.kind}
		if _, sub, ok := strings.Cut(r.Name, "/"); ok {
			// Behind its resource, in the order of kinds.
			of := &out[len(out)-1].resource
			of.Subresources = append(of.Subresources, subresourceDiscovery{Subresource: sub, ResponseKind: answer, Verbs: r.verbs})
			continue
		}
		scope := "Cluster"
		if r.Namespaced {
			scope = "Namespaced"
		}
		out = append(out, entry{r.Group, r.Version, resourceDiscovery{
			Resource: r.Name, ResponseKind: answer, Scope: scope, Singular: r.singular,
			Verbs: r.verbs, ShortNames: r.short, Categories: r.categories,
		}})
	}
	return out
}

// merged adds to the server's own entries what it has read of its peers. The core group is never merged.
func (p *process) merged() []entry {
	out := p.local(false)
	known := map[string]bool{}
	for _, e := range out {
		known[e.key()] = true
	}
	p.peers.mu.Lock()
	defer p.peers.mu.Unlock()
	for _, peer := range p.peers.known {
		for _, e := range peer.entries {
			if !known[e.key()] {
				known[e.key()] = true
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b entry) int { return cmp.Compare(orderOf(a), orderOf(b)) })
	return out
}

// orderOf is the place of an entry in documents.
func orderOf(e entry) int {
	if k, ok := kinds()[e.key()]; ok {
		return k.order
	}
	return len(kinds())
}

// serveAggregated answers with an aggregated document, with or without what peers have.
func (p *process) serveAggregated(w http.ResponseWriter, r *http.Request, nopeer bool) {
	var entries []entry
	switch {
	case r.URL.Path == "/api":
		entries = p.local(true)
	case nopeer:
		entries = p.local(false)
	default:
		entries = p.merged()
	}
	body, err := json.Marshal(newDiscoveryList(entries))
	if err != nil {
		panic(err) // strings alone
	}
	digest := sha512.Sum512(body)
	etag := `"` + strings.ToUpper(hex.EncodeToString(digest[:])) + `"`
	h := w.Header()
	h.Set("Cache-Control", "public")
	h.Set("Vary", "Accept")
	h.Set("Etag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", aggregatedType)
	_, _ = w.Write(body)
}
