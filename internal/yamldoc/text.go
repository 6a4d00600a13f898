package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text is a run of YAML or JSON: a whole file, or the value of a string scalar inside one.
type Text struct {
	File *File
	Data []byte

	outer *Value // the scalar whose value this is; nil for a file
	// offsets[i] is the offset in the outer text of byte i; it has one more element than Data.
	// nil: the offsets are equal.
	offsets []int
	// encode returns the new text of an edit of Data in the spelling of the outer scalar.
	encode func(e Edit) ([]byte, error)
	// fixed says why this text cannot be edited in place; empty: it can.
	fixed string

	// What Documents returns.
	docs []*Document
	err  error
}

// Text returns the whole file as a text.
func (f *File) Text() *Text {
	if f.text == nil {
		f.text = &Text{File: f, Data: f.Data}
	}
	return f.text
}

// Outer returns the scalar that holds the text, or nil for a whole file.
func (t *Text) Outer() *Value { return t.outer }

// FileOffset returns where a byte of the text stands in the file.
func (t *Text) FileOffset(offset int) int {
	for t != nil {
		offset = min(max(offset, 0), len(t.Data))
		if t.offsets != nil {
			offset = t.offsets[offset]
		}
		if t.outer == nil {
			break
		}
		t = t.outer.doc.Text
	}
	return offset
}

// Edit replaces the bytes from Start to End (exclusive) of a text.
type Edit struct {
	Start, End int
	New        []byte
}

// Apply returns data with the edits made. Edits must not overlap.
func Apply(data []byte, edits ...Edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Start - b.Start })
	var out bytes.Buffer
	last := 0
	for _, e := range edits {
		out.Write(data[last:e.Start])
		out.Write(e.New)
		last = e.End
	}
	out.Write(data[last:])
	return out.Bytes()
}

// ToFile turns an edit of the text into the edit of the file that has that effect.
// It fails where the outer scalar's style does not allow an edit in place.
func (t *Text) ToFile(e Edit) (Edit, error) {
	if t.outer == nil {
		return e, nil
	}
	if t.fixed != "" {
		return Edit{}, errors.New(t.fixed)
	}
	text, err := t.encode(e)
	if err != nil {
		return Edit{}, err
	}
	start, end := t.offsets[e.Start], t.offsets[e.End]
	if t.outer.Style == Literal && e.End > e.Start && t.atLineStart(e.Start) {
		src := t.outer.doc.Text.Data
		switch {
		case e.End == len(t.Data):
			// The last lines go: so does the indentation in front of the first of them.
			start = behindBreak(src, start)
		case len(e.New) == 0 && t.atLineStart(e.End) && t.Data[e.End] == '\n':
			// A blank line follows, which need not have the indentation.
			start, end = behindBreak(src, start), behindBreak(src, end)
		}
	}
	return t.outer.doc.Text.ToFile(Edit{Start: start, End: end, New: text})
}

// behindBreak goes back over the blanks at the start of a line.
func behindBreak(src []byte, pos int) int {
	for pos > 0 && src[pos-1] == ' ' {
		pos--
	}
	return pos
}

// Inner returns the text that a string scalar holds, so that it can be read as YAML in turn.
func (v *Value) Inner() *Text {
	if v.doc.inner[v] == nil {
		if v.doc.inner == nil {
			v.doc.inner = map[*Value]*Text{}
		}
		v.doc.inner[v] = v.innerText()
	}
	return v.doc.inner[v]
}

func (v *Value) innerText() *Text {
	outer := v.doc.Text.Data
	t := &Text{File: v.doc.Text.File, Data: []byte(v.Text), outer: v}
	refuse := func(why string) *Text {
		t.fixed = why
		t.offsets = make([]int, len(t.Data)+1)
		for i := range t.offsets {
			t.offsets[i] = v.Start
		}
		return t
	}
	switch v.Style {
	case Literal:
		offsets, indent, ok := literalOffsets(outer, v)
		if !ok {
			return refuse("the block scalar cannot be mapped to its lines")
		}
		t.offsets = offsets
		lineBreak := lineBreakOf(outer)
		t.encode = func(e Edit) ([]byte, error) { return indentInserted(t, e, indent, lineBreak), nil }
	case DoubleQuoted:
		offsets, ok := doubleQuotedOffsets(outer, v)
		if !ok {
			return refuse("the quoted string cannot be mapped to its source")
		}
		t.offsets = offsets
		t.encode = func(e Edit) ([]byte, error) { return escape(e.New), nil }
	default:
		return refuse("text in a " + v.Style.String() + " scalar cannot be edited in place")
	}
	return t
}

