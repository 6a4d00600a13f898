package report

import (
	"fmt"
	"slices"
	"strings"
)

// rollPicture is a roll as a picture: a row a step, a column a node. All lengths are in pixels.
type rollPicture struct {
	ID, Caption, Title, Description string
	Width, Height                   int
	Columns                         []matrixText
	Rows                            []rollRow
	// Table is the same to read.
	Table *htmlTable
}

type rollRow struct {
	Y     int
	Label string
	// Absent is said in place of boxes where the roll has no such step.
	Absent string
	Boxes  []rollBox
	Arrows []rollArrow
}

// rollBox is a server.
type rollBox struct {
	Class, Release, State string
	X, Width, Middle      int
	Now                   bool // it is the one that the step replaces
}

// rollArrow leads from a server to the one that has what it lacks; a sign stands in its middle, at X and Y.
type rollArrow struct {
	Class, Line, Head string
	X, Y              int
}

const (
	rollBoxWidth  = 100
	rollGap       = 10
	rollBoxBottom = 70 // of the boxes of a row, below its top
	rollArrowRoom = 34 // below boxes with arrows
	rollRowGap    = 14
	rollTop       = 26
	rollLetter    = 9 // the width of a letter of a label, in a wide font
	rollArrows    = 5 // nodes up to which arrows are drawn; of more one sees nothing
)

// rollStep is a row of the pictures: the same step of both rolls, either of which may not have it.
type rollStep struct {
	label string
	// nodes are those whose servers it replaces.
	nodes []string
	steps [2]*PlanStep
	// down: the moment when the node's server is stopped.
	down bool
}

// newRollPictures draws the roll as configured and, where there is one, as patched, with the same steps beside each other.
func newRollPictures(r *PlanReport) []*rollPicture {
	if len(r.Order) == 0 || len(r.Steps) == 0 {
		return nil
	}
	rolls := []*PlanRoll{&r.PlanRoll}
	if r.Patched != nil && r.Patched.Refused == "" {
		rolls = append(rolls, &r.Patched.PlanRoll)
	}
	rows := rollSteps(r, rolls)
	captions := [2]string{"As configured", "Patched, and rolled out first"}
	pictures := make([]*rollPicture, len(rolls))
	for i := range rolls {
		pictures[i] = newRollPicture(r, fmt.Sprintf("roll-%d", i+1), captions[i], rows, i, len(rolls))
	}
	return pictures
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
			add("roll out on "+enumerate(nodes), ActionPrepare, nodes...)
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

func newRollPicture(r *PlanReport, id, caption string, rows []rollStep, roll, rolls int) *rollPicture {
	p := &rollPicture{
		ID: id, Caption: caption, Title: "The roll: " + strings.ToLower(caption[:1]) + caption[1:],
		Width: len(r.Order)*(rollBoxWidth+rollGap) - rollGap,
		Table: &htmlTable{Caption: caption, Head: append([]string{"Step"}, r.Order...)},
	}
	p.Width = max(p.Width, 300) // for the words
	for i, node := range r.Order {
		p.Columns = append(p.Columns, matrixText{Text: clip(node, 14), X: i*(rollBoxWidth+rollGap) + rollBoxWidth/2, Y: 14})
	}
	var says []string
	y := rollTop
	for i := range rows {
		row := rollRow{Y: y, Label: clip(rows[i].label, p.Width/rollLetter)}
		cells := htmlCells(rows[i].label)
		if s := rows[i].steps[roll]; s == nil {
			row.Absent = "no such step"
			for range r.Order {
				cells = append(cells, htmlCell{Text: unknown})
			}
		} else {
			moment := &s.PlanMoment
			if rows[i].down {
				moment = s.Replacing
			}
			if moment == nil {
				moment = &PlanMoment{}
			}
			row.Boxes = r.boxes(&rows[i], s, moment)
			for _, b := range row.Boxes {
				cells = append(cells, htmlCell{Text: b.Release + ": " + b.State, Class: boxCellClass(b.Class)})
			}
			if len(r.Order) <= rollArrows {
				row.Arrows = r.arrows(moment)
			}
			says = append(says, rows[i].label+": "+cellOf(s, rows[i].down).text)
		}
		p.Rows = append(p.Rows, row)
		p.Table.Rows = append(p.Table.Rows, cells)
		y += rollBoxBottom + rollRowGap
		if len(r.Order) <= rollArrows && rows[i].crosses(rolls) {
			y += rollArrowRoom
		}
	}
	p.Height = y
	p.Description = strings.Join(says, ". ") + "."
	return p
}

// crosses tells whether any of the rolls has an arrow at a step: then both leave room for it.
func (s *rollStep) crosses(rolls int) bool {
	for _, step := range s.steps[:rolls] {
		if step == nil {
			continue
		}
		m := &step.PlanMoment
		if s.down {
			m = step.Replacing
		}
		if m != nil && len(m.FalseNotFound)+len(m.HandedOff)+len(m.Unknown) > 0 {
			return true
		}
	}
	return false
}

// boxes are the servers at a moment of a step.
func (r *PlanReport) boxes(row *rollStep, s *PlanStep, m *PlanMoment) []rollBox {
	boxes := make([]rollBox, len(r.Order))
	for i, node := range r.Order {
		b := rollBox{X: i * (rollBoxWidth + rollGap), Width: rollBoxWidth - 2, Middle: rollBoxWidth / 2, Now: slices.Contains(row.nodes, node)}
		release, runs := s.Releases[node]
		b.Release = clip(shortRelease(release), 13)
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
		if b.Class == "" && release == r.To {
			b.Class = "new"
		}
		boxes[i] = b
	}
	return boxes
}

// serverState says in two or three words what a server answers; the class is empty where there is nothing to see.
func (m *PlanMoment) serverState(node string) (class, says string) {
	for _, certain := range []bool{true, false} {
		if slices.Contains(m.crashing(certain), node) {
			if certain {
				return "bad", "crashes"
			}
			return "unsure", "may crash"
		}
	}
	of := func(routes []PlanRoute, inside bool) int {
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
		routes []PlanRoute
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
			return part.class, fmt.Sprintf(part.says, n)
		}
	}
	if slices.Contains(m.Blind, node) {
		return "unsure", "not known"
	}
	return "", "ok"
}

