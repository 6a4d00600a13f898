package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	lineColumns = 80     // what a source line is cut to, with its number
	tab         = "    " // one tab; the width is nobody's, but the caret is under the right place
	ellipsis    = "..."
	maxMarks    = 64 // combining runes on either side of the caret: no honest line has more
)

// snippet is a source line with its region, to be shown in room columns.
type snippet struct {
	line       string // without its line end
	start, end int    // the region, in bytes; equal when only its start is known
	room       int
}

// newSnippet finds the region of loc in the text of its first line. A region
// that goes on in further lines is one to the end of this line.
func newSnippet(line Text, loc *Location, room int) snippet {
	s := snippet{line: strings.TrimRight(string(line), "\r\n"), room: room}
	s.start = runeOffset(s.line, loc.Column-1)
	s.end = s.start
	if s.start == len(s.line) {
		s.room-- // the caret stands behind the text
	}
	switch {
	case loc.EndLine > loc.Line:
		s.end = max(s.start, len(strings.TrimRight(s.line, " \t")))
	case loc.EndColumn > loc.Column:
		s.end = s.start + runeOffset(s.line[s.start:], loc.EndColumn-loc.Column)
	}
	return s
}

// runeOffset is where the rune with index n begins in s, or the end of s.
func runeOffset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// window is the part of the line to show, in bytes: all of it if there is
// room, else what stands around the start of the region. However long the
// line is, only some hundred bytes on both sides of that place are looked at.
func (s *snippet) window() (from, to int) {
	// The start of the region gets a third of the room before it, and what the
	// text behind it does not need.
	left := s.room / 3
	if end, used := s.forward(s.start, s.room); end == len(s.line) {
		left = max(left, s.room-used)
	}
	from, _ = s.backward(s.start, left)
	if from > 0 {
		from, _ = s.backward(s.start, left-len(ellipsis))
	}
	room := s.room - sourceColumns(s.line[from:s.start])
	if from > 0 {
		room -= len(ellipsis)
	}
	to, _ = s.forward(s.start, room)
	if to < len(s.line) {
		to, _ = s.forward(s.start, room-len(ellipsis))
	}
	return from, to
}

// forward is how far the text from i on goes in room columns, and how many it
// takes. It stops at maxMarks runes that take none.
func (s *snippet) forward(i, room int) (end, used int) {
	for marks := 0; i < len(s.line); {
		_, size := utf8.DecodeRuneInString(s.line[i:])
		n := sourceColumns(s.line[i : i+size])
		if n == 0 {
			marks++
		}
		if used+n > room || marks > maxMarks {
			break
		}
		used += n
		i += size
	}
	return i, used
}

// backward is forward in the other direction.
func (s *snippet) backward(i, room int) (start, used int) {
	for marks := 0; i > 0; {
		_, size := utf8.DecodeLastRuneInString(s.line[:i])
		n := sourceColumns(s.line[i-size : i])
		if n == 0 {
			marks++
		}
		if used+n > room || marks > maxMarks {
			break
		}
		used += n
		i -= size
	}
	return i, used
}

// appendLine appends the text of the window.
func (s *snippet) appendLine(dst []byte, from, to int) []byte {
	if from > 0 {
		dst = append(dst, ellipsis...)
	}
	text := s.line[from:to]
	for {
		before, after, found := strings.Cut(text, "\t")
		dst = appendEscaped(dst, before)
		if !found {
			break
		}
		dst = append(dst, tab...)
		text = after
	}
	if to < len(s.line) {
		dst = append(dst, ellipsis...)
	}
	return dst
}

// marker is where the caret stands below the window and how wide the region
// is there, in columns.
func (s *snippet) marker(from, to int) (indent, size int) {
	indent = sourceColumns(s.line[from:s.start])
	if from > 0 {
		indent += len(ellipsis)
	}
	return indent, max(1, sourceColumns(s.line[s.start:max(s.start, min(s.end, to))]))
}

// sourceColumns is textColumns with tabs as they are shown in source lines.
func sourceColumns(s string) int {
	n := textColumns(s)
	if tabs := strings.Count(s, "\t"); tabs > 0 {
		n += tabs * (len(tab) - len(`\t`))
	}
	return n
}

// appendSource appends the source line of a finding and the caret below its
// region, if both are known.
func appendSource(dst []byte, f *Finding, caret paint) []byte {
	loc := f.Location
	if loc == nil || loc.Line < 1 || loc.Column < 1 || strings.Trim(string(f.SourceLine), "\r\n") == "" {
		return dst
	}
	number := strconv.Itoa(loc.Line)
	gutter := max(5, len(number))
	s := newSnippet(f.SourceLine, loc, lineColumns-gutter-len(" | "))
	from, to := s.window()

	dst = appendSpaces(dst, gutter-len(number))
	dst = append(dst, number...)
	dst = append(dst, " | "...)
	dst = s.appendLine(dst, from, to)
	dst = append(dst, '\n')

	indent, size := s.marker(from, to)
	dst = appendSpaces(dst, gutter)
	dst = append(dst, " | "...)
	dst = appendSpaces(dst, indent)
	dst = append(dst, caret.on...)
	dst = append(dst, '^')
	for range size - 1 {
		dst = append(dst, '~')
	}
	dst = append(dst, caret.off...)
	return append(dst, '\n')
}

func appendSpaces(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}
