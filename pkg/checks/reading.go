package checks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// releases are the two releases of a pair with their names.
func (p Pair) releases() []struct {
	When    When
	Release release.Release
} {
	return []struct {
		When    When
		Release release.Release
	}{{Running, p.From}, {Target, p.To}}
}

// unreadableAPIVersion is MVP001.
var unreadableAPIVersion = &Rule{
	ID: "MVP001", Name: "unreadable-api-version", Severity: Error, withoutFlags: true,
	Doc: Doc{
		What: "kubeadm of the running or of the target release refuses the apiVersion of the configuration: v1beta2 " +
			"and older, v1beta3 from 1.37 on, and v1, which 1.37 has as experimental.",
		Why:   "Nothing of the file takes effect; kubeadm stops.",
		Fix:   "Convert it with kubeadm config migrate, using a kubeadm that still reads the old version.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		version := p.Cluster.APIVersion
		if version == "" {
			p.Skip("a %s has no apiVersion of kubeadm", p.Cluster.Form)
			return
		}
		var refusing []string
		var when []When
		experimental := false
		for _, r := range p.Pair.releases() {
			if r.Release.Before(release.Oldest()) {
				continue
			}
			status := kubeadmReads(r.Release, version)
			if status == release.Reads || status == release.ReadsDeprecated {
				continue
			}
			experimental = experimental || status == release.Experimental
			when = append(when, r.When)
			if name := r.Release.MinorString(); !slices.Contains(refusing, name) {
				refusing = append(refusing, name)
			}
		}
		if len(when) == 0 && known(version) {
			return
		}
		p.Report(p.unreadable(version, refusing, when, experimental))
	},
}

// known tells whether the kubeadm of any release that mvpcheck knows reads an apiVersion.
func known(apiVersion string) bool {
	return slices.ContainsFunc(release.Known(), func(r release.Release) bool {
		return release.Kubeadm(r).ReadStatus(apiVersion) != release.Refuses
	})
}

func (p *Pass) unreadable(version string, refusing []string, when []When, experimental bool) Finding {
	f := Finding{
		Severity: Error, At: p.Cluster.APIVersionAt, Consequence: RefusedByKubeadm, When: when,
		Why: "kubeadm stops at the first such document; nothing of the file takes effect.",
	}
	if len(refusing) > 0 {
		f.Message = fmt.Sprintf("kubeadm.k8s.io/%s is refused by kubeadm %s.", version, text.And(refusing))
	} else {
		f.Message = fmt.Sprintf("no kubeadm that mvpcheck knows (%s to %s) reads kubeadm.k8s.io/%s.", release.Oldest(),
			release.Newest(), version)
	}
	switch hint := release.MigrationHint(version); {
	case experimental:
		f.Message = fmt.Sprintf("kubeadm.k8s.io/%s is experimental: kubeadm init and its phases refuse it.", version)
		f.Why = "only kubeadm config validate and migrate take it, with --allow-experimental-api."
		f.Fix = "write kubeadm.k8s.io/v1beta4, which kubeadm 1.31 and later read"
	case hint != "":
		f.Fix = hint
	default:
		f.Fix = "kubeadm never had this version; write kubeadm.k8s.io/v1beta4, which kubeadm 1.31 and later read"
	}
	return f
}

// wrongExtraArgsShape is MVP002.
var wrongExtraArgsShape = &Rule{
	ID: "MVP002", Name: "wrong-extra-args-shape", Severity: Error, Fixable: true, withoutFlags: true,
	Doc: Doc{
		What: "extraArgs has the shape of another apiVersion (a map in v1beta4 and v1, a list in v1beta3), an item " +
			"without a name (or, a warning, without a value), or a name with leading dashes or an equals sign.",
		Why: "kubeadm cannot read the shape and refuses the file; it passes a strange name on as it is, and " +
			"kube-apiserver exits.",
		Fix: "Write the shape of the apiVersion: extraArgs: [{name: flag, value: \"text\"}] from v1beta4 on, " +
			"extraArgs: {flag: \"text\"} before.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, pr := range p.Cluster.Problems {
			f := Finding{
				Severity: Error, At: pr.At, Consequence: RefusedByKubeadm,
				Message: fmt.Sprintf("%s: %s.", pr.Component, pr.Text),
				Why:     "kubeadm cannot decode the file and stops; none of these flags reaches the server.",
				Fix:     shapeFix(p.Cluster),
			}
			switch pr.Kind {
			case config.WrongShape:
				if pr.Value.Kind == yamldoc.Map || pr.Value.Kind == yamldoc.List {
					f.Changes = p.reshape(pr)
				}
			case config.WrongItem:
			case config.DashedName:
				f.Consequence, f.Why, f.Fix = WillNotStart,
					"kubeadm writes the name behind its own two dashes, and kube-apiserver exits on the flag.",
					"write the name without dashes"
				if a := p.argAt(pr); a != nil {
					f.Changes = p.changes(Change{Op: RenameArg, Arg: a, Flag: strings.TrimLeft(a.Name, "-"),
						Summary: "dropped the dashes of " + a.Name})
				}
			case config.NameWithEquals:
				f.Consequence, f.Why, f.Fix = None, "kubeadm writes name=value, so the server gets another flag value "+
					"than was meant.", "put what stands behind the equals sign into the value"
			case config.MissingValue:
				f.Severity, f.Consequence, f.Why, f.Fix = Warning, None, "kubeadm reads it as an empty value.",
					"give the item a value, or remove it"
			default:
				continue
			}
			p.Report(f)
		}
	},
}

