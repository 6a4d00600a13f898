package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
)

// What a report of check has room for, in bytes, and how much of it is not collapsed.
const (
	mdFoldRoom  = 33_000 // findings that are collapsed
	mdOpenRoom  = 7_000  // findings that are not
	mdOpenRows  = 10
	mdWhyRoom   = 5_000 // why, and how to fix
	mdRulesRoom = 2_000 // rules that passed and were skipped
	mdQuietRoom = 1_000 // findings that are silenced
	mdFilesRoom = 2_000 // the table of files, and those that cannot be read
	mdFilesRows = 20
)

// Markdown writes a report for a comment on a pull request or the summary of a job. The verdict comes first, so it keeps
// what it has to say until the end, and no more than GitHub takes.
type Markdown struct {
	out  io.Writer
	opts TextOptions
	mdLinks

	files, ready, notReady, unjudged, unreadable, passedOver int
	// table is the files that are not ready, errors what cannot be read.
	table, errors           mdPart
	tableRows, errorsHidden int
	// open has a part for each file of which something is not collapsed, fold all that is. rows are how many findings are
	// not collapsed, hidden how many are not shown at all.
	open         []mdOpen
	openRoom     int
	fold         mdPart
	rows, hidden int
	// whys are why findings are ones, seen what has been said; whysCut tells that there was no room for all.
	whys     mdPart
	seen     map[[3]string]bool
	whysCut  bool
	silenced mdPart
	// first is the bold line of the first file, passed and skipped are its rules. They are shown where it is the only one.
	first     string
	passed    []string
	skipped   []Skipped
	next      []nextStep
	lastError string
}

// mdOpen is the findings of a file. The heading is needed where there are other files.
type mdOpen struct{ heading, body string }

// NewMarkdown returns a writer of one report.
func NewMarkdown(out io.Writer, opts TextOptions) *Markdown {
	w := &Markdown{out: out, opts: opts, seen: map[[3]string]bool{}, openRoom: mdOpenRoom}
	w.fold.room, w.whys.room, w.silenced.room, w.table.room, w.errors.room = mdFoldRoom, mdWhyRoom, mdQuietRoom, mdFilesRoom, mdFilesRoom
	return w
}

// Cluster takes what there is to say of one cluster.
func (w *Markdown) Cluster(c Cluster) error {
	var t Tally
	t.Cluster(&c)
	s := t.Summary()
	w.files++
	said := mdText(clip(verdict(&c, s.Verdict), mdVerdict))
	if s.Verdict == VerdictReady {
		w.ready++
	} else {
		if s.Verdict == VerdictNotReady {
			w.notReady++
		} else {
			w.unjudged++
		}
		w.file(&c, s)
	}
	name := mdCode(clip(c.Source, mdName))
	if w.files == 1 {
		w.first = "**" + said + "** · " + name
		w.passed, w.skipped = c.Passed, c.Skipped
	}
	w.silence(&c)
	if len(c.Findings) > 0 || c.CannotTell != "" {
		w.cluster(&c, s, "**"+name+": "+said+"**\n")
	}
	if len(c.Findings) > 0 && (w.next == nil || w.notReady == 1 && s.Verdict == VerdictNotReady) {
		w.next = clusterNext(&c, s, w.opts)
	}
	return nil
}

// file adds a file to the table of those that are not ready.
func (w *Markdown) file(c *Cluster, s Summary) {
	says := "cannot tell"
	if s.Verdict == VerdictNotReady {
		says = "**not ready**"
	}
	if w.tableRows < mdFilesRows && w.table.row(mdCode(clip(c.Source, mdName)), mdOr(releases(c)), says, strconv.Itoa(s.Errors), strconv.Itoa(s.Warnings)) {
		w.tableRows++
	}
}

// cluster takes the findings of a cluster, the worst first: some to be seen at once, the others collapsed.
func (w *Markdown) cluster(c *Cluster, s Summary, heading string) {
	findings := slices.Clone(c.Findings)
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	open := mdPart{room: w.openRoom - len(heading)}
	if s.Verdict == VerdictNotReady && c.CannotTell != "" {
		open.add("Not everything could be judged: " + mdText(clip(c.CannotTell, mdSentence)) + "\n\n")
	}
	shown := 0
	if len(findings) > 0 && w.rows < mdOpenRows && open.add(mdHead(mdColumns...)) {
		for shown < len(findings) && w.rows < mdOpenRows && open.add(w.finding(c, &findings[shown])) {
			shown++
			w.rows++
		}
	}
	if shown > 0 || c.CannotTell != "" && open.room > 0 {
		w.open = append(w.open, mdOpen{heading, open.b.String()})
		w.openRoom -= len(heading) + open.b.Len()
	}
	w.folded(c, findings[shown:], shown > 0)
	for i := range findings {
		w.reason(&findings[i])
	}
}

var mdColumns = []string{"Severity", "Rule", "Place", "Finding"}

func (w *Markdown) finding(c *Cluster, f *Finding) string {
	message := mdText(clip(f.Message, mdSentence))
	if n := len(f.Pairs); n > 0 && n < len(c.Pairs) {
		message += " (only " + mdText(clip(pairList(f.Pairs), mdName)) + ")"
	}
	return mdRow(mdSeverity(f.Severity), w.rule(f.Rule), mdPlace(f.Location, c.Source), message)
}

