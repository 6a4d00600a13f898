package checks

import (
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/release"
	"github.com/mvpcheck/mvpcheck/pkg/source"
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
		views := where(p.At(Running), func(v View) bool { return v.Release.Minor() < 36 })
		if len(views) == 0 {
			p.Skip("the running release %s has the gate on by default", p.Pair.From.MinorString())
			return
		}
		for _, v := range views {
			if v.GateOn || p.gateMeant(v) || v.FlagsUnknown {
				continue
			}
			at := p.Cluster.FlagsPlace()
			if named := lastEntry(v, release.Gate); named != nil {
				at = *named
			}
			p.Report(Finding{
				Severity: Error, At: at, Consequence: FalseNotFound, When: []When{Running},
				Message: fmt.Sprintf("the gate %s is off on the running %s servers.", release.Gate, v.Release.MinorString()),
				Why: fmt.Sprintf("until the last %s server is replaced it answers 404 for what only %s serves; %s.",
					v.Release.MinorString(), p.Pair.To.MinorString(), silent404),
				Fix:     gateOnText + p.byHand() + ", rolled out on " + v.Release.MinorString() + " before the upgrade",
				Changes: p.changes(gateOnChange),
			})
		}
	},
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
				(v.Release.Minor() >= 36 || containsWhen(v, Target)) && !emulatesOff(v)
		})
		for _, v := range views {
			by, at := turnedOffBy(v)
			p.Report(Finding{
				Severity: Error, At: p.orFlags(at), Consequence: FalseNotFound, When: v.When,
				Message: fmt.Sprintf("%s turns the gate %s off.", by, release.Gate),
				Why:     "servers with the gate off hand nothing to their peers: while two releases run side by side they answer 404 for what only the other one serves; " + silent404 + ".",
				Fix:     gateOnText + p.byHand(),
				Changes: p.changes(gateOnChange),
			})
		}
	},
}

func containsWhen(v View, w When) bool {
	for _, have := range v.When {
		if have == w {
			return true
		}
	}
	return false
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

func turnedOffBy(v View) (by string, at *source.Place) {
	name := release.Gate
	if !v.GateNamed {
		name = stageGate(v)
	}
	return name + "=false", lastEntry(v, name)
}

// lastEntry returns the place of the last entry of a gate, nil where it is not named.
func lastEntry(v View, name string) *source.Place {
	flags := v.Flags.All(release.FlagFeatureGates)
	for i := len(v.Gates.Entries) - 1; i >= 0; i-- {
		if e := v.Gates.Entries[i]; e.Name == name {
			at := part(flags[e.Span.Value], e.Span.Offset, e.Span.Length)
			return &at
		}
	}
	return nil
}

func (p *Pass) orFlags(at *source.Place) source.Place {
	if at == nil || at.IsZero() {
		return p.Cluster.FlagsPlace()
	}
	return *at
}

// emulatesOff tells whether the gate is off because the server emulates a release before 1.36.
func emulatesOff(v View) bool {
	if v.GateOn || v.GateNamed || v.Release.Minor() < 36 || v.Emulated.Minor() >= 36 {
		return false
	}
	on, _ := v.Gates.Gate(release.Gate, v.Release)
	return on
}

// peerFlags are the flags that kube-apiserver refuses while the gate is off (S1).
var peerFlags = []string{release.FlagPeerCAFile, release.FlagPeerAdvertiseIP, release.FlagPeerAdvertisePort}

// peerFlagsStop is MVP103.
var peerFlagsStop = &Rule{
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
				Severity: Error, At: p.place(set[0]), Consequence: WillNotStart, When: v.When,
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
	case containsWhen(v, Running):
		return fmt.Sprintf("rolled out on the running %s servers, each one exits at start; only from 1.36 on is the gate on by default.", p.Pair.From.MinorString())
	}
	return fmt.Sprintf("each server exits at start when it is upgraded to %s.", p.Pair.To.MinorString())
}

// gateAmongKubeadm is MVP104.
var gateAmongKubeadm = &Rule{
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
				if r.rel.IsKnown() && !contains(release.KubeadmGates(r.rel), e.Key) {
					when = append(when, r.when)
					if len(releases) == 0 || releases[0] != r.rel.MinorString() {
						releases = append(releases, r.rel.MinorString())
					}
				}
			}
			if len(when) > 0 {
				p.Report(p.kubeadmGate(e, when, strings.Join(releases, " and ")))
			}
		}
	},
}

