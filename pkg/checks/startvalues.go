package checks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/startup"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// badRuntimeConfig is MVP124.
var badRuntimeConfig = &Rule{
	ID: "MVP124", Name: "bad-runtime-config", Severity: Error,
	Doc: Doc{
		What:  "runtime-config of kube-apiserver names an API group or version that the release does not have, has a value other than true or false, or switches off what the server cannot do without.",
		Why:   "kube-apiserver exits at start. Beta versions of an API are removed after some releases, so a setting that did no harm stops the next one.",
		Fix:   "Remove the entry, or write group/version=true or =false with a version that the release has.",
		Facts: []string{"S8k"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			if v.catalogue() == nil || v.FlagsUnknown || v.unknown(release.FlagRuntimeConfig) {
				continue
			}
			flags := v.Flags.All(release.FlagRuntimeConfig)
			if len(flags) == 0 {
				continue
			}
			for _, problem := range v.server().RuntimeConfigProblems(release.ParseRuntimeConfig(v.values(release.FlagRuntimeConfig))) {
				entry := strings.TrimSpace(flags[problem.Span.Value].Value[problem.Span.Offset:problem.Span.End()])
				p.reportForBoth(Finding{
					Severity: Error, At: part(flags[problem.Span.Value], problem.Span.Offset, problem.Span.Length), Consequence: WillNotStart, When: v.When,
					Message: fmt.Sprintf("runtime-config %s: %s.", quoted(entry), problem.Reason),
					Why:     p.exitsWhen(v.When),
					Fix:     "correct the entry, or remove it" + p.byHand(),
				})
			}
		}
	},
}

// forward tells whether the server keeps what comes after the release that it emulates, or may do so.
func (v View) forward() bool {
	return v.unknown(release.FlagForwardCompatible) || v.unknown(release.FlagRuntimeForwardCompatible) ||
		v.on(release.FlagForwardCompatible) || v.on(release.FlagRuntimeForwardCompatible)
}

// on tells whether a flag that is true or false is on; a value that is neither is the matter of MVP125.
func (v View) on(flag string) bool {
	f := v.Flags.Last(flag)
	if f == nil {
		return false
	}
	on, err := strconv.ParseBool(f.Value)
	return err == nil && on
}

// badFlagValue is MVP125.
var badFlagValue = &Rule{
	ID: "MVP125", Name: "bad-flag-value", Severity: Error,
	Doc: Doc{
		What:  "A flag of kube-apiserver has a value that it cannot read (a duration without a unit, a boolean that is none), that is out of range, that is none of those that the flag takes, or that does not go with another flag.",
		Why:   "kubeadm passes values on unchecked, and kube-apiserver exits at start.",
		Fix:   "Write a value that the flag takes.",
		Facts: []string{"S8k"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			c := v.catalogue()
			if c == nil || v.FlagsUnknown {
				continue
			}
			p.reportVersion(v)
			for _, problem := range startup.ValueProblems(c, settings(v), v.Effective) {
				f := &v.Flags[problem.Setting]
				if slices.Contains(addressFlags, f.Name) && f == v.Flags.Last(f.Name) {
					continue
				}
				p.reportForBoth(Finding{
					Severity: Error, At: p.place(f), Consequence: WillNotStart, When: v.When,
					Message: fmt.Sprintf("%s %s %s.", flagName(f), quoted(f.Value), problem.Reason),
					Why:     p.exitsWhen(v.When),
					Fix:     "correct the value" + p.byHand(),
				})
			}
		}
	},
}

// addressFlags are those whose values MVP301 and MVP306 judge: the last one of each, which counts once all can be read.
var addressFlags = []string{release.FlagAdvertiseAddress, release.FlagBindAddress, release.FlagSecurePort}

// reportVersion reports --emulated-version and --min-compatibility-version.
func (p *Pass) reportVersion(v View) {
	err := v.VersionError
	if err == nil {
		return
	}
	f := v.Flags.All(err.Flag)[err.Value]
	out := Finding{
		Severity: Error, At: p.place(f), Consequence: WillNotStart, When: v.When,
		Message: fmt.Sprintf("%s %s %s.", err.Flag, quoted(err.Text), err.Reason),
		Why:     p.exitsWhen(v.When),
		Fix:     "correct the value" + p.byHand(),
	}
	if err.Flag == release.FlagEmulatedVersion {
		out.Fix = "name a release from three before the server's up to its own, as 1.35" + p.byHand()
	}
	p.reportForBoth(out)
}

// reportForBoth reports a finding, or adds to the one of the other release at the same place, in whose words it stands.
func (p *Pass) reportForBoth(f Finding) {
	for i := range p.findings {
		if g := &p.findings[i]; g.At == f.At && len(g.When) == 1 && len(f.When) == 1 && g.When[0] != f.When[0] {
			g.When = []When{Running, Target}
			g.Why = p.exitsWhen(g.When)
			return
		}
	}
	p.Report(f)
}

// settings is the command line of a server as package startup takes it.
func settings(v View) []startup.Setting {
	line := make([]startup.Setting, 0, len(v.Flags))
	for _, f := range v.Flags {
		s := startup.Setting{Flag: f.Name, Value: f.Value, Unknown: f.Unknown}
		// kubeadm writes name=value as it is, so what stands behind an equals sign of the name is part of the value.
		if name, rest, ok := strings.Cut(f.Spelling, "="); ok {
			s.Flag, s.Value = name, rest+"="+f.Value
		}
		if config.PlaceholderIn(f.Spelling) != "" {
			s.Unknown = true
		}
		line = append(line, s)
	}
	return line
}
