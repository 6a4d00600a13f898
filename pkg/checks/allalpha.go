package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// gateThroughAllAlpha is MVP111.
var gateThroughAllAlpha = &Rule{
	ID: "MVP111", Name: "gate-through-all-alpha", Severity: Error,
	Doc: Doc{
		What: "AllAlpha=true turns on every alpha gate, up to 1.35 " + release.Gate + " among them. On 1.37 " +
			"kube-apiserver exits with it, unless GenericWorkload is on too: alpha gates depend on that one.",
		Why: "AllAlpha turns on whatever else is alpha in each release; from 1.36 on the hand-off's gate is beta " +
			"and AllAlpha says nothing about it. Since dependencies between gates are checked, a later release may " +
			"not start with it.",
		Fix:   "Name the gate, and take AllAlpha away.",
		Facts: []string{"S5"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			needs := neededByAllAlpha(v)
			if len(needs) == 0 {
				continue
			}
			p.Report(Finding{
				Severity: Error, Subject: release.AllAlpha, At: p.orFlags(lastEntry(v, release.AllAlpha)),
				Consequence: WillNotStart, When: v.When,
				Message: fmt.Sprintf("AllAlpha=true: kube-apiserver of %s exits at start.", v.Release.MinorString()),
				Why: fmt.Sprintf("alpha gates that it turns on depend on %s, which is off.",
					strings.Join(needs, ", ")),
				Fix: "write " + gateOnText + " and take AllAlpha away",
			})
		}
		if len(p.findings) > 0 {
			return
		}
		for _, v := range p.Views() {
			if on, set := v.Gates.Explicit(release.AllAlpha); !set || !on || v.FlagsUnknown {
				continue
			}
			p.Report(Finding{
				Severity: Warning, Subject: release.AllAlpha, At: p.orFlags(lastEntry(v, release.AllAlpha)),
				Message: "AllAlpha=true turns on every alpha gate of kube-apiserver.",
				Why: fmt.Sprintf("it turns on %s up to 1.35 and says nothing about it from 1.36 on, where it is beta; "+
					"what else it turns on changes with each release.",
					release.Gate),
				Fix: "write " + gateOnText + " and take AllAlpha away",
			})
			return
		}
	},
}

// neededByAllAlpha returns the gates that are off and that alpha gates which AllAlpha turns on need, sorted.
func neededByAllAlpha(v View) []string {
	var needs []string
	for _, r := range v.apis.refusals() {
		if r.Kind == release.MissingDependency && byAllAlpha(v, r) {
			needs = append(needs, r.Needs...)
		}
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}
