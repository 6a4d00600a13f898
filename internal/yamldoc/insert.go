package yamldoc

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// add adds an entry to a map or an item to a list, with the maps on the way that are missing.
func (e *edit) add(op Op) error {
	found, missing := e.doc.Root, op.Path.within()
	for ; len(missing) > 0; missing = missing[1:] {
		next := found.child(missing[0])
		if next == nil {
			break
		}
		found = next
	}
	if found == nil {
		return errors.New("the document is empty")
	}
	if err := found.Editable(); err != nil {
		return err
	}
	p := &printer{habits: e.habits(), keys: op.Keys, json: e.json, flowItems: e.flowItemsHabit()}
	there := len(missing) == 0 && !found.nothing()
	err := error(nil)
	switch {
	case op.Kind == AddItem && there && found.Kind == List:
		err = e.insertItem(found, op.Value, p, op.At)
	case op.Kind == AddEntry && there && found.Kind == Map:
		e.insertEntry(found, NodeField{op.Key, op.Value}, p, op.At)
	default:
		err = e.create(found, missing, op, p)
	}
	return cmp.Or(err, p.err)
}

// nothing tells whether a value is null, {} or [].
func (v *Value) nothing() bool {
	return v.Kind == Null || (v.Kind == Map || v.Kind == List) && len(v.Entries) == 0 && len(v.Items) == 0
}

// create puts what is to be added below found, within maps for the missing keys.
func (e *edit) create(found *Value, missing Path, op Op, p *printer) error {
	n := Array(op.Value)
	if op.Kind == AddEntry {
		n = Object(NodeField{op.Key, op.Value})
	}
	for i := len(missing) - 1; i >= 0; i-- {
		key, isKey := missing[i].(string)
		switch {
		case !isKey:
			return fmt.Errorf("%s has no item %v", found.Path(), missing[i])
		case i == 0 && !found.nothing() && found.Kind == Map:
			e.insertEntry(found, NodeField{key, n}, p, AtEnd)
			return nil
		}
		n = Object(NodeField{key, n})
	}
	if !found.nothing() {
		return refuse(found, "%s is %s, not %s", found.Path(), found.Kind, n.Kind)
	}
	return e.fill(found, n, p)
}