func (p *Pass) reshape(pr config.Problem) []Change {
	return p.changes(Change{Op: ReshapeArgs, Entry: pr.Entry,
		Summary: "gave " + pr.Component + ".extraArgs the shape of its apiVersion"})
}

func shapeFix(c *config.Cluster) string {
	if c.APIVersion == "v1beta3" || c.Form == config.FormControlPlane && c.APIServer.ArgsEntry != nil &&
		c.APIServer.ArgsEntry.Value.Kind == yamldoc.List {
		return "write extraArgs as a map: flag: \"value\""
	}
	return "write extraArgs as a list of items: - name: flag, value: \"value\""
}

func (p *Pass) argAt(pr config.Problem) *config.Arg {
	for _, args := range [][]*config.Arg{p.Cluster.APIServer.Args, p.Cluster.ControllerManager.Args,
		p.Cluster.Scheduler.Args} {
		for _, a := range args {
			if a.NameAt == pr.At {
				return a
			}
		}
	}
	return nil
}

// valueNotAString is MVP003.
var valueNotAString = &Rule{
	ID: "MVP003", Name: "value-not-a-string", Severity: Error, Fixable: true, withoutFlags: true,
	Doc: Doc{
		What:  "A value that kubeadm wants as a string is a number or a boolean for YAML: 6443, true, y, on.",
		Why:   "kubeadm cannot decode the file and stops.",
		Fix:   "Quote the value.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, pr := range p.Cluster.Problems {
			if pr.Kind != config.NotString {
				continue
			}
			text := pr.Value.AsString()
			shown := text
			if written := string(pr.At.File.Data[pr.At.Start:pr.At.End]); pr.Value.Kind == yamldoc.Bool &&
				written != text {
				shown = fmt.Sprintf("%s (%s for YAML)", written, text)
			}
			p.Report(Finding{
				Severity: Error, At: pr.At, Consequence: RefusedByKubeadm,
				Message: fmt.Sprintf("the value %s is %s; kubeadm wants a string and refuses the file.", shown,
					pr.Value.Kind),
				Why: "kubeadm cannot decode the file and stops; nothing of it takes effect.",
				Fix: "quote it: " + quoted(text),
				Changes: p.changes(Change{Op: QuoteValue, Node: pr.Value, Value: text,
					Summary: "quoted " + quoted(text)}),
			})
		}
	},
}

// duplicateKey is MVP004.
var duplicateKey = &Rule{
	ID: "MVP004", Name: "duplicate-key", Severity: Error, withoutFlags: true,
	Doc: Doc{
		What: "The same key stands twice in a mapping.",
		Why: "kubeadm config validate refuses the file; kubeadm init warns and takes the last, so the first has " +
			"no effect.",
		Fix:   "Remove the one that is not meant.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, pr := range p.Cluster.Problems {
			if pr.Kind != config.DuplicateKey {
				continue
			}
			first := pr.Earlier.File.Position(pr.Earlier.Start)
			p.Report(Finding{
				Severity: Error, At: pr.At, Consequence: RefusedByKubeadm,
				Message: fmt.Sprintf("the key %s stands here and in line %d.", quoted(pr.Entry.Key), first.Line),
				Why:     "kubeadm config validate refuses the file; kubeadm init warns and takes this last one.",
				Fix:     "remove the one that is not meant",
				Related: []Related{{At: pr.Earlier, Message: "the first one, which has no effect"}},
			})
		}
	},
}

