package release

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
	if e := c.withoutRoles(config); e != nil {
		return []RuntimeConfigProblem{{*e, "it switches off a part of rbac.authorization.k8s.io/v1, without which kube-apiserver cannot write its default roles"}}
	}
	return nil
}

// withoutRoles returns the entry that switches off some resources of RBAC and leaves others. The server tries for half a
// minute to write its default roles and bindings, and ends. Without the whole group it does not try.
func (c *Catalogue) withoutRoles(config RuntimeConfig) *RuntimeConfigEntry {
	const key = "rbac.authorization.k8s.io/v1"
	var off []string
	on := false
	for _, name := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
		if c.enabled(config, Resource{Group: "rbac.authorization.k8s.io", Version: "v1", Name: name}) {
			on = true
		} else {
			off = append(off, name)
		}
	}
	if !on || len(off) == 0 {
		return nil
	}
	for _, of := range []string{key + "/" + off[0], key, "api/ga", "api/all"} {
		if e := config.entry(of); e != nil {
			return e
		}
	}
	return nil
}

// RuntimeConfigFuture returns what a --runtime-config asks for by name that comes after the release that the server emulates: it
// exits, unless --runtime-config-emulation-forward-compatible or --emulation-forward-compatible keep it.
//
// It follows removeUnintroducedKinds in pkg/server/deleted_kinds.go of k8s.io/apiserver.
func (c *Catalogue) RuntimeConfigFuture(config RuntimeConfig, gates FeatureGates, at Effective) []RuntimeConfigProblem {
	if at.Emulated.SameMinor(c.binary) {
		return nil
	}
	off := func(gate string) bool { return !c.on(gate, gates, at) }
	var problems []RuntimeConfigProblem
	for _, e := range config.Entries {
		if on, err := strconv.ParseBool(cmp.Or(e.Value, "true")); err != nil || !on {
			continue
		}
		key, later, now := e.canonical(), false, false
		for _, r := range c.surface() {
			gv := r.Group + "/" + r.Version
			if gv != key && gv+"/"+r.Name != key || !c.enabled(config, r) || slices.ContainsFunc(r.gates, off) {
				continue
			}
			if r.since > at.Emulated.minor {
				later = true
			} else {
				now = true
			}
		}
		if later && !now {
			problems = append(problems, RuntimeConfigProblem{e, fmt.Sprintf("it comes after %s, which the server emulates", at.Emulated.MinorString())})
		}
	}
	return problems
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
