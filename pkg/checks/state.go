package checks

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

func newState(in Input) *state {
	s := &state{in: in}
	s.lacks = sync.OnceValue(s.lacking)
	s.single = singleControlPlane(in.Cluster)
	s.noFlags = unreadableFlags(in)
	if s.noFlags != "" {
		return s
	}
	servers := in.Cluster.Servers()
	if in.Pair.From.SameMinor(in.Pair.To) {
		s.addViews(servers, in.Pair.From, Running, Target)
		return s
	}
	s.addViews(servers, in.Pair.From, Running)
	s.addViews(servers, in.Pair.To, Target)
	return s
}

func (s *state) addViews(servers []config.Server, r release.Release, when ...When) {
	if r.Before(release.Oldest()) {
		return
	}
	for _, server := range servers {
		v := View{Server: server, When: when, Release: r}
		v.Gates = release.ParseFeatureGates(v.values(release.FlagFeatureGates))
		var err error
		v.Effective, err = release.EffectiveVersions(v.values(release.FlagEmulatedVersion),
			v.values(release.FlagMinCompatibility), r)
		if !v.unknown(release.FlagEmulatedVersion) && !v.unknown(release.FlagMinCompatibility) {
			errors.As(err, &v.VersionError)
		}
		v.Emulated = v.Effective.Emulated
		v.GateOn, v.GateNamed = v.Gates.Gate(release.Gate, v.Emulated)
		v.apis = apiSetOf(v)
		s.views = append(s.views, v)
	}
}

// values are those that the command line gives for a flag, in their order.
func (v View) values(flag string) []string {
	var values []string
	for _, f := range v.Flags.All(flag) {
		values = append(values, f.Value)
	}
	return values
}

// unknown tells whether a value of a flag is not known.
func (v View) unknown(flag string) bool {
	return slices.ContainsFunc(v.Flags.All(flag), func(f *config.Flag) bool { return f.Unknown })
}

// singleControlPlane says why a cluster has one control-plane node, empty where it has several.
func singleControlPlane(c *config.Cluster) string {
	n, from, known := c.ControlPlaneCount()
	if known && n == 1 {
		return "one control-plane node (" + from + "): there is no peer to hand a request to"
	}
	return ""
}

// unreadableFlags says why nothing can be said of the servers' flags.
func unreadableFlags(in Input) string {
	c := in.Cluster
	switch {
	case c.APIVersion != "" && (!known(c.APIVersion) || readers(c.APIVersion, in.Pair) == 0):
		return "no kubeadm of these releases reads kubeadm.k8s.io/" + c.APIVersion + " (MVP001)"
	case c.APIServer.Unreadable != "":
		return "kubeadm cannot read the extraArgs (MVP002)"
	}
	if c.Root == nil && c.Form != config.FormKind {
		for _, m := range c.Manifests {
			if !m.Unreadable {
				return ""
			}
		}
		return "the command of kube-apiserver could not be read (MVP403)"
	}
	return ""
}

// readers counts the releases of the pair whose kubeadm reads an apiVersion in some way.
func readers(apiVersion string, pair Pair) int {
	n := 0
	for _, r := range []release.Release{pair.From, pair.To} {
		if kubeadmReads(r, apiVersion) != release.Refuses {
			n++
		}
	}
	return n
}

// kubeadmReads is what the kubeadm of a release does with an apiVersion; of releases that are not known yet it is taken
// that they read what the newest known one reads.
func kubeadmReads(r release.Release, apiVersion string) release.ReadStatus {
	if release.Newest().Before(r) {
		r = release.Newest()
	}
	return release.Kubeadm(r).ReadStatus(apiVersion)
}

// skip says why a rule does not apply to the input at all.
func (s *state) skip(r *Rule) string {
	switch {
	case r.HandOff && s.single != "":
		return s.single
	case s.noFlags != "" && !r.withoutFlags:
		return s.noFlags
	case s.in.Pair.To.Before(release.Oldest()) && !r.withoutFlags:
		return "mvpcheck has no facts for releases before " + release.Oldest().String()
	}
	return ""
}

