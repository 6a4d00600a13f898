package report

import (
	"slices"
	"strings"
)

// maxMatrix is how many servers have a matrix of their pairs.
const maxMatrix = 12

// newMatrix shows the pairs of servers.
func newMatrix(names []string, pairs []Pair) Matrix {
	m := Matrix{Names: texts(names), Of: len(pairs), Reasons: groupPairs(len(names), pairs)}
	verdicts := make(map[[2]string]string, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		verdicts[[2]string{p.From, p.To}] = pairVerdict(p.Verdict)
		if p.Verdict == "yes" {
			m.Yes++
		}
	}
	if len(names) > maxMatrix {
		return m
	}
	for i, from := range names {
		row := make([]string, len(names))
		for k, to := range names {
			switch verdict, known := verdicts[[2]string{from, to}]; {
			case i == k:
				row[k] = unknown
			case known:
				row[k] = verdict
			default:
				row[k] = "?"
			}
		}
		m.Verdicts = append(m.Verdicts, row)
	}
	return m
}

func pairVerdict(verdict string) string {
	switch verdict {
	case "yes", "no":
		return verdict
	}
	return "?"
}

// who is the pairs of a reason in words.
func (r *PairReason) who() Text { return join(r.From, ", ") + " -> " + join(r.To, ", ") }

// pairGroup is all pairs of some servers with some others that have a verdict for the same reasons.
type pairGroup struct {
	from, to []string
	toAll    bool // to stands for all others
	verdict  string
	reasons  []string
}

// groupPairs puts the pairs that are not yes together: what one server has with all others is one group, whichever way
// round.
func groupPairs(servers int, pairs []Pair) []PairReason {
	const sep = "\x00"
	var byFrom []pairGroup
	index := map[string]int{}
	for i := range pairs {
		p := &pairs[i]
		verdict := pairVerdict(p.Verdict)
		if verdict == "yes" {
			continue
		}
		key := strings.Join(append([]string{p.From, verdict}, p.Reasons...), sep)
		at, ok := index[key]
		if !ok {
			at = len(byFrom)
			index[key] = at
			byFrom = append(byFrom, pairGroup{from: []string{p.From}, verdict: verdict, reasons: p.Reasons})
		}
		byFrom[at].to = append(byFrom[at].to, p.To)
	}

	others := servers - 1
	var groups []pairGroup
	clear(index)
	for _, g := range byFrom {
		key := strings.Join(slices.Concat(g.to, []string{"", g.verdict}, g.reasons), sep)
		if g.toAll = len(g.to) == others && others > 1; g.toAll {
			g.to = []string{"all others"}
			key = strings.Join(append([]string{g.verdict}, g.reasons...), sep)
		}
		if at, ok := index[key]; ok {
			groups[at].from = append(groups[at].from, g.from...)
			continue
		}
		index[key] = len(groups)
		groups = append(groups, g)
	}
	out := make([]PairReason, len(groups))
	for i := range groups {
		g := &groups[i]
		switch n := len(g.from); {
		case g.toAll && n == others+1:
			g.from = []string{"each server"}
		case !g.toAll && n == others && n > 1 && len(g.to) == 1:
			g.from = []string{"all others"}
		}
		out[i] = PairReason{g.verdict, texts(g.from), texts(g.to), texts(g.reasons)}
	}
	return out
}