// unknownField is MVP005.
var unknownField = &Rule{
	ID: "MVP005", Name: "unknown-field", Severity: Error, withoutFlags: true,
	Doc: Doc{
		What: "A field that this apiVersion does not have, such as extraArg or a top-level apiServerExtraArgs.",
		Why: "kubeadm init drops it with a warning, so the flags below it never reach the server; kubeadm config " +
			"validate refuses the file.",
		Fix:   "Write the field that the apiVersion has.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, pr := range p.Cluster.Problems {
			if pr.Kind != config.UnknownField {
				continue
			}
			f := Finding{
				Severity: Warning, At: pr.At,
				Message: fmt.Sprintf("%s %s has no field %s: kubeadm drops it.", pr.DocKind, pr.APIVersion,
					quoted(pr.Entry.Key)),
				Why: "what stands below it has no effect; kubeadm config validate refuses the file.",
				Fix: "remove it",
			}
			if pr.Suggest != "" {
				f.Fix = "write " + pr.Suggest
			}
			if flags := pr.FlagNames(); len(flags) > 0 {
				f.Severity = Error
				f.Why = fmt.Sprintf("the flags below it (%s) never reach the server.", strings.Join(flags, ", "))
				for _, name := range flags {
					if handOffFlags[release.NormalizeFlag(name)] {
						f.Consequence = FalseNotFound
					}
				}
			}
			p.Report(f)
		}
	},
}

// handOffFlags are the flags that the rules read: those that decide about the hand-off.
var handOffFlags = map[string]bool{
	release.FlagFeatureGates: true, release.FlagEmulatedVersion: true, release.FlagPeerCAFile: true,
	release.FlagPeerAdvertiseIP: true, release.FlagPeerAdvertisePort: true, release.FlagAdvertiseAddress: true,
	release.FlagBindAddress: true, release.FlagSecurePort: true, release.FlagProxyClientCertFile: true,
	release.FlagProxyClientKeyFile: true, release.FlagRequestHeaderCAFile: true, release.FlagRequestHeaderNames: true,
	release.FlagTLSCertFile: true, release.FlagTLSPrivateKeyFile: true, release.FlagEgressSelectorConfig: true,
}

// unresolvedPlaceholder is MVP006.
var unresolvedPlaceholder = &Rule{
	ID: "MVP006", Name: "unresolved-placeholder", Severity: Info, withoutFlags: true,
	Doc: Doc{
		What:  "A template mark ({{ }}, ${ }, <placeholder>) stands where a value matters.",
		Why:   "What the value will be is not known, so nothing can be said about it.",
		Fix:   "Render the template and check the result.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, pr := range p.Cluster.Problems {
			if pr.Kind != config.Placeholder {
				continue
			}
			p.Report(Finding{
				Severity: Info, At: pr.At,
				Message: fmt.Sprintf("the template mark %s is not filled in; the value was not judged.", pr.Text),
				Fix:     "render the template and check the result",
			})
			p.CannotTell("values with template marks were not judged; render the template and check the result")
		}
	},
}

// unsupportedSkew is MVP007.
var unsupportedSkew = &Rule{
	ID: "MVP007", Name: "unsupported-skew", Severity: Error, withoutFlags: true,
	Doc: Doc{
		What: "The target is older than the running release or more than one minor ahead, or mvpcheck has no facts " +
			"for one of the two.",
		Why: "kubeadm upgrades one minor release at a time. Before 1.33 the hand-off had another design (the " +
			"StorageVersion API); what a release after the newest known one does is not known.",
		Fix:   "Upgrade one minor release at a time; update mvpcheck for newer releases.",
		Facts: []string{"Gate by release"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		from, to := p.Pair.From, p.Pair.To
		at := p.versionPlace()
		report := func(subject, message, why, fix string) {
			p.Report(Finding{Severity: Error, Subject: subject, At: at, Message: message, Why: why, Fix: fix,
				Consequence: None})
		}
		switch {
		case from.Before(release.Oldest()):
			report("running release",
				fmt.Sprintf("mvpcheck has no facts for the running release %s; it knows %s to %s.", from,
					release.Oldest(), release.Newest()),
				"before 1.33 the hand-off rested on the StorageVersion API, which is out of scope.",
				"upgrade to "+release.Oldest().String()+" first, or name the releases with --from and --to")
		case release.Newest().Before(to):
			report("target release", fmt.Sprintf("mvpcheck has no facts for the target release %s; it knows %s to %s.",
				to, release.Oldest(), release.Newest()),
				"what that release does with these settings was not measured.",
				"update mvpcheck, or name a known target with --to")
		}
		switch {
		case to.Before(from):
			report("upgrade", fmt.Sprintf("the target %s is older than the running release %s.", to, from),
				"kubeadm does not downgrade a control plane.", "name a target that is not older with --to")
		case from.Next().Before(to):
			report("upgrade", fmt.Sprintf("the target %s is more than one minor release ahead of %s.", to, from),
				"kubeadm upgrades one minor release at a time.", "upgrade to "+from.Next().String()+" first")
		}
	},
}

// versionPlace is where the running release is named, else the document's kind.
func (p *Pass) versionPlace() yamldoc.Place {
	c := p.Cluster
	switch {
	case c.KubernetesVersion.Set():
		return c.KubernetesVersion.Node.Place()
	case c.Root == nil && len(c.Manifests) > 0 && !c.Manifests[0].VersionAt.IsZero():
		return c.Manifests[0].VersionAt
	case c.Doc.Root.Get("kind") != nil:
		return c.Doc.Root.Get("kind").Place()
	}
	return c.FlagsPlace()
}

// argumentIgnored is MVP008.
var argumentIgnored = &Rule{
	ID: "MVP008", Name: "argument-ignored", Severity: Error, Fixable: true,
	Doc: Doc{
		What: "An extraArg has a mergeMethod (kubeadm v1), and kubeadm has no argument of that name of its own to " +
			"merge it with.",
		Why:   "kubeadm ignores the argument without a word: the flag never reaches the server.",
		Fix:   "Drop the mergeMethod.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, a := range p.Cluster.DroppedArgs() {
			at := a.NameAt
			if m := a.Node.Get("mergeMethod"); m != nil {
				at = m.Place()
			}
			f := Finding{
				Severity: Error, At: at, Consequence: None,
				Message: fmt.Sprintf("%s has mergeMethod %s, but kubeadm has no %s of its own to merge it with: it "+
					"is ignored.", a.Name, a.MergeMethod, a.Name),
				Why: "the flag never reaches kube-apiserver.",
				Fix: "remove mergeMethod",
				Changes: p.changes(Change{Op: DropMergeMethod, Arg: a,
					Summary: "dropped the mergeMethod of " + a.Name}),
			}
			if handOffFlags[release.NormalizeFlag(a.Name)] {
				f.Consequence = FalseNotFound
			}
			p.Report(f)
		}
	},
}

