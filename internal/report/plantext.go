package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WritePlanText writes a plan for people: what the releases differ in, a table of the steps as configured and patched side
// by side, why, what follows, and the verdict with the next commands.
func WritePlanText(out io.Writer, r *PlanReport, opts TextOptions) error {
	w := &planText{printer: newPrinter(out, opts), r: r}
	if w.opts.Quiet {
		for i := range r.Findings {
			w.finding(&r.Findings[i])
		}
		w.subject()
		w.verdict()
		return w.flush()
	}
	w.subject()
	w.releases()
	if w.opts.Verbose {
		w.labelled("   releases: ", r.Why)
	}
	w.wrote = block
	w.surfaces()
	w.steps()
	w.reasons()
	w.consequences()
	w.otherRolls()
	if len(r.Findings) > 0 {
		w.begin(block)
		for i := range r.Findings {
			w.finding(&r.Findings[i])
			w.spill()
		}
	}
	w.begin(block)
	w.verdict()
	w.next()
	return w.flush()
}

type planText struct {
	printer
	r *PlanReport
}

func (w *planText) subject() {
	w.esc(w.r.Source)
	w.raw(": ")
}

func (w *planText) releases() {
	if w.r.Documents != "" {
		w.esc(w.r.Documents)
		w.raw(": ")
	}
	w.esc(shortRelease(w.r.From) + " -> " + shortRelease(w.r.To))
	w.raw("\n")
	if len(w.r.Order) > 0 {
		w.list("   nodes in the order of the roll: ", ",", w.r.Order)
		w.raw("\n")
	}
}

// surfaces says which resources the releases differ in.
func (w *planText) surfaces() {
	for _, part := range []struct {
		label     string
		resources []PlanResource
	}{{" adds:    ", w.r.Added}, {" removes: ", w.r.Removed}} {
		if len(part.resources) > 0 {
			w.begin(line)
			w.resources(minorRelease(w.r.To)+part.label, planNames(part.resources))
		}
	}
	switch {
	case w.r.Stopped != "" || w.r.CannotTell != "":
		// What comes after that is not known.
	case !w.r.differs():
		w.begin(block)
		w.raw("No resource differs between the servers at any step: nothing to hand off.\n")
	case len(w.r.Added)+len(w.r.Removed) == 0:
		w.begin(block)
		w.raw("After the upgrade the servers serve what they do now.\n")
	}
}

// resources lists resources, without -v only so many as one takes in at a glance.
func (w *planText) resources(label string, names []string) {
	const most = 16
	words := resourceWords(names)
	if more := len(words) - most; more > 1 && !w.opts.Verbose {
		words = append(words[:most], fmt.Sprintf("and %d more (-v lists them)", more))
	}
	w.list(label, ",", words)
	w.raw("\n")
}

func planNames(resources []PlanResource) []string {
	names := make([]string, len(resources))
	for i := range resources {
		names[i] = resources[i].name()
	}
	return names
}

// patchedHead is the head of the column of the patched configuration.
const patchedHead = "PATCHED, ROLLED OUT FIRST"

// steps writes the table. Where nothing differs and every server starts, there is nothing to show.
func (w *planText) steps() {
	rows := planRows(w.r)
	wrong := slices.ContainsFunc(rows, func(row planRow) bool { return row.configured.level != "" || row.patched.level != "" })
	if len(w.r.Steps) == 0 || !w.r.differs() && !wrong && !w.opts.Verbose {
		return
	}
	w.begin(block)
	patched := w.r.Patched != nil && w.r.Patched.Refused == ""
	head := row("STEP", "AS CONFIGURED")
	if patched {
		head = append(head, cell{text: patchedHead})
	}
	table := [][]cell{head}
	for i := range rows {
		cells := []cell{{text: rows[i].label()}, w.cell(rows[i].configured)}
		if patched {
			cells = append(cells, w.cell(rows[i].patched))
		}
		table = append(table, cells)
	}
	w.table(table)
	w.stopped("as configured: ", w.r.Stopped)
	if patched {
		w.stopped("patched: ", w.r.Patched.Stopped)
	}
}

func (w *planText) stopped(label, why string) {
	if why != "" {
		w.paragraph(label, why+".")
	}
}

// cell colours the first part of what is said.
func (w *planText) cell(c planCell) cell {
	out := cell{text: c.text}
	switch {
	case c.text == "ok":
		out.paint = w.good
	case c.level != "":
		out.paint = w.levels[c.level]
	default:
		return out
	}
	if out.painted = strings.Index(c.text, " for "); out.painted < 0 {
		out.painted = len(c.text)
	}
	return out
}

// reasons shows who hands requests to whom where it first matters, and why not.
func (w *planText) reasons() {
	last := ""
	for i := range w.r.Steps {
		step := &w.r.Steps[i]
		for _, m := range step.Moments() {
			if !m.fails() && !m.unsure() || len(m.Pairs) == 0 {
				continue
			}
			if grid := gridOf(m); grid != last && (last == "" || w.opts.Verbose) {
				w.moment(step, m)
				last = grid
			}
		}
	}
	for _, reason := range w.r.unruled() {
		w.begin(line)
		w.esc(reason)
		w.raw("\n")
	}
	names := failingNames(w.r.Steps)
	if added := planNames(w.r.Added); len(names) > 0 && !slices.Equal(names, added) {
		w.begin(block)
		w.resources("not handed off: ", names)
	}
}

// unruled are the reasons why servers do not start that no finding says.
func (r *PlanReport) unruled() []string {
	var reasons []string
	for i := range r.Steps {
		for _, f := range r.Steps[i].NotStarting {
			if f.Rule == "" {
				reasons = append(reasons, f.Node+": "+f.Reason)
			}
		}
	}
	return reasons
}