func boxCellClass(class string) string {
	if class == "good" || class == "bad" || class == "unsure" {
		return class
	}
	return ""
}

// arrows lead from each server to the nearest one that has what it lacks.
func (r *PlanReport) arrows(m *PlanMoment) []rollArrow {
	var arrows []rollArrow
	drawn := map[string]bool{}
	for _, part := range []struct {
		routes []PlanRoute
		class  string
	}{{m.FalseNotFound, "bad"}, {m.Unknown, "unsure"}, {m.HandedOff, "good"}} {
		for i := range part.routes {
			route := &part.routes[i]
			from := slices.Index(r.Order, route.Server)
			to := -1
			for _, name := range route.ServedBy {
				if k := slices.Index(r.Order, name); k >= 0 && (to < 0 || distance(k, from) < distance(to, from)) {
					to = k
				}
			}
			key := fmt.Sprint(part.class, from, to)
			if route.Subresource || from < 0 || to < 0 || from == to || drawn[key] {
				continue
			}
			drawn[key] = true
			arrows = append(arrows, newRollArrow(part.class, from, to))
		}
	}
	return arrows
}

func distance(a, b int) int { return max(a-b, b-a) }

// newRollArrow is an arc below the boxes. It ends beside the middle of a box, so that two do not meet.
func newRollArrow(class string, from, to int) rollArrow {
	const aside = 16
	side := aside
	if to < from {
		side = -aside
	}
	x1 := from*(rollBoxWidth+rollGap) + rollBoxWidth/2 + side
	x2 := to*(rollBoxWidth+rollGap) + rollBoxWidth/2 - side
	top, deep := rollBoxBottom, rollBoxBottom+16+10*distance(from, to)
	if distance(from, to) > 2 {
		deep = rollBoxBottom + 36
	}
	// The curve's middle is at three quarters of the depth of its handles.
	x, y := (x1+x2)/2, top+(deep-top)*3/4
	return rollArrow{
		Class: class,
		Line:  fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, top, x1, deep, x2, deep, x2, top+6),
		Head:  fmt.Sprintf("M%d %dl-5 9h10z", x2, top-1),
		X:     x, Y: y,
	}
}
