package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// unknownGate is MVP121.
var unknownGate = &Rule{
	ID: "MVP121", Name: "unknown-gate", Severity: Error,
	Doc: Doc{
		What:  "feature-gates of kube-apiserver names a gate that the running or the target release does not have: one that was removed, one that comes later (also than emulated-version), or one with a typing error.",
		Why:   "kube-apiserver exits at start: unrecognized feature gate. A gate goes some releases after its feature has become generally available, so a setting that did no harm stops the next release.",
		Fix:   "Remove the gate before the upgrade to the release that no longer has it, or correct its name.",
		Facts: []string{"S8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, g := range p.refusedGates(release.UnknownGate, release.FutureGate) {
			// A name that is nearly the hand-off's is MVP106's; quotes around it are MVP105's.
			if release.IsMisspelling(g.Gate) {
				continue
			}
			p.reportUnknownGate(g)
		}
	},
}

func (p *Pass) reportUnknownGate(g refusedGate) {
	out := Finding{
		Severity: Error, At: g.at, Consequence: WillNotStart, When: whenOf(g.views),
		Message: fmt.Sprintf("kube-apiserver of %s has no feature gate %s.", releaseList(g.views), quoted(g.Gate)),
		Why:     p.exitsWhen(whenOf(g.views)),
		Fix:     "remove it" + p.byHand(),
	}
	v := g.views[0]
	known := releasesWithGate(g.Gate)
	switch {
	case g.Kind == release.FutureGate:
		out.Subject = release.FlagEmulatedVersion
		out.Message = fmt.Sprintf("the feature gate %s comes after %s, which emulated-version has the server behave as.", g.Gate, v.Emulated.MinorString())
	case len(known) == 0:
		if near, ok := release.Suggest(g.Gate, v.catalogue().Gates()); ok {
			out.Fix = "write " + near + p.byHand()
		}
	case v.Release.Before(known[0]):
		out.Message = fmt.Sprintf("kube-apiserver of %s does not have the feature gate %s yet; it comes with %s.", releaseList(g.views), g.Gate, known[0].MinorString())
		out.Fix = "add it when all servers have " + known[0].MinorString() + p.byHand()
	case known[len(known)-1].Before(v.Release):
		out.Message = fmt.Sprintf("kube-apiserver of %s no longer has the feature gate %s; %s is the last release with it.",
			releaseList(g.views), g.Gate, known[len(known)-1].MinorString())
	}
	p.Report(out)
}

