package report

import (
	"strconv"
	"strings"
)

// commandColumn is how far to the right the next commands may begin; behind a
// longer verdict they get lines of their own.
const commandColumn = 40

// noFinding writes the one line of a cluster without findings.
func (w *Text) noFinding(c *Cluster, v Verdict) {
	w.esc(c.Source)
	if v == VerdictReady {
		w.raw(": ready")
	} else {
		w.raw(": CANNOT TELL")
	}
	w.esc(forReleases(releases(c)))
	if v == VerdictCannotTell {
		w.raw(": ")
		w.esc(c.CannotTell)
	}
	if len(c.Passed)+len(c.Skipped)+len(c.Silenced) == 0 {
		w.raw("\n") // no rule was asked
		return
	}
	w.raw(" (")
	if c.unversioned() {
		w.raw("no version known; ")
	}
	w.count(len(c.Passed), "rule")
	w.raw(" passed")
	if n := len(c.Skipped); n > 0 {
		w.raw(", ")
		w.int(n)
		w.raw(" skipped")
	}
	if n := len(c.Silenced); n > 0 {
		w.raw(", ")
		w.int(n)
		w.raw(" silenced")
	}
	w.hint("; ", "")
	w.raw(")\n")
}

// withFindings writes the block of a cluster with findings.
func (w *Text) withFindings(c *Cluster, s Summary) {
	w.esc(c.Source)
	if c.Documents != "" {
		w.raw(": ")
		w.esc(c.Documents)
	}
	if pairs := releases(c); pairs != "" {
		w.raw(": ")
		if c.unversioned() {
			w.raw("no version known: judged for ")
		}
		w.esc(pairs)
		if c.unversioned() {
			w.raw(" (--from and --to narrow this)")
		}
	}
	w.raw("\n")
	w.notes(c)
	for i := range c.Findings {
		w.raw("\n")
		w.finding(c, &c.Findings[i])
		w.spill()
	}
	w.raw("\n")
	w.rules("   ", c.Passed, c.Skipped)
	if len(c.Silenced) > 0 {
		w.silenced(c)
	}
	w.counts(s)
	w.fixable(s)
	w.raw("\n")
	if s.Verdict == VerdictNotReady && c.CannotTell != "" {
		w.raw("Not everything could be judged: ")
		w.esc(c.CannotTell)
		w.raw("\n")
	}
	w.next(c, s)
}

// details writes what -v adds to the one line of a cluster without findings.
func (w *Text) details(c *Cluster) {
	w.notes(c)
	w.rules("   ", c.Passed, c.Skipped)
	if len(c.Silenced) > 0 {
		w.raw("   ")
		w.silenced(c)
	}
}

// quiet writes the headlines of a cluster and keeps its verdict for the case
// that no other cluster follows.
func (w *Text) quiet(c *Cluster, s Summary) {
	for i := range c.Findings {
		w.headline(c, &c.Findings[i])
	}
	start := len(w.buf)
	if len(c.Findings) == 0 {
		w.noFinding(c, s.Verdict)
	} else {
		w.esc(c.Source)
		w.raw(": ")
		w.esc(verdict(c, s.Verdict))
		w.raw("; ")
		w.counts(s)
		w.raw(".\n")
	}
	if s.Verdict != VerdictCannotTell {
		if w.files == 1 {
			w.last = string(w.buf[start:])
		}
		w.buf = w.buf[:start]
	}
}

// headline writes the line of a finding that editors make a link of.
func (w *Text) headline(c *Cluster, f *Finding) {
	if f.Location != nil {
		w.place(f.Location.File, f.Location.Line, f.Location.Column)
	} else {
		w.esc(c.Source)
	}
	w.raw(": ")
	w.said(f.Severity, f.Message, f.Rule)
}

