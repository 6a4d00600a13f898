package report

import (
	"cmp"
	"io"
	"strconv"
	"strings"
)

// probePage is the page of a probe.
type probePage struct {
	Page                               htmlPage
	Servers, Routes, LeftOut, Requests *htmlTable
	Findings                           []htmlFinding
	Matrix                             *htmlMatrix
	Notes, Passed                      []string
	Skipped                            []Skipped
}

// WriteProbeHTML writes a probe report as one page.
func WriteProbeHTML(out io.Writer, r *ProbeReport, opts TextOptions) error {
	kit, err := openHTML()
	if err != nil {
		return err
	}
	s := &r.Summary
	p := probePage{
		Page: newHTMLPage(kit, r.Version, s.Verdict), Notes: r.Notes, Passed: r.Passed, Skipped: r.Skipped,
		Servers: r.serverTable(), Routes: r.routeTable(), LeftOut: r.leftOutTable(), Requests: r.requestTable(),
	}
	p.Page.What, p.Page.Title = "mvpcheck probe", "Hand-off between "+countOf(len(r.Servers), "API server")
	p.Page.fact("Context", r.Context)
	p.Page.Sentence = s.Text
	p.Page.fact("Servers", r.counts())
	p.Page.fact("Found by", r.Found)
	if !r.Time.IsZero() {
		p.Page.fact("Asked", r.Time.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	p.Page.fact("Read from", r.Replayed)
	p.Page.severities(s.Errors, s.Warnings, s.Infos)
	p.Page.next(probeNext(r, opts))
	for i := range r.Findings {
		p.Findings = append(p.Findings, newHTMLProbeFinding(&r.Findings[i]))
	}
	if len(r.Pairs) > 0 {
		names := make([]string, len(r.Servers))
		for i := range r.Servers {
			names[i] = r.Servers[i].Name
		}
		p.Matrix = newHTMLMatrix("pairs", "Which server hands requests to which, when it does not have the resource itself", names, r.Pairs)
	}
	return kit.execute(out, "probe", &p)
}

func (r *ProbeReport) serverTable() *htmlTable {
	if len(r.Servers) == 0 {
		return nil
	}
	t := &htmlTable{
		Caption: "What each server runs, how many resources it serves by itself and together with its peers, and what was found",
		Head:    []string{"Server", "Node", "Release", "Gate", "Peer CA", "Local", "Merged", "Result"},
	}
	for i := range r.Servers {
		s := &r.Servers[i]
		row := htmlCells(s.Address, s.Node, s.release(), state(s.Gate), state(s.PeerCA), number(s.Local), number(s.Merged), cmp.Or(s.Says, s.Result))
		row[5].Class, row[6].Class, row[7].Class = "number", "number", resultClass(s.Result)
		t.Rows = append(t.Rows, row)
	}
	return t
}

func resultClass(result string) string {
	switch result {
	case "ok":
		return "good"
	case "fail":
		return "bad"
	}
	return "unsure"
}

func newHTMLProbeFinding(f *ProbeFinding) htmlFinding {
	out := htmlFinding{
		Class: severityClass(f.Severity), Severity: string(f.Severity), Message: f.Message, Rule: f.Rule, Name: f.Name,
		Place: strings.Join(f.Servers, ", "),
	}
	var effects, seen []htmlText
	for _, e := range f.Effects {
		effects = append(effects, htmlText{Place: e.Server, Text: e.Message, Rules: e.Rules})
	}
	for _, text := range f.Seen {
		seen = append(seen, htmlText{Text: text})
	}
	out.part("effect", effects...)
	out.part("seen", seen...)
	out.part("why", htmlText{Text: f.Why})
	out.part("fix", htmlText{Text: f.Fix})
	return out
}

// routeTable has what the servers lack, and what comes of it.
func (r *ProbeReport) routeTable() *htmlTable {
	t := &htmlTable{Caption: "Resources that some servers have and others have not", Head: []string{"Servers", "What they do", "Resources", "Who has them", "Shown by"}}
	for _, part := range []struct {
		routes      []ProbeRoute
		says, class string
	}{{r.FalseNotFound, "answer a false 404", "bad"}, {r.Refused, "are answered 403", "bad"}, {r.HandedOff, "hand on", "good"}} {
		for _, g := range groupRoutes(part.routes) {
			row := htmlCells(strings.Join(g.servers, ", "), part.says, strings.Join(g.resources, ", "), g.servedBy,
				map[string]string{"named-get": "requests by name", "documents": "discovery documents"}[g.proof])
			row[1].Class = part.class
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

func (r *ProbeReport) leftOutTable() *htmlTable {
	if len(r.LeftOut) == 0 {
		return nil
	}
	t := &htmlTable{Caption: "Not compared, for they are not built into the API servers", Head: []string{"Group version", "What it is", "State"}}
	for i := range r.LeftOut {
		l := &r.LeftOut[i]
		row := htmlCells(groupVersion(l.Group, l.Version), strings.ReplaceAll(l.Kind, "-", " "), "available")
		if l.Stale != "" {
			row[2] = htmlCell{Text: "not available: " + l.Stale, Class: "warn"}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (r *ProbeReport) requestTable() *htmlTable {
	if len(r.Evidence) == 0 {
		return nil
	}
	t := &htmlTable{Caption: "Every request, and what came of it", Head: []string{"Server", "Request", "Status", "Bytes", "Milliseconds"}}
	for i := range r.Evidence {
		e := &r.Evidence[i]
		status := ""
		if e.Status != 0 {
			status = strconv.Itoa(e.Status)
		}
		row := htmlCells(e.Server, requestSays(e), status, strconv.FormatInt(e.Bytes, 10), strconv.FormatInt(e.Milliseconds, 10))
		for k := range row[2:] {
			row[2+k].Class = "number"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