// flowItemsHabit tells whether the maps of the document's lists stand on one line each.
func (l *layout) flowItemsHabit() bool {
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
func (e *edit) insertEntry(m *Value, f NodeField, p *printer, where int) {
	e.has(added, PathTo(m).To(f.Key), f.Value.JSON())
	if m.Style == Flow {
		e.insertFlow(m, where, p.keyText(f.Key, true)+": ", f.Value, p)
		return
	}
	column := e.column(m.Start)
	at := 0
	switch own := m.Own(); {
	case where > 0 && where <= len(own):
		at = e.nextLine(e.endOf(own[where-1].Value))
	case where == 0 && m.entry != nil && !e.sameLine(m.entry.KeyEnd, m.Start):
		at = e.nextLine(m.entry.KeyEnd)
	case where == 0 && len(own) > 0 && e.startsLine(own[0].KeyStart):
		at = e.lineStart(own[0].KeyStart)
	default:
		at = e.behind(m, column)
	}
	e.putLines(at, p.blockEntry(f, strings.Repeat(" ", column)))
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
func (e *edit) insertItem(list *Value, n Node, p *printer, where int) error {
	first := list.Items[0]
	index := min(where, len(list.Items))
	e.has(added, append(PathTo(list), index), n.JSON())
	if list.Style == Flow {
		p.flowItems = first.Style != Flow || e.sameLine(first.Start, first.End)
		e.insertFlow(list, where, "", n, p)
		return nil
	}
	at := e.lineStart(list.Start)
	switch {
	case index > 0:
		before := list.Items[index-1]
		dash, _ := e.dashOf(before)
		at = e.nextLine(max(e.endOf(before), dash))
	case list.entry != nil && !e.sameLine(list.entry.KeyEnd, list.Start):
		at = e.nextLine(list.entry.KeyEnd)
	case !e.startsLine(list.Start):
		return refuse(list, "the list begins behind other text on its line")
	}
	e.putLines(at, e.itemLines(n, p, first, list.Start))
	return nil
}

// itemLines writes an item like the first one of its list: its style, and the blanks behind its dash.
func (l *layout) itemLines(n Node, p *printer, first *Value, dash int) []string {
	indent, gap := strings.Repeat(" ", l.column(dash)), " "
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
	all := v.elements()
	return len(all) > 0 && !l.sameLine(v.Start, all[0].start)
}

// flowStep returns one step of indentation of a flow collection over several lines.
func (l *layout) flowStep(v *Value) string {
	for ; v != nil; v = v.Parent() {
		all := v.elements()
		if len(all) == 0 {
			continue
		}
		outer, inner := l.indent(v.Start), l.indent(all[0].start)
		if len(inner) > len(outer) && strings.HasPrefix(inner, outer) {
			return inner[len(outer):]
		}
	}
	return "  "
}

// insertFlow adds an element to a flow collection that has some: on lines of its own if the others have that.
func (e *edit) insertFlow(v *Value, where int, prefix string, n Node, p *printer) {
	all := v.elements()
	inFront := where >= 0 && where < len(all)
	if !e.spread(v) {
		text := prefix + p.flow(n)
		end, comma := e.lastElement(v, all)
		switch {
		case inFront:
			e.put(all[where].start, all[where].start, text+", ")
		case comma > 0:
			e.put(comma, comma, " "+text)
		default:
			e.put(end, end, ", "+text)
		}
		return
	}
	indent := e.indent(all[0].start)
	lines := p.flowLines(n, indent, e.flowStep(v))
	lines[0] = indent + prefix + lines[0]
	switch {
	case inFront && where == 0:
		lines[len(lines)-1] += ","
		e.putLines(e.nextLine(v.Start), lines)
	case inFront && len(e.indent(all[where].start)) == e.column(all[where].start):
		// Right below the element before, so that a comment stays with the one that follows.
		lines[len(lines)-1] += ","
		e.putLines(e.nextLine(all[where-1].end), lines)
	default:
		e.appendFlow(v, all, lines)
	}
}

// appendFlow adds lines behind the last element of a flow collection, and the comma that this one lacks.
func (e *edit) appendFlow(v *Value, all []element, lines []string) {
	end, comma := e.lastElement(v, all)
	at := e.lineEnd(max(end, comma))
	if v.End-1 < at {
		at = max(end, comma)
	}
	nl := e.lineBreak(at)
	text := nl + strings.Join(lines, nl)
	switch {
	case comma >= 0:
		e.put(at, at, text)
	case at == end:
		e.put(at, at, ","+text)
	default:
		e.put(end, end, ",")
		e.put(at, at, text)
	}
}

// lastElement returns the end of the last element of a flow collection, and the offset behind a comma that
// follows it, -1 without one.
func (l *layout) lastElement(v *Value, all []element) (end, comma int) {
	end = v.End - 1
	if len(all) > 0 {
		end = all[len(all)-1].end
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
func (e *edit) fill(v *Value, n Node, p *printer) error {
	switch {
	case e.hasComment(v.Start, v.End):
		return refuse(v, "there is a comment inside %s", v.Path())
	case v.entry == nil:
		return refuse(v, "%s has no key", v.Path())
	}
	e.has(replaced, PathTo(v), n.JSON())
	if e.json || inFlow(v) {
		text := strings.Join(e.fillFlow(v, n, p), e.lineBreak(v.Start))
		if v.Start == v.End {
			text = " " + text
		}
		e.put(v.Start, v.End, text)
		return nil
	}
	deeper := p.step
	if n.Kind == List {
		deeper = p.dash
	}
	start := v.Start
	for start > v.entry.KeyEnd && (e.src[start-1] == ' ' || e.src[start-1] == '\t') {
		start--
	}
	e.putLines(e.nextLine(v.End), p.block(n, strings.Repeat(" ", e.column(v.entry.KeyStart)+deeper)))
	switch lines := &e.edits[0]; {
	case start == v.End:
	case lines.Start == v.End:
		lines.Start = start
	default:
		e.put(start, v.End, "")
	}
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
