package report

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	htmltemplate "html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The pages are one file each that asks nothing of anybody: no script, no font, no picture from elsewhere. What a
// browser may load is said in the page as well, so that nothing that a configuration holds can change it. Templates
// escape what is quoted, and Text makes visible what does not print.

//go:embed html
var htmlFiles embed.FS

// htmlKit is what the pages are made with; policy is what a browser may load: the style, and nothing else.
type htmlKit struct {
	pages  *htmltemplate.Template
	style  htmltemplate.CSS
	policy string
}

// openHTML reads the templates when the first page is written, as most runs write none.
var openHTML = sync.OnceValues(func() (*htmlKit, error) {
	style, err := htmlFiles.ReadFile("html/style.css")
	if err != nil {
		return nil, err
	}
	pages, err := htmltemplate.New("").Funcs(htmltemplate.FuncMap{
		"page": func(id Text) string { return rulePage(string(id)) }, "iconName": iconName, "count": countOf,
	}).ParseFS(htmlFiles, "html/*.tmpl")
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(style)
	return &htmlKit{pages, htmltemplate.CSS(style), "default-src 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"}, nil
})

// htmlTop is the head of a page.
type htmlTop struct {
	*Report
	Policy string
	Style  htmltemplate.CSS
	// Class is good, bad or unsure.
	Class  string
	Counts []htmlCount
}

type htmlCount struct {
	Class  string
	Number int
	Noun   string
}

// htmlWriter writes a page. The table of files stands before what is said of each of them, so that is kept.
type htmlWriter struct {
	kit *htmlKit
	out io.Writer
	err error // the first one; nothing is written after it

	several                       bool
	files                         htmlTable
	sections                      bytes.Buffer
	ready, unreadable, passedOver htmlList
}

// writeHTML writes a report as one page.
func writeHTML(out io.Writer, r *Report, _ Options) error {
	kit, err := openHTML()
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	w := &htmlWriter{
		kit: kit, out: buffered, several: r.Files > 1,
		files: htmlTable{
			Caption: "What there is to say of each file",
			Head:    []Text{"File", "Releases", "Verdict", "Errors", "Warnings", "Infos"},
		},
		unreadable: htmlList{ID: "unreadable", Title: "What cannot be read"},
		ready:      htmlList{ID: "ready", Title: "Ready without a finding"},
		passedOver: htmlList{ID: "passed-over", Title: "Passed over"},
	}
	w.execute(w.out, "top", newHTMLTop(kit, r))
	files := r.Files == 0
	for b := range r.Blocks {
		switch b := b.(type) {
		case *Section:
			if files = b.Findings.Many; files {
				w.file(b)
			} else {
				w.section(b)
			}
		case InputError:
			files = true
			at := &Location{File: b.File, Line: b.Line, Column: b.Column}
			w.unreadable.Items = append(w.unreadable.Items, htmlItem{htmlPlace(at, ""), b.Message})
		case PassedOver:
			w.passedOver.Items = append(w.passedOver.Items, htmlItem{b.File, b.Reason})
		}
	}
	if files || len(w.passedOver.Items) > 0 {
		w.endOfFiles()
	}
	w.execute(w.out, "bottom", r)
	return cmp.Or(w.err, buffered.Flush())
}

func newHTMLTop(kit *htmlKit, r *Report) *htmlTop {
	top := &htmlTop{Report: r, Policy: kit.policy, Style: kit.style, Class: verdictClass(r.Summary.Verdict)}
	s := &r.Summary
	for _, c := range []htmlCount{
		{"bad", s.Errors, plural(s.Errors, "error")}, {"warn", s.Warnings, plural(s.Warnings, "warning")},
		{"", s.Infos, plural(s.Infos, "info")}, {"", s.Silenced, "silenced"},
		{"", s.Fixable, "can be fixed by mvpcheck patch"},
	} {
		if c.Number > 0 {
			top.Counts = append(top.Counts, c)
		}
	}
	return top
}

// execute writes a part of the page.
func (w *htmlWriter) execute(out io.Writer, name string, data any) {
	if w.err != nil {
		return
	}
	if err := w.kit.pages.ExecuteTemplate(out, name, data); err != nil {
		w.err = fmt.Errorf("writing the page: %w", err)
	}
}

func verdictClass(v Verdict) string {
	switch v {
	case VerdictReady:
		return "good"
	case VerdictNotReady:
		return "bad"
	}
	return "unsure"
}

// iconName is what an icon is called to those who do not see it.
func iconName(class string) string {
	return map[string]string{"good": "tick", "bad": "cross", "unsure": "question mark"}[class]
}

