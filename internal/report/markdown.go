package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxMarkdown is how many bytes a report in Markdown has at most: GitHub takes 65,536 characters in a comment (and a
// mebibyte in the summary of a job), and who posts it may want to add a line.
const maxMarkdown = 65_000

// What there is room for, in bytes, and how much of it is not collapsed.
const (
	mdFoldRoom  = 33_000 // findings that are collapsed
	mdOpenRoom  = 7_000  // findings that are not
	mdOpenRows  = 10
	mdWhyRoom   = 5_000 // why, and how to fix
	mdRulesRoom = 2_000 // rules that passed and were skipped
	mdQuietRoom = 1_000 // findings that are silenced
	mdFilesRoom = 2_000 // the table of files, and those that cannot be read
	mdFilesRows = 20
	mdRest      = 8_000 // what comes after many findings on servers
)

// mdFewFindings is how many findings on servers keep what belongs to them uncollapsed.
const mdFewFindings = 5

// How many runes of a name, of a verdict and of another sentence are shown; no honest one is longer.
const (
	mdName     = 160
	mdVerdict  = 240
	mdSentence = 600
)

// mdPart is a part of a report in Markdown that takes no more than its room.
type mdPart struct {
	b    strings.Builder
	room int
}

// add appends s if there is room for it.
func (p *mdPart) add(s string) bool {
	if p.b.Len()+len(s) > p.room {
		return false
	}
	p.b.WriteString(s)
	return true
}

// row appends a row of a table.
func (p *mdPart) row(cells ...string) bool { return p.add(mdRow(cells...)) }

// fold appends what is collapsed, or nothing where it does not fit.
func (p *mdPart) fold(summary string, write func(*mdPart)) {
	inner := mdPart{room: p.room - p.b.Len() - len(mdFoldEnd)}
	if inner.add(mdFold(summary)) {
		write(&inner)
		p.add(inner.b.String() + mdFoldEnd)
	}
}

func mdRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// mdHead is the head of a table; the names of the columns are text of our own.
func mdHead(columns ...string) string {
	return mdRow(columns...) + strings.Repeat("| --- ", len(columns)) + "|\n"
}

// mdFold is the beginning of what is collapsed until one opens it, mdFoldEnd its end. The summary is HTML.
func mdFold(summary string) string { return "\n<details><summary>" + summary + "</summary>\n\n" }

const mdFoldEnd = "\n</details>\n"

// mdLinks has the addresses of the rules that a text links to, for the end of it.
type mdLinks struct{ ids []string }

// mdMaxLinks is how many rules a text links to; there are fewer.
const (
	mdMaxLinks  = 100
	mdLinksRoom = mdMaxLinks * (len("[MVP000]: \n") + len(Home) + len("/blob/main/docs/rules/MVP000.md"))
)

// rule is a link to the page of a rule.
func (l *mdLinks) rule(id string) string {
	switch {
	case !isRuleID(id):
		return mdText(clip(Text(id), mdName))
	case slices.Contains(l.ids, id):
	case len(l.ids) == mdMaxLinks:
		return id
	default:
		l.ids = append(l.ids, id)
	}
	return "[" + id + "]"
}

// ruled is a text with the IDs of its rules.
func (l *mdLinks) ruled(text string, ids []string) string {
	links := make([]string, len(ids))
	for i, id := range ids {
		links[i] = l.rule(id)
	}
	if len(ids) == 0 {
		return text
	}
	return text + " (" + strings.Join(links, ", ") + ")"
}

func (l *mdLinks) write(b *strings.Builder) {
	slices.Sort(l.ids)
	for i, id := range l.ids {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("[" + id + "]: " + rulePage(id) + "\n")
	}
}

// markdown is a report for a comment on a pull request or the summary of a job. The verdict comes first, and there is
// no more than GitHub takes.
type markdown struct {
	mdLinks
	opts Options
	next []Command
	// part has the blocks of a report about one control plane.
	part mdPart

	// The others are for reports about files, of which there may be many.
	files, notReady int // notReady counts those that cannot be told of, too
	table, errors   mdPart
	tableRows       int
	errorsHidden    int
	// open has a part for each file of which something is not collapsed, fold all that is. rows are how many findings are
	// not collapsed, hidden how many are not shown at all.
	open         []mdOpen
	openRoom     int
	fold         mdPart
	rows, hidden int
	// whys are why findings are ones, seen what has been said; whysCut tells that there was no room for all.
	whys      mdPart
	seen      map[[3]string]bool
	whysCut   bool
	silenced  mdPart
	rules     Rules // of the last file
	lastError Text
}

// mdOpen is the findings of a file. The heading is needed where there are other files.
type mdOpen struct{ heading, body string }

// writeMarkdown writes a report for a comment on a pull request, the summary of a job, or a change ticket.
func writeMarkdown(out io.Writer, r *Report, o Options) error {
	w := &markdown{
		opts: o, next: r.Next, seen: map[[3]string]bool{}, part: mdPart{room: maxMarkdown - mdLinksRoom},
		openRoom: mdOpenRoom, fold: mdPart{room: mdFoldRoom}, whys: mdPart{room: mdWhyRoom},
		silenced: mdPart{room: mdQuietRoom},
		table:    mdPart{room: mdFilesRoom}, errors: mdPart{room: mdFilesRoom},
	}
	w.part.add(mdTitle(r))
	for b := range r.Blocks {
		switch b := b.(type) {
		case *Section:
			if b.Findings.Many {
				w.file(b)
			} else {
				w.section(b)
			}
		case InputError:
			w.inputError(b)
		}
	}
	var b strings.Builder
	b.WriteString(w.part.b.String())
	w.end(&b, r)
	w.write(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// mdTitle is the first two lines: the verdict, and how much there is of what.
func mdTitle(r *Report) string {
	if r.Files == 0 {
		return "**" + r.Verdict.String() + "**: there is no configuration to check\n\n" + mdPhrases(r.Details) + "\n"
	}
	title := "**" + mdText(clip(r.Verdict, mdVerdict)) + "**"
	if len(r.Subject) > 0 {
		title += " · " + mdPhrases(r.Subject)
	}
	if r.Sentence != "" {
		title += ": " + mdText(clip(r.Sentence, mdSentence))
	}
	return title + "\n\n" + mdPhrases(r.Details) + "\n"
}

// mdPhrases is a line: the blanks on both sides of a phrase belong to it.
func mdPhrases(phrases []Phrase) string {
	var b strings.Builder
	for _, p := range phrases {
		if p.Name {
			b.WriteString(mdCode(clip(p.Text, mdName)))
			continue
		}
		if strings.HasPrefix(string(p.Text), " ") {
			b.WriteString(" ")
		}
		b.WriteString(mdText(clip(p.Text, mdSentence)))
		if strings.HasSuffix(string(p.Text), " ") {
			b.WriteString(" ")
		}
	}
	return b.String()
}

// mdRank is the order of the blocks of one control plane; what belongs to the details has none.
func mdRank(b Block) int {
	switch b := b.(type) {
	case Table:
		if !b.Detail {
			return 1
		}
	case Steps:
		return 1
	case NotStarting:
		return 2
	case Findings:
		return 3
	case List:
		return 4
	case Patched:
		return 5
	case Surface:
		return 7
	case Matrix:
		if !b.Again {
			return 8
		}
	case Notes:
		return 9
	case LeftOut:
		return 10
	case Rules:
		return 11
	}
	return 0
}

// mdNextRank is where the next commands stand among the blocks.
const mdNextRank = 6

// section writes the blocks of a report about one control plane.
func (w *markdown) section(s *Section) {
	blocks := slices.DeleteFunc(slices.Concat(s.Paragraphs...), func(b Block) bool { return mdRank(b) == 0 })
	slices.SortStableFunc(blocks, func(a, b Block) int { return mdRank(a) - mdRank(b) })
	said := false
	for _, b := range blocks {
		if !said && mdRank(b) > mdNextRank {
			said = true
			w.part.add(mdCommands(w.next))
		}
		w.block(b)
	}
	if !said {
		w.part.add(mdCommands(w.next))
	}
	w.next = nil
}

func (w *markdown) block(b Block) {
	switch b := b.(type) {
	case Table:
		w.columns(&b)
	case Steps:
		w.columns(&b.Table)
		for _, f := range b.Stopped {
			w.part.add("\n" + f.Label + ": " + mdText(clip(f.Text, mdSentence)) + "\n")
		}
	case NotStarting:
		w.list("Servers that do not start:", b)
	case Findings:
		w.findings(&b)
	case List:
		w.list(b.Title+":", b.Items)
	case Patched:
		w.patched(&b)
	case Surface:
		w.resources("Resources that the upgrade adds", b.Added)
		w.resources("Resources that the upgrade removes", b.Removed)
	case Matrix:
		w.matrix(&b)
	case Notes:
		for i, note := range b {
			if i == 0 {
				w.part.add("\n")
			}
			w.part.add("- Note: " + mdText(clip(note.Text, mdSentence)) + "\n")
		}
	case LeftOut:
		if n := len(b); n > 0 {
			w.part.add("\n" + countOf(n, "group version") + " of custom resources and aggregated APIs left out.\n")
		}
	case Rules:
		mdRules(&w.part, b)
	}
}

// list writes a list below what it is.
func (w *markdown) list(title string, items []Text) {
	for i, item := range items {
		if i == 0 {
			w.part.add("\n" + title + "\n\n")
		}
		w.part.add("- " + mdText(clip(item, mdSentence)) + "\n")
	}
}

func (w *markdown) columns(t *Table) {
	if len(t.Rows) == 0 {
		return
	}
	heads := make([]string, len(t.Columns))
	for i := range t.Columns {
		heads[i] = t.Columns[i].Head
	}
	part := mdPart{room: w.part.room / 4}
	part.add("\n" + mdHead(heads...))
	shown := 0
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i := range row {
			cells[i] = mdCell(&t.Columns[i], &row[i])
		}
		if !part.row(cells...) {
			break
		}
		shown++
	}
	w.part.add(part.b.String())
	w.more(len(t.Rows)-shown, t.Noun)
}

// mdCell is a cell; a dash stands for nothing.
func mdCell(c *Column, cell *Cell) string {
	var text string
	switch {
	case cell.Text == "" || c.Number && cell.Text == unknown:
		text = unknown
	case c.Name:
		text = mdCode(clip(cell.Text, mdName))
	default:
		text = mdOr(cell.Text)
	}
	if cell.Tone == Bad {
		return "**" + text + "**"
	}
	return text
}

// mdOr is a text in a table: a dash stands for nothing.
func mdOr(s Text) string { return cmp.Or(mdText(clip(s, mdSentence)), unknown) }

// more says how many findings or the like are not shown.
func (w *markdown) more(n int, noun string) {
	if n > 0 {
		w.part.add(mdMore(n, noun))
	}
}

// findings are a table, and what belongs to each: collapsed, unless there are few and they are about servers.
func (w *markdown) findings(of *Findings) {
	if len(of.List) == 0 {
		return
	}
	live := of.List[0].live()
	table := mdPart{room: min(w.part.room-w.part.b.Len(), w.part.room/2)}
	table.add("\n" + mdHead(mdColumns(live)...))
	shown := 0
	for shown < len(of.List) && table.add(w.finding(of, &of.List[shown])) {
		shown++
	}
	w.part.add(table.b.String())
	w.more(len(of.List)-shown, "finding")
	said := 0
	reasons := func(p *mdPart) {
		for said < shown && p.add(w.reason(&of.List[said])) {
			said++
		}
	}
	switch {
	case !live:
		w.part.fold("Why, and how to fix", reasons)
		return
	case len(of.List) <= mdFewFindings:
		w.part.add("\n")
		reasons(&w.part)
		return
	}
	w.part.room -= mdRest
	w.part.fold("What follows, why, and how to fix", reasons)
	w.part.room += mdRest
	w.more(shown-said, "explanation")
}

func mdColumns(live bool) []string {
	if live {
		return []string{"Severity", "Rule", "Servers", "Finding"}
	}
	return []string{"Severity", "Rule", "Place", "Finding"}
}

// finding is a finding as a row.
func (w *markdown) finding(of *Findings, f *Finding) string {
	severity := mdText(Text(f.Severity))
	if f.Severity == SeverityError {
		severity = "**error**"
	}
	where := mdPlace(f.Location, of.Source)
	if f.live() {
		where = cmp.Or(mdNames(f.Servers), "all")
	}
	message := mdText(clip(f.Message, mdSentence))
	if only := f.onlyFor(of.Pairs); only != "" {
		message += " (only " + mdText(clip(pairList(f.Pairs), mdName)) + ")"
	}
	return mdRow(severity, w.rule(f.Rule), where, message)
}

// mdNames are the first few of many names.
func mdNames(names []Text) string {
	var list []string
	for _, name := range names[:min(len(names), fewNames)] {
		list = append(list, mdCode(clip(name, mdName)))
	}
	text := strings.Join(list, ", ")
	if more := len(names) - fewNames; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// mdPlace is a place as file:line, or the name of what there is no place in.
func mdPlace(l *Location, otherwise Text) string {
	if l == nil || l.File == "" {
		return cmp.Or(mdCode(clip(otherwise, mdName)), unknown)
	}
	place := clip(l.File, mdName)
	if l.Line > 0 {
		place += Text(":" + strconv.Itoa(l.Line))
	}
	return mdCode(place)
}

// reason is why a finding is one and how to fix it, and for servers what follows and what was seen.
func (w *markdown) reason(f *Finding) string {
	s := "- " + w.rule(f.Rule)
	if !f.live() {
		if f.Why != "" {
			s += " " + mdText(clip(f.Why, mdSentence))
		}
		if f.Fix != "" {
			s += "\n  **Fix:** " + mdText(clip(f.Fix, mdSentence))
		}
		return s + "\n"
	}
	if len(f.Servers) > 0 {
		s += " " + mdCode(clip(f.Servers[0], mdName))
	}
	item := func(label, text string) {
		if text != "" {
			s += "\n  - **" + label + ":** " + text
		}
	}
	for i := range f.Effects {
		e := &f.Effects[i]
		text := mdText(clip(e.Message, mdSentence))
		if server := e.on(f); server != "" {
			text = mdCode(clip(server, mdName)) + " " + text
		}
		item("Effect", w.ruled(text, e.Rules))
	}
	item("Seen", mdText(clip(join(f.Seen, "; "), 2*mdSentence)))
	item("Why", mdText(clip(f.Why, mdSentence)))
	item("Fix", mdText(clip(f.Fix, mdSentence)))
	return s + "\n"
}

func (w *markdown) patched(p *Patched) {
	program := mdCode(Text(p.Program + " patch"))
	if p.Refused != "" {
		w.part.add("\n" + program + " does not change the file: " + mdText(clip(p.Refused, mdSentence)) + "\n")
		return
	}
	w.list(program+" changes:", p.Changes)
	if p.Unprepared != "" {
		w.part.add("\nPatched, but not rolled out first: " + mdText(clip(p.Unprepared, mdSentence)) + ".\n")
	}
}

func (w *markdown) resources(title string, resources []Text) {
	if len(resources) == 0 {
		return
	}
	w.part.fold(fmt.Sprintf("%s: %d", title, len(resources)), func(p *mdPart) {
		for _, name := range resources {
			p.add("- " + mdCode(clip(name, mdName)) + "\n")
		}
	})
}

// matrix shows who hands requests to whom; of two servers that were asked their table has said it.
func (w *markdown) matrix(m *Matrix) {
	switch {
	case m.When != "":
		w.part.fold("Who hands requests to whom where it first matters", func(p *mdPart) {
			p.add("As configured, " + mdText(clip(m.When, mdSentence)) + ":\n\n")
			mdMatrix(p, m)
		})
	case len(m.Names) > 2 && m.Of > 0:
		w.part.add("\nWho hands requests to whom:\n\n")
		mdMatrix(&w.part, m)
	}
}

// mdMatrix writes who hands requests to whom, and why not.
func mdMatrix(p *mdPart, m *Matrix) {
	if m.Verdicts != nil {
		head := []string{"from \\ to"}
		for _, name := range m.Names {
			head = append(head, mdCode(clip(name, mdName)))
		}
		p.add(mdHead(head...))
		for i := range m.Names {
			cells := head[i+1 : i+2 : i+2]
			for _, verdict := range m.Verdicts[i] {
				cells = append(cells, strings.ReplaceAll(verdict, "no", "**no**"))
			}
			p.row(cells...)
		}
	}
	for i := range m.Reasons {
		if i == 0 {
			p.add("\n")
		}
		r := &m.Reasons[i]
		p.add("- " + r.Verdict + ": " + mdText(clip(r.who()+": "+join(r.Why, "; "), mdSentence)) + "\n")
	}
	for _, crash := range m.Crashes {
		p.add("- " + mdText(clip(crash, mdSentence)) + "\n")
	}
}

// mdRules lists rules that passed and were skipped, collapsed.
func mdRules(p *mdPart, r Rules) {
	if len(r.Passed)+len(r.Skipped) == 0 {
		return
	}
	p.fold(countOf(len(r.Passed), "rule")+" passed, "+strconv.Itoa(len(r.Skipped))+" skipped", func(p *mdPart) {
		if len(r.Passed) > 0 {
			p.add("- passed: " + mdText(Text(strings.Join(r.Passed, ", "))) + "\n")
		}
		for _, s := range byReason(r.Skipped) {
			p.add("- skipped: " + mdText(Text(strings.Join(s.rules, ", "))) + ": " + mdText(clip(s.reason, mdSentence)) + "\n")
		}
	})
}

// file takes what there is to say of one file.
func (w *markdown) file(s *Section) {
	w.files++
	w.rules = s.Rules
	name := mdCode(clip(s.Name, mdName))
	if s.Summary.Verdict != VerdictReady {
		w.notReady++
		says := "cannot tell"
		if s.Summary.Verdict == VerdictNotReady {
			says = "**not ready**"
		}
		if w.tableRows < mdFilesRows &&
			w.table.row(name, mdOr(s.Releases), says, strconv.Itoa(s.Summary.Errors), strconv.Itoa(s.Summary.Warnings)) {
			w.tableRows++
		}
	}
	for i := range s.Silenced {
		f := &s.Silenced[i]
		w.silenced.add("- " + w.rule(f.Rule) + " " + mdPlace(f.Location, s.Name) + ": " +
			cmp.Or(mdText(clip(f.Reason, mdSentence)), "without a reason") + "\n")
	}
	if len(s.Findings.List) > 0 || s.CannotTell != "" {
		w.openFindings(s, "**"+name+": "+mdText(clip(s.Verdict, mdVerdict))+"**\n")
	}
}

// openFindings takes the findings of a file, the worst first: some to be seen at once, the others collapsed.
func (w *markdown) openFindings(s *Section, heading string) {
	findings := worstFirst(s.Findings.List)
	open := mdPart{room: w.openRoom - len(heading)}
	if s.Partly && s.CannotTell != "" {
		open.add("Not everything could be judged: " + mdText(clip(s.CannotTell, mdSentence)) + "\n\n")
	}
	shown := 0
	if len(findings) > 0 && w.rows < mdOpenRows && open.add(mdHead(mdColumns(false)...)) {
		for shown < len(findings) && w.rows < mdOpenRows && open.add(w.finding(&s.Findings, &findings[shown])) {
			shown++
			w.rows++
		}
	}
	if shown > 0 || s.CannotTell != "" && open.room > 0 {
		w.open = append(w.open, mdOpen{heading, open.b.String()})
		w.openRoom -= len(heading) + open.b.Len()
	}
	w.folded(s, findings[shown:], shown > 0)
	for i := range findings {
		w.why(&findings[i])
	}
}

// folded takes the findings that are collapsed.
func (w *markdown) folded(s *Section, findings []Finding, more bool) {
	if len(findings) == 0 {
		return
	}
	var sum Summary
	for i := range findings {
		sum.Add(&findings[i])
	}
	summary := mdSummary(clip(s.Name, mdName)) + ": " + sum.counts()
	if more {
		summary += " more"
	}
	fold := mdPart{room: w.fold.room - w.fold.b.Len() - len(mdFoldEnd)}
	shown := 0
	if fold.add(mdFold(summary) + mdHead(mdColumns(false)...)) {
		for shown < len(findings) && fold.add(w.finding(&s.Findings, &findings[shown])) {
			shown++
		}
	}
	if shown > 0 {
		w.fold.add(fold.b.String() + mdFoldEnd)
	}
	if w.hidden += len(findings) - shown; shown < len(findings) {
		w.fold.room = w.fold.b.Len() // in order: nothing comes after what is left out
	}
}

// why takes why a finding is one, and how to fix it: once for all findings of which the same is to be said.
func (w *markdown) why(f *Finding) {
	key := [3]string{f.Rule, string(f.Why), string(f.Fix)}
	if f.Why == "" && f.Fix == "" || w.seen[key] || w.whysCut {
		return
	}
	w.seen[key] = true
	w.whysCut = !w.whys.add(w.reason(f))
}

// inputError takes a file that could not be read.
func (w *markdown) inputError(e InputError) {
	if e.File != w.lastError || w.errors.b.Len() == 0 {
		w.files++
		w.lastError = e.File
	}
	if !w.errors.add("- " + mdPlace(&Location{File: e.File, Line: e.Line}, "") + " cannot be read: " +
		mdText(clip(e.Message, mdSentence)) + "\n") {
		w.errorsHidden++
	}
}

// end writes what was taken of files.
func (w *markdown) end(b *strings.Builder, r *Report) {
	several := w.files > 1
	if several && w.tableRows > 0 {
		b.WriteString("\n" + mdHead("File", "Releases", "Verdict", "Errors", "Warnings") + w.table.b.String())
		if more := w.notReady - w.tableRows; more > 0 {
			b.WriteString("\nAnd " + countOf(more, "more file") + ".\n")
		}
	}
	if w.errors.b.Len() > 0 {
		b.WriteString("\n" + w.errors.b.String())
	}
	if w.errorsHidden > 0 {
		b.WriteString("\nAnd " + countOf(w.errorsHidden, "more message") + " on what cannot be read.\n")
	}
	for _, o := range w.open {
		b.WriteString("\n")
		if several {
			b.WriteString(o.heading + "\n")
		}
		b.WriteString(o.body)
	}
	b.WriteString(mdCommands(w.next))
	b.WriteString(w.fold.b.String())
	if w.hidden > 0 {
		b.WriteString(mdMore(w.hidden, "finding"))
	}
	if w.whys.b.Len() > 0 {
		b.WriteString(mdFold("Why, and how to fix") + w.whys.b.String())
		if w.whysCut {
			b.WriteString("- and more: " + mdCode(Text(w.opts.Program+" explain")) + "\n")
		}
		b.WriteString(mdFoldEnd)
	}
	if w.silenced.b.Len() > 0 {
		b.WriteString(mdFold(strconv.Itoa(r.Summary.Silenced)+" silenced") + w.silenced.b.String() + mdFoldEnd)
	}
	if !several {
		rules := mdPart{room: mdRulesRoom}
		mdRules(&rules, w.rules)
		b.WriteString(rules.b.String())
	}
}
