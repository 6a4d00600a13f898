package report

import (
	"bytes"
	"cmp"
	htmltemplate "html/template"
	"io"
	"slices"
	"strconv"
)

// HTML writes a report of check as one page. The verdict on all stands at its top, so the parts are kept, as they will
// be written, until the end.
type HTML struct {
	out     io.Writer
	version string
	opts    TextOptions

	sections   bytes.Buffer
	files      [][]htmlCell
	ready      []htmlText
	unreadable []htmlText
	passedOver []htmlText
	next       []nextStep
	nextReady  bool // next is of a cluster that is ready
	clusters   int
	// first is the first cluster, to be written when it is known whether there are others; only has what the head of the
	// page says where there are none.
	first   *htmlCluster
	only    Cluster
	verdict string
}

// NewHTML returns a writer of one report; version is that of mvpcheck.
func NewHTML(out io.Writer, version string, opts TextOptions) *HTML {
	return &HTML{out: out, version: version, opts: opts}
}

// htmlCluster is one cluster of a page.
type htmlCluster struct {
	ID, Heading, Class, Verdict, Documents, CannotTell string
	Notes, Silenced                                    []htmlSilenced
	Findings                                           []htmlFinding
	Passed                                             []string
	Skipped                                            []Skipped
}

type htmlSilenced struct{ Rule, Place, Text string }

// Cluster takes the result for one cluster.
func (w *HTML) Cluster(c Cluster) error {
	kit, err := openHTML()
	if err != nil {
		return err
	}
	var t Tally
	t.Cluster(&c)
	s := t.Summary()
	w.clusters++
	id := "file-" + strconv.Itoa(w.clusters)
	if len(c.Findings) > 0 && (w.next == nil || w.nextReady && s.Verdict == VerdictNotReady) {
		w.next, w.nextReady = clusterNext(&c, s, w.opts), s.Verdict != VerdictNotReady
	}
	if w.clusters > 1 && s.Verdict == VerdictReady && len(c.Findings)+len(c.Silenced) == 0 {
		w.ready = append(w.ready, htmlText{Place: c.Source, Text: releases(&c)})
		return nil
	}
	row := htmlCells(c.Source, releases(&c), probeVerdict(s.Verdict), strconv.Itoa(s.Errors), strconv.Itoa(s.Warnings), strconv.Itoa(s.Infos))
	row[0].Link, row[2].Class = "#"+id, verdictClass(s.Verdict)
	for i := range row[3:] {
		row[3+i].Class = "number"
	}
	w.files = append(w.files, row)
	if w.clusters == 1 {
		w.first, w.verdict = newHTMLCluster(&c, s, id), verdict(&c, s.Verdict)
		w.only = Cluster{Source: c.Source, Documents: c.Documents, From: c.From, To: c.To, Pairs: c.Pairs, Why: c.Why}
		return nil
	}
	if err := w.writeFirst(kit); err != nil {
		return err
	}
	return kit.execute(&w.sections, "cluster", newHTMLCluster(&c, s, id))
}

// writeFirst writes the first cluster if that has not been done.
func (w *HTML) writeFirst(kit *htmlKit) error {
	if w.first == nil {
		return nil
	}
	c := w.first
	w.first = nil
	return kit.execute(&w.sections, "cluster", c)
}

func newHTMLCluster(c *Cluster, s Summary, id string) *htmlCluster {
	out := &htmlCluster{
		ID: id, Heading: c.Source, Class: verdictClass(s.Verdict), Verdict: verdict(c, s.Verdict), Documents: c.Documents,
		Passed: c.Passed, Skipped: c.Skipped,
	}
	if s.Verdict == VerdictNotReady {
		out.CannotTell = c.CannotTell
	}
	for i := range c.Notes {
		out.Notes = append(out.Notes, htmlSilenced{Place: htmlPlace(c.Notes[i].Location, ""), Text: c.Notes[i].Text})
	}
	findings := slices.Clone(c.Findings)
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	for i := range findings {
		out.Findings = append(out.Findings, newHTMLFinding(&findings[i], c.Source, len(c.Pairs)))
	}
	for i := range c.Silenced {
		f := &c.Silenced[i]
		out.Silenced = append(out.Silenced, htmlSilenced{f.Rule, htmlPlace(f.Location, c.Source), cmp.Or(f.Reason, "without a reason")})
	}
	return out
}

// InputError takes a file that could not be read.
func (w *HTML) InputError(e InputError) error {
	w.unreadable = append(w.unreadable, htmlText{Place: htmlPlace(&Location{File: e.File, Line: e.Line, Column: e.Column}, ""), Text: e.Message})
	return nil
}

// PassedOver takes a file that holds nothing to check.
func (w *HTML) PassedOver(p PassedOver) error {
	w.passedOver = append(w.passedOver, htmlText{Place: p.File, Text: p.Reason})
	return nil
}

// checkPage is the page of a check.
type checkPage struct {
	htmlPage
	Files                         *htmlTable
	Sections                      htmltemplate.HTML
	Ready, Unreadable, PassedOver []htmlText
}

// Close writes the page.
func (w *HTML) Close(s Summary) error {
	kit, err := openHTML()
	if err != nil {
		return err
	}
	files := w.clusters + len(w.unreadable)
	if w.first != nil && files == 1 {
		w.first.Heading, w.first.Verdict, w.first.Documents = "Findings", "", ""
		if len(w.first.Findings) == 0 {
			w.first.Heading = "No findings"
		}
	}
	if err := w.writeFirst(kit); err != nil {
		return err
	}
	p := checkPage{
		htmlPage: newHTMLPage(kit, w.version, s.Verdict), Ready: w.ready, Unreadable: w.unreadable, PassedOver: w.passedOver,
		// It was written by the same templates.
		Sections: htmltemplate.HTML(w.sections.String()),
	}
	p.What = "mvpcheck check"
	switch {
	case files == 0:
		p.Title, p.Sentence = "Upgrade check", "There is no configuration to check."
	case w.clusters == 1 && files == 1:
		c := &w.only
		p.Title, p.VerdictText = "Upgrade check of "+c.Source, w.verdict
		p.fact("Releases", releases(c))
		p.fact("Where from", c.Why)
		p.fact("Documents", c.Documents)
	default:
		p.Title = "Upgrade check of " + countOf(files, "file")
		p.Files = &htmlTable{Caption: "What there is to say of each file", Head: []string{"File", "Releases", "Verdict", "Errors", "Warnings", "Infos"}, Rows: w.files}
		if len(w.files) == 0 {
			p.Files = nil
		}
	}
	p.severities(s.Errors, s.Warnings, s.Infos)
	p.count("", s.Silenced, "silenced")
	p.count("", s.Fixable, "can be fixed by mvpcheck patch")
	p.next(w.next)
	return kit.execute(w.out, "check", &p)
}