// folded takes the findings that are collapsed.
func (w *Markdown) folded(c *Cluster, findings []Finding, more bool) {
	if len(findings) == 0 {
		return
	}
	var t Tally
	t.Cluster(&Cluster{Findings: findings})
	s := t.Summary()
	summary := mdSummary(clip(c.Source, mdName)) + ": " + mdCounts(s.Errors, s.Warnings, s.Infos)
	if more {
		summary += " more"
	}
	fold := mdPart{room: w.fold.room - w.fold.b.Len() - len(mdFoldEnd)}
	shown := 0
	if fold.add(mdFold(summary) + mdHead(mdColumns...)) {
		for shown < len(findings) && fold.add(w.finding(c, &findings[shown])) {
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

// reason takes why a finding is one, and how to fix it: once for all findings of which the same is to be said.
func (w *Markdown) reason(f *Finding) {
	key := [3]string{f.Rule, f.Why, f.Fix}
	if f.Why == "" && f.Fix == "" || w.seen[key] || w.whysCut {
		return
	}
	w.seen[key] = true
	w.whysCut = !w.whys.add(mdReason(w.rule(f.Rule), f))
}

func mdReason(rule string, f *Finding) string {
	s := "- " + rule
	if f.Why != "" {
		s += " " + mdText(clip(f.Why, mdSentence))
	}
	if f.Fix != "" {
		s += "\n  **Fix:** " + mdText(clip(f.Fix, mdSentence))
	}
	return s + "\n"
}

// silence takes the findings that ignore comments silence.
func (w *Markdown) silence(c *Cluster) {
	for i := range c.Silenced {
		f := &c.Silenced[i]
		w.silenced.add("- " + w.rule(f.Rule) + " " + mdPlace(f.Location, c.Source) + ": " +
			cmp.Or(mdText(clip(f.Reason, mdSentence)), "without a reason") + "\n")
	}
}

// InputError takes a file that could not be read.
func (w *Markdown) InputError(e InputError) error {
	if e.File != w.lastError || w.unreadable == 0 {
		w.files++
		w.unreadable++
		w.lastError = e.File
	}
	if !w.errors.add("- " + mdPlace(&Location{File: e.File, Line: e.Line}, "") + " cannot be read: " + mdText(clip(e.Message, mdSentence)) + "\n") {
		w.errorsHidden++
	}
	return nil
}

// PassedOver counts a file that holds nothing to check.
func (w *Markdown) PassedOver(PassedOver) error {
	w.passedOver++
	return nil
}

// Close writes the report.
func (w *Markdown) Close(s Summary) error {
	var b strings.Builder
	b.WriteString(w.bold(s) + "\n\n" + w.sums(s) + "\n")
	several := w.files > 1
	if several && w.tableRows > 0 {
		b.WriteString("\n" + mdHead("File", "Releases", "Verdict", "Errors", "Warnings") + w.table.b.String())
		if more := w.notReady + w.unjudged - w.tableRows; more > 0 {
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
			b.WriteString("- and more: " + mdCode(w.opts.Program+" explain") + "\n")
		}
		b.WriteString(mdFoldEnd)
	}
	if w.silenced.b.Len() > 0 {
		b.WriteString(mdFold(strconv.Itoa(s.Silenced)+" silenced") + w.silenced.b.String() + mdFoldEnd)
	}
	if !several {
		rules := mdPart{room: mdRulesRoom}
		mdRules(&rules, w.passed, w.skipped)
		b.WriteString(rules.b.String())
	}
	w.write(&b)
	_, err := io.WriteString(w.out, b.String())
	return err
}

// bold is the first line.
func (w *Markdown) bold(s Summary) string {
	switch {
	case w.files == 0:
		return "**CANNOT TELL**: there is no configuration to check"
	case w.files == 1 && w.unreadable == 1:
		return "**CANNOT TELL** · " + mdCode(clip(w.lastError, mdName))
	case w.files == 1:
		return w.first
	}
	return "**" + probeVerdict(s.Verdict) + "** · " + countOf(w.files, "file")
}

// sums is the second line: how many files and findings of which kind.
func (w *Markdown) sums(s Summary) string {
	var files []string
	part := func(n int, what string) {
		if n > 0 {
			files = append(files, strconv.Itoa(n)+" "+what)
		}
	}
	if w.files > 1 {
		part(w.ready, "ready")
		part(w.notReady, "not ready")
		part(w.unjudged, "cannot tell")
	}
	part(w.unreadable, "cannot be read")
	if w.passedOver > 0 {
		files = append(files, countOf(w.passedOver, "other file")+" passed over")
	}
	findings := mdCounts(s.Errors, s.Warnings, s.Infos)
	if s.Silenced > 0 {
		findings += ", " + strconv.Itoa(s.Silenced) + " silenced"
	}
	if s.Fixable > 0 {
		findings += "; " + strconv.Itoa(s.Fixable) + " can be fixed by " + mdCode(w.opts.Program+" patch")
	}
	if len(files) > 0 {
		findings = strings.Join(files, ", ") + "; " + findings
	}
	return findings + "."
}
