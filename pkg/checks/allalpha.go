package checks

import (
	"fmt"

	"github.com/mvpcheck/mvpcheck/pkg/release"
)

// gateThroughAllAlpha is MVP111.
var gateThroughAllAlpha = &Rule{
	ID: "MVP111", Name: "gate-through-all-alpha", Severity: Warning,
	Doc: Doc{
		What:  "The gate " + release.Gate + " is on because AllAlpha=true turns on every alpha gate.",
		Why:   "AllAlpha turns on whatever else is alpha in each release; from 1.36 on the hand-off's gate is beta and AllAlpha says nothing about it. Since dependencies between gates are checked, a later release may not start with it.",
		Fix:   "Name the gate, and take AllAlpha away.",
		Facts: []string{"S5"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
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
