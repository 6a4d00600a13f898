package report

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fatih/color"
)

// flushAt keeps a text with very many findings out of memory.
const flushAt = 32 << 10

// printer is what the writers of text share: how they write, colour and list.
type printer struct {
	out  io.Writer
	err  error // the first one of out; nothing is written after it
	buf  []byte
	opts TextOptions

	levels map[Severity]paint
	rule   paint
	// good is for what all depends on: the caret, and the word ok.
	good paint

	wrote gap
}

// gap is what was written last, which decides on blank lines: blocks stand
// apart, lines do not.
type gap int

const (
	nothing gap = iota
	line
	block
)

// paint is the text that turns a colour on and off, taken from the colour
// once: nothing is formatted for each finding.
type paint struct{ on, off string }

func newPaint(enabled bool, attributes ...color.Attribute) paint {
	c := color.New(attributes...)
	if enabled {
		c.EnableColor()
	} else {
		c.DisableColor()
	}
	on, off, _ := strings.Cut(c.Sprint("|"), "|")
	return paint{on, off}
}

func newPrinter(out io.Writer, opts TextOptions) printer {
	if opts.Quiet {
		opts.Verbose = false
	}
	return printer{
		out:  out,
		opts: opts,
		levels: map[Severity]paint{
			SeverityError:   newPaint(opts.Color, color.FgRed, color.Bold),
			SeverityWarning: newPaint(opts.Color, color.FgYellow, color.Bold),
			SeverityInfo:    newPaint(opts.Color, color.FgCyan, color.Bold),
		},
		rule: newPaint(opts.Color, color.FgMagenta),
		good: newPaint(opts.Color, color.FgGreen, color.Bold),
	}
}

// begin puts a blank line before what comes, if one is due.
func (p *printer) begin(what gap) {
	if !p.opts.Quiet && (p.wrote == block || p.wrote == line && what == block) {
		p.raw("\n")
	}
	p.wrote = what
}

// raw writes text of our own, esc any other.
func (p *printer) raw(s string) { p.buf = append(p.buf, s...) }
func (p *printer) esc(s string) { p.buf = appendEscaped(p.buf, s) }
func (p *printer) int(n int)    { p.buf = strconv.AppendInt(p.buf, int64(n), 10) }

func (p *printer) count(n int, noun string) {
	p.int(n)
	p.raw(" ")
	p.raw(noun)
	if n != 1 {
		p.raw("s")
	}
}

// hint says how to see what was only counted.
func (p *printer) hint(before, after string) {
	if !p.opts.Verbose && !p.opts.Quiet {
		p.raw(before)
		p.raw("-v lists them")
		p.raw(after)
	}
}

// painted writes text that is not our own in a colour.
func (p *printer) painted(colour paint, s string) {
	p.raw(colour.on)
	p.esc(s)
	p.raw(colour.off)
}

// said writes a headline from the level on.
func (p *printer) said(s Severity, message, rule string) {
	p.painted(p.levels[s], string(s))
	p.raw(": ")
	p.ruled(message, rule)
}

// ruled writes a message with the IDs of its rules to the end of the line.
func (p *printer) ruled(message string, rules ...string) {
	p.esc(message)
	for i, rule := range rules {
		if i == 0 {
			p.raw(" [")
		} else {
			p.raw(", ")
		}
		p.painted(p.rule, rule)
	}
	if len(rules) > 0 {
		p.raw("]")
	}
	p.raw("\n")
}

func (p *printer) labelled(label, text string) {
	if text != "" {
		p.raw(label)
		p.esc(text)
		p.raw("\n")
	}
}

// list writes words after a label, with a comma or the like between them, in
// lines that fit.
func (p *printer) list(label, separator string, words []string) {
	p.raw(label)
	at := len(label)
	for i, word := range words {
		n := textColumns(word)
		if i > 0 {
			if p.raw(separator); at+len(separator)+len(" ")+n+len(separator) > lineColumns {
				p.raw("\n")
				p.buf = appendSpaces(p.buf, len(label))
				at = len(label)
			} else {
				p.raw(" ")
				at += len(separator) + len(" ")
			}
		}
		p.esc(word)
		at += n
	}
}

// rules lists for -v what passed and, by their reasons, what was skipped.
func (p *printer) rules(indent string, passed []string, skipped []Skipped) {
	if !p.opts.Verbose {
		return
	}
	if len(passed) > 0 {
		p.list(indent+"passed: ", ",", passed)
		p.raw("\n")
	}
	var reasons []string
	for i := range skipped {
		if !slices.Contains(reasons, skipped[i].Reason) {
			reasons = append(reasons, skipped[i].Reason)
		}
	}
	var ids []string
	for _, reason := range reasons {
		ids = ids[:0]
		for i := range skipped {
			if skipped[i].Reason == reason {
				ids = append(ids, skipped[i].Rule)
			}
		}
		p.list(indent+"skipped: ", ",", ids)
		p.raw(": ")
		p.esc(reason)
		p.raw("\n")
	}
}

// names are the first few of many, so that a report of any length can end
// with them.
type names struct {
	first [3]string
	n     int
}

func (l *names) add(name string) {
	if l.n < len(l.first) {
		l.first[l.n] = name
	}
	l.n++
}

// join is the names in words.
func (l *names) join(separator string) string {
	text := strings.Join(l.first[:min(l.n, len(l.first))], separator)
	if more := l.n - len(l.first); more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

func (p *printer) names(l *names, separator string) { p.esc(l.join(separator)) }

// spill writes what there is if it is much. An error stays, and flush returns
// it in the end.
func (p *printer) spill() {
	if len(p.buf) > flushAt {
		_ = p.flush()
	}
}

func (p *printer) flush() error {
	if p.err == nil && len(p.buf) > 0 {
		_, p.err = p.out.Write(p.buf)
	}
	p.buf = p.buf[:0]
	return p.err
}
