package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// steps are the rolls as configured and patched side by side. Where nothing differs and every server starts they are
// calm.
func (r *PlanReport) steps() Steps {
	rows := planRows(r)
	wrong := slices.ContainsFunc(rows, func(row planRow) bool { return row.configured.level+row.patched.level != "" })
	s := Steps{
		Calm:    !r.differs() && !wrong,
		Partial: len(r.Steps) == 0,
		Stopped: facts("As configured", Text(r.Stopped)), Rolls: rolls(r),
		Table: Table{
			ID: "steps", Title: "The steps", Caption: "What the servers answer when a step is done",
			Columns: []Column{{Head: "Step"}, {Head: "As configured"}},
		},
	}
	patched := r.isPatched()
	if patched {
		s.Table.Columns = append(s.Table.Columns, Column{Head: "Patched, rolled out first"})
		s.Stopped = append(s.Stopped, facts("Patched", Text(r.Patched.Stopped))...)
	}
	for i := range rows {
		cells := []Cell{{Text: Text(rows[i].label())}, rows[i].configured.cell()}
		if patched {
			cells = append(cells, rows[i].patched.cell())
		}
		s.Table.Rows = append(s.Table.Rows, cells)
	}
	return s
}

// cell has the tone of what is wrong for what is said before the resources.
func (c planCell) cell() Cell {
	out := Cell{Text: Text(c.text)}
	switch {
	case c.text == "ok":
		out.Tone = Good
	case c.level != "":
		out.Tone = map[Severity]Tone{SeverityError: Bad, SeverityWarning: Warn, SeverityInfo: Info}[c.level]
	}
	if out.Lead = strings.Index(c.text, " for "); out.Lead < 0 {
		out.Lead = len(c.text)
	}
	return out
}

// planRow is a line of a plan's table: a step, or several in turn of which the same is to be said.
type planRow struct {
	action string
	nodes  []string
	// down: the moment when the node's server is stopped.
	down bool
	// configured and patched are the two ways of the roll.
	configured, patched planCell
}

// planCell is what the servers answer at one moment of one roll; the zero cell is for a roll without that moment.
type planCell struct {
	text string
	// level is empty where nothing is wrong.
	level Severity
}

// label says which step a row is.
func (row *planRow) label() string {
	nodes := few(row.nodes)
	switch {
	case row.down:
		return nodes + " is stopped"
	case row.action == ActionPrepare:
		return "roll out on " + nodes
	case row.action == ActionUpgrade:
		return "upgrade " + nodes
	}
	return "now"
}

// planRows puts the two rolls side by side.
func planRows(r *PlanReport) []planRow {
	var patched []PlanStep
	if r.Patched != nil {
		patched = r.Patched.Steps
	}
	var rows []planRow
	prepares := slices.DeleteFunc(slices.Clone(patched), func(s PlanStep) bool { return s.Action != ActionPrepare })
	add := func(a, b *PlanStep) {
		step := cmp.Or(a, b)
		if step == nil {
			return
		}
		row := planRow{action: step.Action, configured: cellOf(a, false), patched: cellOf(b, false)}
		if step.Node != "" {
			row.nodes = []string{step.Node}
		}
		down := row
		down.down, down.configured, down.patched = true, cellOf(a, true), cellOf(b, true)
		var before planRow
		if len(rows) > 0 {
			before = rows[len(rows)-1]
		}
		if tells(down.configured, before.configured, row.configured) || tells(down.patched, before.patched, row.patched) {
			rows = append(rows, down)
		} else if before.says(&row) {
			rows[len(rows)-1].nodes = append(rows[len(rows)-1].nodes, row.nodes...)
			return
		}
		rows = append(rows, row)
	}
	add(stepOf(r.Steps, ActionNone, ""), stepOf(patched, ActionNone, ""))
	for i := range prepares {
		add(nil, &prepares[i])
	}
	for _, node := range r.Order {
		add(stepOf(r.Steps, ActionUpgrade, node), stepOf(patched, ActionUpgrade, node))
	}
	return rows
}

