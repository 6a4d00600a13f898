package checks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// Flags that only the rules about trust read.
const (
	flagEtcdCAFile = "etcd-cafile"
	flagSNICertKey = "tls-sni-cert-key"
)

// noFiles is why a rule that needs the certificates says nothing.
const noFiles = "no certificates at hand: give a node's files with --root"

// values is one combination of values of some flags, with the servers that have it. A flag that a server does not
// have is nil.
type values struct {
	flags []*config.Flag
	views []View
}

// byValue returns each combination of values that flags have, in the order of the servers; of a flag that is given
// several times it has the last. Servers whose flags are not known for sure are left out, and the rule cannot tell.
func (p *Pass) byValue(names ...string) []values {
	var out []values
	for _, v := range p.Views() {
		if v.FlagsUnknown {
			p.CannotTell("the flags of a kube-apiserver are not known for sure (a patch or a wrapper cannot be " +
				"followed)")
			continue
		}
		i := slices.IndexFunc(out, func(o values) bool { return sameFlags(o.views[0], v, names) })
		if i < 0 {
			var flags []*config.Flag
			for _, name := range names {
				flags = append(flags, v.Flags.Last(name))
			}
			i = len(out)
			out = append(out, values{flags: flags})
		}
		out[i].views = append(out[i].views, v)
	}
	return out
}

// sameFlags tells whether two servers have flags with the same values from the same places.
func sameFlags(a, b View, names []string) bool {
	if a.Manifest != b.Manifest {
		return false
	}
	for _, name := range names {
		x, y := a.Flags.All(name), b.Flags.All(name)
		if !slices.EqualFunc(x, y, func(f, g *config.Flag) bool {
			return f.Value == g.Value && f.Unknown == g.Unknown && f.At == g.At
		}) {
			return false
		}
	}
	return true
}

// placeOr returns where a flag stands, or for a flag that is missing or kubeadm's own, where it would.
func (p *Pass) placeOr(f *config.Flag, v View) yamldoc.Place {
	if (f == nil || f.At.IsZero()) && v.Manifest != nil {
		return v.Manifest.CommandPlace()
	}
	return p.place(f)
}

// nameOf is a flag's name, empty where there is no flag.
func nameOf(f *config.Flag) string {
	if f == nil {
		return ""
	}
	return f.Name
}

// isSet tells whether a flag has a value, be it one that is not known here.
func isSet(f *config.Flag) bool { return f != nil && (f.Value != "" || f.Unknown) }

// isEmpty tells whether a flag is given with an empty value.
func isEmpty(f *config.Flag) bool { return f != nil && f.Value == "" && !f.Unknown }

// ownArg returns the extraArg that a flag comes from and that can be changed for it, nil where there is none.
func ownArg(f *config.Flag) *config.Arg {
	if f == nil || f.Origin != config.FromExtraArgs {
		return nil
	}
	return f.Arg
}

// clusterCA is the file of the CA that signs the serving certificates: where kubeadm puts it, in a pod that of the
// clients, which kubeadm takes from the same file, or the one beside the other certificates.
func (p *Pass) clusterCA(v View) string {
	if v.Manifest != nil {
		if f := v.Flags.Last(release.FlagClientCAFile); isSet(f) && !f.Unknown {
			return f.Value
		}
		for _, name := range []string{release.FlagTLSCertFile, release.FlagRequestHeaderCAFile} {
			if f := v.Flags.Last(name); isSet(f) && !f.Unknown {
				return path.Join(path.Dir(f.Value), "ca.crt")
			}
		}
	}
	return p.inCertificatesDir("ca.crt")
}

func (p *Pass) inCertificatesDir(name string) string {
	return path.Join(p.Cluster.CertificatesDir.Value, name)
}

