package checks

import (
	"fmt"
	"slices"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

const (
	gateOnText   = release.FlagFeatureGates + ": " + release.Gate + "=true"
	silent404    = "garbage collection and namespace deletion believe it"
	exitsAtStart = "kube-apiserver exits at start, and with it the node's API server is gone"
)

var gateOnChange = Change{Op: SetGate, Gate: release.Gate, On: true, Summary: "set " + release.Gate + "=true"}

// gateOffOnRunning is MVP101.
var gateOffOnRunning = &Rule{
	ID: "MVP101", Name: "gate-off-on-running", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What:  "The servers that run now are older than 1.36 and have the feature gate " + release.Gate + " off, which is their default.",
		Why:   "During the roll an old server answers 404 for every resource that only the new release serves, instead of handing the request to a new server. The 404 is silent; garbage collection and namespace deletion act on it.",
		Fix:   "Set the gate to true in apiServer.extraArgs, together with peer-ca-file, and roll that out on the running release before the upgrade.",
		Facts: []string{"H2", "S1", "S5"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if !p.Pair.Upgrade {
			p.Skip("the minor release does not change: all servers serve the same")
			return
		}
		views := where(p.At(Running), func(v View) bool { return !v.Release.GateDefaultOn(release.Gate) })
		if len(views) == 0 {
			p.Skip("the running release %s has the gate on by default", p.Pair.From.MinorString())
			return
		}
		for _, v := range views {
			if v.GateOn || p.gateMeant(v) || v.FlagsUnknown {
				continue
			}
			if p.skipSame() {
				return
			}
			at := p.Cluster.FlagsPlace()
			if named := lastEntry(v, release.Gate); named != nil {
				at = *named
			}
			p.Report(Finding{
				Severity: Error, Subject: release.Gate, At: at, Consequence: FalseNotFound, When: []When{Running},
				Message: fmt.Sprintf("the gate %s is off on the running %s servers.", release.Gate, v.Release.MinorString()),
				Why:     gateOffWhy(p, p.lacks()),
				Fix:     gateOnText + p.byHand() + ", rolled out on " + v.Release.MinorString() + " before the upgrade",
				Changes: p.changes(gateOnChange),
			})
		}
	},
}

// gateOffWhy says what the old servers answer, or what the others answer that cannot find them.
func gateOffWhy(p *Pass, lacks lacking) string {
	from, to := p.Pair.From, p.Pair.To
	if lacks.known && lacks.onlyTarget == 0 {
		return fmt.Sprintf("until the last %s server is replaced no peer finds it: the others answer 404 for %s; %s.",
			from.MinorString(), only(lacks.onlyRunning, true, from), silent404)
	}
	return fmt.Sprintf("until the last %s server is replaced it answers 404 for %s; %s.", from.MinorString(), only(lacks.onlyTarget, lacks.known, to), silent404)
}

// gateOffOnTarget is MVP102.
var gateOffOnTarget = &Rule{
	ID: "MVP102", Name: "gate-off-on-target", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What:  "The configuration turns the gate " + release.Gate + " off for the target release: by name, or with AllBeta=false (AllAlpha=false where the gate is alpha).",
		Why:   "A server with the gate off hands nothing to its peers and answers 404 for what only they serve.",
		Fix:   "Set the gate to true by name; AllAlpha and AllBeta never override a gate that is named.",
		Facts: []string{"H2", "S2", "S3", "S8e"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if !p.Pair.Upgrade {
			p.Skip("the minor release does not change: all servers serve the same")
			return
		}
		views := where(p.Views(), func(v View) bool {
			// An old running server is MVP101's, emulation MVP108's.
			return turnedOff(v) && !p.gateMeant(v) && !v.FlagsUnknown &&
				(v.Release.GateDefaultOn(release.Gate) || slices.Contains(v.When, Target)) && !emulatesOff(v)
		})
		for _, v := range views {
			if p.skipSame() {
				return
			}
			by, at := turnedOffBy(v)
			p.Report(Finding{
				Severity: Error, Subject: release.Gate, At: p.orFlags(at), Consequence: FalseNotFound, When: v.When,
				Message: fmt.Sprintf("%s turns the gate %s off.", by, release.Gate),
				Why:     "servers with the gate off hand nothing to their peers: while two releases run side by side they answer 404 for what only the other one serves; " + silent404 + ".",
				Fix:     gateOnText + p.byHand(),
				Changes: p.changes(gateOnChange),
			})
		}
	},
}

// turnedOff tells whether the flags say that the gate is off, be it by its stage.
func turnedOff(v View) bool {
	if v.GateOn {
		return false
	}
	if v.GateNamed {
		return true
	}
	on, set := v.Gates.Explicit(stageGate(v))
	return set && !on
}

// stageGate is the gate that sets all gates of the stage that the hand-off's gate has on this server.
func stageGate(v View) string {
	if spec, _ := release.GateAt(release.Gate, v.Emulated); spec.Stage == release.Alpha {
		return release.AllAlpha
	}
	return release.AllBeta
}

func turnedOffBy(v View) (by string, at *yamldoc.Place) {
	name := release.Gate
	if !v.GateNamed {
		name = stageGate(v)
	}
	return name + "=false", lastEntry(v, name)
}

// lastEntry returns the place of the last entry of a gate, nil where it is not named.
func lastEntry(v View, name string) *yamldoc.Place {
	flags := v.Flags.All(release.FlagFeatureGates)
	for i := len(v.Gates.Entries) - 1; i >= 0; i-- {
		if e := v.Gates.Entries[i]; e.Name == name {
			at := part(flags[e.Span.Value], e.Span.Offset, e.Span.Length)
			return &at
		}
	}
	return nil
}

func (p *Pass) orFlags(at *yamldoc.Place) yamldoc.Place {
	if at == nil || at.IsZero() {
		return p.Cluster.FlagsPlace()
	}
	return *at
}

// emulatesOff tells whether the gate is off because the server emulates a release that has it off by default.
func emulatesOff(v View) bool {
	if v.GateOn || v.GateNamed || !v.Release.GateDefaultOn(release.Gate) || v.Emulated.GateDefaultOn(release.Gate) {
		return false
	}
	on, _ := v.Gates.Gate(release.Gate, v.Release)
	return on
}

// peerFlags are the flags that kube-apiserver refuses while the gate is off (S1).
var peerFlags = []string{release.FlagPeerCAFile, release.FlagPeerAdvertiseIP, release.FlagPeerAdvertisePort}

// peerFlagsStopStartUp is MVP103.
var peerFlagsStopStartUp = &Rule{
	ID: "MVP103", Name: "peer-flags-stop-start-up", Severity: Error, Fixable: true,
	Doc: Doc{
		What:  "peer-ca-file, peer-advertise-ip or peer-advertise-port is set for a server that has the gate " + release.Gate + " off.",
		Why:   "kube-apiserver does not start: it says that the flag requires the gate to be turned on. Rolled out node by node this takes one API server after the other.",
		Fix:   "Set the gate to true in apiServer.extraArgs; the same configuration is then valid on 1.33 to 1.37.",
		Facts: []string{"S1", "S2", "S3"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			if v.GateOn || emulatesOff(v) || p.gateMeant(v) || v.FlagsUnknown {
				continue
			}
			var set []*config.Flag
			for _, name := range peerFlags {
				if f := v.Flags.Last(name); f != nil && f.Value != "" {
					set = append(set, f)
				}
			}
			if len(set) == 0 {
				continue
			}
			f := Finding{
				Severity: Error, Subject: set[0].Name, At: p.place(set[0]), Consequence: WillNotStart, When: v.When,
				Message: fmt.Sprintf("%s is set while the gate %s is off: kube-apiserver does not start.", set[0].Name, release.Gate),
				Why:     startWhy(p, v),
				Fix:     gateOnText + p.byHand() + ", in the same roll",
				Changes: p.changes(gateOnChange),
			}
			for _, more := range set[1:] {
				f.Related = append(f.Related, Related{At: p.place(more), Message: more.Name + " needs the gate too"})
			}
			p.Report(f)
		}
	},
}

// startWhy says which servers do not start.
func startWhy(p *Pass, v View) string {
	switch {
	case len(v.When) == 2:
		return fmt.Sprintf("every %s server that gets these flags exits at start.", v.Release.MinorString())
	case slices.Contains(v.When, Running):
		return fmt.Sprintf("rolled out on the running %s servers, each one exits at start; only from 1.36 on is the gate on by default.", p.Pair.From.MinorString())
	}
	return fmt.Sprintf("each server exits at start when it is upgraded to %s.", p.Pair.To.MinorString())
}

// gateAmongKubeadmGates is MVP104.
var gateAmongKubeadmGates = &Rule{
	ID: "MVP104", Name: "gate-among-kubeadm-gates", Severity: Error, Fixable: true, withoutFlags: true,
	Doc: Doc{
		What:  "ClusterConfiguration.featureGates names a gate that kubeadm of the release does not have. These are kubeadm's own gates, not those of the components.",
		Why:   "kubeadm refuses the file (\"is not a valid feature name\"), and no gate there ever reaches kube-apiserver.",
		Fix:   "Move a gate of kube-apiserver to apiServer.extraArgs, feature-gates; remove a gate that kubeadm no longer has.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if p.Cluster.Form == config.FormKind {
			p.Skip("the featureGates of a kind cluster go to every component, which is right")
			return
		}
		for _, e := range p.Cluster.FeatureGates {
			var when []When
			var releases []string
			for _, r := range []struct {
				when When
				rel  release.Release
			}{{Running, p.Pair.From}, {Target, p.Pair.To}} {
				if r.rel.IsKnown() && !slices.Contains(release.KubeadmGates(r.rel), e.Key) {
					when = append(when, r.when)
					if len(releases) == 0 || releases[0] != r.rel.MinorString() {
						releases = append(releases, r.rel.MinorString())
					}
				}
			}
			if len(when) > 0 {
				p.Report(p.kubeadmGate(e, when, text.And(releases)))
			}
		}
	},
}

