package yamldoc

import (
	"errors"
	"fmt"
	"strings"
)

// add adds an entry to a map or an item to a list, with the maps on the way that are missing.
func (d *Document) add(op Op) (*edit, error) {
	found, missing := d.Root, op.Path.within()
	for ; len(missing) > 0; missing = missing[1:] {
		next := found.child(missing[0])
		if next == nil {
			break
		}
		found = next
	}
	if found == nil {
		return nil, errors.New("the document is empty")
	}
	if err := found.Editable(); err != nil {
		return nil, err
	}
	l := layoutOf(d)
	p := &printer{habits: l.habits(), keys: op.Keys, json: l.json, flowItems: flowItemsHabit(l)}
	nothing := found.Kind == Null || found.empty()
	e, err := &edit{doc: d}, error(nil)
	switch {
	case op.Kind == AddItem && len(missing) == 0 && !nothing && found.Kind == List:
		err = l.insertItem(e, found, op.Value, p, op.At)
	case op.Kind == AddEntry && len(missing) == 0 && !nothing && found.Kind == Map:
		l.insertEntry(e, found, NodeField{op.Key, op.Value}, p, op.At)
	default:
		err = l.create(e, found, missing, op, p)
	}
	if err == nil {
		err = p.err
	}
	return e, err
}

// child returns the value at a step below, nil where there is none.
func (v *Value) child(step any) *Value {
	switch step := step.(type) {
	case string:
		return v.Get(step)
	case int:
		if v != nil && step < len(v.Items) {
			return v.Items[step]
		}
	}
	return nil
}

func (v *Value) empty() bool {
	return (v.Kind == Map || v.Kind == List) && len(v.Entries) == 0 && len(v.Items) == 0
}

// create puts what is to be added below found, within maps for the missing keys.
func (l *layout) create(e *edit, found *Value, missing Path, op Op, p *printer) error {
	n := Array(op.Value)
	if op.Kind == AddEntry {
		n = Object(NodeField{op.Key, op.Value})
	}
	nothing := found.Kind == Null || found.empty()
	for i := len(missing) - 1; i >= 0; i-- {
		key, isKey := missing[i].(string)
		switch {
		case !isKey:
			return fmt.Errorf("%s has no item %v", found.Path(), missing[i])
		case i == 0 && !nothing && found.Kind == Map:
			l.insertEntry(e, found, NodeField{key, n}, p, AtEnd)
			return nil
		}
		n = Object(NodeField{key, n})
	}
	if !nothing {
		return refuse(found, "%s is %s, not %s", found.Path(), found.Kind, n.Kind)
	}
	return l.fill(e, found, n, p)
}

// flowItemsHabit tells whether the maps of the document's lists stand on one line each.
func flowItemsHabit(l *layout) bool {
	one, more := 0, 0
	walk(l.doc.Root, func(v *Value) {
		if v.Kind != Map || v.Parent() == nil || v.Parent().Kind != List {
			return
		}
		if v.Style == Flow && l.sameLine(v.Start, v.End) {
			one++
		} else {
			more++
		}
	})
	return one > more
}

// insertEntry adds a key to a map that has entries.
func (l *layout) insertEntry(e *edit, m *Value, f NodeField, p *printer, where int) {
	e.has(Added, PathTo(m).To(f.Key), f.Value.JSON())
	if m.Style == Flow {
		e.edits = l.flowInsert(m, where, p.keyText(f.Key, true)+": ", f.Value, p)
		return
	}
	column := l.column(m.Start)
	lines := p.blockEntry(f, strings.Repeat(" ", column))
	at := 0
	switch own := m.Own(); {
	case where > 0 && where <= len(own):
		at = l.nextLine(l.endOf(own[where-1].Value))
	case where == 0 && m.Entry() != nil && !l.sameLine(m.Entry().KeyEnd, m.Start):
		at = l.nextLine(m.Entry().KeyEnd)
	case where == 0 && len(own) > 0 && l.startsLine(own[0].KeyStart):
		at = l.lineStart(own[0].KeyStart)
	default:
		at = l.behind(m, column)
	}
	e.edits = []Edit{l.insertLines(at, lines)}
}

// behind returns the start of the line behind a block map at a column. Comments right below that are indented
// as part of its last value stay with that.
func (l *layout) behind(m *Value, column int) int {
	pos := l.nextLine(l.endOf(m))
	last := lastChild(m)
	for pos < l.doc.End {
		text := l.restOfLine(pos)
		depth := len(text) - len(strings.TrimLeft(text, " "))
		if depth == len(text) || text[depth] != '#' {
			break
		}
		ofList := column > 0 && depth == column && last != nil && last.Kind == List && l.column(last.Start) == column
		if depth <= column && !ofList {
			break
		}
		pos = l.nextLine(pos)
	}
	return pos
}

// insertItem adds an item to a list that has items.
func (l *layout) insertItem(e *edit, list *Value, n Node, p *printer, where int) error {
	index := min(where, len(list.Items))
	e.has(Added, append(PathTo(list), index), n.JSON())
	if list.Style == Flow {
		p.flowItems = list.Items[0].Style != Flow || l.sameLine(list.Items[0].Start, list.Items[0].End)
		e.edits = l.flowInsert(list, where, "", n, p)
		return nil
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
		return refuse(list, "the list begins behind other text on its line")
	}
	e.edits = []Edit{l.insertLines(at, lines)}
	return nil
}