// says tells whether a row says the same of a step as another says of the next.
func (row *planRow) says(next *planRow) bool {
	return row.action == next.action && !row.down && row.configured == next.configured && row.patched == next.patched
}

// tells whether the moment of a stopped server is worth a line: something is wrong that the lines beside it do not say.
func tells(down, before, after planCell) bool {
	return down.level != "" && down != before && down != after
}

func stepOf(steps []PlanStep, action, node string) *PlanStep {
	i := slices.IndexFunc(steps, func(s PlanStep) bool { return s.Action == action && s.Node == node })
	if i < 0 {
		return nil
	}
	return &steps[i]
}

func cellOf(s *PlanStep, down bool) planCell {
	switch {
	case s == nil, down && s.Replacing == nil:
		return planCell{}
	case down:
		return s.Replacing.cell(nil)
	}
	return s.cell(s.NotStarting)
}

// cell says what is wrong at a moment.
func (m *PlanMoment) cell(notStarting []PlanFailure) planCell {
	var c planCell
	add := func(level Severity, format string, args ...any) {
		if c.text != "" {
			c.text += "; "
		}
		if c.level == "" || level.rank() < c.level.rank() {
			c.level = level
		}
		c.text += fmt.Sprintf(format, args...)
	}
	var stopped []string
	for _, f := range notStarting {
		if !slices.Contains(stopped, f.Node) {
			stopped = append(stopped, f.Node)
		}
	}
	if len(stopped) == 1 {
		add(SeverityError, "%s does not start", stopped[0])
	} else if len(stopped) > 1 {
		add(SeverityError, "%s do not start", few(stopped))
	}
	for _, certain := range []bool{true, false} {
		if servers := m.crashing(certain); len(servers) > 0 && certain {
			add(SeverityError, "crash on their peers: %s", few(servers))
		} else if len(servers) > 0 {
			add(SeverityWarning, "may crash on their peers: %s", few(servers))
		}
	}
	outside := func(inside bool) []Route {
		return slices.DeleteFunc(slices.Clone(m.FalseNotFound), func(r Route) bool { return r.Subresource != inside })
	}
	if routes := outside(false); len(routes) > 0 {
		add(SeverityError, "404 for %s", countRoutes(routes))
	}
	if len(m.Unavailable) > 0 {
		add(SeverityWarning, "503 for %s", countRoutes(m.Unavailable))
	}
	if len(m.Unknown) > 0 {
		add(SeverityWarning, "unknown for %s", countRoutes(m.Unknown))
	}
	if len(m.Blind) > 0 {
		add(SeverityWarning, "all unknown on %s", few(m.Blind))
	}
	// What no setting changes is worth a word only where nothing else is wrong.
	if routes := outside(true); len(routes) > 0 && c.text == "" {
		add(SeverityInfo, "404 for %s [MVP518]", countRoutes(routes))
	}
	if c.text == "" {
		c.text = "ok"
	}
	return c
}

func (m *PlanMoment) crashing(certain bool) []string {
	var servers []string
	for _, c := range m.Crashing {
		if c.Certain == certain && !slices.Contains(servers, c.Server) {
			servers = append(servers, c.Server)
		}
	}
	return servers
}

// countRoutes is "2 resources on cp-2, cp-3": subresources count only where there is nothing else.
func countRoutes(routes []Route) string {
	var servers []string
	resources, subresources := map[string]bool{}, map[string]bool{}
	for i := range routes {
		r := &routes[i]
		if !slices.Contains(servers, r.Server) {
			servers = append(servers, r.Server)
		}
		if strings.Contains(r.Resource, "/") {
			subresources[r.name()] = true
		} else {
			resources[r.name()] = true
		}
	}
	n, noun := len(resources), "resource"
	if n == 0 {
		n, noun = len(subresources), "subresource"
	}
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s on %s", n, noun, few(servers))
}