func (p *Pass) kubeadmGate(e *source.Entry, when []When, releases string) Finding {
	f := Finding{
		Severity: Error, At: e.Value.KeyPlace(), Consequence: RefusedByKubeadm, When: when,
		Message: fmt.Sprintf("featureGates of the ClusterConfiguration names %s, which kubeadm %s does not have: it refuses the file.", e.Key, releases),
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

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

// malformedGates is MVP105.
var malformedGates = &Rule{
	ID: "MVP105", Name: "malformed-feature-gates", Severity: Error, Fixable: true,
	Doc: Doc{
		What:  "feature-gates of kube-apiserver has an entry that it cannot read: no equals sign, a value that is no boolean, quotes inside the value, \"Gate: true\", or entries with and without the prefix kube: side by side.",
		Why:   "kube-apiserver exits at start. Blanks and line breaks around entries, True, 1 and a trailing comma are fine.",
		Fix:   "Write Gate=true or Gate=false, separated by commas.",
		Facts: []string{"S8b", "S8c", "S8d"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			flags := v.Flags.All(release.FlagFeatureGates)
			for _, pr := range v.Gates.Problems {
				flag := flags[pr.Span.Value]
				if flag.Unknown {
					continue
				}
				p.Report(Finding{
					Severity: Error, At: part(flag, pr.Span.Offset, pr.Span.Length), Consequence: WillNotStart, When: v.When,
					Message: fmt.Sprintf("kube-apiserver cannot read %s in feature-gates: %s.", quoted(pr.Text), gateProblems[pr.Kind]),
					Why:     exitsAtStart + ".",
					Fix:     "write entries as Gate=true, separated by commas",
					Changes: p.changes(mendGates(flags)...),
				})
			}
		}
	},
}

var gateProblems = map[release.GateProblemKind]string{
	release.Quoted:           "quotes do not belong inside the value",
	release.ColonSeparator:   "gate and value are separated by =, not by a colon",
	release.UnknownComponent: "it knows no component of that name in front of the colon",
	release.MissingValue:     "it has no =true or =false",
	release.EmptyName:        "the gate's name is missing",
	release.NotBool:          "the value is not true or false",
	release.MixedPrefix:      "entries with and without the prefix kube: cannot be mixed",
}

// mendGates returns the changes that make feature-gates readable, none where the meaning is not plain.
func mendGates(flags []*config.Flag) []Change {
	var changes []Change
	var values []string
	for _, f := range flags {
		value := mendGatesValue(f.Value)
		values = append(values, value)
		if f.Arg == nil || f.Origin != config.FromExtraArgs {
			return nil
		}
		if value != f.Value {
			changes = append(changes, Change{Op: SetArg, Arg: f.Arg, Value: value, Summary: "wrote feature-gates as Gate=true"})
		}
	}
	if len(release.ParseFeatureGates(values).Problems) > 0 {
		return nil
	}
	return changes
}

func mendGatesValue(value string) string {
	segments := strings.Split(value, ",")
	for i, s := range segments {
		text := strings.TrimSpace(s)
		if text == "" {
			continue
		}
		mended := strings.NewReplacer(`"`, "", "'", "", "`", "").Replace(text)
		mended = strings.TrimPrefix(mended, "kube:")
		if !strings.Contains(mended, "=") {
			mended = strings.Replace(mended, ":", "=", 1)
		}
		name, val, ok := strings.Cut(mended, "=")
		name, val = strings.TrimSpace(name), strings.TrimSpace(val)
		switch strings.ToLower(val) {
		case "yes", "on", "y", "enabled", "enable":
			val = "true"
		case "no", "off", "n", "disabled", "disable":
			val = "false"
		case "":
			if !ok && name == release.Gate {
				val = "true"
			}
		}
		segments[i] = strings.Replace(s, text, name+"="+val, 1)
	}
	return strings.Join(segments, ",")
}

// misspeltGate is MVP106.
var misspeltGate = &Rule{
	ID: "MVP106", Name: "misspelt-gate", Severity: Error, Fixable: true,
	Doc: Doc{
		What:  "feature-gates has a name that is " + release.Gate + " but for a few letters, or their case.",
		Why:   "kube-apiserver exits at start: unrecognized feature gate.",
		Fix:   "Write " + release.Gate + ".",
		Facts: []string{"S8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			flags := v.Flags.All(release.FlagFeatureGates)
			for _, e := range v.Gates.Entries {
				if !release.IsMisspelling(e.Name) {
					continue
				}
				flag := flags[e.Span.Value]
				f := Finding{
					Severity: Error, At: part(flag, e.NameSpan.Offset, e.NameSpan.Length), Consequence: WillNotStart, When: v.When,
					Message: fmt.Sprintf("kube-apiserver has no feature gate %s; it is written %s.", quoted(e.Name), release.Gate),
					Why:     exitsAtStart + ".",
					Fix:     gateOnText,
				}
				if flag.Arg != nil && flag.Origin == config.FromExtraArgs {
					value := flag.Value[:e.NameSpan.Offset] + release.Gate + flag.Value[e.NameSpan.End():]
					f.Changes = p.changes(Change{Op: SetArg, Arg: flag.Arg, Value: value, Summary: "corrected the gate's name"})
				}
				p.Report(f)
			}
		}
	},
}

// identityOff is MVP107.
var identityOff = &Rule{
	ID: "MVP107", Name: "identity-off", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What:  "The gate " + release.Identity + " is off, by name or through AllBeta=false.",
		Why:   "The hand-off depends on the identity lease of each server. From 1.35 on kube-apiserver with " + release.Gate + " on exits at start; before, it starts and no peer finds it.",
		Fix:   "Leave " + release.Identity + " at its default, which is on, or set it to true beside AllBeta=false.",
		Facts: []string{"S6"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
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
				Severity: Error, At: p.orFlags(lastEntry(v, name)), When: v.When, Consequence: FalseNotFound,
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
			}
			p.reportWorst(f)
		}
	},
}

