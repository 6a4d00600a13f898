package report

import (
	"cmp"
	"io"
	"strings"
)

// mdFewFindings is how many findings of a probe keep what belongs to them uncollapsed.
const mdFewFindings = 5

// WriteProbeMarkdown writes a probe report for a comment or the summary of a job: the servers, the findings, what to do,
// and for more than two servers who hands requests to whom.
func WriteProbeMarkdown(out io.Writer, r *ProbeReport, opts TextOptions) error {
	w := &probeMarkdown{r: r, part: mdPart{room: maxMarkdown - mdLinksRoom}}
	text := cmp.Or(r.Summary.Text, probeVerdict(r.Summary.Verdict))
	w.part.add("**" + probeVerdict(r.Summary.Verdict) + "**" + w.subject() + ": " + mdText(clip(text, mdSentence)) + "\n\n")
	w.part.add(r.counts() + "." + w.source() + "\n")
	w.servers()
	w.findings()
	w.part.add(mdCommands(probeNext(r, opts)))
	w.matrix()
	w.remarks()
	var b strings.Builder
	b.WriteString(w.part.b.String())
	w.write(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

type probeMarkdown struct {
	mdLinks
	r    *ProbeReport
	part mdPart
}

func (w *probeMarkdown) subject() string {
	if w.r.Context == "" {
		return ""
	}
	return " · context " + mdCode(clip(w.r.Context, mdName))
}

// source says where the servers and the answers come from, and of when they are.
func (w *probeMarkdown) source() string {
	var s string
	if w.r.Found != "" {
		s += " Found by: " + mdText(clip(w.r.Found, mdSentence)) + "."
	}
	if t := probeTime(w.r); t != "" {
		s += " " + strings.ToUpper(t[:1]) + t[1:] + "."
	}
	if w.r.Replayed != "" {
		s += " Read from " + mdCode(clip(w.r.Replayed, mdName)) + "."
	}
	return s
}

// probeTime is when the servers were asked, or nothing.
func probeTime(r *ProbeReport) string {
	if r.Time.IsZero() {
		return ""
	}
	return r.Time.UTC().Format("asked 2006-01-02 15:04 UTC")
}

func (w *probeMarkdown) servers() {
	if len(w.r.Servers) == 0 {
		return
	}
	table := mdPart{room: w.part.room / 4}
	table.add("\n" + mdHead("Server", "Node", "Release", "Gate", "Peer CA", "Local", "Merged", "Result"))
	shown := 0
	for i := range w.r.Servers {
		s := &w.r.Servers[i]
		says := mdOr(cmp.Or(s.Says, s.Result))
		if s.Result == "fail" {
			says = "**" + says + "**"
		}
		if !table.row(mdCode(clip(s.Address, mdName)), mdOr(s.Node), mdOr(s.release()), mdOr(state(s.Gate)), mdOr(state(s.PeerCA)),
			number(s.Local), number(s.Merged), says) {
			break
		}
		shown++
	}
	w.part.add(table.b.String())
	if more := len(w.r.Servers) - shown; more > 0 {
		w.part.add(mdMore(more, "server"))
	}
}

func (w *probeMarkdown) findings() {
	if len(w.r.Findings) == 0 {
		return
	}
	shown := 0
	table := mdPart{room: min(w.part.room-w.part.b.Len(), w.part.room/2)}
	table.add("\n" + mdHead("Severity", "Rule", "Servers", "Finding"))
	for i := range w.r.Findings {
		f := &w.r.Findings[i]
		var l names
		for _, name := range f.Servers {
			l.add(mdCode(clip(name, mdName)))
		}
		if !table.row(mdSeverity(f.Severity), w.rule(f.Rule), cmp.Or(l.join(", "), "all"), mdText(clip(f.Message, mdSentence))) {
			break
		}
		shown++
	}
	w.part.add(table.b.String())
	if left := len(w.r.Findings) - shown; left > 0 {
		w.part.add(mdMore(left, "finding"))
	}
	if len(w.r.Findings) <= mdFewFindings {
		w.part.add("\n")
		for i := range w.r.Findings {
			w.finding(&w.part, &w.r.Findings[i])
		}
		return
	}
	w.part.room -= mdRest
	said := 0
	w.part.fold("What follows, why, and how to fix", func(p *mdPart) {
		for said < len(w.r.Findings) && w.finding(p, &w.r.Findings[said]) {
			said++
		}
	})
	w.part.room += mdRest
	if more := shown - said; more > 0 {
		w.part.add(mdMore(more, "explanation"))
	}
}

// mdRest is kept for what comes after the findings.
const mdRest = 8_000

// finding lists what belongs to a finding.
func (w *probeMarkdown) finding(p *mdPart, f *ProbeFinding) bool {
	s := "- " + w.rule(f.Rule)
	if len(f.Servers) > 0 {
		s += " " + mdCode(clip(f.Servers[0], mdName))
	}
	item := func(label, text string) {
		if text != "" {
			s += "\n  - **" + label + ":** " + text
		}
	}
	for _, e := range f.Effects {
		text := mdText(clip(e.Message, mdSentence))
		if e.Server != "" && (len(f.Servers) != 1 || f.Servers[0] != e.Server) {
			text = mdCode(clip(e.Server, mdName)) + " " + text
		}
		item("Effect", w.ruled(text, e.Rules))
	}
	item("Seen", mdText(clip(strings.Join(f.Seen, "; "), 2*mdSentence)))
	item("Why", mdText(clip(f.Why, mdSentence)))
	item("Fix", mdText(clip(f.Fix, mdSentence)))
	return p.add(s + "\n")
}

// matrix shows who hands requests to whom; with two servers the table of servers has said it.
func (w *probeMarkdown) matrix() {
	if len(w.r.Servers) < 3 || len(w.r.Pairs) == 0 {
		return
	}
	names := make([]string, len(w.r.Servers))
	for i := range w.r.Servers {
		names[i] = w.r.Servers[i].Name
	}
	w.part.add("\nWho hands requests to whom:\n\n")
	mdMatrix(&w.part, names, w.r.Pairs)
}

// mdMatrix writes who hands requests to whom, and why not.
func mdMatrix(p *mdPart, names []string, pairs []ProbePair) {
	if len(names) <= maxMatrix {
		verdicts := pairVerdicts(pairs)
		head := []string{"from \\ to"}
		for _, name := range names {
			head = append(head, mdCode(clip(name, mdName)))
		}
		p.add(mdHead(head...))
		for _, from := range names {
			cells := []string{mdCode(clip(from, mdName))}
			for _, to := range names {
				verdict := unknown
				if from != to {
					verdict = strings.ReplaceAll(pairVerdict(verdicts[[2]string{from, to}]), "no", "**no**")
				}
				cells = append(cells, verdict)
			}
			p.row(cells...)
		}
	}
	for i, g := range groupPairs(len(names), pairs) {
		if i == 0 {
			p.add("\n")
		}
		p.add("- " + g.verdict + ": " + mdText(clip(g.who()+": "+strings.Join(g.reasons, "; "), mdSentence)) + "\n")
	}
}

// pairVerdicts are the verdicts on pairs, from and to.
func pairVerdicts(pairs []ProbePair) map[[2]string]string {
	verdicts := make(map[[2]string]string, len(pairs))
	for i := range pairs {
		verdicts[[2]string{pairs[i].From, pairs[i].To}] = pairs[i].Verdict
	}
	return verdicts
}

// who is the pairs of a group in words.
func (g *pairGroup) who() string {
	return strings.Join(g.from, ", ") + " -> " + strings.Join(g.to, ", ")
}

func (w *probeMarkdown) remarks() {
	for i, note := range w.r.Notes {
		if i == 0 {
			w.part.add("\n")
		}
		w.part.add("- Note: " + mdText(clip(note, mdSentence)) + "\n")
	}
	if n := len(w.r.LeftOut); n > 0 {
		w.part.add("\n" + countOf(n, "group version") + " of custom resources and aggregated APIs left out.\n")
	}
	mdRules(&w.part, w.r.Passed, w.r.Skipped)
}
