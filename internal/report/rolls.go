package report

import (
	"fmt"
	"slices"
	"strings"
)

// rollStep is a row of the rolls: the same step of both, either of which may not have it.
type rollStep struct {
	label string
	// nodes are those whose servers it replaces.
	nodes []string
	steps [2]*PlanStep
	// down: the moment when the node's server is stopped.
	down bool
}

// moment is the one of the step of a roll that a row shows; nil where the roll has no such step.
func (s *rollStep) moment(roll int) *PlanMoment {
	switch step := s.steps[roll]; {
	case step == nil:
		return nil
	case !s.down:
		return &step.PlanMoment
	case step.Replacing == nil:
		return &PlanMoment{}
	default:
		return step.Replacing
	}
}

// rolls are the roll as configured and, where there is one, as patched, with the same steps beside each other.
func rolls(r *PlanReport) []Roll {
	if len(r.Order) == 0 || len(r.Steps) == 0 {
		return nil
	}
	all := []*PlanRoll{&r.PlanRoll}
	if r.isPatched() {
		all = append(all, &r.Patched.PlanRoll)
	}
	rows := rollSteps(r, all)
	captions := [2]string{"As configured", "Patched, and rolled out first"}
	out := make([]Roll, len(all))
	for i := range all {
		out[i] = r.roll(captions[i], rows, i)
	}
	return out
}

// rollSteps puts the steps of the rolls beside each other. Preparing steps at which nothing is wrong are one row.
func rollSteps(r *PlanReport, rolls []*PlanRoll) []rollStep {
	var rows []rollStep
	add := func(label, action string, nodes ...string) {
		node := nodes[len(nodes)-1]
		row := rollStep{label: label, nodes: nodes}
		down := rollStep{label: node + " is stopped", nodes: nodes, down: true}
		worth := false
		for i, roll := range rolls {
			s := stepOf(roll.Steps, action, node)
			row.steps[i], down.steps[i] = s, s
			worth = worth || s != nil && s.Replacing != nil && tells(cellOf(s, true), planCell{}, cellOf(s, false))
		}
		if row.steps == [2]*PlanStep{} {
			return
		}
		if worth {
			rows = append(rows, down)
		}
		rows = append(rows, row)
	}
	add("now", ActionNone, "")
	if len(rolls) > 1 {
		var nodes []string
		calm := true
		for i := range rolls[1].Steps {
			if s := &rolls[1].Steps[i]; s.Action == ActionPrepare {
				nodes = append(nodes, s.Node)
				calm = calm && cellOf(s, true).level == "" && cellOf(s, false).level == ""
			}
		}
		if calm && len(nodes) > 1 {
			add("roll out on "+few(nodes), ActionPrepare, nodes...)
		} else {
			for _, node := range nodes {
				add("roll out on "+node, ActionPrepare, node)
			}
		}
	}
	for _, node := range r.Order {
		add("upgrade "+node, ActionUpgrade, node)
	}
	return rows
}

func (r *PlanReport) roll(caption string, rows []rollStep, roll int) Roll {
	out := Roll{Caption: caption, Nodes: texts(r.Order)}
	var says []string
	for i := range rows {
		row := RollRow{Label: Text(rows[i].label), Crossed: rows[i].crosses()}
		if m := rows[i].moment(roll); m != nil {
			s := rows[i].steps[roll]
			row.Boxes, row.Arrows = r.boxes(&rows[i], s, m), r.arrows(m)
			says = append(says, rows[i].label+": "+cellOf(s, rows[i].down).text)
		}
		out.Rows = append(out.Rows, row)
	}
	out.Says = Text(strings.Join(says, ". ") + ".")
	return out
}

// crosses tells whether any of the rolls has an arrow at a step: then both leave room for it.
func (s *rollStep) crosses() bool {
	for roll := range s.steps {
		if m := s.moment(roll); m != nil && len(m.FalseNotFound)+len(m.HandedOff)+len(m.Unknown) > 0 {
			return true
		}
	}
	return false
}

// boxes are the servers at a moment of a step.
func (r *PlanReport) boxes(row *rollStep, s *PlanStep, m *PlanMoment) []RollBox {
	boxes := make([]RollBox, len(r.Order))
	for i, node := range r.Order {
		b := RollBox{Now: slices.Contains(row.nodes, node)}
		release, runs := s.Releases[node]
		b.Release = shortRelease(Text(release))
		switch {
		case row.down && node == s.Node:
			b.Class, b.State = "off", "stopped"
		case !row.down && slices.ContainsFunc(s.NotStarting, func(f PlanFailure) bool { return f.Node == node }):
			b.Class, b.State = "bad", "won't start"
		case !runs:
			b.Class, b.State = "off", "does not run"
		default:
			b.Class, b.State = m.serverState(node)
		}
		if !runs {
			b.Release = unknown
		}
		if b.Class == "" && release == string(r.To) {
			b.Class = "new"
		}
		boxes[i] = b
	}
	return boxes
}

// serverState says in two or three words what a server answers; the class is empty where there is nothing to see.
func (m *PlanMoment) serverState(node string) (class string, says Text) {
	for _, certain := range []bool{true, false} {
		if slices.Contains(m.crashing(certain), node) {
			if certain {
				return "bad", "crashes"
			}
			return "unsure", "may crash"
		}
	}
	of := func(routes []Route, inside bool) int {
		resources, subresources := 0, 0
		for i := range routes {
			switch r := &routes[i]; {
			case r.Server != node || r.Subresource != inside:
			case strings.Contains(r.Resource, "/"):
				subresources++
			default:
				resources++
			}
		}
		if resources == 0 {
			return subresources
		}
		return resources
	}
	for _, part := range []struct {
		routes []Route
		inside bool
		class  string
		says   string
	}{
		{m.FalseNotFound, false, "bad", "404 for %d"},
		{m.Unavailable, false, "unsure", "503 for %d"},
		{m.Unknown, false, "unsure", "unsure of %d"},
		{m.HandedOff, false, "good", "hands on %d"},
		{m.FalseNotFound, true, "", "404 for %d sub."},
	} {
		if n := of(part.routes, part.inside); n > 0 {
			return part.class, Text(fmt.Sprintf(part.says, n))
		}
	}
	if slices.Contains(m.Blind, node) {
		return "unsure", "not known"
	}
	return "", "ok"
}

// arrows lead from each server to the nearest one that has what it lacks.
func (r *PlanReport) arrows(m *PlanMoment) []RollArrow {
	var arrows []RollArrow
	for _, part := range []struct {
		routes []Route
		tone   Tone
	}{{m.FalseNotFound, Bad}, {m.Unknown, Unsure}, {m.HandedOff, Good}} {
		for i := range part.routes {
			route := &part.routes[i]
			from := slices.Index(r.Order, route.Server)
			to := -1
			for _, name := range route.ServedBy {
				if k := slices.Index(r.Order, name); k >= 0 && (to < 0 || distance(k, from) < distance(to, from)) {
					to = k
				}
			}
			arrow := RollArrow{part.tone, from, to}
			if !route.Subresource && from >= 0 && to >= 0 && from != to && !slices.Contains(arrows, arrow) {
				arrows = append(arrows, arrow)
			}
		}
	}
	return arrows
}

func distance(a, b int) int { return max(a-b, b-a) }
