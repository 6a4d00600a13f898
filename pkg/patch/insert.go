package patch

import (
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// position is where a new entry or item goes: the number of those that stay in front of it.
type position int

// atEnd: behind the last entry, in front of the blank lines and comments that follow. Position 0 is right below the
// line of the collection's key.
const atEnd position = -1

// printerFor returns a printer for new content below v.
func printerFor(l *layout, v *yamldoc.Value) *printer {
	return &printer{habits: l.habits(), json: l.json, flowItems: flowItemsHabit(l)}
}

// flowItemsHabit tells whether the maps of the document's lists stand on one line each.
func flowItemsHabit(l *layout) bool {
	one, more := 0, 0
	walk(l.doc.Root, func(v *yamldoc.Value) {
		if v.Kind != yamldoc.Map || v.Parent() == nil || v.Parent().Kind != yamldoc.List {
			return
		}
		if v.Style == yamldoc.Flow && l.sameLine(v.Start, v.End) {
			one++
		} else {
			more++
		}
	})
	return one > more
}

// insertEntry adds a key to a map that has entries.
func insertEntry(m *yamldoc.Value, key string, n node, p *printer, where position) (*edit, error) {
	if err := movable(m); err != nil {
		return nil, err
	}
	l := layoutOf(m.Document())
	e := &edit{doc: m.Document()}
	e.setKey(m, key, n.json())
	if m.Style == yamldoc.Flow {
		e.edits = flowInsert(l, m, where, p.keyText(key, true)+": ", n, p)
		return e, p.err
	}
	column := l.column(m.Start)
	lines := p.blockEntry(field{key, n}, strings.Repeat(" ", column))
	at := 0
	switch own := ownEntries(m); {
	case where > 0 && int(where) <= len(own):
		at = l.nextLine(l.endOf(own[where-1].Value))
	case where == 0 && m.Entry() != nil && !l.sameLine(m.Entry().KeyEnd, m.Start):
		at = l.nextLine(m.Entry().KeyEnd)
	case where == 0 && len(own) > 0 && l.startsLine(own[0].KeyStart):
		at = l.lineStart(own[0].KeyStart)
	default:
		at = l.behind(m, column)
	}
	e.edits = []yamldoc.Edit{l.insertLines(at, lines)}
	return e, p.err
}

// behind returns the start of the line behind a block map at a column. Comments right below that are indented
// as part of its last value stay with that.
func (l *layout) behind(m *yamldoc.Value, column int) int {
	pos := l.nextLine(l.endOf(m))
	last := lastChild(m)
	for pos < l.doc.End {
		text := l.restOfLine(pos)
		depth := len(text) - len(strings.TrimLeft(text, " "))
		if depth == len(text) || text[depth] != '#' {
			break
		}
		ofList := column > 0 && depth == column && last != nil && last.Kind == yamldoc.List && l.column(last.Start) == column
		if depth <= column && !ofList {
			break
		}
		pos = l.nextLine(pos)
	}
	return pos
}

// insertItem adds an item to a list that has items.
func insertItem(list *yamldoc.Value, n node, p *printer, where position) (*edit, error) {
	if err := movable(list); err != nil {
		return nil, err
	}
	l := layoutOf(list.Document())
	e := &edit{doc: list.Document()}
	index := min(int(where), len(list.Items))
	e.changeList(list, func(items []any) []any { return slices.Insert(slices.Clone(items), index, n.json()) })
	if list.Style == yamldoc.Flow {
		p.flowItems = list.Items[0].Style != yamldoc.Flow || l.sameLine(list.Items[0].Start, list.Items[0].End)
		e.edits = flowInsert(l, list, where, "", n, p)
		return e, p.err
	}
	first := list.Items[0]
	indent := strings.Repeat(" ", l.column(list.Start))
	lines := l.itemLines(n, p, first, list.Start, indent)
	at := l.lineStart(list.Start)
	switch entry := list.Entry(); {
	case index > 0:
		before := list.Items[index-1]
		dash, _ := l.dashOf(before)
		at = l.nextLine(max(l.endOf(before), dash))
	case entry != nil && !l.sameLine(entry.KeyEnd, list.Start):
		at = l.nextLine(entry.KeyEnd)
	case !l.startsLine(list.Start):
		return nil, refuse(list, "the list begins behind other text on its line")
	}
	e.edits = []yamldoc.Edit{l.insertLines(at, lines)}
	return e, p.err
}

// itemLines writes an item like the first one of its list: its style, and the blanks behind its dash.
func (l *layout) itemLines(n node, p *printer, first *yamldoc.Value, dash int, indent string) []string {
	gap := " "
	if text := string(l.src[dash+1 : max(dash+1, first.Start)]); text != "" && strings.Trim(text, " ") == "" {
		gap = text
	}
	if first.Style == yamldoc.Flow || !n.collection() {
		return []string{indent + "-" + gap + p.flow(n)}
	}
	lines := p.block(n, indent+" "+gap)
	lines[0] = indent + "-" + lines[0][len(indent)+1:]
	return lines
}

// spread tells whether the first element of a flow collection stands on a line of its own.
func spread(l *layout, v *yamldoc.Value) bool {
	starts := elementStarts(v)
	return len(starts) > 0 && !l.sameLine(v.Start, starts[0])
}

// elementStarts returns where the elements of a flow collection begin.
func elementStarts(v *yamldoc.Value) []int {
	var starts []int
	for _, item := range v.Items {
		starts = append(starts, item.Start)
	}
	for _, e := range ownEntries(v) {
		starts = append(starts, e.KeyStart)
	}
	return starts
}

// flowStep returns one step of indentation of a flow collection over several lines.
func flowStep(l *layout, v *yamldoc.Value) string {
	for ; v != nil; v = v.Parent() {
		starts := elementStarts(v)
		if len(starts) == 0 {
			continue
		}
		outer, inner := l.indent(v.Start), l.indent(starts[0])
		if len(inner) > len(outer) && strings.HasPrefix(inner, outer) {
			return inner[len(outer):]
		}
	}
	return "  "
}

// flowInsert adds an element to a flow collection that has some: on lines of its own if the others have that.
func flowInsert(l *layout, v *yamldoc.Value, where position, prefix string, n node, p *printer) []yamldoc.Edit {
	starts := elementStarts(v)
	inFront := where >= 0 && int(where) < len(starts)
	if !spread(l, v) {
		text := prefix + p.flow(n)
		if inFront {
			at := starts[where]
			return []yamldoc.Edit{{Start: at, End: at, New: []byte(text + ", ")}}
		}
		end, comma := l.lastElement(v)
		if comma > 0 {
			return []yamldoc.Edit{{Start: comma, End: comma, New: []byte(" " + text)}}
		}
		return []yamldoc.Edit{{Start: end, End: end, New: []byte(", " + text)}}
	}
	indent := l.indent(starts[0])
	lines := p.flowLines(n, indent, flowStep(l, v))
	lines[0] = indent + prefix + lines[0]
	switch {
	case inFront && where == 0:
		lines[len(lines)-1] += ","
		return []yamldoc.Edit{l.insertLines(l.nextLine(v.Start), lines)}
	case inFront && l.startsElement(starts[where]):
		// Right below the element before, so that a comment stays with the one that follows.
		lines[len(lines)-1] += ","
		return []yamldoc.Edit{l.insertLines(l.nextLine(elementEnd(v, int(where)-1)), lines)}
	}
	return l.flowAppend(v, lines)
}

func elementEnd(v *yamldoc.Value, i int) int {
	if v.Kind == yamldoc.List {
		return v.Items[i].End
	}
	e := ownEntries(v)[i]
	return max(e.KeyEnd, e.Value.End)
}

// startsElement tells whether an element of a flow collection is the first on its line.
func (l *layout) startsElement(pos int) bool {
	return strings.TrimSpace(string(l.src[l.lineStart(pos):pos])) == ""
}

// flowAppend adds lines behind the last element of a flow collection, and the comma that this one lacks.
func (l *layout) flowAppend(v *yamldoc.Value, lines []string) []yamldoc.Edit {
	end, comma := l.lastElement(v)
	var edits []yamldoc.Edit
	if comma < 0 {
		edits = append(edits, yamldoc.Edit{Start: end, End: end, New: []byte(",")})
		comma = end
	}
	at := l.lineEnd(comma)
	if closing := v.End - 1; closing < at {
		at = comma
	}
	nl := l.lineBreak(at)
	text := nl + strings.Join(lines, nl)
	if at == end && len(edits) > 0 {
		return []yamldoc.Edit{{Start: end, End: end, New: []byte("," + text)}}
	}
	return append(edits, yamldoc.Edit{Start: at, End: at, New: []byte(text)})
}

// lastElement returns the end of the last element of a flow collection, and the offset behind a comma that
// follows it, -1 without one.
func (l *layout) lastElement(v *yamldoc.Value) (end, comma int) {
	for _, item := range v.Items {
		end = max(end, item.End)
	}
	for _, e := range ownEntries(v) {
		end = max(end, e.KeyEnd, e.Value.End)
	}
	for pos := end; pos < v.End-1; pos++ {
		switch l.src[pos] {
		case ',':
			return end, pos + 1
		case '#':
			pos = l.lineEnd(pos)
		}
	}
	return end, -1
}

// fill puts content where there is nothing: behind a key without a value, or in place of {} or [].
func fill(v *yamldoc.Value, n node, p *printer) (*edit, error) {
	if err := movable(v); err != nil {
		return nil, err
	}
	l := layoutOf(v.Document())
	if strings.Contains(string(l.src[v.Start:v.End]), "#") {
		return nil, refuse(v, "there is a comment inside %s", v.Path())
	}
	e := &edit{doc: v.Document()}
	e.setJSON(v, n.json())
	entry := v.Entry()
	switch {
	case entry == nil:
		return nil, refuse(v, "%s has no key", v.Path())
	case l.json || inFlow(v):
		text := strings.Join(fillFlow(l, v, n, p), l.lineBreak(v.Start))
		if v.Start == v.End {
			text = " " + text
		}
		e.edits = []yamldoc.Edit{{Start: v.Start, End: v.End, New: []byte(text)}}
		return e, p.err
	}
	deeper := p.step
	if n.kind == yamldoc.List {
		deeper = p.dash
	}
	lines := p.block(n, strings.Repeat(" ", l.column(entry.KeyStart)+deeper))
	start := v.Start
	for start > entry.KeyEnd && (l.src[start-1] == ' ' || l.src[start-1] == '\t') {
		start--
	}
	added := l.insertLines(l.nextLine(v.End), lines)
	if added.Start == v.End && start < v.End {
		added.Start = start
		e.edits = []yamldoc.Edit{added}
	} else {
		e.edits = append(e.edits, added)
		if start < v.End {
			e.edits = append(e.edits, yamldoc.Edit{Start: start, End: v.End})
		}
	}
	return e, p.err
}

// fillFlow returns the lines of content for a place in a flow collection, spread if its surroundings are.
func fillFlow(l *layout, v *yamldoc.Value, n node, p *printer) []string {
	parent := v.Parent()
	if parent == nil || parent.Style != yamldoc.Flow || !spread(l, parent) {
		return []string{p.flow(n)}
	}
	return p.flowLines(n, l.indent(v.Entry().KeyStart), flowStep(l, parent))
}