// reportWorst merges findings of one place and message that differ in their consequence: the graver one stands.
func (p *Pass) reportWorst(f Finding) {
	for i := range p.findings {
		g := &p.findings[i]
		if g.At == f.At && g.Message == f.Message && g.Consequence != f.Consequence {
			if f.Consequence == WillNotStart {
				g.Consequence, g.Why, g.When = f.Consequence, f.Why, f.When
			}
			return
		}
	}
	p.Report(f)
}

// emulationOff is MVP108.
var emulationOff = &Rule{
	ID: "MVP108", Name: "emulation-turns-gate-off", Severity: Error, Fixable: true,
	Doc: Doc{
		What:  "--emulated-version is below 1.36 on a server of 1.36 or later, and nothing sets the gate " + release.Gate + ".",
		Why:   "The gate takes the default of the emulated release, which is off: with peer-ca-file kube-apiserver exits at start, without it the server answers false 404s.",
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
				Severity: Error, At: p.place(flag), Consequence: FalseNotFound, When: v.When,
				Message: fmt.Sprintf("emulated-version %s turns the gate %s off on the %s servers.", v.Emulated.MinorString(), release.Gate, v.Release.MinorString()),
				Why:     "a gate that is not named takes the default of the emulated release, which is off: the server hands nothing to its peers.",
				Fix:     gateOnText + p.byHand(),
				Changes: p.changes(gateOnChange),
			}
			for _, name := range peerFlags {
				if peer := v.Flags.Last(name); peer != nil && peer.Value != "" {
					f.Consequence = WillNotStart
					f.Why = fmt.Sprintf("a gate that is not named takes the default of the emulated release, which is off; with %s set kube-apiserver exits at start.", name)
				}
			}
			if f.Consequence == FalseNotFound && (p.single != "" || !p.Pair.Upgrade) {
				continue
			}
			p.Report(f)
		}
	},
}

// gateElsewhere is MVP109.
var gateElsewhere = &Rule{
	ID: "MVP109", Name: "gate-on-wrong-component", Severity: Warning, Fixable: true,
	Doc: Doc{
		What:  "The gate " + release.Gate + " is set for the controller manager, the scheduler or the kubelet, and not for kube-apiserver.",
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
				p.Report(p.wrongComponent("the kubelet", e.Value.KeyPlace(), Change{Op: RemoveEntry, Entry: e, Summary: "removed " + e.Key + " from the kubelet's featureGates"}))
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

func (p *Pass) wrongComponent(name string, at source.Place, remove Change) Finding {
	return Finding{
		Severity: Warning, At: at,
		Message: fmt.Sprintf("the gate %s is set for %s, where it does nothing.", release.Gate, name),
		Why:     "only kube-apiserver hands requests to its peers.",
		Fix:     "move it to apiServer.extraArgs, " + gateOnText,
		Changes: p.changes(remove, gateOnChange),
	}
}

// gateNeedless is MVP110.
var gateNeedless = &Rule{
	ID: "MVP110", Name: "gate-set-needlessly", Severity: Info,
	Doc: Doc{
		What:  "The gate " + release.Gate + " is set to true where both releases have it on by default.",
		Why:   "It does no harm now. A release that makes the gate generally available removes it some releases later, and kube-apiserver then exits on the name.",
		Fix:   "Remove it once no server older than 1.36 is left.",
		Facts: []string{"S8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if p.Pair.From.Minor() < 36 || p.Pair.To.Minor() < 36 {
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
				Severity: Info, At: p.orFlags(lastEntry(v, release.Gate)), When: v.When,
				Message: fmt.Sprintf("%s=true is the default since 1.36.", release.Gate),
				Why:     "it does no harm yet, but a later release that no longer knows the gate will not start with it.",
				Fix:     "remove it when no server older than 1.36 is left",
			})
		}
	},
}
