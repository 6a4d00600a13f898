package checks

import (
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// emulationTurnsGateOff is MVP108.
var emulationTurnsGateOff = &Rule{
	ID: "MVP108", Name: "emulation-turns-gate-off", Severity: Error, Fixable: true,
	Doc: Doc{
		What: "--emulated-version is below 1.36 on a server of 1.36 or later, and nothing sets the gate " +
			release.Gate + ".",
		Why: "The gate takes the default of the emulated release, which is off: with peer-ca-file kube-apiserver " +
			"exits at start, without it the server answers false 404s.",
		Fix:   "Set the gate to true by name.",
		Facts: []string{"S4"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range where(p.Views(), emulatesOff) {
			if v.FlagsUnknown || p.gateMeant(v) {
				continue
			}
			flag := v.Flags.Last(release.FlagEmulatedVersion)
			f := Finding{
				Severity: Error, Subject: flag.Name, At: p.place(flag), Consequence: FalseNotFound, When: v.When,
				Message: fmt.Sprintf("emulated-version %s turns the gate %s off.", v.Emulated.MinorString(),
					release.Gate),
				Why: "a gate that is not named takes the default of the emulated release, which is off: the " +
					"server hands nothing to its peers.",
				Fix:     gateOnText + p.byHand(),
				Changes: p.changes(gateOnChange),
			}
			for _, name := range peerFlags {
				if peer := v.Flags.Last(name); peer != nil && peer.Value != "" {
					f.Consequence = WillNotStart
					f.Why = fmt.Sprintf("a gate that is not named takes the default of the emulated release, which is "+
						"off; with %s set kube-apiserver exits at start.", name)
				}
			}
			if f.Consequence == FalseNotFound && (p.single != "" || !p.Pair.Upgrade || p.skipSame()) {
				continue
			}
			p.Report(f)
		}
	},
}

// gateOnWrongComponent is MVP109.
var gateOnWrongComponent = &Rule{
	ID: "MVP109", Name: "gate-on-wrong-component", Severity: Warning, Fixable: true,
	Doc: Doc{
		What: "The gate " + release.Gate + " is set for the controller manager, the scheduler or the kubelet, and " +
			"not for kube-apiserver.",
		Why:   "Only kube-apiserver hands requests to peers; for the others the gate does nothing.",
		Fix:   "Move it to apiServer.extraArgs, feature-gates.",
		Facts: []string{"H2"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			if _, named := v.Gates.Explicit(release.Gate); named {
				p.Skip("kube-apiserver has the gate by name")
				return
			}
		}
		for _, comp := range []struct {
			name string
			args []*config.Arg
		}{{"controllerManager", p.Cluster.ControllerManager.Args}, {"scheduler", p.Cluster.Scheduler.Args}} {
			for _, a := range comp.args {
				if release.NormalizeFlag(a.Name) != release.FlagFeatureGates {
					continue
				}
				if on, set := release.ParseFeatureGates([]string{a.Value}).Explicit(release.Gate); set && on {
					p.Report(p.wrongComponent(comp.name, a.ValuePlace(), moveGate(a)))
				}
			}
		}
		for _, e := range p.Cluster.KubeletGates {
			if e.Key == release.Gate {
				p.Report(p.wrongComponent("the kubelet", e.Value.KeyPlace(),
					Change{Op: RemoveEntry, Entry: e,
						Summary: "removed " + e.Key + " from the kubelet's featureGates"}))
			}
		}
	},
}

func moveGate(a *config.Arg) Change {
	if rest := release.RemoveGate(a.Value, release.Gate); strings.TrimSpace(rest) != "" {
		return Change{Op: SetArg, Arg: a, Value: rest, Summary: "removed " + release.Gate + " where it does nothing"}
	}
	return Change{Op: RemoveArg, Arg: a, Summary: "removed feature-gates where the gate does nothing"}
}

func (p *Pass) wrongComponent(name string, at yamldoc.Place, remove Change) Finding {
	return Finding{
		Severity: Warning, At: at,
		Message: fmt.Sprintf("the gate %s is set for %s, where it does nothing.", release.Gate, name),
		Why:     "only kube-apiserver hands requests to its peers.",
		Fix:     "move it to apiServer.extraArgs, " + gateOnText,
		Changes: p.changes(remove, gateOnChange),
	}
}

// gateSetNeedlessly is MVP110.
var gateSetNeedlessly = &Rule{
	ID: "MVP110", Name: "gate-set-needlessly", Severity: Info,
	Doc: Doc{
		What: "The gate " + release.Gate + " is set to true where both releases have it on by default.",
		Why: "It does no harm now. A release that makes the gate generally available removes it some releases " +
			"later, and kube-apiserver then exits on the name.",
		Fix:   "Remove it once no server older than 1.36 is left.",
		Facts: []string{"S8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if !p.Pair.From.GateDefaultOn(release.Gate) || !p.Pair.To.GateDefaultOn(release.Gate) {
			p.Skip("the gate is off by default on a release of this upgrade")
			return
		}
		for _, v := range p.Views() {
			needless, _ := release.FeatureGates{}.Gate(release.Gate, v.Emulated)
			on, named := v.Gates.Explicit(release.Gate)
			if beta, set := v.Gates.Explicit(release.AllBeta); set && !beta || !needless || !named || !on {
				continue
			}
			p.Report(Finding{
				Severity: Info, Subject: release.Gate, At: p.orFlags(lastEntry(v, release.Gate)), When: v.When,
				Message: fmt.Sprintf("%s=true is the default since 1.36.", release.Gate),
				Why: "it does no harm yet, but a later release that no longer knows the gate will not " +
					"start with it.",
				Fix: "remove it when no server older than 1.36 is left",
			})
		}
	},
}
