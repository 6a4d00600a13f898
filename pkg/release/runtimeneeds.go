package release

import (
	"fmt"
	"slices"
)

// RuntimeConfigNeeds returns what a --runtime-config that RuntimeConfigProblems has nothing against switches off although
// kube-apiserver cannot do without it. priorityAndFairness is --enable-priority-and-fairness, which is on by default.
//
// It follows validateAPIPriorityAndFairness in pkg/controlplane/apiserver/options of k8s.io/kubernetes, which looks at the
// first of its keys only, and CreateAggregatorServer. Without the core API the server panics. Without the addresses of services
// it ends after a minute, when its first check of them has not come to an end (pkg/registry/core/rest of k8s.io/kubernetes);
// before MultiCIDRServiceAllocator they were no resources.
func (c *Catalogue) RuntimeConfigNeeds(config RuntimeConfig, priorityAndFairness bool, gates FeatureGates, at Effective) []RuntimeConfigProblem {
	if e := config.withoutFlowControl(); priorityAndFairness && e != nil {
		return []RuntimeConfigProblem{{*e, "it switches off the API that enable-priority-and-fairness needs, which is on by default"}}
	}
	for _, need := range []struct {
		key string
		Resource
		gate string
	}{
		{"/v1", Resource{Version: "v1", Name: "namespaces"}, ""},
		{"apiregistration.k8s.io/v1", Resource{Group: "apiregistration.k8s.io", Version: "v1", Name: "apiservices"}, ""},
		{"networking.k8s.io/v1", Resource{Group: "networking.k8s.io", Version: "v1", Name: "servicecidrs"}, multiCIDR},
		{"networking.k8s.io/v1", Resource{Group: "networking.k8s.io", Version: "v1", Name: "ipaddresses"}, multiCIDR},
	} {
		if c.enabled(config, need.Resource) {
			continue
		}
		if spec, known := c.Gate(need.gate, at); known {
			if on, _ := gates.state(need.gate, spec); !on {
				continue
			}
		}
		for _, key := range []string{need.key, need.key + "/" + need.Name, "api/ga", "api/all"} {
			if e := config.entry(key); e != nil {
				return []RuntimeConfigProblem{{*e, fmt.Sprintf("it switches off %s, which kube-apiserver cannot do without", need.GroupVersion())}}
			}
		}
	}
	return nil
}

// multiCIDR is the gate with which the addresses of services are objects.
const multiCIDR = "MultiCIDRServiceAllocator"

// withoutFlowControl returns the entry that switches flow control off, by the word false and no other way to write it.
func (config RuntimeConfig) withoutFlowControl() *RuntimeConfigEntry {
	for _, key := range []string{"flowcontrol.apiserver.k8s.io/v1", "api/ga", "api/all"} {
		switch e := config.entry(key); {
		case e != nil && e.Value == "false":
			return e
		case e != nil && e.Value == "true":
			return nil
		}
	}
	return nil
}

// entry returns the last entry that kube-apiserver takes for one of a key, nil where there is none.
func (config RuntimeConfig) entry(key string) *RuntimeConfigEntry {
	for i := range slices.Backward(config.Entries) {
		if config.Entries[i].canonical() == key {
			return &config.Entries[i]
		}
	}
	return nil
}