// htmlRank is the order of the blocks of one control plane; what has none is not shown.
func htmlRank(b Block) int {
	switch b := b.(type) {
	case Table:
		if !b.Detail {
			return 1
		}
	case Steps:
		return 1
	case Findings:
		return 2
	case List:
		return 3
	case Matrix:
		if !b.Again {
			return 4
		}
	case Patched:
		return 5
	case Surface:
		return 6
	case Routes:
		return 7
	}
	return 0
}

// section writes the blocks of a report about one control plane.
func (w *htmlWriter) section(s *Section) {
	blocks := slices.Concat(s.Paragraphs...)
	slices.SortStableFunc(blocks, func(a, b Block) int { return htmlRank(a) - htmlRank(b) })
	asked := htmlAsked{Rules: newHTMLRules(s.Rules)}
	var notStarting NotStarting
	for _, b := range blocks {
		switch b := b.(type) {
		case NotStarting: // it has no rank: it comes before the steps
			notStarting = b
		case Notes:
			asked.Notes = b
		case LeftOut:
			asked.LeftOut = b.table()
		case Table:
			if b.Detail {
				asked.Requests = newHTMLTable(&b)
			} else if len(b.Rows) > 0 {
				w.execute(w.out, "columns", newHTMLTable(&b))
			}
		case Steps:
			if len(b.Table.Rows) == 0 {
				continue
			}
			w.execute(w.out, "steps", newHTMLSteps(&b, notStarting))
		case Findings:
			if len(b.List) > 0 {
				w.execute(w.out, "findings", newHTMLFindings(&b))
			}
		case List:
			w.list(htmlList{ID: b.ID, Title: b.Title, Items: htmlItems(b.Items)})
		case Matrix:
			if b.Of > 0 && !b.Again {
				w.execute(w.out, "pairs", newHTMLMatrix(&b))
			}
		case Patched:
			w.execute(w.out, "patched", b)
		case Surface:
			if t := b.table(); len(t.Rows) > 0 {
				w.execute(w.out, "columns", t)
			}
		case Routes:
			if t := b.table(); len(t.Rows) > 0 {
				w.execute(w.out, "columns", t)
			}
		}
	}
	if s.Live {
		w.execute(w.out, "asked", asked)
	}
	w.execute(w.out, "line", nil)
}

// htmlAsked is what was asked of servers, and what was not.
type htmlAsked struct {
	Notes             Notes
	Rules             htmlRules
	LeftOut, Requests *htmlTable
}

// htmlList is a list. With a summary it is collapsed.
type htmlList struct {
	ID, Title, Summary string
	Items              []htmlItem
}

type htmlItem struct{ Place, Text Text }

func htmlItems(texts []Text) []htmlItem {
	items := make([]htmlItem, len(texts))
	for i, text := range texts {
		items[i].Text = text
	}
	return items
}

func (w *htmlWriter) list(l htmlList) {
	if len(l.Items) > 0 {
		w.execute(w.out, "list", l)
	}
}

// htmlFile is what there is to say of one file.
type htmlFile struct {
	ID                                     string
	Class                                  string
	Heading, Verdict, Documents, Remaining Text
	Notes                                  []htmlItem
	Findings                               []htmlFinding
	Silenced                               []htmlSilenced
	Rules                                  htmlRules
}

type htmlSilenced struct{ Rule, Place, Text Text }

// file takes what there is to say of one file; one line of those that are ready.
func (w *htmlWriter) file(s *Section) {
	n := len(w.files.Rows) + len(w.ready.Items) + 1
	sum := &s.Summary
	if n > 1 && sum.Verdict == VerdictReady && len(s.Findings.List)+len(s.Silenced) == 0 {
		w.ready.Items = append(w.ready.Items, htmlItem{s.Name, s.Releases})
		return
	}
	id := "file-" + strconv.Itoa(n)
	count := func(n int) htmlCell { return htmlCell{Text: Text(strconv.Itoa(n)), Class: "number"} }
	w.files.Rows = append(w.files.Rows, []htmlCell{
		{Text: s.Name, Link: "#" + id}, {Text: cmp.Or(s.Releases, unknown)},
		{Text: Text(sum.Verdict.String()), Class: verdictClass(sum.Verdict)},
		count(sum.Errors), count(sum.Warnings), count(sum.Infos),
	})
	f := &htmlFile{
		ID: id, Heading: s.Name, Class: verdictClass(sum.Verdict), Verdict: s.Verdict, Documents: s.Documents,
		Rules: newHTMLRules(s.Rules),
	}
	for _, finding := range worstFirst(s.Findings.List) {
		f.Findings = append(f.Findings, newHTMLFinding(&s.Findings, &finding))
	}
	if !w.several {
		f.Heading, f.Verdict, f.Documents = "Findings", "", ""
		if len(f.Findings) == 0 {
			f.Heading = "No findings"
		}
	}
	if s.Partly {
		f.Remaining = s.CannotTell
	}
	for _, b := range s.Head {
		if notes, ok := b.(Notes); ok {
			for _, n := range notes {
				f.Notes = append(f.Notes, htmlItem{htmlPlace(n.Location, ""), n.Text})
			}
		}
	}
	for i := range s.Silenced {
		silenced := &s.Silenced[i]
		f.Silenced = append(f.Silenced, htmlSilenced{
			Text(silenced.Rule), htmlPlace(silenced.Location, s.Name), cmp.Or(silenced.Reason, "without a reason"),
		})
	}
	w.execute(&w.sections, "file", f)
}

