package report

import (
	"io"
	"slices"
	"strings"
)

// commandColumn is how far to the right the next commands may begin; behind a longer verdict they get lines of their
// own.
const commandColumn = 40

// writeText writes a report for people.
func writeText(out io.Writer, r *Report, o Options) error {
	w := newTextWriter(out, o)
	var files textFiles
	passedOver := 0
	for b := range r.Blocks {
		switch b := b.(type) {
		case *Section:
			files.add(b)
			w.section(b, &files)
		case InputError:
			files.addError(b)
			w.inputError(b)
		case PassedOver:
			passedOver++
			if w.opts.Verbose {
				w.begin(line)
				w.textln(b.File, ": passed over: ", b.Reason)
			}
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.end(r, &files, passedOver)
	return w.flush()
}

// textFiles are how many files there are of which kind, with the first names of those that are not ready.
type textFiles struct {
	all, ready, unreadable int
	notReady, unjudged     []Text
	// last is the last line about the last file, which is not needed where there are others. lastUnreadable is a file:
	// several errors in one count once.
	last, lastUnreadable Text
}

func (f *textFiles) add(s *Section) {
	f.all++
	f.last = ""
	switch s.Summary.Verdict {
	case VerdictReady:
		f.ready++
	case VerdictNotReady:
		f.notReady = append(f.notReady, s.Name)
	case VerdictCannotTell:
		f.unjudged = append(f.unjudged, s.Name)
	}
}

func (f *textFiles) addError(e InputError) {
	if e.File == f.lastUnreadable && f.unreadable > 0 {
		return
	}
	f.all++
	f.unreadable++
	f.unjudged = append(f.unjudged, e.File)
	f.lastUnreadable = e.File
}

// section writes what there is to say of one control plane: one line where that is enough, else paragraphs with what
// to do next.
func (w *textWriter) section(s *Section, files *textFiles) {
	switch {
	case w.opts.Quiet:
		w.quiet(s, files)
	case s.Concise && !w.opts.Verbose:
		w.begin(line)
		w.textln(w.line(s))
	case s.Concise:
		w.begin(block)
		w.textln(w.line(s))
		w.head(s)
	default:
		w.begin(block)
		w.textln(s.Headline)
		w.head(s)
		for _, blocks := range s.Paragraphs {
			w.paragraph(func() {
				for _, b := range blocks {
					w.block(s, b)
				}
			})
		}
		w.paragraph(func() { w.conclude(s) })
	}
}

// quiet writes one line a finding, and keeps the verdict for the case that no other file follows.
func (w *textWriter) quiet(s *Section, files *textFiles) {
	for i := range s.Findings.List {
		w.headline(&s.Findings, &s.Findings.List[i])
	}
	if last := w.line(s); s.Summary.Verdict == VerdictCannotTell {
		w.textln(last)
	} else {
		files.last = last
	}
}

// line is all in one line.
func (w *textWriter) line(s *Section) Text {
	text := s.Subject + s.Brief
	if s.Counts != "" {
		text += " (" + s.Counts + w.hint("; ", "") + ")"
	}
	return text
}

// head writes what belongs to the first line.
func (w *textWriter) head(s *Section) {
	for _, b := range s.Head {
		if silenced, ok := b.(SilencedFindings); ok && len(silenced) > 0 {
			w.raw("   ")
		}
		w.block(s, b)
	}
}

// conclude writes the last lines, with the commands that one would type now.
func (w *textWriter) conclude(s *Section) {
	for _, b := range s.Tail {
		w.block(s, b)
	}
	w.text(s.Conclusion)
	indent, longest := 0, 0
	for _, c := range s.Next {
		longest = max(longest, len(c.Label))
	}
	if n := textColumns(string(s.Conclusion)) + 1; s.NextAt == Beside && n <= commandColumn {
		indent = n
		w.raw(" ")
	} else {
		w.raw("\n")
		if s.NextAt == Beside {
			longest = 0
		}
	}
	if s.NextAt == Nowhere {
		return
	}
	for i, c := range s.Next {
		if i > 0 {
			w.spaces(indent)
		}
		w.raw(c.Label + ": ")
		w.spaces(longest - len(c.Label))
		w.raw(c.Line)
		if c.When != "" {
			w.raw(", " + c.When)
		}
		w.raw("\n")
	}
}

// block writes one block of a section.
func (w *textWriter) block(s *Section, b Block) {
	switch b := b.(type) {
	case Findings:
		w.findings(&b)
	case Rules:
		w.rules(s, b)
	case SilencedFindings:
		w.silenced(s, b)
	case Counts:
		w.counts(Summary(b))
	case Notes:
		for _, n := range b {
			w.note(!s.Live, n.Location, n.Text)
		}
	case Origin:
		if w.opts.Verbose {
			w.labelled("   releases: ", Text(b))
		}
	case Remark:
		w.labelled("", Text(b))
	case List:
		if len(b.Items) > 0 {
			w.raw(b.Title + ":\n")
		}
		for _, item := range b.Items {
			w.wrapped("   - ", item)
		}
	case Names:
		w.names(b)
	case Table:
		if len(b.Rows) > 0 && (!b.Detail || w.opts.Verbose) {
			w.table(&b)
		}
	case Steps:
		w.steps(&b)
	case Matrix:
		w.matrix(&b)
	case Routes:
		w.routes(b)
	case LeftOut:
		w.leftOut(b)
	case Surface:
		w.names(Names{Label: string(b.Release) + " adds:    ", Words: resourceWords(b.Added), Most: mostResources})
		w.names(Names{Label: string(b.Release) + " removes: ", Words: resourceWords(b.Removed), Most: mostResources})
	case NotStarting:
		for _, reason := range b {
			w.textln(reason)
		}
	case Patched:
		w.patched(&b)
	}
}

func (w *textWriter) findings(f *Findings) {
	for i := range f.List {
		switch {
		case f.Brief:
			w.headline(f, &f.List[i])
		case i == 0:
			w.finding(f, &f.List[i])
		default:
			w.raw("\n")
			w.finding(f, &f.List[i])
		}
	}
}

// headline writes the line of a finding that editors make a link of.
func (w *textWriter) headline(of *Findings, f *Finding) {
	switch {
	case len(f.Servers) > 0:
		called := slices.Clone(f.Servers)
		for i, name := range called {
			if other, ok := of.Servers[name]; ok {
				called[i] = other
			}
		}
		w.text(firstOf(called, ", "), ": ")
	case f.Location != nil:
		w.place(f.Location.File, f.Location.Line, f.Location.Column)
		w.raw(": ")
	case of.Source != "" && !of.Brief:
		w.text(of.Source, ": ")
	}
	w.painted(w.levels[f.Severity], Text(f.Severity))
	w.raw(": ")
	w.ruled(f.Message, f.Rule)
}

// place writes file:line:column, as far as it is known.
func (w *textWriter) place(file Text, line, column int) {
	w.text(file)
	if line < 1 {
		return
	}
	w.raw(":")
	w.int(line)
	if column > 0 {
		w.raw(":")
		w.int(column)
	}
}

// label is what stands before a part of a finding; those of a finding stand below each other.
func (f *Finding) label(name string) string {
	room := len("   why: ")
	if f.live() {
		room = len("   effect: ")
	}
	label := "   " + name + ":"
	return label + strings.Repeat(" ", max(1, room-len(label)))
}

// finding writes a finding with what belongs to it. What is only worth knowing of servers stays short.
func (w *textWriter) finding(of *Findings, f *Finding) {
	w.headline(of, f)
	w.buf = appendSource(w.buf, f, w.good)
	if len(f.Servers) > fewNames {
		w.list(f.label("also"), ",", f.Servers[fewNames:])
	}
	if !f.live() || f.Severity != SeverityInfo || w.opts.Verbose {
		for i := range f.Effects {
			e := &f.Effects[i]
			w.raw(f.label("effect"))
			if server := e.on(f); server != "" {
				w.text(server, ": ")
			}
			w.ruled(e.Message, e.Rules...)
		}
		w.list(f.label("seen"), ";", f.Seen)
		w.labelled(f.label("why"), f.Why)
	}
	w.labelled(f.label("for"), f.onlyFor(of.Pairs))
	w.labelled(f.label("fix"), f.Fix)
	for i := range f.Related {
		w.note(true, &f.Related[i].Location, f.Related[i].Message)
	}
}

func (w *textWriter) note(indented bool, l *Location, text Text) {
	if indented {
		w.raw("   ")
	}
	w.raw("note: ")
	if l != nil && l.File != "" {
		w.place(l.File, l.Line, l.Column)
		w.raw(": ")
	}
	w.textln(text)
}

// rules lists for -v what passed and, by their reasons, what was skipped.
func (w *textWriter) rules(s *Section, r Rules) {
	if !w.opts.Verbose {
		return
	}
	indent := "   "
	if s.Live {
		indent = ""
	}
	w.list(indent+"passed: ", ",", texts(r.Passed))
	for _, skipped := range byReason(r.Skipped) {
		w.listed(indent+"skipped: ", ",", texts(skipped.rules))
		w.textln(": ", skipped.reason)
	}
}

// skippedRules are the rules that were skipped for one reason.
type skippedRules struct {
	reason Text
	rules  []string
}

// byReason puts rules that were skipped for one reason together, in the order of the reasons.
func byReason(skipped []Skipped) []skippedRules {
	var out []skippedRules
	index := map[Text]int{}
	for _, s := range skipped {
		i, ok := index[s.Reason]
		if !ok {
			i = len(out)
			index[s.Reason] = i
			out = append(out, skippedRules{reason: s.Reason})
		}
		out[i].rules = append(out[i].rules, s.Rule)
	}
	return out
}

// silenced writes one line for all that ignore comments silence.
func (w *textWriter) silenced(of *Section, all SilencedFindings) {
	if len(all) == 0 {
		return
	}
	w.int(len(all))
	w.raw(" silenced: ")
	for i := range all {
		s := &all[i]
		if i > 0 {
			w.raw(", ")
		}
		w.text(Text(s.Rule))
		if l := s.Location; l != nil && l.Line > 0 {
			if w.raw(" at "); l.File == of.Name {
				w.raw("line ")
				w.int(l.Line)
			} else {
				w.place(l.File, l.Line, 0)
			}
		}
		if s.Reason == "" {
			w.raw(" (without a reason)")
		} else {
			w.text(` ("`, s.Reason, `")`)
		}
	}
	w.raw("\n")
}

// counts writes how much of what there is, and how much can be fixed.
func (w *textWriter) counts(s Summary) {
	w.raw(s.allCounts())
	if s.Fixable > 0 {
		w.raw("; ")
		w.int(s.Fixable)
		w.raw(" can be fixed by " + w.opts.Program + " patch")
	}
	w.raw(".\n")
}

// names lists names, of very many only so many as one takes in at a glance.
func (w *textWriter) names(n Names) {
	words := n.Words
	if more := len(words) - n.Most; n.Most > 0 && more > 1 && !w.opts.Verbose {
		words = append(slices.Clone(words[:n.Most]), Text("and "+number(more)+" more (-v lists them)"))
	}
	w.list(n.Label, ",", words)
}

// steps writes the table of a roll. Where nothing differs and every server starts, there is nothing to show.
func (w *textWriter) steps(s *Steps) {
	if s.Partial || s.Calm && !w.opts.Verbose {
		return
	}
	w.table(&s.Table)
	for _, f := range s.Stopped {
		w.wrapped(strings.ToLower(f.Label)+": ", f.Text+".")
	}
}

// matrix writes who hands requests to whom. Servers whose names make it too wide are numbered in the head.
func (w *textWriter) matrix(m *Matrix) {
	switch {
	case m.Of == 0, (m.When == "" || m.Again) && !w.opts.Verbose:
		return
	case m.When != "":
		w.textln("Who hands requests to whom ", m.When, ", as configured:")
	case m.Verdicts == nil:
		w.raw("who hands requests to whom: ")
		w.int(m.Yes)
		w.raw(" of " + countOf(m.Of, "pair") + " of servers\n")
	default:
		w.raw("who hands requests to whom:\n")
	}
	if m.Verdicts != nil {
		w.verdicts(m)
	}
	for i := range m.Reasons {
		w.pairReason(&m.Reasons[i])
	}
	for _, crash := range m.Crashes {
		w.textln(crash)
	}
}

func (w *textWriter) verdicts(m *Matrix) {
	const corner = `FROM \ TO`
	width, widest := 0, len(corner)
	for _, name := range m.Names {
		n := textColumns(string(name))
		widest = max(widest, n)
		width += len("  ") + max(n, len("yes"))
	}
	numbered := widest+width > lineColumns

	head := []textCell{{text: corner}}
	rows := [][]textCell{nil}
	for i, from := range m.Names {
		name := from
		if numbered {
			name = Text(number(i + 1))
			from = name + " " + from
		}
		head = append(head, textCell{text: name})
		row := []textCell{{text: from}}
		for _, verdict := range m.Verdicts[i] {
			row = append(row, textCell{text: Text(verdict)})
		}
		rows = append(rows, row)
	}
	rows[0] = head
	w.columns(rows)
}

// pairReason writes why pairs of servers are not yes.
func (w *textWriter) pairReason(r *PairReason) {
	words := slices.Concat(r.From[:len(r.From)-1], []Text{r.From[len(r.From)-1] + " -> " + r.To[0]}, r.To[1:])
	switch last := &words[len(words)-1]; len(r.Why) {
	case 0:
	case 1:
		*last += ": " + r.Why[0]
	default:
		*last += ":"
	}
	label := "no: "
	if r.Verdict == "?" {
		label = "?:  "
	}
	w.list(label, ",", words)
	if len(r.Why) > 1 {
		w.list("       ", ";", r.Why)
	}
}

func (w *textWriter) routes(groups Routes) {
	if !w.opts.Verbose {
		return
	}
	for _, g := range groups {
		w.listed("", ",", g.Servers)
		if len(g.Servers) == 1 {
			w.raw(g.Outcome.One)
		} else {
			w.raw(g.Outcome.Several)
		}
		if g.ServedBy == "" {
			w.raw("no server")
		}
		w.text(g.ServedBy)
		w.raw(g.Outcome.After)
		switch g.Proof {
		case "named-get":
			w.raw(" (shown by named GETs)")
		case "documents":
			w.raw(" (shown by discovery documents)")
		}
		w.raw(":\n")
		w.list("   ", ",", g.Resources)
	}
}

// leftOut counts the group versions that were not compared, and names those that are in trouble, or with -v all.
func (w *textWriter) leftOut(all LeftOut) {
	if len(all) == 0 {
		return
	}
	var custom, aggregated, stale []Text
	for _, l := range all {
		name := l.Name
		if l.Stale != "" {
			stale = append(stale, name+": stale, "+l.Stale)
			name += " (stale: " + l.Stale + ")"
		}
		if l.Custom {
			custom = append(custom, name)
		} else {
			aggregated = append(aggregated, name)
		}
	}
	w.raw("left out: ")
	switch {
	case len(custom) == 0:
		w.raw(countOf(len(aggregated), "aggregated group version"))
	default:
		w.raw(countOf(len(custom), "group version") + " of custom resources")
		if len(aggregated) > 0 {
			w.raw(", ")
			w.int(len(aggregated))
			w.raw(" aggregated")
		}
	}
	if w.opts.Verbose {
		w.raw("\n")
		w.list("   of custom resources: ", ",", custom)
		w.list("   aggregated: ", ",", aggregated)
		return
	}
	if len(stale) > 0 {
		w.text(" (", firstOf(stale, "; "), ")")
	}
	w.raw("\n")
}

// patched says what patch would change, and what comes of it without the preparing roll.
func (w *textWriter) patched(p *Patched) {
	if p.Refused != "" {
		w.wrapped("", Text(p.Program)+" patch does not change this file, so only the roll as configured is shown: "+p.Refused)
		return
	}
	w.listed("patched: ", ";", p.Changes)
	w.raw("\n")
	if p.Unprepared != "" {
		w.wrapped("", "patched, but not rolled out first: "+p.Unprepared)
	}
}

// inputError writes that a file could not be read, in the form of a finding.
func (w *textWriter) inputError(e InputError) {
	if w.opts.ErrorsElsewhere {
		return
	}
	w.begin(line)
	w.place(e.File, e.Line, e.Column)
	w.raw(": ")
	w.painted(w.levels[SeverityError], Text(SeverityError))
	w.textln(": cannot be read: ", e.Message)
}

// end writes the last lines. For one control plane its own have said everything.
func (w *textWriter) end(r *Report, f *textFiles, passedOver int) {
	switch {
	case f.all == 0 && passedOver == 0:
		w.raw("CANNOT TELL: there is nothing to check.\n")
	case f.all == 0:
		w.begin(block)
		w.raw("CANNOT TELL: there is no configuration to check in " + countOf(passedOver, "file"))
		w.textln(w.hint(" (", ")"), ".")
	case f.all == 1:
		if passedOver > 0 && !w.opts.Quiet {
			w.begin(block)
			w.textln(Text(countOf(passedOver, "other file")), " passed over", w.hint(" (", ")"), ".")
		}
		if f.last != "" {
			w.textln(f.last)
		}
		if f.unreadable > 0 {
			w.begin(block)
			w.textln("CANNOT TELL: ", f.lastUnreadable, " cannot be read.")
		}
	default:
		w.endOfSeveral(r.Summary, f, passedOver)
	}
}

func (w *textWriter) endOfSeveral(s Summary, f *textFiles, passedOver int) {
	w.begin(block)
	files := counter{text: countOf(f.all, "file"), separator: ": "}
	files.add(f.ready, "ready")
	files.add(len(f.notReady), "not ready")
	files.add(len(f.unjudged)-f.unreadable, "cannot tell")
	files.add(f.unreadable, "cannot be read")
	w.raw(files.text)
	if passedOver > 0 {
		w.text("; ", Text(countOf(passedOver, "other file")), " passed over", w.hint(" (", ")"))
	}
	w.raw("; ")
	w.counts(s)
	if w.opts.Quiet {
		w.buf[len(w.buf)-1] = ' ' // all in one line
	}
	switch {
	case s.Verdict == VerdictNotReady:
		w.text("NOT READY: ", firstOf(f.notReady, ", "))
	case s.Verdict == VerdictReady && s.Warnings > 0:
		w.raw("READY, with " + countOf(s.Warnings, "warning"))
	case s.Verdict == VerdictReady:
		w.raw("READY")
	default:
		w.text("CANNOT TELL: ", firstOf(f.unjudged, ", "))
	}
	w.raw(".\n")
}
