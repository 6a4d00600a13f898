package checks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// apiSet is what servers have in common of which the flags that the catalogue judges are the same: mostly all nodes of
// a release. It is worked out once for all of them.
type apiSet struct {
	// refusals is what they exit on in their feature gates; none where that is not known.
	refusals func() []release.GateRefusal
	surface  func() surface
}

// surface is what a server serves.
type surface struct {
	resources []release.Resource
	serves    handoff.Resources
	// blind is why that is not known; exits: as the server exits on its settings. Which rule says so does not matter
	// here.
	blind string
	exits bool
}

// apiSets are those that were asked for, by what they have in common, and what two of them lack of each other. Nearly
// all configurations of a run have one of a few. What a server serves takes some hundred KiB: no more than maxAPISets
// are kept.
var apiSets struct {
	sync.Mutex
	known map[string]*apiSet
	lacks map[[2]*apiSet]lacking
}

const (
	maxAPISets = 64
	// maxAPISetKey is the length in bytes of the flags of one that is kept.
	maxAPISetKey = 16 << 10
)

// apiSetOf returns what a view has in common with those before it.
func apiSetOf(v View) *apiSet {
	var key strings.Builder
	fmt.Fprintf(&key, "%s %t", v.Release, v.FlagsUnknown)
	var flags config.CommandLine
	for _, f := range v.Flags {
		if slices.Contains(surfaceFlags, f.Name) {
			fmt.Fprintf(&key, "\x00%s=%s %t", f.Name, f.Value, f.Unknown)
			flags = append(flags, config.Flag{Name: f.Name, Value: f.Value, Unknown: f.Unknown})
		}
	}
	apiSets.Lock()
	defer apiSets.Unlock()
	if known, ok := apiSets.known[key.String()]; ok {
		return known
	}
	if len(apiSets.known) >= maxAPISets || apiSets.known == nil {
		apiSets.known, apiSets.lacks = map[string]*apiSet{}, map[[2]*apiSet]lacking{}
	}
	// It holds what the key tells and no more, so that it keeps no configuration in memory.
	of := View{
		Server:  config.Server{Flags: flags, FlagsUnknown: v.FlagsUnknown},
		Release: v.Release, Gates: v.Gates, Effective: v.Effective,
	}
	known := &apiSet{refusals: sync.OnceValue(of.refusals), surface: sync.OnceValue(of.surface)}
	if key.Len() <= maxAPISetKey {
		apiSets.known[key.String()] = known
	}
	return known
}

// lacks tells what servers of two kinds lack of each other; known is false where it is not known what one serves.
func (a *apiSet) lacks(target *apiSet) lacking {
	apiSets.Lock()
	l, ok := apiSets.lacks[[2]*apiSet{a, target}]
	apiSets.Unlock()
	if ok {
		return l
	}
	running, newer := a.surface().serves, target.surface().serves
	if running != nil && newer != nil {
		l = lacking{known: true, onlyTarget: countLacking(running, newer), onlyRunning: countLacking(newer, running)}
	}
	apiSets.Lock()
	defer apiSets.Unlock()
	if len(apiSets.lacks) >= maxAPISets {
		apiSets.lacks = map[[2]*apiSet]lacking{}
	}
	apiSets.lacks[[2]*apiSet{a, target}] = l
	return l
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
		EmulatedVersion:         v.values(release.FlagEmulatedVersion),
		MinCompatibilityVersion: v.values(release.FlagMinCompatibility),
		Forward:                 v.forward(),
	}
}

// lacking is what the servers of the running and of the target release lack of each other with the settings of the
// configuration. A subresource of a resource that both have does not count: no setting makes a server hand it off
// (MVP518).
type lacking struct {
	// known is false where the configuration or the catalogue does not tell, and where the target is not known yet.
	known bool
	// How many resources only the target serves, and only the running release.
	onlyTarget, onlyRunning int
}

// lacking compares what the servers serve.
func (s *state) lacking() lacking {
	if s.in.Pair.From.SameMinor(s.in.Pair.To) {
		return lacking{}
	}
	running, target := common(s.At(Running)), common(s.At(Target))
	if running == nil || target == nil {
		return lacking{}
	}
	return running.lacks(target)
}

// nothing tells that the servers serve the same, so that there is nothing to hand off.
func (l lacking) nothing() bool { return l.known && l.onlyTarget == 0 && l.onlyRunning == 0 }

// skipSame skips a rule about false 404s where the servers serve the same.
func (p *Pass) skipSame() bool {
	if !p.lacks().nothing() {
		return false
	}
	p.Skip("%s and %s serve the same resources with these settings: there is nothing to hand off",
		p.Pair.From.MinorString(), p.Pair.To.MinorString())
	return true
}

// harmless takes the false 404s from the findings where the servers serve the same: no request needs the hand-off then,
// until the next release. What is about nothing else than the hand-off is a warning there.
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
			f.Why = fmt.Sprintf("%s and %s serve the same with these settings: nothing needs the hand-off in this "+
				"upgrade. In general: %s",
				s.in.Pair.From.MinorString(), s.in.Pair.To.MinorString(), f.Why)
		}
	}
}

// only says what one of the releases serves alone, in a number where it is known.
func only(n int, known bool, r release.Release) string {
	if !known {
		return "what only " + r.MinorString() + " serves"
	}
	return fmt.Sprintf("%s that only %s serves", text.Count(n, "resource"), r.MinorString())
}

// common is what servers that serve the same have in common; nil where they do not, or it is not known.
func common(views []View) *apiSet {
	for i, v := range views {
		switch {
		case v.apis.surface().serves == nil:
			return nil
		case i > 0 && v.apis != views[0].apis && !views[0].apis.lacks(v.apis).nothing():
			return nil
		}
	}
	if len(views) == 0 {
		return nil
	}
	return views[0].apis
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