// releaseList names the releases of the views where something holds, for a message: "1.35" or "1.35 and 1.36".
func releaseList(views []View) string {
	var names []string
	for _, v := range views {
		if name := v.Release.MinorString(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return text.And(names)
}

// where returns the views for which something holds.
func where(views []View, holds func(View) bool) []View {
	var out []View
	for _, v := range views {
		if holds(v) {
			out = append(out, v)
		}
	}
	return out
}

// whenOf returns the union of the views' When, running first.
func whenOf(views []View) []When {
	var whens []When
	for _, w := range []When{Running, Target} {
		if slices.ContainsFunc(views, func(v View) bool { return slices.Contains(v.When, w) }) {
			whens = append(whens, w)
		}
	}
	return whens
}

// part returns the place of a part of a flag's value: of bytes offset to offset+length where the value stands in the
// source as it is, else of the whole value.
func part(f *config.Flag, offset, length int) yamldoc.Place {
	at := f.At
	if at.IsZero() {
		return at
	}
	i := bytes.Index(at.File.Data[at.Start:at.End], []byte(f.Value))
	if i < 0 || f.Value == "" || offset+length > len(f.Value) {
		return at
	}
	at.Start += i + offset
	at.End = at.Start + length
	return at
}

// place returns where a flag stands, or where it would: kubeadm's own arguments stand nowhere.
func (p *Pass) place(f *config.Flag) yamldoc.Place {
	if f == nil || f.At.IsZero() {
		return p.Cluster.FlagsPlace()
	}
	return f.At
}

// causedElsewhere tells whether a flag is missing from the servers only because another rule's finding keeps it from
// them: one cause is reported once.
func (p *Pass) causedElsewhere(flag string) bool {
	for _, a := range p.Cluster.DroppedArgs() {
		if release.NormalizeFlag(a.Name) == flag {
			return true
		}
	}
	for _, pr := range p.Cluster.Problems {
		if pr.Kind == config.UnknownField &&
			slices.ContainsFunc(pr.FlagNames(), func(name string) bool { return release.NormalizeFlag(name) == flag }) {
			return true
		}
	}
	for _, a := range p.Cluster.APIServer.Args {
		if meant, ok := p.meantFlag(a.Name); ok && meant == flag {
			return true
		}
	}
	return false
}

// gateMeant tells whether something that other rules report was meant to turn the gate on, or may do so: a template
// mark.
func (p *Pass) gateMeant(v View) bool {
	if slices.ContainsFunc(v.Flags.All(release.FlagFeatureGates), func(f *config.Flag) bool { return f.Unknown }) {
		return true
	}
	if slices.ContainsFunc(p.Cluster.FeatureGates, func(e *yamldoc.Entry) bool {
		return e.Key == release.Gate &&
			e.Value.Text == "true"
	}) {
		return true
	}
	names := func(args []*config.Arg) bool {
		return slices.ContainsFunc(args, func(a *config.Arg) bool {
			return strings.EqualFold(strings.ReplaceAll(release.NormalizeFlag(a.Name), "-", ""), "featuregates") &&
				strings.Contains(a.Value, release.Gate)
		})
	}
	if p.causedElsewhere(release.FlagFeatureGates) {
		for _, pr := range p.Cluster.Problems {
			if names(pr.Args) {
				return true
			}
		}
		if names(p.Cluster.DroppedArgs()) || names(p.Cluster.APIServer.Args) {
			return true
		}
	}
	for _, e := range v.Gates.Entries {
		if release.IsMisspelling(e.Name) || !e.Valid &&
			(strings.Contains(e.Name, release.Gate) || strings.Contains(e.Prefix, release.Gate)) {
			return true
		}
	}
	return false
}

// editable tells whether mvpcheck patch can change the flags of this form of configuration.
func (p *Pass) editable() bool { return p.Cluster.Editable() == "" && p.Cluster.Root != nil }

// changes returns the changes where the form of configuration can be edited and the edit has an effect: flags in
// extraArgs have none where a kubeadm patch replaces the whole command.
func (p *Pass) changes(c ...Change) []Change {
	if !p.editable() {
		return nil
	}
	replaced := slices.ContainsFunc(p.Cluster.Patches, func(f *config.PatchFile) bool { return f.Command != nil })
	if replaced && slices.ContainsFunc(c, func(c Change) bool { return c.Op == SetGate || c.Op == SetFlag }) {
		return nil
	}
	return c
}

// byHand is what the fix adds where mvpcheck patch cannot make the change.
func (p *Pass) byHand() string {
	if p.Cluster.Form == config.FormManifest || p.Cluster.Form == config.FormMirrorPod {
		return " in the ClusterConfiguration (kubeadm upgrade rewrites this manifest)"
	}
	return ""
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
