package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// WritePlanMarkdown writes a plan for a change ticket or a comment: the steps as configured and patched side by side, why
// they fail, what follows, and what to do.
func WritePlanMarkdown(out io.Writer, r *PlanReport, opts TextOptions) error {
	w := &planMarkdown{r: r, part: mdPart{room: maxMarkdown - mdLinksRoom}}
	about := cmp.Or(pairOfMinors(r.From, r.To), "this upgrade")
	w.part.add("**" + probeVerdict(r.Summary.Verdict) + " for " + mdText(clip(about, mdName)) + "** · " + mdCode(clip(r.Source, mdName)) + ": " +
		mdText(clip(r.Summary.Text, mdSentence)) + "\n\n")
	w.part.add("API servers " + mdText(clip(shortRelease(r.From)+" -> "+shortRelease(r.To), mdName)))
	if len(r.Order) > 0 {
		w.part.add("; nodes in the order of the roll: " + mdText(clip(strings.Join(r.Order, ", "), mdSentence)))
	}
	w.part.add(".\n")
	w.table()
	w.stopped("As configured", &r.PlanRoll)
	if p := r.Patched; p != nil && p.Refused == "" {
		w.stopped("Patched", &p.PlanRoll)
	}
	w.list("Servers that do not start:", r.unruled())
	w.causes()
	w.list("What follows from the false 404s:", messages(r.Consequences))
	w.patched(opts.Program)
	w.part.add(mdCommands(planNext(r, opts)))
	w.resources("Resources that the upgrade adds", r.Added)
	w.resources("Resources that the upgrade removes", r.Removed)
	w.pairs()
	var b strings.Builder
	b.WriteString(w.part.b.String())
	w.write(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

type planMarkdown struct {
	mdLinks
	r    *PlanReport
	part mdPart
}

func messages(consequences []PlanConsequence) []string {
	list := make([]string, len(consequences))
	for i := range consequences {
		list[i] = consequences[i].Message
	}
	return list
}

// list writes a list below what it is.
func (w *planMarkdown) list(title string, items []string) {
	for i, item := range items {
		if i == 0 {
			w.part.add("\n" + title + "\n\n")
		}
		w.part.add("- " + mdText(clip(item, mdSentence)) + "\n")
	}
}

func (w *planMarkdown) table() {
	patched := w.r.Patched != nil && w.r.Patched.Refused == ""
	columns := []string{"Step", "As configured"}
	if patched {
		columns = append(columns, "Patched, rolled out first")
	}
	w.part.add("\n" + mdHead(columns...))
	rows := planRows(w.r)
	for i := range rows {
		cells := []string{mdText(clip(rows[i].label(), mdSentence)), w.cell(rows[i].configured)}
		if patched {
			cells = append(cells, w.cell(rows[i].patched))
		}
		w.part.row(cells...)
	}
}

// cell marks what is wrong.
func (w *planMarkdown) cell(c planCell) string {
	text := mdOr(c.text)
	if c.level == SeverityError {
		return "**" + text + "**"
	}
	return text
}

func (w *planMarkdown) stopped(what string, roll *PlanRoll) {
	if roll.Stopped != "" {
		w.part.add("\n" + what + ": " + mdText(clip(roll.Stopped, mdSentence)) + "\n")
	}
}

// causes are the findings, and how to fix them.
func (w *planMarkdown) causes() {
	if len(w.r.Findings) == 0 {
		return
	}
	table := mdPart{room: (w.part.room - w.part.b.Len()) / 2}
	table.add("\n" + mdHead(mdColumns...))
	shown := 0
	for i := range w.r.Findings {
		f := &w.r.Findings[i]
		if !table.row(mdSeverity(f.Severity), w.rule(f.Rule), mdPlace(f.Location, w.r.Source), mdText(clip(f.Message, mdSentence))) {
			break
		}
		shown++
	}
	w.part.add(table.b.String())
	if more := len(w.r.Findings) - shown; more > 0 {
		w.part.add(mdMore(more, "finding"))
	}
	w.part.fold("Why, and how to fix", func(p *mdPart) {
		for i := range w.r.Findings[:shown] {
			p.add(mdReason(w.rule(w.r.Findings[i].Rule), &w.r.Findings[i]))
		}
	})
}

func (w *planMarkdown) patched(program string) {
	p := w.r.Patched
	switch {
	case p == nil:
		return
	case p.Refused != "":
		w.part.add("\n" + mdCode(program+" patch") + " does not change the file: " + mdText(clip(p.Refused, mdSentence)) + "\n")
		return
	}
	w.list(mdCode(program+" patch")+" changes:", p.Changes)
	if u := w.r.Unprepared; u != nil {
		w.part.add("\nPatched, but not rolled out first: " + mdText(clip(rollSays(u), mdSentence)) + ".\n")
	}
}

func (w *planMarkdown) resources(title string, resources []PlanResource) {
	if len(resources) == 0 {
		return
	}
	w.part.fold(fmt.Sprintf("%s: %d", title, len(resources)), func(p *mdPart) {
		for i := range resources {
			p.add("- " + mdCode(clip(resources[i].name(), mdName)) + "\n")
		}
	})
}

// pairs shows who hands requests to whom where it first matters.
func (w *planMarkdown) pairs() {
	step, m := w.r.firstTrouble()
	if m == nil {
		return
	}
	w.part.fold("Who hands requests to whom where it first matters", func(p *mdPart) {
		p.add("As configured, " + mdText(clip(step.when(m), mdSentence)) + ":\n\n")
		mdMatrix(p, w.r.runningIn(m), m.Pairs)
		for i := range m.Crashing {
			p.add("- " + mdText(clip(m.Crashing[i].says(), mdSentence)) + "\n")
		}
	})
}
