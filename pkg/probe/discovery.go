package probe

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/mvpcheck/mvpcheck/pkg/evidence"
)

// The media types of discovery documents. The server takes the first that it knows: a server of before 1.35 does not
// know the profile and gives its own resources, which is what the profile asks for.
const (
	acceptMerged = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
	acceptLocal = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer," + acceptMerged
)

// groupDiscoveryList is what is read of apidiscovery.k8s.io APIGroupDiscoveryList, v2 and v2beta1.
type groupDiscoveryList struct {
	Kind  string `json:"kind"`
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Versions []struct {
			Version   string `json:"version"`
			Freshness string `json:"freshness"`
			Resources []struct {
				Resource     string `json:"resource"`
				Scope        string `json:"scope"`
				Subresources []struct {
					Subresource string `json:"subresource"`
				} `json:"subresources"`
			} `json:"resources"`
		} `json:"versions"`
	} `json:"items"`
}

// parseDiscovery reads an aggregated discovery document.
func parseDiscovery(body []byte) (resources []evidence.Resource, stale []string, err error) {
	var list groupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, nil, errors.New("the answer is not JSON of a discovery document")
	}
	if list.Kind != "APIGroupDiscoveryList" {
		return nil, nil, errors.New("the answer is not aggregated discovery (kind APIGroupDiscoveryList)")
	}
	for _, group := range list.Items {
		for _, version := range group.Versions {
			if version.Freshness == "Stale" {
				stale = append(stale, evidence.Resource{Group: group.Metadata.Name, Version: version.Version}.GroupVersion())
			}
			for _, r := range version.Resources {
				resource := evidence.Resource{
					Group: group.Metadata.Name, Version: version.Version, Resource: r.Resource, Namespaced: r.Scope == "Namespaced",
				}
				resources = append(resources, resource)
				for _, sub := range r.Subresources {
					resource.Resource = r.Resource + "/" + sub.Subresource
					resources = append(resources, resource)
				}
			}
		}
	}
	slices.SortFunc(resources, evidence.CompareResources)
	return slices.Compact(resources), stale, nil
}

// documents reads each document once: most servers of a control plane give the same bytes.
type documents struct {
	mu    sync.Mutex
	known map[string]evidence.Document // by digest
}

func (d *documents) read(r *reply) evidence.Document {
	told := r.told()
	if !told.OK() {
		return evidence.Document{Told: told}
	}
	d.mu.Lock()
	doc, ok := d.known[r.sha256]
	d.mu.Unlock()
	if ok {
		return doc
	}
	resources, stale, err := parseDiscovery(r.body)
	if err != nil {
		return evidence.Document{Told: evidence.Told{State: evidence.Failed, Reason: err.Error()}}
	}
	doc = evidence.Document{Told: told, Resources: resources, Stale: stale}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = map[string]evidence.Document{}
	}
	d.known[r.sha256] = doc
	return doc
}
