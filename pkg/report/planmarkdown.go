package report

import (
	"io"
	"strings"
)

// WritePlanMarkdown writes a plan for a change ticket: GitHub's Markdown, readable as plain text too.
func WritePlanMarkdown(out io.Writer, r *PlanReport, program string) error {
	w := &planMarkdown{r: r}
	w.line("# API servers " + w.text(shortRelease(r.From)+" -> "+shortRelease(r.To)))
	w.line("")
	w.line("**" + probeVerdict(r.Summary.Verdict) + "**: " + w.text(r.Summary.Text))
	w.line("")
	w.line("Configuration: " + w.code(r.Source) + ". Nodes, in this order: " + w.text(strings.Join(r.Order, ", ")) + ".")
	w.resources("Resources that the upgrade adds", r.Added)
	w.resources("Resources that the upgrade removes", r.Removed)
	w.table()
	w.stopped("As configured", &r.PlanRoll)
	if p := r.Patched; p != nil && p.Refused == "" {
		w.stopped("Patched", &p.PlanRoll)
	}
	w.causes()
	w.consequences()
	w.patched(program)
	_, err := io.WriteString(out, w.b.String())
	return err
}

type planMarkdown struct {
	b strings.Builder
	r *PlanReport
}

func (w *planMarkdown) line(s string) { w.b.WriteString(s + "\n") }

// text is s as text: nothing in it is markup.
func (w *planMarkdown) text(s string) string {
	return markdownEscapes.Replace(Printable(strings.ReplaceAll(s, "\n", " ")))
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`, "&", "&amp;",
)

// code is s as code; within it only backticks and the bars of a table matter.
func (w *planMarkdown) code(s string) string {
	return "`" + strings.NewReplacer("`", "'", "|", `\|`).Replace(Printable(strings.ReplaceAll(s, "\n", " "))) + "`"
}

func (w *planMarkdown) resources(title string, resources []PlanResource) {
	if len(resources) == 0 {
		return
	}
	w.line("")
	w.line(title + ":")
	w.line("")
	for i := range resources {
		w.line("- " + w.code(resources[i].name()))
	}
}

func (w *planMarkdown) table() {
	patched := w.r.Patched != nil && w.r.Patched.Refused == ""
	w.line("")
	if patched {
		w.line("| step | as configured | patched, rolled out first |")
		w.line("| --- | --- | --- |")
	} else {
		w.line("| step | as configured |")
		w.line("| --- | --- |")
	}
	rows := planRows(w.r)
	for i := range rows {
		cells := []string{w.text(rows[i].label()), w.cell(rows[i].configured)}
		if patched {
			cells = append(cells, w.cell(rows[i].patched))
		}
		w.line("| " + strings.Join(cells, " | ") + " |")
	}
}

// cell marks what is wrong.
func (w *planMarkdown) cell(c planCell) string {
	switch {
	case c.text == "":
		return "-"
	case c.level == SeverityError:
		return "**" + w.text(c.text) + "**"
	}
	return w.text(c.text)
}

func (w *planMarkdown) stopped(what string, roll *PlanRoll) {
	if roll.Stopped != "" {
		w.line("")
		w.line(what + ": " + w.text(roll.Stopped))
	}
}

func (w *planMarkdown) causes() {
	for i := range w.r.Findings {
		if i == 0 {
			w.line("")
			w.line("Causes:")
			w.line("")
		}
		f := &w.r.Findings[i]
		w.line("- " + f.Rule + " (" + string(f.Severity) + "): " + w.text(f.Message) + " Fix: " + w.text(f.Fix))
	}
}

func (w *planMarkdown) consequences() {
	for i := range w.r.Consequences {
		if i == 0 {
			w.line("")
			w.line("What follows from the false 404s:")
			w.line("")
		}
		w.line("- " + w.text(w.r.Consequences[i].Message))
	}
}

func (w *planMarkdown) patched(program string) {
	p := w.r.Patched
	if p == nil {
		return
	}
	w.line("")
	if p.Refused != "" {
		w.line(w.code(program+" patch") + " does not change the file: " + w.text(p.Refused))
		return
	}
	w.line(w.code(program+" patch") + " changes:")
	w.line("")
	for _, c := range p.Changes {
		w.line("- " + w.text(c))
	}
	if u := w.r.Unprepared; u != nil {
		w.line("")
		w.line("Patched, but not rolled out first: " + w.text(rollSays(u)) + ".")
	}
}
