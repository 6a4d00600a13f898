package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/fatih/color"

	"github.com/mvpcheck/mvpcheck/internal/text"
)

// textWriter writes text: how it escapes, colours and lists.
type textWriter struct {
	out  io.Writer
	buf  []byte
	opts Options

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

func newTextWriter(out io.Writer, opts Options) *textWriter {
	if opts.Quiet {
		opts.Verbose = false
	}
	return &textWriter{
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
func (w *textWriter) begin(what gap) {
	if !w.opts.Quiet && (w.wrote == block || w.wrote == line && what == block) {
		w.raw("\n")
	}
	w.wrote = what
}

// paragraph puts a blank line before what is written, if anything is.
func (w *textWriter) paragraph(write func()) {
	start := len(w.buf)
	w.raw("\n")
	if write(); len(w.buf) == start+1 {
		w.buf = w.buf[:start]
	}
}

// said is what is written.
func (w *textWriter) said(write func(*textWriter)) string {
	w.buf = w.buf[:0]
	write(w)
	return string(w.buf)
}

// raw writes text of our own, text any other, textln with a line break behind it.
func (w *textWriter) raw(s string) { w.buf = append(w.buf, s...) }
func (w *textWriter) int(n int)    { w.buf = strconv.AppendInt(w.buf, int64(n), 10) }
func (w *textWriter) spaces(n int) { w.buf = appendSpaces(w.buf, n) }

func (w *textWriter) text(parts ...Text) {
	for _, part := range parts {
		w.buf = appendEscaped(w.buf, string(part))
	}
}

func (w *textWriter) textln(parts ...Text) {
	w.text(parts...)
	w.raw("\n")
}

// hint says how to see what was only counted.
func (w *textWriter) hint(before, after Text) Text {
	if w.opts.Verbose || w.opts.Quiet {
		return ""
	}
	return before + "-v lists them" + after
}

func (w *textWriter) painted(colour paint, s Text) {
	w.raw(colour.on)
	w.text(s)
	w.raw(colour.off)
}

// ruled writes a message with the IDs of its rules to the end of the line.
func (w *textWriter) ruled(message Text, rules ...string) {
	w.text(message)
	for i, rule := range rules {
		if i == 0 {
			w.raw(" [")
		} else {
			w.raw(", ")
		}
		w.painted(w.rule, Text(rule))
	}
	if len(rules) > 0 {
		w.raw("]")
	}
	w.raw("\n")
}

func (w *textWriter) labelled(label string, text Text) {
	if text != "" {
		w.raw(label)
		w.text(text)
		w.raw("\n")
	}
}

// list writes words after a label, with a comma or the like between them, in lines that fit; nothing where there are
// none.
func (w *textWriter) list(label, separator string, words []Text) {
	if len(words) > 0 {
		w.listed(label, separator, words)
		w.raw("\n")
	}
}

// listed is list without the line break in the end.
func (w *textWriter) listed(label, separator string, words []Text) {
	w.raw(label)
	at := len(label)
	for i, word := range words {
		n := textColumns(string(word))
		if i > 0 {
			if w.raw(separator); at+len(separator)+len(" ")+n+len(separator) > lineColumns {
				w.raw("\n")
				w.spaces(len(label))
				at = len(label)
			} else {
				w.raw(" ")
				at += len(separator) + len(" ")
			}
		}
		w.text(word)
		at += n
	}
}

// wrapped writes a text in lines that fit, all but the first indented.
func (w *textWriter) wrapped(label string, s Text) {
	words := strings.Fields(string(s))
	for i, word := range words {
		words[i] = Printable(word)
	}
	w.raw(text.Wrap(label, strings.Repeat(" ", len(label)), strings.Join(words, " "), lineColumns))
}

// textCell is one cell of a table. Its first bytes, as many as lead says, have a colour.
type textCell struct {
	text   Text
	colour paint
	lead   int
	right  bool // aligned to the right
}

// table writes a table. Columns with a short head stand first.
func (w *textWriter) table(t *Table) {
	order := make([]int, 0, len(t.Columns))
	for _, short := range []bool{true, false} {
		for i := range t.Columns {
			if (t.Columns[i].Short != "") == short {
				order = append(order, i)
			}
		}
	}
	rows := make([][]textCell, 1+len(t.Rows))
	for _, i := range order {
		c := &t.Columns[i]
		head := c.Head
		if c.Short != "" {
			head = c.Short
		}
		rows[0] = append(rows[0], textCell{text: Text(strings.ToUpper(head)), right: c.Number})
		for k := range t.Rows {
			cell := &t.Rows[k][i]
			rows[k+1] = append(rows[k+1], textCell{cell.Text, w.tone(cell.Tone), cell.Lead, c.Number})
		}
	}
	w.columns(rows)
}

func (w *textWriter) tone(t Tone) paint {
	switch t {
	case Good:
		return w.good
	case Bad:
		return w.levels[SeverityError]
	case Warn, Unsure:
		return w.levels[SeverityWarning]
	case Info:
		return w.levels[SeverityInfo]
	}
	return paint{}
}

// columns writes rows of equal length, the head first, in columns that are as wide as they must be.
func (w *textWriter) columns(rows [][]textCell) {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i := range cells {
			if cells[i].text == "" {
				cells[i].text = unknown
			}
			widths[i] = max(widths[i], textColumns(string(cells[i].text)))
		}
	}
	for _, cells := range rows {
		for i, c := range cells {
			if i > 0 {
				w.raw("  ")
			}
			room := widths[i] - textColumns(string(c.text))
			if c.right {
				w.spaces(room)
			}
			if c.lead > 0 {
				w.painted(c.colour, c.text[:c.lead])
			}
			w.text(c.text[c.lead:])
			if !c.right && i < len(cells)-1 { // nothing follows on the last
				w.spaces(room)
			}
		}
		w.raw("\n")
	}
}

func (w *textWriter) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}
