package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// manifestDrift is MVP401.
var manifestDrift = &Rule{
	ID: "MVP401", Name: "manifest-drift", Severity: Error, Fixable: true, OnRequest: true,
	Doc: Doc{
		What: "A flag of a running kube-apiserver is not what kubeadm would write from the ClusterConfiguration.",
		Why: "kubeadm upgrade writes the manifest anew from the ClusterConfiguration: flags that were added by hand " +
			"are lost.",
		Fix: "Carry the flag over into apiServer.extraArgs (mvpcheck patch --only MVP401), or give it as a kubeadm " +
			"patch at each upgrade.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if p.Cluster.Root == nil || len(p.Cluster.Manifests) == 0 {
			p.Skip("no node's manifest at hand beside a ClusterConfiguration (--manifest, --root)")
			return
		}
		for _, m := range p.Cluster.Manifests {
			if !m.Unreadable {
				p.drift(m)
			}
		}
	},
}

// drift compares a node's manifest with what kubeadm of the running release would write for it.
func (p *Pass) drift(m *config.Manifest) {
	want := p.serverFor(m)
	have := m.Flags()
	seen := map[string]bool{}
	for _, f := range have {
		if seen[f.Name] || f.Unknown {
			continue
		}
		seen[f.Name] = true
		running, configured := valuesOf(have, f.Name), valuesOf(want, f.Name)
		if last := want.Last(f.Name); last != nil && last.Unknown || slices.Equal(running, configured) {
			continue
		}
		p.Report(p.driftFinding(m, f, running, configured))
	}
}

// serverFor is the command line that kubeadm would write for the node of a manifest.
func (p *Pass) serverFor(m *config.Manifest) config.CommandLine {
	servers := p.Cluster.Servers()
	for _, s := range servers {
		if s.Node.Name != "" && s.Node.Name == m.Node.Name || s.Node.Address != "" && s.Node.Address == m.Node.Address {
			return s.Flags
		}
	}
	return p.Cluster.CommandLine(m.Node)
}

// valuesOf are the values in force of a flag: all of one that accumulates, else the last.
func valuesOf(line config.CommandLine, name string) []string {
	flags := line.All(name)
	if len(flags) > 1 && !release.Accumulates(name) {
		flags = flags[len(flags)-1:]
	}
	values := make([]string, 0, len(flags))
	for _, f := range flags {
		values = append(values, f.Value)
	}
	return values
}

func (p *Pass) driftFinding(m *config.Manifest, f config.Flag, running, configured []string) Finding {
	out := Finding{
		Severity: Warning, Subject: f.Name, At: f.At, Consequence: LostOnUpgrade, When: []When{Target},
		Why: "kubeadm upgrade writes this manifest anew from the ClusterConfiguration, not from what stands here.",
		Fix: fmt.Sprintf("carry it over: %s: %s in apiServer.extraArgs (mvpcheck patch --only MVP401), or keep it as "+
			"a kubeadm patch", f.Name, quoted(strings.Join(running, ","))),
	}
	if handOffFlags[f.Name] {
		out.Severity = Error
	}
	on := m.File
	if m.Node.Name != "" {
		on = m.Node.Name
	}
	if len(configured) == 0 {
		out.Message = fmt.Sprintf("the running kube-apiserver of %s has --%s=%s, and the ClusterConfiguration does "+
			"not: the upgrade drops it.", on, f.Spelling, strings.Join(running, ","))
	} else {
		out.Message = fmt.Sprintf("the running kube-apiserver of %s has --%s=%s, the ClusterConfiguration gives %s: "+
			"the upgrade changes it.", on, f.Spelling, strings.Join(running, ","),
			quoted(strings.Join(configured, ",")))
	}
	switch f.Name {
	case release.FlagAdvertiseAddress, release.FlagSecurePort:
		out.Fix = "set it in the node's localAPIEndpoint; in the ClusterConfiguration it would be the same on " +
			"every node"
	default:
		if len(running) == 1 {
			out.Changes = p.changes(Change{Op: SetFlag, Flag: f.Name, Value: running[0],
				Summary: "carried over " + f.Name})
		}
	}
	return out
}