// setPeerCA returns the change that sets peer-ca-file to the cluster's CA, none where the flag stands elsewhere than
// in extraArgs or the folder is a template mark.
func (p *Pass) setPeerCA(f *config.Flag) []Change {
	if f != nil && ownArg(f) == nil || config.PlaceholderIn(p.Cluster.CertificatesDir.Value) != "" {
		return nil
	}
	return p.changes(Change{
		Op: SetFlag, Flag: release.FlagPeerCAFile, Value: p.inCertificatesDir("ca.crt"),
		Summary: "set " + release.FlagPeerCAFile,
	})
}

// sideBySide says when the servers depend on each other.
func (p *Pass) sideBySide() string {
	if from, to := p.Pair.From.MinorString(), p.Pair.To.MinorString(); from != to && !p.lacks().nothing() {
		return fmt.Sprintf("while %s and %s servers run side by side", from, to)
	}
	return "while servers of two releases run side by side"
}

// reportAtStart reports a peer-ca-file that kube-apiserver cannot read at start, which it does only while the gate is
// on. With the gate off it exits even so, but for another reason, which is MVP103's.
func (p *Pass) reportAtStart(f Finding, views []View) {
	f.Severity = Error
	on := where(views, func(v View) bool { return v.GateOn })
	if len(on) == 0 {
		f.Consequence, f.When = None, whenOf(views)
		f.Why = "with the gate " + release.Gate + " on, which the hand-off needs, kube-apiserver exits at start on it."
	} else {
		f.Consequence, f.When = WillNotStart, whenOf(on)
		f.Why = p.exitsWhen(f.When)
	}
	p.Report(f)
}

// exitsWhen says which servers exit at start.
func (p *Pass) exitsWhen(when []When) string {
	from, to := p.Pair.From.MinorString(), p.Pair.To.MinorString()
	switch {
	case len(when) == 2 && from != to:
		return fmt.Sprintf("rolled out on %s, or upgraded to %s with it, each kube-apiserver exits at start.", from, to)
	case len(when) == 1 && when[0] == Target:
		return fmt.Sprintf("each kube-apiserver exits at start when it is upgraded to %s.", to)
	}
	return fmt.Sprintf("rolled out on %s, each kube-apiserver exits at start.", from)
}

// peerCAMissing is MVP201.
var peerCAMissing = &Rule{
	ID: "MVP201", Name: "peer-ca-missing", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What: "peer-ca-file is not set, or empty: kube-apiserver has no CA to verify the certificates of its " +
			"peers with.",
		Why: "Without it a server hands no request to a peer, whatever the gate says. While two releases run side " +
			"by side it answers a silent 404 for everything that only the other release serves.",
		Fix: "Set peer-ca-file to the CA that signed the serving certificates of the API servers, which is ca.crt " +
			"in the certificatesDir, and roll that out before the upgrade, together with the gate.",
		Facts: []string{"H3", "H2"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if !p.Pair.Upgrade {
			p.Skip("the minor release does not change: all servers serve the same")
			return
		}
		for _, g := range p.byValue(release.FlagPeerCAFile) {
			switch {
			case isSet(g.flags[0]):
			case p.skipSame():
				return
			case p.causedElsewhere(release.FlagPeerCAFile):
				p.Skip("%s is there and does not reach the servers, which another finding says", release.FlagPeerCAFile)
			default:
				p.reportPeerCAMissing(g, p.lacks())
			}
		}
	},
}

func (p *Pass) reportPeerCAMissing(g values, lacks lacking) {
	state := "not set"
	if g.flags[0] != nil {
		state = "empty"
	}
	f := Finding{
		Severity: Error, Subject: nameOf(g.flags[0]), At: p.placeOr(g.flags[0], g.views[0]), Consequence: FalseNotFound,
		When: whenOf(g.views),
		Message: fmt.Sprintf("%s is %s: the servers cannot verify each other and hand no request over.",
			release.FlagPeerCAFile, state),
		Why: fmt.Sprintf("%s, %s; %s.", p.sideBySide(), peerCAMissingWhy(p, lacks), silent404),
		Fix: fmt.Sprintf("%s: %s%s, rolled out on %s before the upgrade",
			release.FlagPeerCAFile, p.clusterCA(g.views[0]), p.byHand(), p.Pair.From.MinorString()),
		Changes: p.setPeerCA(g.flags[0]),
	}
	p.Report(f)
}

