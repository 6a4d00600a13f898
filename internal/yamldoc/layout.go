package yamldoc

import (
	"bytes"
	"encoding/json"
	"strings"
)

// layout answers how a document is written: its lines, its indentation, its habits.
type layout struct {
	doc *Document
	src []byte
	// json: the document is JSON and must stay so: kubeadm decodes one that begins with { as JSON.
	json bool
}

func layoutOf(d *Document) *layout {
	text := bytes.TrimSpace(d.Text.Data[d.Start:d.End])
	isJSON := len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text)
	return &layout{doc: d, src: d.Text.Data, json: isJSON}
}

// lineStart returns the offset of the first byte of the line that pos stands in.
func (l *layout) lineStart(pos int) int {
	if i := bytes.LastIndexByte(l.src[l.doc.Start:pos], '\n'); i >= 0 {
		return l.doc.Start + i + 1
	}
	return l.doc.Start
}

// lineEnd returns the offset of the line break that ends the line of pos, or the end of the document.
func (l *layout) lineEnd(pos int) int {
	i := bytes.IndexByte(l.src[pos:l.doc.End], '\n')
	switch {
	case i < 0:
		return l.doc.End
	case i > 0 && l.src[pos+i-1] == '\r':
		return pos + i - 1
	}
	return pos + i
}

// nextLine returns the offset of the line behind that of pos, or the end of the document.
func (l *layout) nextLine(pos int) int {
	if i := bytes.IndexByte(l.src[pos:l.doc.End], '\n'); i >= 0 {
		return pos + i + 1
	}
	return l.doc.End
}

// column counts bytes from 0; in front of block collections stand only blanks.
func (l *layout) column(pos int) int { return pos - l.lineStart(pos) }

// indent returns the white space at the start of the line of pos.
func (l *layout) indent(pos int) string {
	start := l.lineStart(pos)
	end := start
	for end < l.doc.End && (l.src[end] == ' ' || l.src[end] == '\t') {
		end++
	}
	return string(l.src[start:end])
}

// startsLine tells whether only blanks stand in front of pos on its line.
func (l *layout) startsLine(pos int) bool {
	return len(bytes.Trim(l.src[l.lineStart(pos):pos], " ")) == 0
}

// endsLine tells whether nothing but a comment stands behind pos on its line.
func (l *layout) endsLine(pos int) bool {
	rest := strings.TrimSpace(l.restOfLine(pos))
	return rest == "" || rest[0] == '#'
}

// hasComment tells whether a comment may stand between two offsets.
func (l *layout) hasComment(start, end int) bool { return bytes.IndexByte(l.src[start:end], '#') >= 0 }

// restOfLine returns what stands on the line from pos on.
func (l *layout) restOfLine(pos int) string { return string(l.src[pos:l.lineEnd(pos)]) }

// sameLine tells whether no line break stands between two offsets.
func (l *layout) sameLine(a, b int) bool {
	return bytes.IndexByte(l.src[min(a, b):max(a, b)], '\n') < 0
}

// lineBreak returns the line break of the line before pos, so that a file with mixed ones gets no third kind.
func (l *layout) lineBreak(pos int) string {
	if i := bytes.LastIndexByte(l.src[:pos], '\n'); i >= 0 {
		if i > 0 && l.src[i-1] == '\r' {
			return "\r\n"
		}
		return "\n"
	}
	return l.doc.Text.LineBreak()
}

// insertLines puts lines in front of the line that starts at pos. At the end of a text that has no final line
// break they go onto lines of their own, and the text ends without one as before.
func (l *layout) insertLines(pos int, lines []string) Edit {
	nl := l.lineBreak(pos)
	text := strings.Join(lines, nl)
	if pos > l.doc.Start && l.src[pos-1] != '\n' {
		text = nl + text
	} else {
		text += nl
	}
	return Edit{Start: pos, End: pos, New: []byte(text)}
}

// removeLines removes the lines from that of start to that of end. A text without a final line break keeps none.
func (l *layout) removeLines(start, end int) Edit {
	e := Edit{Start: l.lineStart(start), End: l.nextLine(end)}
	if e.End == l.doc.End && e.End > e.Start && l.src[e.End-1] != '\n' {
		for e.Start > l.doc.Start && (l.src[e.Start-1] == '\n' || l.src[e.Start-1] == '\r') {
			e.Start--
		}
	}
	return e
}