// serversDisagree is MVP402.
var serversDisagree = &Rule{
	ID: "MVP402", Name: "servers-disagree", Severity: Warning,
	Doc: Doc{
		What:  "A flag that decides about the hand-off differs between the control-plane nodes' manifests.",
		Why:   "Some servers hand requests off and others answer 404, or some peers cannot be reached.",
		Fix:   "Write the manifests anew from one ClusterConfiguration.",
		Facts: []string{"H14"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		manifests := slices.DeleteFunc(slices.Clone(p.Cluster.Manifests),
			func(m *config.Manifest) bool { return m.Unreadable })
		if len(manifests) < 2 {
			p.Skip("fewer than two nodes' manifests at hand")
			return
		}
		first := manifests[0].Flags()
		for _, m := range manifests[1:] {
			line := m.Flags()
			for _, name := range sharedFlags() {
				a, b := valuesOf(first, name), valuesOf(line, name)
				if slices.Equal(a, b) {
					continue
				}
				at := m.CommandPlace()
				if f := line.Last(name); f != nil {
					at = f.At
				}
				p.Report(Finding{
					Severity: Warning, Subject: name, At: at,
					Message: fmt.Sprintf("%s is %s here and %s in %s.", name, orNothing(b), orNothing(a),
						manifests[0].File),
					Why: "servers with different settings do not hand off to each other in the same way.",
					Fix: "write the manifests anew from one ClusterConfiguration",
				})
			}
		}
	},
}

// sharedFlags are the flags of the hand-off that should be alike on all nodes.
func sharedFlags() []string {
	var names []string
	for name := range handOffFlags {
		if name != release.FlagAdvertiseAddress && name != release.FlagBindAddress &&
			name != release.FlagPeerAdvertiseIP {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func orNothing(values []string) string {
	if len(values) == 0 {
		return "not set"
	}
	return quoted(strings.Join(values, ","))
}

// commandNotReadable is MVP403.
var commandNotReadable = &Rule{
	ID: "MVP403", Name: "command-not-readable", Severity: Info, withoutFlags: true,
	Doc: Doc{
		What: "The container starts kube-apiserver through a shell or a launcher, has args beside its command, or " +
			"its command is not kube-apiserver.",
		Why:   "The flags were read as far as that can be done from the text.",
		Fix:   "Compare with the flags of the running process where something looks wrong.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if len(p.Cluster.Manifests) == 0 {
			p.Skip("no pod of a kube-apiserver at hand")
			return
		}
		for _, m := range p.Cluster.Manifests {
			if m.Remark == "" {
				continue
			}
			p.Report(Finding{
				Severity: Info, Subject: m.File, At: m.CommandPlace(),
				Message: m.Remark + ".",
				Fix:     "compare with the flags of the running process where something looks wrong",
			})
			if m.Unreadable {
				p.CannotTell("the flags of kube-apiserver are not known: %s", m.Remark)
			}
		}
	},
}

// secondManifest is MVP404.
var secondManifest = &Rule{
	ID: "MVP404", Name: "second-manifest", Severity: Error, withoutFlags: true,
	Doc: Doc{
		What: "The manifests folder has two files for the kube-apiserver pod.",
		Why: "The kubelet runs every file there whatever its name ends with, also a backup copy: which of the two " +
			"is in force is chance, and an upgrade changes only one.",
		Fix:   "Move the copy out of the folder.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if len(p.Cluster.ManifestFolders) == 0 {
			p.Skip("no manifests folder at hand (--manifest, --root)")
			return
		}
		for _, folder := range p.Cluster.ManifestFolders {
			for _, m := range folder[min(1, len(folder)):] {
				p.Report(Finding{
					Severity: Error, Subject: m.File, At: m.CommandPlace(), Consequence: LostOnUpgrade,
					Message: fmt.Sprintf("a second file for the kube-apiserver pod beside %s: the kubelet runs both.",
						folder[0].File),
					Why: "which of the two is in force is chance, and kubeadm upgrade changes only " +
						"kube-apiserver.yaml.",
					Fix: "move the copy out of the manifests folder",
				})
			}
		}
	},
}

// patchReplacesCommand is MVP405.
var patchReplacesCommand = &Rule{
	ID: "MVP405", Name: "patch-replaces-command", Severity: Warning, withoutFlags: true,
	Doc: Doc{
		What: "A kubeadm patch for kube-apiserver, strategic or merge, sets the list of the command.",
		Why:  "Lists are replaced as a whole: every flag that kubeadm would write is gone.",
		Fix: "Use a JSON patch that appends: {op: add, path: /spec/containers/0/command/-, value: --flag=value} in " +
			"kube-apiserver+json.yaml.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if len(p.Cluster.Patches) == 0 {
			p.Skip("no kubeadm patches at hand (--patches)")
			return
		}
		for _, patch := range p.Cluster.Patches {
			if patch.Command == nil {
				continue
			}
			p.Report(Finding{
				Severity: Warning, At: patch.Command.KeyPlace(), Consequence: LostOnUpgrade,
				Message: "this " + patch.Type + " patch replaces the whole command: every flag that kubeadm " +
					"writes is lost.",
				Why: "lists are not merged in a pod's command.",
				Fix: "append with a JSON patch: op add, path /spec/containers/0/command/-, in a file named " +
					"kube-apiserver+json.yaml",
			})
		}
	},
}

// upgradeIgnoresConfiguration is MVP406.
var upgradeIgnoresConfiguration = &Rule{
	ID: "MVP406", Name: "upgrade-ignores-configuration", Severity: Warning, withoutFlags: true,
	Doc: Doc{
		What: "A ClusterConfiguration stands beside an UpgradeConfiguration.",
		Why: "kubeadm upgrade reads the ClusterConfiguration from the ConfigMap kube-system/kubeadm-config; the one " +
			"in the file given to --config is ignored with a warning.",
		Fix:   "Upload it first: kubeadm init phase upload-config kubeadm --config FILE, with a file of its own.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if len(p.Cluster.Upgrade) == 0 {
			p.Skip("no UpgradeConfiguration in the file")
			return
		}
		p.Report(Finding{
			Severity: Warning, At: p.Cluster.Root.Get("kind").Place(), Consequence: LostOnUpgrade,
			Message: "kubeadm upgrade --config ignores a ClusterConfiguration in its file.",
			Why: "it reads the one in the ConfigMap kube-system/kubeadm-config, so these settings do not take " +
				"part in the upgrade.",
			Fix: "upload it first: kubeadm init phase upload-config kubeadm --config FILE",
		})
	},
}

