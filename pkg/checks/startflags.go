package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// unknownFlag is MVP120.
var unknownFlag = &Rule{
	ID: "MVP120", Name: "unknown-flag", Severity: Error, Fixable: true,
	Doc: Doc{
		What:  "A flag for kube-apiserver that the running or the target release does not have: one that was removed or that comes later, one with a typing error, or one written like a field: featureGates.",
		Why:   "kubeadm passes extraArgs on unchecked, and kube-apiserver exits: unknown flag. In an upgrade one server after the other does.",
		Fix:   "Write the flag as kube-apiserver --help of that release does (underscores count as dashes), or remove it.",
		Facts: []string{"S8g", "S8j"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, g := range p.flagsWhere(func(v View, f *config.Flag) bool {
			c := v.catalogue()
			if c == nil || unnamed(f) {
				return false
			}
			_, known := c.Flag(flagName(f))
			return !known
		}) {
			p.reportUnknownFlag(g)
		}
	},
}

func (p *Pass) reportUnknownFlag(g flagGroup) {
	name := flagName(g.flag)
	out := Finding{
		Severity: Error, At: nameAt(p, g.flag), Consequence: WillNotStart, When: whenOf(g.views),
		Message: fmt.Sprintf("kube-apiserver of %s has no flag --%s.", releaseList(g.views), name),
		Why:     p.exitsWhen(whenOf(g.views)),
		Fix:     "remove it" + p.byHand(),
	}
	if meant, ok := p.meantFlag(name); ok {
		out.Fix = "write " + meant + p.byHand()
		if a := g.flag.Arg; a != nil && g.flag.Origin == config.FromExtraArgs && sameWords(name, meant) && !p.given(meant) {
			out.Changes = p.changes(Change{Op: RenameArg, Arg: a, Flag: meant, Summary: "renamed " + a.Name + " to " + meant})
		}
	} else if had := releasesWith(name); len(had) > 0 {
		first, last := had[0], had[len(had)-1]
		switch {
		case g.views[0].Release.Before(first):
			out.Message = fmt.Sprintf("kube-apiserver of %s does not have the flag --%s yet; it comes with %s.", releaseList(g.views), name, first.MinorString())
			out.Fix = "add it when all servers have " + first.MinorString() + p.byHand()
		case last.Before(g.views[0].Release):
			out.Message = fmt.Sprintf("kube-apiserver of %s no longer has the flag --%s; %s is the last release with it.", releaseList(g.views), name, last.MinorString())
		}
	}
	p.Report(out)
}

// deprecatedSetting is MVP123.
var deprecatedSetting = &Rule{
	ID: "MVP123", Name: "deprecated-setting", Severity: Info,
	Doc: Doc{
		What:  "A flag or a feature gate of kube-apiserver that the running or the target release marks as deprecated.",
		Why:   "It still works. A later release removes it, and kube-apiserver of that release exits on it.",
		Fix:   "Remove it, or write what replaces it, before the release that no longer has it.",
		Facts: []string{"S8", "S8g"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, g := range p.flagsWhere(func(v View, f *config.Flag) bool {
			c := v.catalogue()
			if c == nil || f.Origin == config.FromKubeadm {
				return false
			}
			known, _ := c.Flag(flagName(f))
			return known.Deprecated
		}) {
			p.Report(Finding{
				Severity: Info, At: nameAt(p, g.flag), When: whenOf(g.views),
				Message: fmt.Sprintf("the flag %s is deprecated in %s.", flagName(g.flag), releaseList(g.views)),
				Why:     "a release that no longer has it does not start with it.",
				Fix:     "remove it, or write what replaces it",
			})
		}
		for _, v := range p.Views() {
			c := v.catalogue()
			if c == nil {
				continue
			}
			for _, e := range v.Gates.Entries {
				if spec, ok := c.Gate(e.Name, v.Effective); ok && e.Valid && spec.Stage == release.Deprecated && !spec.Locked {
					p.Report(Finding{
						Severity: Info, At: p.orFlags(lastEntry(v, e.Name)), When: v.When,
						Message: fmt.Sprintf("the feature gate %s is deprecated.", e.Name),
						Why:     "a release that no longer has it does not start with it.",
						Fix:     "remove it when what it switches is no longer needed",
					})
				}
			}
		}
	},
}

// flagGroup is a flag of one place and value with the servers that something holds for.
type flagGroup struct {
	flag  *config.Flag
	views []View
}

// flagsWhere returns the flags for which something holds, one group for each place, name and value.
func (p *Pass) flagsWhere(holds func(v View, f *config.Flag) bool) []flagGroup {
	type key struct {
		at          yamldoc.Place
		name, value string
	}
	var groups []flagGroup
	index := map[key]int{}
	for _, v := range p.Views() {
		if v.FlagsUnknown {
			continue
		}
		for i := range v.Flags {
			f := &v.Flags[i]
			if !holds(v, f) {
				continue
			}
			k := key{nameAt(p, f), f.Name, f.Value}
			at, ok := index[k]
			if !ok {
				at = len(groups)
				index[k] = at
				groups = append(groups, flagGroup{flag: f})
			}
			groups[at].views = append(groups[at].views, v)
		}
	}
	return groups
}

// catalogue returns what is known of the server's release, nil where nothing is.
func (v View) catalogue() *release.Catalogue {
	c, _ := release.CatalogueOf(v.Release)
	return c
}

// flagName is the name that kube-apiserver sees. An equals sign within it ends it (MVP002).
func flagName(f *config.Flag) string {
	name, _, _ := strings.Cut(f.Name, "=")
	return name
}

// unnamed tells whether it is not known which flag is meant.
func unnamed(f *config.Flag) bool { return flagName(f) == "" || config.PlaceholderIn(f.Spelling) != "" }

// nameAt returns where the name of a flag stands.
func nameAt(p *Pass, f *config.Flag) yamldoc.Place {
	if f.Arg != nil {
		return f.Arg.NameAt
	}
	return p.place(f)
}

// meantFlag returns the flag of both releases that a name that is none of theirs was probably meant to be.
func (p *Pass) meantFlag(name string) (flag string, ok bool) {
	var common []string
	for i, r := range p.Pair.releases() {
		c, known := release.CatalogueOf(r.Release)
		if !known {
			continue
		}
		if _, has := c.Flag(name); has {
			return "", false
		}
		var names []string
		for _, f := range c.Flags() {
			if i == 0 || common == nil || slices.Contains(common, f.Name) {
				names = append(names, f.Name)
			}
		}
		common = names
	}
	return release.Suggest(release.NormalizeFlag(name), common)
}

// sameWords tells whether two names differ in capitals and dashes only.
func sameWords(a, b string) bool {
	plain := strings.NewReplacer("-", "", "_", "")
	return strings.EqualFold(plain.Replace(a), plain.Replace(b))
}

// given tells whether a server gets a flag.
func (p *Pass) given(flag string) bool {
	for _, v := range p.Views() {
		if f := v.Flags.Last(flag); f != nil && f.Origin != config.FromKubeadm {
			return true
		}
	}
	return false
}

// releasesWith returns the known releases that have a flag, the oldest first.
func releasesWith(flag string) []release.Release {
	var with []release.Release
	for _, r := range release.Known() {
		c, _ := release.CatalogueOf(r)
		if _, ok := c.Flag(flag); ok {
			with = append(with, r)
		}
	}
	return with
}