// dashOf returns the offset of the dash of an item of a block list, which must be the first on its line.
func (l *layout) dashOf(item *Value) (int, bool) {
	column := l.column(item.Parent().Start)
	for pos := item.Start; ; pos = l.lineStart(pos) - 1 {
		at := l.lineStart(pos) + column
		if at < l.doc.End && at <= item.Start && l.src[at] == '-' && l.startsLine(at) {
			return at, true
		}
		if l.lineStart(pos) <= l.doc.Start || strings.TrimSpace(string(l.src[l.lineStart(pos):pos])) != "" {
			return 0, false
		}
	}
}

// behindKey returns the offset behind the colon of an entry.
func (l *layout) behindKey(e *Entry) int {
	for pos := e.KeyEnd; pos < l.doc.End; pos++ {
		switch l.src[pos] {
		case ':':
			return pos + 1
		case ' ', '\t':
		default:
			return e.KeyEnd
		}
	}
	return e.KeyEnd
}

// endOf returns the end of a value with the blank lines that a block scalar with the indicator + has at its end.
func (l *layout) endOf(v *Value) int {
	last := v
	for {
		next := lastChild(last)
		if next == nil {
			break
		}
		last = next
	}
	end := max(v.End, last.End)
	if last.Style != Literal && last.Style != Folded {
		return end
	}
	if header, _, _ := strings.Cut(l.restOfLine(last.Start), "#"); !strings.Contains(header, "+") {
		return end
	}
	for pos := l.nextLine(end); pos < l.doc.End && strings.TrimSpace(l.restOfLine(pos)) == ""; pos = l.nextLine(pos) {
		end = l.lineEnd(pos)
	}
	return end
}

func lastChild(v *Value) *Value {
	if v.Fixed != "" || v.Style == Flow {
		return nil
	}
	var last *Value
	for _, child := range children(v) {
		if child.Fixed == "" && (last == nil || child.End >= last.End) {
			last = child
		}
	}
	return last
}

func children(v *Value) []*Value {
	if v.Kind == List {
		return v.Items
	}
	out := make([]*Value, 0, len(v.Entries))
	for _, e := range v.Entries {
		out = append(out, e.Value)
	}
	return out
}

// Own returns the entries that stand in the map itself: not those of a merge key.
func (v *Value) Own() []*Entry {
	var own []*Entry
	for _, e := range v.Entries {
		if e.KeyStart >= v.Start && e.KeyEnd <= v.End {
			own = append(own, e)
		}
	}
	return own
}

// walk calls f for a value and all below it that stand where they seem to.
func walk(v *Value, f func(*Value)) {
	if v == nil || v.Fixed != "" {
		return
	}
	f(v)
	for _, child := range children(v) {
		walk(child, f)
	}
}

// habits are the ways of writing of a document that new lines follow.
type habits struct {
	// step is how much deeper a map stands than its key, dash how much deeper a list's dash does.
	step, dash int
}

// habits looks at the document, then at the others of the text; without any it is kubeadm's own way: two
// blanks, and dashes below the key.
func (l *layout) habits() habits {
	h := habits{step: -1, dash: -1}
	h.learn(l.doc)
	others, _ := l.doc.Text.Documents()
	for _, d := range others {
		if h.step >= 0 && h.dash >= 0 {
			return h
		}
		h.learn(d)
	}
	if h.step < 0 {
		h.step = 2
	}
	h.dash = max(h.dash, 0)
	return h
}

func (h *habits) learn(d *Document) {
	l := &layout{doc: d, src: d.Text.Data}
	var steps, dashes []int
	walk(d.Root, func(v *Value) {
		if v.entry == nil || v.Style != Block || !l.startsLine(v.Start) {
			return
		}
		deeper := l.column(v.Start) - l.column(v.entry.KeyStart)
		switch {
		case v.Kind == List && deeper >= 0:
			dashes = append(dashes, deeper)
		case v.Kind == Map && deeper > 0:
			steps = append(steps, deeper)
		}
	})
	if h.step < 0 {
		h.step = mostCommon(steps)
	}
	if h.dash < 0 {
		h.dash = mostCommon(dashes)
	}
}

// mostCommon returns the number that stands most often, of several the first; -1 of none.
func mostCommon(numbers []int) int {
	count := map[int]int{}
	for _, n := range numbers {
		count[n]++
	}
	best := -1
	for _, n := range numbers {
		if best < 0 || count[n] > count[best] {
			best = n
		}
	}
	return best
}
