package checks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
)

// alike is what servers have in common of which the flags that the catalogue judges are the same: mostly all nodes of a
// release. It is worked out once for all of them.
type alike struct {
	key string
	// refusals is what they exit on in their feature gates; none where that is not known.
	refusals func() []release.GateRefusal
	surface  func() surface
}

// surface is what a server serves.
type surface struct {
	resources []release.Resource
	serves    handoff.Resources
	// blind is why that is not known; exits: as the server exits on its settings. Which rule says so does not matter here.
	blind string
	exits bool
}

// alikeOf returns what a view has in common with those before it.
func (s *state) alikeOf(v View) *alike {
	var key strings.Builder
	fmt.Fprintf(&key, "%s %t", v.Release.MinorString(), v.FlagsUnknown)
	for _, f := range v.Flags {
		if slices.Contains(surfaceFlags, f.Name) {
			fmt.Fprintf(&key, "\x00%s=%s %t", f.Name, f.Value, f.Unknown)
		}
	}
	for _, other := range s.views {
		if other.alike.key == key.String() {
			return other.alike
		}
	}
	return &alike{key: key.String(), refusals: sync.OnceValue(v.refusals), surface: sync.OnceValue(v.surface)}
}

// surfaceFlags are those that decide what a server serves.
var surfaceFlags = []string{
	release.FlagRuntimeConfig, release.FlagFeatureGates, release.FlagEmulatedVersion, release.FlagMinCompatibility,
	release.FlagForwardCompatible, release.FlagRuntimeForwardCompatible,
}

func (v View) refusals() []release.GateRefusal {
	c := v.catalogue()
	if c == nil || v.FlagsUnknown || v.unknown(release.FlagFeatureGates) || v.unknown(release.FlagEmulatedVersion) {
		return nil
	}
	return c.GateProblems(v.Gates, v.Effective)
}

// surface asks the catalogue.
func (v View) surface() surface {
	c, ok := release.CatalogueOf(v.Release)
	if !ok {
		return surface{blind: "mvpcheck does not know what " + v.Release.MinorString() + " serves"}
	}
	if v.FlagsUnknown {
		return surface{blind: "the flags are not known for sure"}
	}
	for _, name := range surfaceFlags {
		if v.unknown(name) {
			return surface{blind: name + " has a value that is filled in later"}
		}
	}
	served, err := c.Serves(v.apiSettings())
	if err != nil {
		return surface{blind: err.Error(), exits: !errors.Is(err, release.ErrForward)}
	}
	serves := make(handoff.Resources, len(served))
	for _, r := range served {
		serves[handoff.Resource{Group: r.Group, Version: r.Version, Name: r.Name}] = true
	}
	return surface{resources: served, serves: serves}
}

// apiSettings are the values of the flags that decide what a server serves.
func (v View) apiSettings() release.APISettings {
	return release.APISettings{
		RuntimeConfig: v.values(release.FlagRuntimeConfig), FeatureGates: v.values(release.FlagFeatureGates),
		EmulatedVersion: v.values(release.FlagEmulatedVersion), MinCompatibilityVersion: v.values(release.FlagMinCompatibility),
		Forward: v.forward(),
	}
}

// lacking is what the servers of the running and of the target release lack of each other with the settings of the
// configuration. A subresource of a resource that both have does not count: no setting makes a server hand it off (MVP518).
type lacking struct {
	// known is false where the configuration or the catalogue does not tell, and where the target is not known yet.
	known bool
	// old is how many resources only the target serves, young how many only the running release serves.
	old, young int
}

// lacking compares what the servers serve.
func (s *state) lacking() lacking {
	if s.in.Pair.From.SameMinor(s.in.Pair.To) {
		return lacking{}
	}
	running, target := servedByAll(s.At(Running)), servedByAll(s.At(Target))
	if running == nil || target == nil {
		return lacking{}
	}
	return lacking{known: true, old: countLacking(running, target), young: countLacking(target, running)}
}

// nothing tells that the servers serve the same, so that there is nothing to hand off.
func (l lacking) nothing() bool { return l.known && l.old == 0 && l.young == 0 }

// skipSame skips a rule about false 404s where the servers serve the same.
func (p *Pass) skipSame() bool {
	if !p.lacks().nothing() {
		return false
	}
	p.Skip("%s and %s serve the same resources with these settings: there is nothing to hand off", p.Pair.From.MinorString(), p.Pair.To.MinorString())
	return true
}

// harmless takes the false 404s from the findings where the servers serve the same: no request needs the hand-off then, until
// the next release. What is about nothing else than the hand-off is a warning there.
func (s *state) harmless(findings []Finding) {
	if !s.lacks().nothing() {
		return
	}
	for i := range findings {
		if f := &findings[i]; f.Consequence == FalseNotFound {
			f.Consequence = None
			if f.Rule.HandOff {
				f.Severity = min(f.Severity, Warning)
			}
			f.Why = fmt.Sprintf("%s and %s serve the same with these settings: nothing needs the hand-off in this upgrade. In general: %s",
				s.in.Pair.From.MinorString(), s.in.Pair.To.MinorString(), f.Why)
		}
	}
}

// only says what one of the releases serves alone, in a number where it is known.
func only(n int, known bool, r release.Release) string {
	if !known {
		return "what only " + r.MinorString() + " serves"
	}
	return fmt.Sprintf("%s that only %s serves", plural(n, "resource", "resources"), r.MinorString())
}

// servedByAll are the resources of servers that are set up alike; nil where they are not, or it is not known.
func servedByAll(views []View) handoff.Resources {
	var served handoff.Resources
	for i, v := range views {
		serves := v.alike.surface().serves
		switch {
		case serves == nil:
			return nil
		case i > 0 && v.alike != views[0].alike && (countLacking(served, serves) > 0 || countLacking(serves, served) > 0):
			return nil
		}
		served = serves
	}
	return served
}

// countLacking counts the resources that the first lack and the others have.
func countLacking(served, others handoff.Resources) int {
	n := 0
	for r := range others {
		if !served[r] && !strings.Contains(r.Name, "/") {
			n++
		}
	}
	return n
}