// skippedControlPlanePhase is MVP407.
var skippedControlPlanePhase = &Rule{
	ID: "MVP407", Name: "skipped-control-plane-phase", Severity: Warning, withoutFlags: true,
	Doc: Doc{
		What: "An UpgradeConfiguration skips the phase control-plane.",
		Why: "kubeadm upgrade then leaves the static pod manifests alone: kube-apiserver stays at the old release " +
			"with the old flags, while the ConfigMap says the new one.",
		Fix:   "Do not skip control-plane.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if len(p.Cluster.Upgrade) == 0 {
			p.Skip("no UpgradeConfiguration in the file")
			return
		}
		for _, u := range p.Cluster.Upgrade {
			for _, at := range skippedControlPlane(u) {
				p.Report(Finding{
					Severity: Warning, At: at,
					Message: "this upgrade skips the phase control-plane: kube-apiserver stays at the old release.",
					Why:     "the manifests are not written anew; the node keeps answering as the old release does.",
					Fix:     "remove control-plane from skipPhases",
				})
			}
		}
	},
}

// skippedControlPlane returns where an UpgradeConfiguration skips the phase that upgrades kube-apiserver.
func skippedControlPlane(upgrade *yamldoc.Value) []yamldoc.Place {
	var places []yamldoc.Place
	for _, section := range []string{"apply", "node"} {
		phases := upgrade.Get(section, "skipPhases")
		if phases == nil {
			continue
		}
		for _, phase := range phases.Items {
			if phase.Str() == "control-plane" {
				places = append(places, phase.Place())
			}
		}
	}
	return places
}