func (p *Pass) kubeadmGate(e *yamldoc.Entry, when []When, releases string) Finding {
	f := Finding{
		Severity: Error, At: e.Value.KeyPlace(), Consequence: RefusedByKubeadm, When: when,
		Message: fmt.Sprintf("featureGates of the ClusterConfiguration names %s, a gate unknown to kubeadm %s: it refuses the file.", e.Key, releases),
		Why:     "these are the gates of kubeadm itself; they never reach kube-apiserver.",
		Fix:     "remove it; a gate of kube-apiserver goes to apiServer.extraArgs, feature-gates",
	}
	if e.Key == release.Gate {
		f.Fix = "move it to apiServer.extraArgs, " + gateOnText
		f.Changes = p.changes(
			Change{Op: RemoveEntry, Entry: e, Summary: "removed " + e.Key + " from kubeadm's featureGates"},
			Change{Op: SetGate, Gate: release.Gate, On: e.Value.Text != "false", Summary: "set " + release.Gate + " in apiServer's feature-gates"})
	}
	return f
}

// identityOff is MVP107.
var identityOff = &Rule{
	ID: "MVP107", Name: "identity-off", Severity: Error, Fixable: true,
	Doc: Doc{
		What:  "The gate " + release.Identity + " is off, by name or through AllBeta=false.",
		Why:   "The hand-off depends on the identity lease of each server. From 1.35 on kube-apiserver with " + release.Gate + " on exits at start; before, it starts and no peer finds it.",
		Fix:   "Leave " + release.Identity + " at its default, which is on, or set it to true beside AllBeta=false.",
		Facts: []string{"S6"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if p.single != "" {
			// Where nothing keeps a server from starting.
			p.Skip("%s", p.single)
		}
		for _, v := range p.Views() {
			on, named := v.Gates.Gate(release.Identity, v.Emulated)
			if on || v.FlagsUnknown || !named && !v.GateOn {
				continue
			}
			name := release.Identity
			if !named {
				name = release.AllBeta
			}
			f := Finding{
				Severity: Error, Subject: name, At: p.orFlags(lastEntry(v, name)), When: v.When, Consequence: FalseNotFound,
				Message: fmt.Sprintf("%s=false turns %s off, which the hand-off depends on.", name, release.Identity),
				Why:     "no peer finds a server without its identity lease: it hands nothing off and answers 404 for what only its peers serve.",
				Fix:     "remove " + release.Identity + "=false" + p.byHand(),
				Changes: p.changes(Change{Op: SetGate, Gate: release.Identity, On: true, Summary: "set " + release.Identity + "=true"}),
			}
			if name == release.AllBeta {
				f.Fix = "add " + release.Identity + "=true to feature-gates" + p.byHand()
			}
			if release.IdentityEnforced(v.Release) && v.GateOn {
				f.Consequence = WillNotStart
				f.Why = fmt.Sprintf("kube-apiserver %s exits at start: %s depends on it.", v.Release.MinorString(), release.Gate)
			} else if p.single != "" {
				continue
			}
			p.Report(f)
		}
	},
}
