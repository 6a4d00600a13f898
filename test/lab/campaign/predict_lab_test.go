//go:build lab && linux

package campaign

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/test/lab"
)

// prediction is what mvpcheck says of one server in one role.
type prediction struct {
	as string
	// exits are the rules that say that the server will not start, refused those that say that kubeadm does not take the file,
	// each with its message; unknown are those that could not be judged, with the reason.
	exits, refused, unknown []verdict
}

type verdict struct{ rule, text string }

// outcome is what the prediction comes to; known is false where mvpcheck cannot tell.
func (p prediction) outcome() (o outcome, known bool) {
	switch {
	case len(p.refused) > 0:
		return refused, true
	case len(p.exits) > 0:
		return exits, true
	}
	return starts, len(p.unknown) == 0
}

func (p prediction) String() string {
	o, known := p.outcome()
	text := string(o)
	if !known {
		text = "cannot tell"
	}
	for _, v := range slices.Concat(p.refused, p.exits, p.unknown) {
		text += fmt.Sprintf("\n  %s: %s", v.rule, v.text)
	}
	return text
}

// predict asks mvpcheck about a server with a kubeadm configuration as it is, and as the running and as the new one of an
// upgrade. root is the node's file system, empty where there is none.
func predict(a *attempt, text []byte, of lab.Release, root string) []prediction {
	in, err := config.Read("cluster.yaml", text)
	if err != nil {
		a.Fatalf("mvpcheck reads the configuration: %v", err)
	}
	r, err := release.Parse(of.Version)
	if err != nil {
		a.Fatalf("%v", err)
	}
	ask := func(as string, pair checks.Pair, when checks.When) prediction {
		p := prediction{as: as}
		res := checks.Run(checks.Input{Cluster: in.Clusters[0], Pair: pair, Root: root, Now: time.Now(), CertDays: 30}, checks.All())
		for _, f := range res.Findings {
			v := verdict{f.Rule.ID, strings.Join([]string{f.Message, f.Why}, " ")}
			switch {
			case !slices.Contains(f.When, when):
			case f.Consequence == checks.WillNotStart:
				p.exits = append(p.exits, v)
			case f.Consequence == checks.RefusedByKubeadm:
				p.refused = append(p.refused, v)
			}
		}
		for _, n := range res.Unknown {
			p.unknown = append(p.unknown, verdict{n.Rule.ID, n.Reason})
		}
		return p
	}
	return []prediction{
		ask("it is", checks.Pair{From: r, To: r}, checks.Running),
		ask("the running one", checks.Pair{From: r, To: r.Next(), Upgrade: true}, checks.Running),
		ask("the new one", checks.Pair{From: r.Prev(), To: r, Upgrade: true}, checks.Target),
	}
}