// lockedGate is MVP122.
var lockedGate = &Rule{
	ID: "MVP122", Name: "locked-gate", Severity: Error, Fixable: true,
	Doc: Doc{
		What:  "feature-gates of kube-apiserver sets a gate to the value that the release has locked it against.",
		Why:   "kube-apiserver exits at start: the feature is locked. Mostly it is a feature that can no longer be switched off.",
		Fix:   "Remove the gate.",
		Facts: []string{"S8f"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, g := range p.refusedGates(release.LockedGate) {
			p.Report(Finding{
				Severity: Error, At: g.at, Consequence: WillNotStart, When: whenOf(g.views),
				Message: fmt.Sprintf("kube-apiserver of %s has the feature gate %s locked to %t.", releaseList(g.views), g.Gate, g.Spec.Default),
				Why:     p.exitsWhen(whenOf(g.views)),
				Fix:     "remove it" + p.byHand(),
				Changes: p.changes(p.dropGate(g.flag, g.Gate)...),
			})
		}
	},
}

// dropGate returns the change that takes a gate out of the flag that names it, none where the flag is no extraArg.
func (p *Pass) dropGate(f *config.Flag, gate string) []Change {
	if f.Arg == nil || f.Origin != config.FromExtraArgs {
		return nil
	}
	summary := "removed the gate " + gate
	rest := release.RemoveGate(f.Value, gate)
	if strings.Trim(rest, ", \t\r\n") == "" {
		return []Change{{Op: RemoveArg, Arg: f.Arg, Summary: summary}}
	}
	return []Change{{Op: SetArg, Arg: f.Arg, Value: rest, Summary: summary}}
}

// gateDependency is MVP126.
var gateDependency = &Rule{
	ID: "MVP126", Name: "gate-dependency", Severity: Error,
	Doc: Doc{
		What:  "A feature gate of kube-apiserver is on, by name or by default, and one that it needs is off. Or StorageVersionAPI is on, by name or through AllAlpha, and the API internal.apiserver.k8s.io/v1alpha1, which is off by default, is not served.",
		Why:   "From 1.35 on kube-apiserver checks what gates need of each other, and exits at start; 1.33 and 1.34 do so for a few. What gates need changes with each release. With StorageVersionAPI a server refuses all writes until it has registered its storage versions in that API, and ends after half a minute as it cannot write its default roles.",
		Fix:   "Leave the gate that is needed at its default, or turn the one that needs it off, too; leave StorageVersionAPI off.",
		Facts: []string{"S6"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			// A value that cannot be read, or a gate that is not known, comes first (MVP105, MVP121).
			if len(v.Gates.Problems) > 0 || v.VersionError != nil {
				continue
			}
			p.reportDependencies(v)
			p.reportStorageVersions(v)
		}
	},
}

// reportStorageVersions reports StorageVersionAPI without the API that it writes to: with it a server lets nobody write
// before that is done (pkg/storageversion of k8s.io/apiserver). Measured on 1.34 and 1.36: it ends 30 seconds after the
// start, as it cannot make the role of a controller that comes with the gate. Without the API for roles it does not try
// to.
func (p *Pass) reportStorageVersions(v View) {
	const gate, api = "StorageVersionAPI", "internal.apiserver.k8s.io/v1alpha1"
	on, _ := v.Gates.Gate(gate, v.Emulated)
	identity, _ := v.Gates.Gate(release.Identity, v.Emulated)
	served := v.apis.surface()
	if !on || !identity || served.serves == nil {
		return
	}
	if served.serves[handoff.Resource{Group: "internal.apiserver.k8s.io", Version: "v1alpha1", Name: "storageversions"}] ||
		!served.serves[handoff.Resource{Group: "rbac.authorization.k8s.io", Version: "v1", Name: "clusterroles"}] {
		return
	}
	at := lastEntry(v, gate)
	if at == nil {
		at = lastEntry(v, release.AllAlpha)
	}
	p.reportForBoth(Finding{
		Severity: Error, At: p.orFlags(at), Consequence: WillNotStart, When: v.When,
		Message: fmt.Sprintf("the feature gate %s is on, and %s, the API that it needs, is not served: the server refuses all writes, and ends after half a minute.", gate, api),
		Why:     p.exitsWhen(v.When),
		Fix:     fmt.Sprintf("set %s=false in feature-gates, or %s=true in runtime-config%s", gate, api, p.byHand()),
	})
}

// reportDependencies reports each gate that is off and that others need.
func (p *Pass) reportDependencies(v View) {
	needing := map[string][]string{}
	for _, r := range v.apis.refusals() {
		if r.Kind != release.MissingDependency || byAllAlpha(v, r) {
			continue
		}
		for _, need := range r.Needs {
			// MVP107 has more to say of this one.
			if r.Gate != release.Gate || need != release.Identity {
				needing[need] = append(needing[need], r.Gate)
			}
		}
	}
	for _, need := range slices.Sorted(maps.Keys(needing)) {
		gates := needing[need]
		out := Finding{
			Severity: Error, Consequence: WillNotStart, When: v.When, Why: p.exitsWhen(v.When),
			Message: fmt.Sprintf("the feature gate %s is off, and %s needs it.", need, gates[0]),
			Fix:     fmt.Sprintf("set %s=true, or %s=false, in feature-gates%s", need, gates[0], p.byHand()),
		}
		if n := len(gates) - 1; n > 0 {
			out.Message = fmt.Sprintf("the feature gate %s is off, and %s and %d more need it.", need, gates[0], n)
			out.Fix = fmt.Sprintf("set %s=true in feature-gates%s", need, p.byHand())
		}
		// The entry that is at fault: what turns the one off, else what turns the other on.
		var at *yamldoc.Place
		for _, name := range append([]string{need}, append(gates, release.AllBeta, release.AllAlpha)...) {
			if at == nil {
				at = lastEntry(v, name)
			}
		}
		out.At = p.orFlags(at)
		p.reportForBoth(out)
	}
}

// byAllAlpha tells whether a gate without what it needs is on because AllAlpha turns it on (MVP111).
func byAllAlpha(v View, r release.GateRefusal) bool {
	on, _ := v.Gates.Explicit(release.AllAlpha)
	return on && r.Entry == nil && r.Spec.Stage == release.Alpha
}

// refusedGate is a gate that servers exit on, and the flag that names it.
type refusedGate struct {
	release.GateRefusal
	flag  *config.Flag
	at    yamldoc.Place
	views []View
}

// refusedGates returns the gates of some kinds that are named, one for each place and kind.
func (p *Pass) refusedGates(kinds ...release.GateRefusalKind) []refusedGate {
	var all []refusedGate
	for _, v := range p.Views() {
		flags := v.Flags.All(release.FlagFeatureGates)
		for _, r := range v.apis.refusals() {
			if r.Entry == nil || !slices.Contains(kinds, r.Kind) {
				continue
			}
			flag := flags[r.Entry.Span.Value]
			g := refusedGate{GateRefusal: r, flag: flag, at: part(flag, r.Entry.NameSpan.Offset, r.Entry.NameSpan.Length)}
			if g.at.IsZero() {
				g.at = p.Cluster.FlagsPlace()
			}
			same := slices.IndexFunc(all, func(o refusedGate) bool { return o.at == g.at && o.Gate == g.Gate && o.Kind == g.Kind })
			if same < 0 {
				same = len(all)
				all = append(all, g)
			}
			all[same].views = append(all[same].views, v)
		}
	}
	return all
}

// releasesWithGate returns the known releases that have a gate, the oldest first.
func releasesWithGate(gate string) []release.Release {
	var with []release.Release
	for _, r := range release.Known() {
		c, _ := release.CatalogueOf(r)
		if _, ok := c.Gate(gate, release.EffectiveOf(r)); ok {
			with = append(with, r)
		}
	}
	return with
}