// gridOf are the verdicts of a moment as one word.
func gridOf(m *PlanMoment) string {
	var b strings.Builder
	for i := range m.Pairs {
		b.WriteString(m.Pairs[i].From + "\x00" + m.Pairs[i].To + "\x00" + m.Pairs[i].Verdict + "\x00")
	}
	return b.String()
}

// when says which moment of a step it is.
func (s *PlanStep) when(m *PlanMoment) string {
	switch {
	case s.Node == "":
		return "now"
	case m == s.Replacing:
		return "while " + s.Node + " is stopped"
	}
	return "when " + s.Node + " is upgraded"
}

// runningIn are the nodes whose servers run at a moment.
func (r *PlanReport) runningIn(m *PlanMoment) []string {
	return slices.DeleteFunc(slices.Clone(r.Order), func(name string) bool {
		return !slices.ContainsFunc(m.Pairs, func(p ProbePair) bool { return p.From == name || p.To == name })
	})
}

// firstTrouble is the first moment of the roll as configured at which it matters who hands requests to whom, or nil.
func (r *PlanReport) firstTrouble() (*PlanStep, *PlanMoment) {
	for i := range r.Steps {
		for _, m := range r.Steps[i].Moments() {
			if (m.fails() || m.unsure()) && len(m.Pairs) > 0 {
				return &r.Steps[i], m
			}
		}
	}
	return nil, nil
}

func (w *planText) moment(step *PlanStep, m *PlanMoment) {
	w.begin(block)
	w.raw("Who hands requests to whom ")
	w.esc(step.when(m))
	w.raw(", as configured:\n")
	running := w.r.runningIn(m)
	if len(running) <= maxMatrix {
		w.matrix(running, m.Pairs)
	}
	for _, g := range groupPairs(len(running), m.Pairs) {
		w.pairGroup(&g)
	}
	for i := range m.Crashing {
		w.esc(m.Crashing[i].says())
		w.raw("\n")
	}
}

// says is a crash in words.
func (c *PlanCrash) says() string {
	verb := " may crash on "
	if c.Certain {
		verb = " crashes on "
	}
	return c.Server + verb + c.Peer + ": " + c.Reason
}

func (w *planText) consequences() {
	for i := range w.r.Consequences {
		if i == 0 {
			w.begin(block)
			w.raw("What follows from the false 404s:\n")
		}
		w.paragraph("   - ", w.r.Consequences[i].Message)
	}
}

// paragraph writes a text in lines that fit, all but the first indented.
func (w *planText) paragraph(label, text string) {
	w.raw(label)
	at := len(label)
	for i, word := range strings.Fields(text) {
		n := textColumns(word)
		switch {
		case i == 0:
		case at+1+n > lineColumns:
			w.raw("\n")
			w.buf = appendSpaces(w.buf, len(label))
			at = len(label)
		default:
			w.raw(" ")
			at++
		}
		w.esc(word)
		at += n
	}
	w.raw("\n")
}

// otherRolls says what patch would change, and what comes of it without the preparing roll.
func (w *planText) otherRolls() {
	p := w.r.Patched
	if p == nil {
		return
	}
	w.begin(block)
	if p.Refused != "" {
		w.paragraph("", w.opts.Program+" patch does not change this file, so only the roll as configured is shown: "+p.Refused)
		return
	}
	w.list("patched: ", ";", p.Changes)
	w.raw("\n")
	if u := w.r.Unprepared; u != nil {
		w.paragraph("", "patched, but not rolled out first: "+rollSays(u))
	}
}

// rollSays sums a roll up.
func rollSays(roll *PlanRoll) string {
	if roll.Stopped != "" {
		return roll.Stopped
	}
	var says []string
	failing := 0
	for i := range roll.Steps {
		s := &roll.Steps[i]
		if s.Fails() {
			failing++
			says = append(says, "after "+s.Node+": "+s.cell(s.NotStarting).text)
		}
	}
	if failing == 0 {
		return "no false 404"
	}
	return strings.Join(says, "; ")
}

// finding writes the headline of a finding.
func (w *planText) finding(f *Finding) {
	if l := f.Location; l != nil {
		w.esc(l.File)
		for _, n := range []int{l.Line, l.Column} {
			if n > 0 {
				w.raw(":")
				w.int(n)
			}
		}
		w.raw(": ")
	}
	w.said(f.Severity, f.Message, f.Rule)
}

func (w *planText) verdict() {
	s := &w.r.Summary
	w.raw(probeVerdict(s.Verdict))
	w.esc(" for " + cmp.Or(pairOfMinors(w.r.From, w.r.To), "this upgrade") + ": " + s.Text)
	w.raw("\n")
}

// pairOfMinors is "1.35 -> 1.36", with the patch releases where the minor is the same.
func pairOfMinors(from, to string) string {
	if a, b := minorRelease(from), minorRelease(to); a != b {
		return a + " -> " + b
	}
	return shortRelease(from) + " -> " + shortRelease(to)
}

// next writes the commands that one would type now.
func (w *planText) next() {
	steps := planNext(w.r, w.opts)
	longest := 0
	for _, s := range steps {
		longest = max(longest, len(s.label))
	}
	for _, s := range steps {
		w.raw(s.label + ": ")
		w.buf = appendSpaces(w.buf, longest-len(s.label))
		w.raw(s.command)
		if s.when != "" {
			w.raw(", " + s.when)
		}
		w.raw("\n")
	}
}
