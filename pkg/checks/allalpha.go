package checks

import (
	"fmt"

	"github.com/mvpcheck/mvpcheck/pkg/release"
)

// gateThroughAllAlpha is MVP111.
var gateThroughAllAlpha = &Rule{
	ID: "MVP111", Name: "gate-through-all-alpha", Severity: Error,
	Doc: Doc{
		What:  "AllAlpha=true turns on every alpha gate, up to 1.35 " + release.Gate + " among them. On 1.37 kube-apiserver exits with it, unless GenericWorkload is on too: alpha gates depend on that one.",
		Why:   "AllAlpha turns on whatever else is alpha in each release; from 1.36 on the hand-off's gate is beta and AllAlpha says nothing about it. Since dependencies between gates are checked, a later release may not start with it.",
		Fix:   "Name the gate, and take AllAlpha away.",
		Facts: []string{"S5"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			if v.FlagsUnknown || !lacksGenericWorkload(v) {
				continue
			}
			p.Report(Finding{
				Severity: Error, At: p.orFlags(lastEntry(v, release.AllAlpha)), Consequence: WillNotStart, When: v.When,
				Message: fmt.Sprintf("AllAlpha=true: kube-apiserver of %s exits at start.", v.Release.MinorString()),
				Why:     "alpha gates that it turns on depend on GenericWorkload, which is off by default.",
				Fix:     "write " + gateOnText + " and take AllAlpha away",
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
				Severity: Warning, At: p.orFlags(lastEntry(v, release.AllAlpha)),
				Message: "AllAlpha=true turns on every alpha gate of kube-apiserver.",
				Why: fmt.Sprintf("it turns on %s up to 1.35 and says nothing about it from 1.36 on, where it is beta; what else it turns on changes with each release.",
					release.Gate),
				Fix: "write " + gateOnText + " and take AllAlpha away",
			})
			return
		}
	},
}

// lacksGenericWorkload tells whether AllAlpha turns on gates without the one that they depend on: measured on 1.37.2.
func lacksGenericWorkload(v View) bool {
	if all, set := v.Gates.Explicit(release.AllAlpha); !set || !all || v.Release.Minor() < 37 || !v.Emulated.SameMinor(v.Release) {
		return false
	}
	if on, set := v.Gates.Explicit("GenericWorkload"); set {
		return !on
	}
	beta, set := v.Gates.Explicit(release.AllBeta)
	return !set || !beta
}