// endOfFiles writes what was taken of files.
func (w *htmlWriter) endOfFiles() {
	w.list(w.unreadable)
	if w.several && len(w.files.Rows) > 0 {
		w.files.ID, w.files.Title = "files", "Files"
		w.execute(w.out, "columns", w.files)
	}
	// It was written by the same templates.
	w.execute(w.out, "line", htmltemplate.HTML(w.sections.String()))
	w.ready.Summary = countOf(len(w.ready.Items), "file")
	w.list(w.ready)
	w.passedOver.Summary = countOf(len(w.passedOver.Items), "file") + " with nothing to check"
	w.list(w.passedOver)
	w.execute(w.out, "line", nil)
}

// htmlRules are rules with those that were skipped by their reasons.
type htmlRules struct {
	Passed  []Text
	Count   int // of those that were skipped
	Skipped []htmlSkip
}

type htmlSkip struct {
	Reason Text
	Rules  []Text
}

func newHTMLRules(r Rules) htmlRules {
	out := htmlRules{Passed: texts(r.Passed), Count: len(r.Skipped)}
	for _, s := range byReason(r.Skipped) {
		out.Skipped = append(out.Skipped, htmlSkip{s.reason, texts(s.rules)})
	}
	return out
}

// htmlTable is a table with a head; the first cell of each row is the head of the row.
type htmlTable struct {
	ID, Title, Caption, Noun string
	Head                     []Text
	Rows                     [][]htmlCell
}

type htmlCell struct {
	Text  Text
	Class string
	Link  string
}

// Classes are the class of the cell, and the one of long texts, which are not to be squeezed.
func (c htmlCell) Classes() string {
	if textColumns(string(c.Text)) > 24 {
		return strings.TrimSpace(c.Class + " long")
	}
	return c.Class
}