// itemLines writes an item like the first one of its list: its style, and the blanks behind its dash.
func (l *layout) itemLines(n Node, p *printer, first *Value, dash int, indent string) []string {
	gap := " "
	if text := string(l.src[dash+1 : max(dash+1, first.Start)]); text != "" && strings.Trim(text, " ") == "" {
		gap = text
	}
	if first.Style == Flow || !n.collection() {
		return []string{indent + "-" + gap + p.flow(n)}
	}
	lines := p.block(n, indent+" "+gap)
	lines[0] = indent + "-" + lines[0][len(indent)+1:]
	return lines
}

// spread tells whether the first element of a flow collection stands on a line of its own.
func (l *layout) spread(v *Value) bool {
	starts := elementStarts(v)
	return len(starts) > 0 && !l.sameLine(v.Start, starts[0])
}

// elementStarts returns where the elements of a flow collection begin.
func elementStarts(v *Value) []int {
	var starts []int
	for _, item := range v.Items {
		starts = append(starts, item.Start)
	}
	for _, e := range v.Own() {
		starts = append(starts, e.KeyStart)
	}
	return starts
}

// flowStep returns one step of indentation of a flow collection over several lines.
func (l *layout) flowStep(v *Value) string {
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
func (l *layout) flowInsert(v *Value, where int, prefix string, n Node, p *printer) []Edit {
	starts := elementStarts(v)
	inFront := where >= 0 && where < len(starts)
	if !l.spread(v) {
		text := prefix + p.flow(n)
		if inFront {
			at := starts[where]
			return []Edit{{Start: at, End: at, New: []byte(text + ", ")}}
		}
		end, comma := l.lastElement(v)
		if comma > 0 {
			return []Edit{{Start: comma, End: comma, New: []byte(" " + text)}}
		}
		return []Edit{{Start: end, End: end, New: []byte(", " + text)}}
	}
	indent := l.indent(starts[0])
	lines := p.flowLines(n, indent, l.flowStep(v))
	lines[0] = indent + prefix + lines[0]
	switch {
	case inFront && where == 0:
		lines[len(lines)-1] += ","
		return []Edit{l.insertLines(l.nextLine(v.Start), lines)}
	case inFront && l.startsElement(starts[where]):
		// Right below the element before, so that a comment stays with the one that follows.
		lines[len(lines)-1] += ","
		return []Edit{l.insertLines(l.nextLine(elementEnd(v, where-1)), lines)}
	}
	return l.flowAppend(v, lines)
}

func elementEnd(v *Value, i int) int {
	if v.Kind == List {
		return v.Items[i].End
	}
	e := v.Own()[i]
	return max(e.KeyEnd, e.Value.End)
}

// startsElement tells whether an element of a flow collection is the first on its line.
func (l *layout) startsElement(pos int) bool {
	return strings.TrimSpace(string(l.src[l.lineStart(pos):pos])) == ""
}

// flowAppend adds lines behind the last element of a flow collection, and the comma that this one lacks.
func (l *layout) flowAppend(v *Value, lines []string) []Edit {
	end, comma := l.lastElement(v)
	var edits []Edit
	if comma < 0 {
		edits = append(edits, Edit{Start: end, End: end, New: []byte(",")})
		comma = end
	}
	at := l.lineEnd(comma)
	if closing := v.End - 1; closing < at {
		at = comma
	}
	nl := l.lineBreak(at)
	text := nl + strings.Join(lines, nl)
	if at == end && len(edits) > 0 {
		return []Edit{{Start: end, End: end, New: []byte("," + text)}}
	}
	return append(edits, Edit{Start: at, End: at, New: []byte(text)})
}

// lastElement returns the end of the last element of a flow collection, and the offset behind a comma that
// follows it, -1 without one.
func (l *layout) lastElement(v *Value) (end, comma int) {
	for _, item := range v.Items {
		end = max(end, item.End)
	}
	for _, e := range v.Own() {
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
func (l *layout) fill(e *edit, v *Value, n Node, p *printer) error {
	entry := v.Entry()
	switch {
	case strings.Contains(string(l.src[v.Start:v.End]), "#"):
		return refuse(v, "there is a comment inside %s", v.Path())
	case entry == nil:
		return refuse(v, "%s has no key", v.Path())
	}
	e.has(Replaced, PathTo(v), n.JSON())
	if l.json || inFlow(v) {
		text := strings.Join(l.fillFlow(v, n, p), l.lineBreak(v.Start))
		if v.Start == v.End {
			text = " " + text
		}
		e.edits = []Edit{{Start: v.Start, End: v.End, New: []byte(text)}}
		return nil
	}
	deeper := p.step
	if n.Kind == List {
		deeper = p.dash
	}
	lines := p.block(n, strings.Repeat(" ", l.column(entry.KeyStart)+deeper))
	start := v.Start
	for start > entry.KeyEnd && (l.src[start-1] == ' ' || l.src[start-1] == '\t') {
		start--
	}
	added := l.insertLines(l.nextLine(v.End), lines)
	if start < v.End {
		if added.Start == v.End {
			added.Start = start
		} else {
			e.edits = []Edit{{Start: start, End: v.End}}
		}
	}
	e.edits = append(e.edits, added)
	return nil
}

// fillFlow returns the lines of content for a place in a flow collection, spread if its surroundings are.
func (l *layout) fillFlow(v *Value, n Node, p *printer) []string {
	parent := v.Parent()
	if parent == nil || parent.Style != Flow || !l.spread(parent) {
		return []string{p.flow(n)}
	}
	return p.flowLines(n, l.indent(v.Entry().KeyStart), l.flowStep(parent))
}
