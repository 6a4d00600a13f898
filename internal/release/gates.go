package release

import (
	"fmt"
	"slices"
	"strings"
)

// Names of the feature gates of kube-apiserver that decide about the hand-off.
const (
	// Gate is the feature gate of the hand-off itself.
	Gate = "UnknownVersionInteroperabilityProxy"
	// Identity is the gate that Gate depends on: without it a server publishes no identity lease.
	Identity = "APIServerIdentity"
	// AllAlpha and AllBeta set all gates of a stage that are not named themselves.
	AllAlpha = "AllAlpha"
	AllBeta  = "AllBeta"
	// Flagz is the gate of /flagz.
	Flagz = "ComponentFlagz"
)

// Stage is how mature a feature gate is. AllAlpha and AllBeta go by it.
type Stage string

// The stages that feature gates go through. PreAlpha is that of a gate in a server that emulates a release before the
// gate came.
const (
	PreAlpha   Stage = "pre-alpha"
	Alpha      Stage = "alpha"
	Beta       Stage = "beta"
	GA         Stage = "ga"
	Deprecated Stage = "deprecated"
)

// GateSpec is what a release makes of a feature gate that nothing sets.
type GateSpec struct {
	Stage   Stage
	Default bool
	// Locked: kube-apiserver exits when it is set to anything but the default (S8f).
	Locked bool
}

// GateAt returns what release r makes of a gate. ok is false for a gate that it does not have, and for a release before
// the gate existed; a release that has no catalogue is judged by the nearest one that has. Where a server emulates an
// older release, the emulated one counts (S4), but the gates are those of the binary: see [Catalogue.Gate].
func GateAt(name string, r Release) (spec GateSpec, ok bool) {
	spec, ok = Nearest(r).Gate(name, EffectiveOf(r))
	return spec, ok && spec.Stage != PreAlpha
}

// GateDefaultOn tells whether a gate is on in a server of release r where nothing sets it.
func (r Release) GateDefaultOn(name string) bool {
	spec, _ := GateAt(name, r)
	return spec.Default
}

// IdentityEnforced tells whether a kube-apiserver binary of release r exits when Gate is on and Identity is off (S6).
// Dependencies between gates are declared from 1.35 on; 1.33 and 1.34 start, but publish no identity lease, by which
// their peers would find them. The binary counts, not the release that it emulates.
func IdentityEnforced(binary Release) bool {
	return slices.Contains(Nearest(binary).Needs(Gate), Identity)
}

// GateRefusal is one gate of --feature-gates that makes kube-apiserver exit although its text can be read.
type GateRefusal struct {
	Kind GateRefusalKind
	Gate string
	// Entry is the entry that names the gate, nil for a dependency that none names.
	Entry *GateEntry
	// Spec is what the release makes of the gate. Needs are, for a missing dependency, the gates that are off.
	Spec  GateSpec
	Needs []string
}

// GateRefusalKind is why kube-apiserver exits on a gate.
type GateRefusalKind string

// The kinds of refusals.
const (
	UnknownGate       GateRefusalKind = "unknown"            // unrecognized feature gate (S8)
	LockedGate        GateRefusalKind = "locked"             // locked to its default (S8f)
	FutureGate        GateRefusalKind = "future"             // it comes after the emulated release
	MissingDependency GateRefusalKind = "missing-dependency" // on, and a gate that it needs is off (S6)
)

func (r GateRefusal) String() string {
	switch r.Kind {
	case UnknownGate:
		return r.Gate + " is not known"
	case LockedGate:
		return fmt.Sprintf("%s is locked to %t", r.Gate, r.Spec.Default)
	case FutureGate:
		return r.Gate + " comes after the emulated release"
	}
	return r.Gate + " needs " + strings.Join(r.Needs, ", ")
}

// GateProblems returns what makes a server of the release exit on its feature gates, which it otherwise reads, where it
// has such effective versions. It follows unsafeSetFromMap in featuregate/feature_gate.go of
// k8s.io/component-base: an unknown gate hides what else is wrong, and dependencies come last.
func (c *Catalogue) GateProblems(gates FeatureGates, at Effective) []GateRefusal {
	var unknown, refused []GateRefusal
	for i := range gates.Entries {
		e := &gates.Entries[i]
		if !e.Valid || gates.overridden(i) {
			continue
		}
		spec, ok := c.Gate(e.Name, at)
		switch {
		case !ok:
			unknown = append(unknown, GateRefusal{Kind: UnknownGate, Gate: e.Name, Entry: e})
		case spec.Locked && spec.Default != e.On:
			refused = append(refused, GateRefusal{Kind: LockedGate, Gate: e.Name, Entry: e, Spec: spec})
		case spec.Stage == PreAlpha:
			refused = append(refused, GateRefusal{Kind: FutureGate, Gate: e.Name, Entry: e, Spec: spec})
		}
	}
	if len(unknown)+len(refused) > 0 {
		return append(unknown, refused...)
	}
	return c.missingDependencies(gates, at)
}

func (c *Catalogue) missingDependencies(gates FeatureGates, at Effective) []GateRefusal {
	var refused []GateRefusal
	for _, g := range c.dependent() {
		if on, _ := gates.state(g.name, g.spec(at)); !on {
			continue
		}
		off := slices.DeleteFunc(slices.Clone(g.needs), func(need string) bool { return c.GateOn(need, gates, at) })
		if len(off) > 0 {
			refused = append(refused, GateRefusal{MissingDependency, g.name, gates.entry(g.name), g.spec(at), off})
		}
	}
	return refused
}

// dependentGates are the gates without some others of which kube-apiserver exits, sorted by their names.
func (c *Catalogue) dependentGates() []namedGate {
	var all []namedGate
	for name, rest := range c.gates() {
		if strings.Contains(rest, needsKey) {
			g, _ := c.gate(name)
			all = append(all, namedGate{name, g})
		}
	}
	slices.SortFunc(all, func(a, b namedGate) int { return strings.Compare(a.name, b.name) })
	return all
}

// GateOn tells whether a gate is on in a server of such effective versions; one that the release does not have is not.
func (c *Catalogue) GateOn(name string, gates FeatureGates, at Effective) bool {
	spec, ok := c.Gate(name, at)
	if !ok {
		return false
	}
	on, _ := gates.state(name, spec)
	return on
}
