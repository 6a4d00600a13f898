package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
)

// unknown is what a table shows for a number or a state that is not known; of an empty cell it makes the same.
const unknown = "-"

// WriteProbeText writes a probe report for people: a table with a row for each server, the findings, what was left out,
// and the verdict. With -v it adds the hand-offs that were seen, the rules, the pairs and the requests.
func WriteProbeText(out io.Writer, r *ProbeReport, opts TextOptions) error {
	w := newProbeText(out, r, opts)
	if w.opts.Quiet {
		for i := range r.Findings {
			w.headline(&r.Findings[i])
			w.spill()
		}
		w.subject()
		w.last()
		return w.flush()
	}
	w.begin(block)
	w.subject()
	w.count(len(r.Servers), "API server")
	if r.Found != "" {
		w.raw(" (")
		w.esc(r.Found)
		w.raw(")")
	}
	w.raw("\n")
	if len(r.Servers) > 0 {
		w.begin(block)
		w.serverTable()
	}
	for i := range r.Findings {
		w.begin(block)
		w.finding(&r.Findings[i])
		w.spill()
	}
	w.remarks()
	if w.opts.Verbose {
		w.details()
	}
	w.begin(block)
	w.last()
	return w.flush()
}

type probeText struct {
	printer
	r       *ProbeReport
	servers map[string]*ProbeServer
}

func newProbeText(out io.Writer, r *ProbeReport, opts TextOptions) *probeText {
	w := &probeText{printer: newPrinter(out, opts), r: r, servers: map[string]*ProbeServer{}}
	for i := range r.Servers {
		w.servers[r.Servers[i].Name] = &r.Servers[i]
	}
	return w
}

// subject writes which control plane it is, and when evidence that was read from a file is from.
func (w *probeText) subject() {
	if w.r.Replayed != "" {
		w.esc(w.r.Replayed)
		if !w.r.Time.IsZero() {
			w.raw(w.r.Time.UTC().Format(", recorded 2006-01-02 15:04 UTC"))
		}
		w.raw(": ")
	}
	if w.r.Context != "" {
		w.raw("context ")
		w.esc(w.r.Context)
		w.raw(": ")
	}
}

func (w *probeText) serverTable() {
	rows := [][]cell{row("SERVER", "NODE", "RELEASE", "GATE", "PEER CA", "LOCAL", "MERGED", "RESULT")}
	for i := range w.r.Servers {
		s := &w.r.Servers[i]
		cells := row(s.Address, s.Node, s.release(), state(s.Gate), state(s.PeerCA), number(s.Local), number(s.Merged), cmp.Or(s.Says, s.Result))
		result := &cells[len(cells)-1]
		result.paint = w.resultPaint(s.Result)
		if result.painted = strings.IndexAny(result.text, ",;"); result.painted < 0 {
			result.painted = len(result.text)
		}
		rows = append(rows, cells)
	}
	w.table(rows, 5, 6)
}

// release is what a server runs: 1.36.3, or 1.36.3 as 1.35.
func (s *ProbeServer) release() string {
	release := strings.TrimPrefix(s.Release, "v")
	if s.Emulated != "" {
		release = cmp.Or(release, unknown) + " as " + s.Emulated
	}
	return release
}

func (w *probeText) resultPaint(result string) paint {
	switch result {
	case "ok":
		return w.good
	case "fail":
		return w.levels[SeverityError]
	}
	return w.levels[SeverityWarning]
}

// state is a gate or the like as tables show it.
func state(s string) string {
	if s == "unknown" {
		return unknown
	}
	return s
}

func number(n int) string {
	if n < 0 {
		return unknown
	}
	return strconv.Itoa(n)
}

// server is a server as findings name it: ADDRESS (NODE).
func (w *probeText) server(name string) string {
	s := w.servers[name]
	switch {
	case s == nil || s.Address == "":
		return name
	case s.Node == "" || strings.HasPrefix(s.Address, s.Node+":"):
		return s.Address
	}
	return s.Address + " (" + s.Node + ")"
}

func (w *probeText) headline(f *ProbeFinding) {
	if len(f.Servers) > 0 {
		var l names
		for _, name := range f.Servers {
			l.add(w.server(name))
		}
		w.names(&l, ", ")
		w.raw(": ")
	}
	w.said(f.Severity, f.Message, f.Rule)
}