func newHTMLTable(t *Table) *htmlTable {
	if len(t.Rows) == 0 {
		return nil
	}
	out := &htmlTable{ID: t.ID, Title: t.Title, Caption: t.Caption, Noun: t.Noun}
	for i := range t.Columns {
		out.Head = append(out.Head, Text(t.Columns[i].Head))
	}
	for _, cells := range t.Rows {
		row := make([]htmlCell, len(cells))
		for i, c := range cells {
			row[i] = htmlCell{Text: cmp.Or(c.Text, unknown), Class: string(c.Tone)}
			switch {
			case t.Columns[i].Number:
				row[i].Class = "number"
			case c.Tone == Info:
				row[i].Class = ""
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// htmlCells is a row of plain cells; what is empty shows as a dash.
func htmlCells(texts ...Text) []htmlCell {
	cells := make([]htmlCell, len(texts))
	for i, text := range texts {
		cells[i].Text = cmp.Or(text, unknown)
	}
	return cells
}

// table has what the servers lack and what comes of it, the bad first.
func (r Routes) table() *htmlTable {
	t := &htmlTable{
		ID: "routes", Title: "What the servers do not have themselves",
		Caption: "Resources that some servers have and others have not",
		Head:    []Text{"Servers", "What they do", "Resources", "Who has them", "Shown by"},
	}
	groups := slices.Clone(r)
	slices.SortStableFunc(groups, func(a, b RouteGroup) int { return cmp.Compare(a.Outcome.Tone, b.Outcome.Tone) })
	for _, g := range groups {
		shown := map[string]Text{"named-get": "requests by name", "documents": "discovery documents"}[g.Proof]
		row := htmlCells(join(g.Servers, ", "), Text(g.Outcome.Says), join(g.Resources, ", "), g.ServedBy, shown)
		row[1].Class = string(g.Outcome.Tone)
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (l LeftOut) table() *htmlTable {
	if len(l) == 0 {
		return nil
	}
	t := &htmlTable{
		Caption: "Not compared, for they are not built into the API servers", Noun: "group version",
		Head: []Text{"Group version", "What it is", "State"},
	}
	for _, v := range l {
		row := htmlCells(v.Name, Text(v.Kind), "available")
		if v.Stale != "" {
			row[2] = htmlCell{Text: "not available: " + v.Stale, Class: "warn"}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s Surface) table() *htmlTable {
	t := &htmlTable{
		ID: "resources", Title: "What the releases differ in", Caption: "Resources that the upgrade adds and removes",
		Head: []Text{"Resource", "The upgrade"},
	}
	for _, name := range s.Added {
		t.Rows = append(t.Rows, htmlCells(name, "adds it"))
	}
	for _, name := range s.Removed {
		t.Rows = append(t.Rows, htmlCells(name, "removes it"))
	}
	return t
}

// htmlFindings are the findings of a report about one control plane.
type htmlFindings struct {
	ID, Title string
	Findings  []htmlFinding
}

type htmlFinding struct {
	Class                                string
	Severity, Message, Rule, Name, Place Text
	Fixable                              bool
	Source                               *htmlSource
	Parts                                []htmlPart
}

// htmlPart is what there is to say of a finding in one respect.
type htmlPart struct {
	Label string
	Texts []htmlText
}

type htmlText struct {
	Place, Text Text
	Rules       []Text
}

func newHTMLFindings(of *Findings) *htmlFindings {
	out := &htmlFindings{ID: strings.ToLower(of.Title), Title: of.Title}
	for i := range of.List {
		out.Findings = append(out.Findings, newHTMLFinding(of, &of.List[i]))
	}
	return out
}

func newHTMLFinding(of *Findings, f *Finding) htmlFinding {
	out := htmlFinding{
		Class: severityClass(f.Severity), Severity: Text(f.Severity), Message: f.Message, Rule: Text(f.Rule),
		Name: Text(f.Name), Place: htmlPlace(f.Location, of.Source), Fixable: f.fixable(), Source: newHTMLSource(f),
	}
	if f.live() {
		out.Place = join(f.Servers, ", ")
	}
	var effects, seen, related []htmlText
	for _, e := range f.Effects {
		effects = append(effects, htmlText{Place: e.Server, Text: e.Message, Rules: texts(e.Rules)})
	}
	for _, text := range f.Seen {
		seen = append(seen, htmlText{Text: text})
	}
	for i := range f.Related {
		related = append(related, htmlText{Place: htmlPlace(&f.Related[i].Location, ""), Text: f.Related[i].Message})
	}
	out.part("effect", effects...)
	out.part("seen", seen...)
	out.part("why", htmlText{Text: f.Why})
	out.part("for", htmlText{Text: f.onlyFor(of.Pairs)})
	out.part("fix", htmlText{Text: f.Fix})
	out.part("see", related...)
	return out
}

func (f *htmlFinding) part(label string, texts ...htmlText) {
	texts = slices.DeleteFunc(texts, func(t htmlText) bool { return t.Text == "" })
	if len(texts) > 0 {
		f.Parts = append(f.Parts, htmlPart{label, texts})
	}
}

func severityClass(s Severity) string {
	switch s {
	case SeverityWarning:
		return "warn"
	case SeverityInfo:
		return "info"
	}
	return "bad"
}

// htmlPlace is a place as file:line:column.
func htmlPlace(l *Location, otherwise Text) Text {
	if l == nil || l.File == "" {
		return otherwise
	}
	place := l.File
	for _, n := range []int{l.Line, l.Column} {
		if n < 1 {
			break
		}
		place += Text(":" + strconv.Itoa(n))
	}
	return place
}

// htmlSource is a source line with the region that a finding is about.
type htmlSource struct {
	Number                int
	Before, Region, After Text
}

// newHTMLSource finds the region in the line of a finding, or returns nil where one of them is not known.
func newHTMLSource(f *Finding) *htmlSource {
	const columns = 160
	loc := f.Location
	if loc == nil || loc.Line < 1 || loc.Column < 1 || strings.Trim(string(f.SourceLine), "\r\n") == "" {
		return nil
	}
	s := newSnippet(f.SourceLine, loc, columns)
	from, to := s.window()
	// Where only the start is known, what stands there is the region.
	end := min(max(s.end, s.start+runeOffset(s.line[s.start:], 1)), max(s.start, to))
	part := func(from, to int) Text { return Text(strings.ReplaceAll(s.line[from:to], "\t", tab)) }
	out := &htmlSource{
		Number: loc.Line, Before: part(from, s.start), Region: part(s.start, end), After: part(end, max(end, to)),
	}
	if from > 0 {
		out.Before = ellipsis + out.Before
	}
	if to < len(s.line) {
		out.After += ellipsis
	}
	if out.Region == "" { // behind the end of the line
		out.Region = " "
	}
	return out
}
