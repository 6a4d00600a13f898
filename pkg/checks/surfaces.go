package checks

import (
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/pkg/handoff"
	"github.com/mvpcheck/mvpcheck/pkg/release"
)

// lacking is what the servers of the running and of the target release lack of each other with the settings of the
// configuration. A subresource of a resource that both have does not count: no setting makes a server hand it off (MVP518).
type lacking struct {
	// known is false where the configuration or the catalogue does not tell, and where the target is not known yet.
	known bool
	// old is how many resources only the target serves, young how many only the running release serves.
	old, young int
}

// lacking compares what the servers serve.
func (p *Pass) lacking() lacking {
	if p.Pair.From.SameMinor(p.Pair.To) {
		return lacking{}
	}
	running, target := servedByAll(p.At(Running)), servedByAll(p.At(Target))
	if running == nil || target == nil {
		return lacking{}
	}
	return lacking{known: true, old: countLacking(running, target), young: countLacking(target, running)}
}

// nothing tells that the servers serve the same, so that there is nothing to hand off.
func (l lacking) nothing() bool { return l.known && l.old == 0 && l.young == 0 }

// skipSame says so.
func (p *Pass) skipSame() {
	p.Skip("%s and %s serve the same resources with these settings: there is nothing to hand off", p.Pair.From.MinorString(), p.Pair.To.MinorString())
}

// only says what one of the releases serves alone, in a number where it is known.
func only(n int, known bool, r release.Release) string {
	if !known {
		return "what only " + r.MinorString() + " serves"
	}
	return fmt.Sprintf("%s that only %s serves", plural(n, "resource", "resources"), r.MinorString())
}

// servedByAll are the resources of servers that are set up alike; nil where they are not, or it is not known.
func servedByAll(views []View) handoff.Resources {
	var served handoff.Resources
	for i, v := range views {
		var s ConfiguredServer
		s.readServed(v)
		switch {
		case s.Serves == nil:
			return nil
		case i > 0 && (countLacking(served, s.Serves) > 0 || countLacking(s.Serves, served) > 0):
			return nil
		}
		served = s.Serves
	}
	return served
}

// countLacking counts the resources that the first lack and the others have.
func countLacking(served, others handoff.Resources) int {
	n := 0
	for r := range others {
		if !served[r] && !strings.Contains(r.Name, "/") {
			n++
		}
	}
	return n
}