// repeatedArgument is MVP009.
var repeatedArgument = &Rule{
	ID: "MVP009", Name: "repeated-argument", Severity: Warning, Fixable: true,
	Doc: Doc{
		What:  "A flag that takes one value stands twice in extraArgs.",
		Why:   "kubeadm passes both on and kube-apiserver takes the last; the first has no effect.",
		Fix:   "Keep the last.",
		Facts: []string{"S10", "S11"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		args := p.Cluster.APIServer.Args
		for i, a := range args {
			name := release.NormalizeFlag(a.Name)
			if release.Accumulates(name) || a.MergeMethod != "" {
				continue
			}
			var last *config.Arg
			for _, later := range args[i+1:] {
				if release.NormalizeFlag(later.Name) == name && later.MergeMethod == "" {
					last = later
				}
			}
			if last == nil {
				continue
			}
			p.Report(Finding{
				Severity: Warning, At: a.NameAt,
				Message: fmt.Sprintf("%s is given again below; kube-apiserver takes the last value, %s.", a.Name,
					quoted(last.Value)),
				Why:     "this one has no effect.",
				Fix:     "remove it",
				Related: []Related{{At: last.NameAt, Message: "the one that counts"}},
				Changes: p.changes(Change{Op: RemoveArg, Arg: a, Summary: "removed the first " + a.Name}),
			})
		}
	},
}

// kubeadmVersion is what kubeadm takes as kubernetesVersion besides its labels.
var kubeadmVersion = regexp.MustCompile(`^v?\d+\.\d+\.\d+[-\w.+]*$`)

// refusedDocument is MVP010.
var refusedDocument = &Rule{
	ID: "MVP010", Name: "refused-document", Severity: Error, withoutFlags: true,
	Doc: Doc{
		What: "The file has a form that kubeadm does not take: an empty document between two separators, a document " +
			"that begins with { and is not JSON, a document of another API group's core, or a kubernetesVersion that " +
			"is no version.",
		Why:   "kubeadm refuses the whole file, whatever else it holds.",
		Fix:   "Remove the empty document, write block style, or give kubernetesVersion with its patch version.",
		Facts: []string{"kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if p.Cluster.Form != config.FormKubeadm && p.Cluster.Form != config.FormConfigMap {
			p.Skip("a %s is not read by kubeadm itself", p.Cluster.Form)
			return
		}
		for _, r := range p.Cluster.Refused() {
			p.Report(Finding{
				Severity: Error, At: r.At, Consequence: RefusedByKubeadm,
				Message: r.Text + ": kubeadm refuses the file.",
				Why:     "kubeadm stops before it reads the configuration.", Fix: r.Suggest,
			})
		}
		v := p.Cluster.KubernetesVersion
		if v.Set() && !kubeadmVersion.MatchString(v.Value) && !release.IsLabel(v.Value) &&
			config.PlaceholderIn(v.Value) == "" {
			p.Report(Finding{
				Severity: Error, At: v.Node.Place(), Consequence: RefusedByKubeadm,
				Message: fmt.Sprintf("kubernetesVersion %s is neither a version with its patch number nor a label: "+
					"kubeadm refuses the file.", quoted(v.Value)),
				Why: "kubeadm stops before it reads the rest.", Fix: "write it in full, for example v1.36.0",
			})
		}
	},
}
