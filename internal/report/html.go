package report

import (
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

// The pages are one file each that asks nothing of anybody: no script, no font, no picture from elsewhere. What a browser
// may load is said in the page as well, so that nothing that a configuration holds can change it.

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
		"text": Printable, "page": rulePage, "skips": skips, "iconName": iconName,
	}).ParseFS(htmlFiles, "html/*.tmpl")
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(style)
	return &htmlKit{pages, htmltemplate.CSS(style), "default-src 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"}, nil
})

// htmlPage is what all pages have.
type htmlPage struct {
	Policy  string
	Style   htmltemplate.CSS
	Version string
	// What says which command it is from, Title what it is about.
	What, Title string
	// Class is good, bad or unsure.
	Class, VerdictWord, VerdictText, Sentence string
	Counts                                    []htmlCount
	Facts                                     []htmlFact
	Next                                      []htmlNext
}

type htmlCount struct {
	Class  string
	Number int
	Noun   string
}

type htmlFact struct{ Label, Text string }

type htmlNext struct{ Label, Command, When string }

// newHTMLPage begins a page.
func newHTMLPage(kit *htmlKit, version string, v Verdict) htmlPage {
	return htmlPage{
		Policy: kit.policy, Style: kit.style, Version: version,
		Class: verdictClass(v), VerdictWord: probeVerdict(v), VerdictText: probeVerdict(v),
	}
}

func (p *htmlPage) fact(label, text string) {
	if text != "" {
		p.Facts = append(p.Facts, htmlFact{label, text})
	}
}

func (p *htmlPage) next(steps []nextStep) {
	for _, s := range steps {
		p.Next = append(p.Next, htmlNext{s.label, s.command, s.when})
	}
}

// count adds how many there are of something, where there are any.
func (p *htmlPage) count(class string, n int, what string) {
	if n > 0 {
		p.Counts = append(p.Counts, htmlCount{class, n, what})
	}
}

// severities adds how many findings there are.
func (p *htmlPage) severities(errors, warnings, infos int) {
	p.count("bad", errors, plural(errors, "error"))
	p.count("warn", warnings, plural(warnings, "warning"))
	p.count("", infos, plural(infos, "info"))
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

func severityClass(s Severity) string {
	switch s {
	case SeverityWarning:
		return "warn"
	case SeverityInfo:
		return "info"
	}
	return "bad"
}

// htmlSkip is the rules that were skipped for one reason.
type htmlSkip struct {
	Reason string
	Rules  []string
}

func skips(skipped []Skipped) []htmlSkip {
	reasons, ids := byReason(skipped)
	out := make([]htmlSkip, len(reasons))
	for i, reason := range reasons {
		out[i] = htmlSkip{reason, ids[reason]}
	}
	return out
}

// htmlTable is a table with a head; the first cell of each row is the head of the row.
type htmlTable struct {
	Caption string
	Head    []string
	Rows    [][]htmlCell
}

type htmlCell struct{ Text, Class, Link string }

// Classes are the class of the cell, and the one of long texts, which are not to be squeezed.
func (c htmlCell) Classes() string {
	if textColumns(c.Text) > 24 {
		return strings.TrimSpace(c.Class + " long")
	}
	return c.Class
}

// htmlCells is a row of plain cells; what is empty shows as a dash.
func htmlCells(texts ...string) []htmlCell {
	cells := make([]htmlCell, len(texts))
	for i, text := range texts {
		if cells[i].Text = text; text == "" {
			cells[i].Text = unknown
		}
	}
	return cells
}

// htmlFinding is a finding of any of the reports.
type htmlFinding struct {
	Level               int // of its heading
	Class               string
	Severity            string
	Message, Rule, Name string
	Place               string
	Fixable             bool
	Source              *htmlSource
	Parts               []htmlPart
}

// htmlPart is what there is to say of a finding in one respect.
type htmlPart struct {
	Label string
	Texts []htmlText
}

type htmlText struct {
	Place, Text string
	Rules       []string
}

func (f *htmlFinding) part(label string, texts ...htmlText) {
	texts = slices.DeleteFunc(texts, func(t htmlText) bool { return t.Text == "" })
	if len(texts) > 0 {
		f.Parts = append(f.Parts, htmlPart{label, texts})
	}
}

// htmlSource is a source line with the region that a finding is about; its texts are printable.
type htmlSource struct {
	Number                int
	Before, Region, After string
}

// newHTMLSource finds the region in the line of a finding, or returns nil where one of them is not known.
func newHTMLSource(f *Finding) *htmlSource {
	const columns = 160
	loc := f.Location
	if loc == nil || loc.Line < 1 || loc.Column < 1 || strings.Trim(f.SourceLine, "\r\n") == "" {
		return nil
	}
	s := newSnippet(f.SourceLine, loc, columns)
	from, to := s.window()
	// Where only the start is known, what stands there is the region.
	end := min(max(s.end, s.start+runeOffset(s.line[s.start:], 1)), max(s.start, to))
	part := func(from, to int) string {
		return Printable(strings.ReplaceAll(s.line[from:to], "\t", tab))
	}
	out := &htmlSource{Number: loc.Line, Before: part(from, s.start), Region: part(s.start, end), After: part(end, max(end, to))}
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

// newHTMLFinding is a finding of check or plan.
func newHTMLFinding(f *Finding, source string, pairs int) htmlFinding {
	out := htmlFinding{
		Class: severityClass(f.Severity), Severity: string(f.Severity), Message: f.Message, Rule: f.Rule, Name: f.Name,
		Place: htmlPlace(f.Location, source), Fixable: f.Fixable, Source: newHTMLSource(f),
	}
	out.part("why", htmlText{Text: f.Why})
	if n := len(f.Pairs); n > 0 && n < pairs {
		out.part("for", htmlText{Text: pairList(f.Pairs) + " only"})
	}
	out.part("fix", htmlText{Text: f.Fix})
	var related []htmlText
	for i := range f.Related {
		related = append(related, htmlText{Place: htmlPlace(&f.Related[i].Location, ""), Text: f.Related[i].Message})
	}
	out.part("see", related...)
	return out
}

// htmlPlace is a place as file:line:column.
func htmlPlace(l *Location, otherwise string) string {
	if l == nil || l.File == "" {
		return otherwise
	}
	place := l.File
	for _, n := range []int{l.Line, l.Column} {
		if n < 1 {
			break
		}
		place += ":" + strconv.Itoa(n)
	}
	return place
}

// execute writes a page or a part of one.
func (k *htmlKit) execute(out io.Writer, name string, data any) error {
	if err := k.pages.ExecuteTemplate(out, name, data); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
