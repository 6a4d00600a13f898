package report

import (
	"cmp"
	"io"
	"strings"
)

// planPage is the page of a plan.
type planPage struct {
	Page         htmlPage
	Pictures     []*rollPicture
	Wide         bool // the pictures do not fit beside each other
	Steps        *htmlTable
	Stopped      []htmlFact
	NotStarting  []string
	Crashing     []string // at the moment of the matrix
	Findings     []htmlFinding
	Consequences []string
	Matrix       *htmlMatrix
	Patched      *patchedPart
	Resources    *htmlTable
}

// patchedPart is what patch changes, or why it does not.
type patchedPart struct {
	Refused    string
	Changes    []string
	Unprepared string
}

// WritePlanHTML writes a plan as one page.
func WritePlanHTML(out io.Writer, r *PlanReport, opts TextOptions) error {
	kit, err := openHTML()
	if err != nil {
		return err
	}
	s := &r.Summary
	p := planPage{
		Page: newHTMLPage(kit, r.Version, s.Verdict), Pictures: newRollPictures(r), Wide: len(r.Order) > 4, Steps: r.stepTable(),
		NotStarting: r.unruled(), Consequences: messages(r.Consequences), Resources: r.resourceTable(),
	}
	p.Page.What, p.Page.Title = "mvpcheck plan", "Upgrade plan for "+r.Source
	p.Page.VerdictText += " for " + cmp.Or(pairOfMinors(r.From, r.To), "this upgrade")
	p.Page.Sentence = s.Text
	p.Page.fact("Releases", shortRelease(r.From)+" -> "+shortRelease(r.To))
	p.Page.fact("Where from", r.Why)
	p.Page.fact("Nodes, in order", strings.Join(r.Order, ", "))
	p.Page.fact("Documents", r.Documents)
	p.Page.severities(s.Errors, s.Warnings, s.Infos)
	p.Page.next(planNext(r, opts))
	p.stopped("As configured", &r.PlanRoll)
	if r.Patched != nil {
		p.stopped("Patched", &r.Patched.PlanRoll)
		p.Patched = &patchedPart{Refused: r.Patched.Refused, Changes: r.Patched.Changes}
		if u := r.Unprepared; u != nil && r.Patched.Refused == "" {
			p.Patched.Unprepared = rollSays(u)
		}
	}
	for i := range r.Findings {
		p.Findings = append(p.Findings, newHTMLFinding(&r.Findings[i], r.Source, 0))
	}
	if step, m := r.firstTrouble(); m != nil {
		p.Matrix = newHTMLMatrix("pairs", "Where it first matters, as configured: "+step.when(m), r.runningIn(m), m.Pairs)
		for i := range m.Crashing {
			p.Crashing = append(p.Crashing, m.Crashing[i].says())
		}
	}
	return kit.execute(out, "plan", &p)
}

func (p *planPage) stopped(label string, roll *PlanRoll) {
	if roll.Stopped != "" {
		p.Stopped = append(p.Stopped, htmlFact{label, roll.Stopped})
	}
}

// stepTable is the table of the text.
func (r *PlanReport) stepTable() *htmlTable {
	t := &htmlTable{Caption: "What the servers answer when a step is done", Head: []string{"Step", "As configured"}}
	patched := r.Patched != nil && r.Patched.Refused == ""
	if patched {
		t.Head = append(t.Head, "Patched, rolled out first")
	}
	rows := planRows(r)
	for i := range rows {
		cells := []htmlCell{{Text: rows[i].label()}, rows[i].configured.html()}
		if patched {
			cells = append(cells, rows[i].patched.html())
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func (c planCell) html() htmlCell {
	out := htmlCell{Text: cmp.Or(c.text, unknown)}
	switch {
	case c.text == "ok":
		out.Class = "good"
	case c.level == SeverityError || c.level == SeverityWarning:
		out.Class = severityClass(c.level)
	}
	return out
}

func (r *PlanReport) resourceTable() *htmlTable {
	t := &htmlTable{Caption: "Resources that the upgrade adds and removes", Head: []string{"Resource", "The upgrade"}}
	for _, part := range []struct {
		resources []PlanResource
		says      string
	}{{r.Added, "adds it"}, {r.Removed, "removes it"}} {
		for i := range part.resources {
			t.Rows = append(t.Rows, htmlCells(part.resources[i].name(), part.says))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}