// finding writes a finding with what belongs to it. What is only worth knowing stays short.
func (w *probeText) finding(f *ProbeFinding) {
	w.headline(f)
	if shown := len(names{}.first); len(f.Servers) > shown {
		w.list("   also:   ", ",", f.Servers[shown:])
		w.raw("\n")
	}
	if f.Severity != SeverityInfo || w.opts.Verbose {
		for i := range f.Effects {
			w.effect(f, &f.Effects[i])
		}
		if len(f.Seen) > 0 {
			w.list("   seen:   ", ";", f.Seen)
			w.raw("\n")
		}
		w.labelled("   why:    ", f.Why)
	}
	w.labelled("   fix:    ", f.Fix)
}

func (w *probeText) effect(f *ProbeFinding, e *ProbeEffect) {
	w.raw("   effect: ")
	if e.Server != "" && (len(f.Servers) != 1 || f.Servers[0] != e.Server) {
		w.esc(e.Server)
		w.raw(": ")
	}
	w.ruled(e.Message, e.Rules...)
}

// remarks are what no rule is about.
func (w *probeText) remarks() {
	if len(w.r.Notes)+len(w.r.LeftOut) > 0 {
		w.begin(block)
	}
	for _, note := range w.r.Notes {
		w.labelled("note: ", note)
	}
	if len(w.r.LeftOut) > 0 {
		w.leftOut()
	}
}

// leftOut counts the group versions that were not compared, and names those that are in trouble, or with -v all.
func (w *probeText) leftOut() {
	var custom, aggregated []string
	var stale names
	for i := range w.r.LeftOut {
		l := &w.r.LeftOut[i]
		name := groupVersion(l.Group, l.Version)
		if l.Stale != "" {
			stale.add(name + ": stale, " + l.Stale)
			name += " (stale: " + l.Stale + ")"
		}
		if l.Kind == "custom-resources" {
			custom = append(custom, name)
		} else {
			aggregated = append(aggregated, name)
		}
	}
	w.raw("left out: ")
	switch {
	case len(custom) == 0:
		w.count(len(aggregated), "aggregated group version")
	default:
		w.count(len(custom), "group version")
		w.raw(" of custom resources")
		if len(aggregated) > 0 {
			w.raw(", ")
			w.int(len(aggregated))
			w.raw(" aggregated")
		}
	}
	if w.opts.Verbose {
		w.raw("\n")
		w.listed("   of custom resources: ", ",", custom)
		w.listed("   aggregated: ", ",", aggregated)
		return
	}
	if stale.n > 0 {
		w.raw(" (")
		w.names(&stale, "; ")
		w.raw(")")
	}
	w.raw("\n")
}

// listed is list with an end, of what may be nothing.
func (w *probeText) listed(label, separator string, words []string) {
	if len(words) > 0 {
		w.list(label, separator, words)
		w.raw("\n")
	}
}

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// last writes how many servers there are of which kind, and the verdict.
func (w *probeText) last() {
	s := &w.r.Summary
	w.raw(w.r.counts() + ". ")
	w.esc(strings.TrimSuffix(cmp.Or(s.Text, probeVerdict(s.Verdict)), "."))
	w.raw(".\n")
}

// counts says how many servers there are of which kind.
func (r *ProbeReport) counts() string {
	s := &r.Summary
	text := countOf(s.Servers, "server")
	if s.Releases > 0 {
		text += ", " + countOf(s.Releases, "release")
	}
	separator := ": "
	part := func(n int, what string) {
		if n > 0 {
			text += separator + strconv.Itoa(n) + what
			separator = ", "
		}
	}
	lying := r.lying()
	part(s.OK, " ok")
	if lying == 1 {
		part(lying, " answers false 404s")
	} else {
		part(lying, " answer false 404s")
	}
	part(s.Failing-lying, " failing")
	part(s.Unknown, " unknown")
	return text
}

// countOf is "2 errors".
func countOf(n int, noun string) string { return strconv.Itoa(n) + " " + plural(n, noun) }

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// lying is how many of the failing servers answer false 404s.
func (r *ProbeReport) lying() int {
	n := 0
	for i := range r.Servers {
		s := &r.Servers[i]
		if s.Result == "fail" && slices.ContainsFunc(r.FalseNotFound, func(f ProbeRoute) bool { return f.Server == s.Name }) {
			n++
		}
	}
	return min(n, r.Summary.Failing)
}

func probeVerdict(v Verdict) string {
	switch v {
	case VerdictReady:
		return "READY"
	case VerdictNotReady:
		return "NOT READY"
	}
	return "CANNOT TELL"
}