// literalOffsets maps the bytes of a literal block scalar's value to its source.
func literalOffsets(src []byte, v *Value) (offsets []int, indent string, ok bool) {
	body := v.Start
	for body < v.End && src[body] != '\n' {
		body++
	}
	offsets = make([]int, 0, len(v.Text)+1)
	pos := body + 1
	width := v.indent
	indent = strings.Repeat(" ", width)
	for i := 0; i < len(v.Text); {
		line := v.Text[i:]
		if j := strings.IndexByte(line, '\n'); j >= 0 {
			line = line[:j]
		}
		if pos > len(src) {
			return nil, "", false
		}
		// A blank line may be shorter than the indentation.
		skip := 0
		for skip < width && pos+skip < len(src) && src[pos+skip] == ' ' {
			skip++
		}
		if skip < width && line != "" {
			return nil, "", false
		}
		pos += skip
		if !bytes.HasPrefix(src[min(pos, len(src)):], []byte(line)) {
			return nil, "", false
		}
		for k := range len(line) {
			offsets = append(offsets, pos+k)
		}
		pos += len(line)
		i += len(line)
		if i == len(v.Text) {
			break
		}
		offsets = append(offsets, pos)
		i++
		switch {
		case pos < len(src) && src[pos] == '\n':
			pos++
		case pos+1 < len(src) && src[pos] == '\r' && src[pos+1] == '\n':
			pos += 2
		case pos < len(src):
			return nil, "", false
		}
	}
	return append(offsets, min(pos, len(src))), indent, true
}

// indentInserted gives the new text of an edit of a block scalar's value the indentation of the scalar.
// An offset at the start of a line stands behind that line's indentation in the source.
func indentInserted(t *Text, e Edit, indent, lineBreak string) []byte {
	var out bytes.Buffer
	rest := e.New
	line, rest, more := bytes.Cut(rest, []byte("\n"))
	if len(line) > 0 && t.atLineStart(e.Start) && (e.End == len(t.Data) || t.Data[e.Start] == '\n') {
		have := 0
		if e.End < len(t.Data) {
			// Of the indentation a blank line may have a part.
			at := t.offsets[e.Start]
			have = at - behindBreak(t.outer.doc.Text.Data, at)
		}
		out.WriteString(indent[min(have, len(indent)):])
	}
	out.Write(line)
	for more {
		out.WriteString(lineBreak)
		line, rest, more = bytes.Cut(rest, []byte("\n"))
		followed := len(line) > 0 || !more && e.End < len(t.Data) && t.Data[e.End] != '\n'
		if followed {
			out.WriteString(indent)
		}
		out.Write(line)
	}
	return out.Bytes()
}

func (t *Text) atLineStart(offset int) bool { return offset == 0 || t.Data[offset-1] == '\n' }

// lineBreakOf returns the line break that the text uses: that of its first line.
func lineBreakOf(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// LineBreak returns the line break that the text uses: that of its first line.
func (t *Text) LineBreak() string { return lineBreakOf(t.Data) }

// doubleQuotedOffsets maps the bytes of a double-quoted scalar's value to its source.
func doubleQuotedOffsets(src []byte, v *Value) ([]int, bool) {
	offsets := make([]int, 0, len(v.Text)+1)
	var decoded []byte
	add := func(at int, s string) {
		for range len(s) {
			offsets = append(offsets, at)
		}
		decoded = append(decoded, s...)
	}
	pos, end := v.Start+1, v.End-1
	for pos < end {
		switch c := src[pos]; {
		case c == '\\' && pos+1 < end && (src[pos+1] == '\n' || src[pos+1] == '\r'):
			pos = skipFold(src, pos+1, end, nil)
		case c == '\\':
			s, n := unescape(src[pos:end])
			if n == 0 {
				return nil, false
			}
			add(pos, s)
			pos += n
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			// White space before a line break belongs to the break.
			stop := pos
			for stop < end && (src[stop] == ' ' || src[stop] == '\t') {
				stop++
			}
			if stop < end && (src[stop] == '\n' || src[stop] == '\r') {
				breaks := 0
				next := skipFold(src, stop, end, &breaks)
				if breaks == 1 {
					add(pos, " ")
				} else {
					add(pos, strings.Repeat("\n", breaks-1))
				}
				pos = next
				continue
			}
			for ; pos < stop; pos++ {
				add(pos, string(src[pos]))
			}
		default:
			_, n := utf8.DecodeRune(src[pos:end])
			for k := range n {
				add(pos+k, string(src[pos+k:pos+k+1]))
			}
			pos += n
		}
	}
	if string(decoded) != v.Text {
		return nil, false
	}
	return append(offsets, end), true
}

// skipFold passes over line breaks and the indentation after them, and counts the breaks.
func skipFold(src []byte, pos, end int, breaks *int) int {
	for pos < end {
		switch src[pos] {
		case '\n':
			if breaks != nil {
				*breaks++
			}
		case '\r':
			if breaks != nil && (pos+1 == end || src[pos+1] != '\n') {
				*breaks++
			}
		case ' ', '\t':
		default:
			return pos
		}
		pos++
	}
	return pos
}

// unescape decodes the escape sequence at the start of src and returns its length, 0 if it is none.
func unescape(src []byte) (string, int) {
	if len(src) < 2 {
		return "", 0
	}
	simple := map[byte]string{
		'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f",
		'r': "\r", 'e': "\x1b", ' ': " ", '"': "\"", '\'': "'", '\\': "\\", '/': "/",
		'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
	}
	if s, ok := simple[src[1]]; ok {
		return s, 2
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[src[1]]
	if digits == 0 || len(src) < 2+digits {
		return "", 0
	}
	var r rune
	if _, err := fmt.Sscanf(string(src[2:2+digits]), "%x", &r); err != nil {
		return "", 0
	}
	return string(r), 2 + digits
}

// escape spells text for the inside of a double-quoted YAML or JSON string.
func escape(text []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '\r':
			out.WriteString(`\r`)
		case r < 0x20 || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}
