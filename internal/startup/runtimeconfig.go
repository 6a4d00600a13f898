package startup

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// multiCIDR is the gate with which the addresses of services are objects.
const multiCIDR = "MultiCIDRServiceAllocator"

// needed are the resources without which no kube-apiserver starts, with the gate that this hangs on. Without the core
// API it panics, without apiservices it exits (CreateAggregatorServer). Without the addresses of services it ends after
// a minute, when its first check of them has not come to an end (pkg/registry/core/rest of k8s.io/kubernetes).
var needed = []struct{ group, version, name, gate string }{
	{"", "v1", "namespaces", ""},
	{"apiregistration.k8s.io", "v1", "apiservices", ""},
	{"networking.k8s.io", "v1", "servicecidrs", multiCIDR},
	{"networking.k8s.io", "v1", "ipaddresses", multiCIDR},
}

// RuntimeConfigProblems returns what makes the server exit on a --runtime-config: what the release refuses, else what
// is switched off although the server cannot do without it, and what comes after the release that it emulates.
func (s *Server) RuntimeConfigProblems(config release.RuntimeConfig) []release.RuntimeConfigProblem {
	if len(config.Entries) == 0 {
		return nil
	}
	problems := s.catalogue.RuntimeConfigProblems(config)
	if len(problems) > 0 {
		return problems
	}
	if e, reason := s.lacks(config); e != nil {
		problems = append(problems, release.RuntimeConfigProblem{RuntimeConfigEntry: *e, Reason: reason})
	}
	return append(problems, s.future(config)...)
}

// lacks returns the entry that switches off what the server needs. Of flow control it follows
// validateAPIPriorityAndFairness in pkg/controlplane/apiserver/options of k8s.io/kubernetes, which looks at the first
// of its keys only.
func (s *Server) lacks(config release.RuntimeConfig) (e *release.RuntimeConfigEntry, reason string) {
	const fairness = release.FlagPriorityAndFairness
	if e = withoutFlowControl(config); e != nil && s.on(fairness) && !s.unreadable(fairness) {
		return e, "it switches off the API that enable-priority-and-fairness needs, which is on by default"
	}
	for _, need := range needed {
		if _, known := s.catalogue.Gate(need.gate, s.at); known && !s.gateOn(need.gate) {
			continue
		}
		r := release.Resource{Group: need.group, Version: need.version, Name: need.name}
		if !s.catalogue.Enabled(config, r) {
			version := need.group + "/" + need.version
			if e = firstEntry(config, version, version+"/"+need.name, "api/ga", "api/all"); e != nil {
				return e, fmt.Sprintf("it switches off %s, which kube-apiserver cannot do without", r.GroupVersion())
			}
		}
	}
	return s.withoutRoles(config), "it switches off a part of rbac.authorization.k8s.io/v1, " +
		"without which kube-apiserver cannot write its default roles"
}

// withoutRoles returns the entry that switches off some resources of RBAC and leaves others. The server tries for half
// a minute to write its default roles and bindings, and ends. Without the whole group it does not try.
func (s *Server) withoutRoles(config release.RuntimeConfig) *release.RuntimeConfigEntry {
	const group, version = "rbac.authorization.k8s.io", "v1"
	var off []string
	names := []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"}
	for _, name := range names {
		if !s.catalogue.Enabled(config, release.Resource{Group: group, Version: version, Name: name}) {
			off = append(off, name)
		}
	}
	if len(off) == 0 || len(off) == len(names) {
		return nil
	}
	return firstEntry(config, group+"/"+version+"/"+off[0], group+"/"+version, "api/ga", "api/all")
}

// future returns what is asked for by name that comes after the release that the server emulates, unless
// --runtime-config-emulation-forward-compatible or --emulation-forward-compatible keep it, or may do so:
// removeUnintroducedKinds in pkg/server/deleted_kinds.go of k8s.io/apiserver.
func (s *Server) future(config release.RuntimeConfig) []release.RuntimeConfigProblem {
	if !s.emulates() || s.mayBeOn(release.FlagForwardCompatible) || s.mayBeOn(release.FlagRuntimeForwardCompatible) {
		return nil
	}
	var problems []release.RuntimeConfigProblem
	for _, e := range config.Entries {
		if on, err := strconv.ParseBool(cmp.Or(e.Value, "true")); err != nil || !on {
			continue
		}
		key, later, now := e.Canonical(), false, false
		for _, r := range s.catalogue.Resources() {
			version := r.Group + "/" + r.Version
			named := version == key || version+"/"+r.Name == key
			if !named || !s.catalogue.Enabled(config, r) || !s.catalogue.GatesOn(r, s.gates, s.at) {
				continue
			}
			if r.ComesAfter(s.at.Emulated) {
				later = true
			} else {
				now = true
			}
		}
		if later && !now {
			reason := fmt.Sprintf("it comes after %s, which the server emulates", s.at.Emulated.MinorString())
			problems = append(problems, release.RuntimeConfigProblem{RuntimeConfigEntry: e, Reason: reason})
		}
	}
	return problems
}

func (s *Server) mayBeOn(flag string) bool { return s.on(flag) || s.unreadable(flag) }

// withoutFlowControl returns the entry that switches flow control off, by the word false and no other way to write it.
func withoutFlowControl(config release.RuntimeConfig) *release.RuntimeConfigEntry {
	for _, key := range []string{"flowcontrol.apiserver.k8s.io/v1", "api/ga", "api/all"} {
		switch e := config.Entry(key); {
		case e != nil && e.Value == "false":
			return e
		case e != nil && e.Value == "true":
			return nil
		}
	}
	return nil
}

// firstEntry returns the entry of the first key that has one, nil where none has.
func firstEntry(config release.RuntimeConfig, keys ...string) *release.RuntimeConfigEntry {
	for _, key := range keys {
		if e := config.Entry(key); e != nil {
			return e
		}
	}
	return nil
}