// peerCAMissingWhy says which servers answer 404 for what.
func peerCAMissingWhy(p *Pass, lacks lacking) string {
	from, to := p.Pair.From, p.Pair.To
	switch {
	case !lacks.known:
		return "each answers 404 for what only the other release serves"
	case lacks.onlyRunning == 0:
		return fmt.Sprintf("the old ones answer 404 for %s", only(lacks.onlyTarget, true, to))
	case lacks.onlyTarget == 0:
		return fmt.Sprintf("the new ones answer 404 for %s", only(lacks.onlyRunning, true, from))
	}
	return fmt.Sprintf("the old ones answer 404 for %s, the new ones for %s", only(lacks.onlyTarget, true, to),
		only(lacks.onlyRunning, true, from))
}

// peerCANotMounted is MVP202.
var peerCANotMounted = &Rule{
	ID: "MVP202", Name: "peer-ca-not-mounted", Severity: Error, Fixable: true,
	Doc: Doc{
		What: "peer-ca-file lies outside every host path that is mounted into the kube-apiserver pod.",
		Why: "The file may be on the node, but the pod does not see it, and kube-apiserver exits at start: failed " +
			"to create proxy transport.",
		Fix: "Mount its folder with apiServer.extraVolumes, or name a file in the certificatesDir, which " +
			"kubeadm mounts.",
		Facts: []string{"S7", "kubeadm"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, g := range p.byValue(release.FlagPeerCAFile) {
			f := g.flags[0]
			if !isSet(f) || f.Unknown || cleanPath(f.Value) != f.Value {
				continue
			}
			var outside []View
			for _, v := range g.views {
				if _, mounted := v.Mounted(f.Value); mounted {
					continue
				}
				if dir := maybeMounted(v, f.Value); dir != "" {
					p.Skip("%s is in %s, which kubeadm mounts where the node has it", f.Value, dir)
					continue
				}
				outside = append(outside, v)
			}
			if len(outside) > 0 {
				p.reportAtStart(p.notMounted(f, outside[0]), outside)
			}
		}
	},
}

// maybeMounted returns the folder of those that kubeadm mounts where they exist that a file lies in.
func maybeMounted(v View, file string) string {
	if v.Manifest != nil {
		return ""
	}
	for _, dir := range config.MaybeMounted {
		if config.Within(file, dir) {
			return dir
		}
	}
	return ""
}

// mayBeSeen tells whether the pod sees a file; where it does not, MVP202 says so, and that is enough.
func mayBeSeen(v View, file string) bool {
	_, mounted := v.Mounted(file)
	return mounted || maybeMounted(v, file) != ""
}

func (p *Pass) notMounted(f *config.Flag, v View) Finding {
	volume := volumeFor(f.Value)
	out := Finding{
		Subject: nameOf(f), At: p.placeOr(f, v),
		Message: fmt.Sprintf("%s %s is not in the kube-apiserver pod: no volume mounts it.", f.Name, quoted(f.Value)),
		Fix:     fmt.Sprintf("mount %s with apiServer.extraVolumes%s", volume, p.byHand()),
	}
	if ca := p.clusterCA(v); ca != f.Value {
		out.Fix += ", or name " + ca
	}
	if p.otherCA(f.Value, v) == "" {
		// Else it is the wrong file, and MVP203 names another one.
		out.Changes = p.changes(mount(volume))
	}
	return out
}

func mount(volume string) Change {
	return Change{Op: AddVolume, Value: volume, Summary: "mounted " + volume + " into kube-apiserver"}
}

// volumeFor is what to mount for a file: its folder, so that a new file of the same name is seen, unless that is a
// folder of the node's root, of which the pod should not see so much.
func volumeFor(file string) string {
	dir := path.Dir(path.Clean(file))
	if strings.Count(dir, "/") < 2 {
		return path.Clean(file)
	}
	return dir
}

// peerCAPathMalformed is MVP209.
var peerCAPathMalformed = &Rule{
	ID: "MVP209", Name: "peer-ca-path-malformed", Severity: Error, Fixable: true,
	Doc: Doc{
		What: "peer-ca-file is no absolute path, or has a blank, a line break (of a folded or literal scalar), " +
			"quotes or a slash around it.",
		Why: "kube-apiserver takes the value as it is, finds no such file and exits at start: failed to create " +
			"proxy transport.",
		Fix:   "Write the absolute path alone; in YAML use >- or |- instead of > or |, or a plain scalar.",
		Facts: []string{"S7"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, g := range p.byValue(release.FlagPeerCAFile) {
			if f := g.flags[0]; isSet(f) && !f.Unknown && cleanPath(f.Value) != f.Value {
				p.reportMalformed(f, g.views)
			}
		}
	},
}

// cleanPath returns the absolute path that a value was meant to be: the value itself where it is one, and empty where
// that cannot be told. A path need not be canonical.
func cleanPath(value string) string {
	if path.IsAbs(value) && strings.TrimSpace(value) == value && !strings.HasSuffix(value, "/") {
		return value
	}
	value = strings.TrimRight(strings.Trim(value, " \t\r\n\"'`"), "/")
	if !path.IsAbs(value) || strings.TrimSpace(value) != value {
		return ""
	}
	return value
}

func (p *Pass) reportMalformed(f *config.Flag, views []View) {
	v := views[0]
	out := Finding{
		Subject: nameOf(f), At: p.placeOr(f, v),
		Message: fmt.Sprintf("%s %s %s: kube-apiserver finds no such file.", f.Name, quoted(f.Value),
			malformation(f.Value)),
		Fix: "write the absolute path alone, such as " + p.clusterCA(v) + p.byHand(),
	}
	meant := cleanPath(f.Value)
	if meant == "" {
		p.reportRelative(out, f, views)
		return
	}
	if p.otherCA(meant, v) != "" {
		meant = p.clusterCA(v)
	}
	out.Fix = "write " + meant + p.byHand()
	if a := ownArg(f); a != nil {
		changes := []Change{{Op: SetArg, Arg: a, Value: meant, Summary: "cleaned the path of " + f.Name}}
		// The rules judge the new path, too: patching twice changes nothing.
		if !mayBeSeen(v, meant) {
			changes = append(changes, mount(volumeFor(meant)))
		}
		out.Changes = p.changes(changes...)
	}
	p.reportAtStart(out, views)
}

func malformation(value string) string {
	trimmed := strings.TrimSpace(value)
	switch {
	case strings.ContainsAny(strings.TrimLeft(value, " \t"), "\r\n") && strings.TrimRight(value, "\r\n") != value:
		return "ends with a line break"
	case trimmed != value:
		return "has blanks around it"
	case strings.Trim(value, "\"'`") != value:
		return "has quotes within the value"
	case path.IsAbs(value):
		return "ends with a slash, as only a folder does"
	}
	return "is no absolute path"
}

// reportRelative reports a relative path. kube-apiserver looks for it from its working directory, which is / in the
// images of Kubernetes: where that hits a mount, it may start.
func (p *Pass) reportRelative(out Finding, f *config.Flag, views []View) {
	_, mounted := views[0].Mounted("/" + f.Value)
	if !mounted || strings.TrimSpace(f.Value) != f.Value {
		p.reportAtStart(out, views)
		return
	}
	out.Severity, out.Consequence, out.When = Warning, None, whenOf(views)
	out.Message = fmt.Sprintf("%s %s %s.", f.Name, quoted(f.Value), malformation(f.Value))
	out.Why = "kube-apiserver looks for it from its working directory, which is / only in the images of Kubernetes."
	p.Report(out)
}