// place writes file:line:column, as far as it is known.
func (w *Text) place(file string, line, column int) {
	w.esc(file)
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

func (w *Text) finding(c *Cluster, f *Finding) {
	w.headline(c, f)
	w.buf = appendSource(w.buf, f, w.good)
	w.labelled("   why: ", f.Why)
	if n := len(f.Pairs); n > 0 && n < len(c.Pairs) {
		w.labelled("   for: ", pairList(f.Pairs)+" only")
	}
	w.labelled("   fix: ", f.Fix)
	for i := range f.Related {
		w.note(&f.Related[i].Location, f.Related[i].Message)
	}
}

func (w *Text) note(l *Location, text string) {
	w.raw("   note: ")
	if l != nil && l.File != "" {
		w.place(l.File, l.Line, l.Column)
		w.raw(": ")
	}
	w.esc(text)
	w.raw("\n")
}

func (w *Text) notes(c *Cluster) {
	if w.opts.Verbose {
		w.labelled("   releases: ", c.Why)
	}
	for i := range c.Notes {
		w.note(c.Notes[i].Location, c.Notes[i].Text)
	}
}

// silenced writes one line for all that ignore comments silence.
func (w *Text) silenced(c *Cluster) {
	w.int(len(c.Silenced))
	w.raw(" silenced: ")
	for i := range c.Silenced {
		s := &c.Silenced[i]
		if i > 0 {
			w.raw(", ")
		}
		w.esc(s.Rule)
		if l := s.Location; l != nil && l.Line > 0 {
			if w.raw(" at "); l.File == c.Source {
				w.raw("line ")
				w.int(l.Line)
			} else {
				w.place(l.File, l.Line, 0)
			}
		}
		if s.Reason == "" {
			w.raw(" (without a reason)")
			continue
		}
		w.raw(` ("`)
		w.esc(s.Reason)
		w.raw(`")`)
	}
	w.raw("\n")
}

// counts writes how much of what there is, fixable the end of that sentence.
func (w *Text) counts(s Summary) {
	w.count(s.Errors, "error")
	w.raw(", ")
	w.count(s.Warnings, "warning")
	if s.Infos > 0 {
		w.raw(", ")
		w.count(s.Infos, "info")
	}
	if s.Silenced > 0 {
		w.raw(", ")
		w.int(s.Silenced)
		w.raw(" silenced")
	}
}

func (w *Text) fixable(s Summary) {
	if s.Fixable > 0 {
		w.raw("; ")
		w.int(s.Fixable)
		w.raw(" can be fixed by ")
		w.raw(w.opts.Program)
		w.raw(" patch")
	}
	w.raw(".")
}

// next writes the verdict on a cluster with findings and the commands that
// one would type now.
func (w *Text) next(c *Cluster, s Summary) {
	text := verdict(c, s.Verdict)
	if s.Verdict == VerdictReady && s.Warnings > 0 {
		text += ", with " + strconv.Itoa(s.Warnings) + " warning"
		if s.Warnings > 1 {
			text += "s"
		}
	}
	text = strings.TrimSuffix(text, ".") + "."
	w.esc(text)

	indent, gap := 0, "\n"
	if n := textColumns(text) + 1; n <= commandColumn {
		indent, gap = n, " "
	}
	w.raw(gap)
	explain := "Explain a rule: "
	if s.Fixable > 0 {
		w.raw("See the changes: ")
		w.raw(w.opts.Program)
		w.raw(" patch --diff")
		w.raw(w.flags)
		if c.Argument != "" {
			w.raw(" ")
			w.raw(shellFile(c.Argument))
		}
		w.raw("\n")
		w.buf = appendSpaces(w.buf, indent)
		if indent > 0 {
			explain += " " // below the other command
		}
	}
	w.raw(explain)
	w.raw(w.opts.Program)
	w.raw(" explain ")
	w.esc(worst(c.Findings).Rule)
	w.raw("\n")
}

// worst is the first finding of the worst severity.
func worst(findings []Finding) *Finding {
	w := &findings[0]
	for i := range findings {
		if findings[i].Severity.rank() < w.Severity.rank() {
			w = &findings[i]
		}
	}
	return w
}
