package yamldoc

import (
	"bytes"
	"strings"
)

// reshape turns a map of scalars into a list of name and value, or back. Comments, the order and the spelling of the
// values stay.
func (e *edit) reshape(v *Value, toList bool) error {
	kind := Map
	if toList {
		kind = List
	}
	switch {
	case v.Kind == kind:
		return nil
	case v.Kind != List && v.Kind != Map:
		return refuse(v, "%s is %s", v.Path(), v.Kind)
	case v.nothing():
		e.empty(v, kind)
		return nil
	case toList:
		return e.toList(v)
	}
	return e.toMap(v)
}

// toList writes - name: K, value: V for each K: V.
func (e *edit) toList(m *Value) error {
	own := m.Own()
	if len(own) != len(m.Entries) {
		return refuse(m, "a merge key brings in entries of %s", m.Path())
	}
	indent := 0
	if m.Style == Block {
		if indent = e.dashColumn(m, own); indent < 0 {
			return refuse(m, "%s is indented too little to become a list", m.Path())
		}
	}
	items := make([]any, len(own))
	for i, entry := range own {
		if err := movableScalar(entry.Value); err != nil {
			return err
		}
		if err := single(entry); err != nil {
			return err
		}
		items[i] = map[string]any{"name": entry.Key, "value": entry.Value.JSON()}
		name, err := spelling{style: KeyHabit([]*Entry{entry}), flow: m.Style == Flow, json: e.json}.spell(entry.Key)
		if err != nil {
			return err
		}
		switch {
		case m.Style == Flow:
			e.flowItem(entry, name)
		case !e.startsLine(entry.KeyStart):
			return refuse(entry.Value, "%s shares its line", entry.Value.Path())
		default:
			pad := strings.Repeat(" ", indent)
			text := pad + "- name: " + name + e.lineBreak(e.nextLine(entry.KeyStart)) + pad + "  value"
			e.put(e.lineStart(entry.KeyStart), entry.KeyEnd, text)
		}
	}
	e.brackets(m, "[", "]")
	e.has(replaced, PathTo(m), items)
	return nil
}

// dashColumn is where the dashes of a map's new items go: the content of block scalars must stay deeper than
// the item. -1: there is no room.
func (l *layout) dashColumn(m *Value, own []*Entry) int {
	column := l.column(m.Start)
	key := 0
	if m.entry != nil {
		key = l.column(m.entry.KeyStart)
	}
	for _, entry := range own {
		if !l.sameLine(entry.Value.Start, entry.Value.End) {
			if column-2 < key {
				return -1
			}
			return column - 2
		}
	}
	return key + l.habits().dash
}

// flowItem writes {name: K, value: V} for an entry of a flow map.
func (e *edit) flowItem(entry *Entry, name string) {
	open := "{name: " + name + ", value"
	if e.json {
		open = `{"name": ` + name + `, "value"`
	}
	end := max(entry.KeyEnd, entry.Value.End)
	e.put(entry.KeyStart, entry.KeyEnd, open)
	e.put(end, end, "}")
}

// brackets gives a flow collection those of the other kind.
func (e *edit) brackets(v *Value, open, closing string) {
	if v.Style == Flow {
		e.put(v.Start, v.Start+1, open)
		e.put(v.End-1, v.End, closing)
	}
}

// movableScalar refuses values that cannot be carried over as they are.
func movableScalar(v *Value) error {
	if err := v.Editable(); err != nil {
		return err
	}
	if v.Kind == List || v.Kind == Map {
		return refuse(v, "%s is %s, not a string", v.Path(), v.Kind)
	}
	return nil
}

// toMap writes K: V for each item with the name K and the value V.
func (e *edit) toMap(list *Value) error {
	out := map[string]any{}
	for _, item := range list.Items {
		name, value := item.Get("name"), item.Get("value")
		if item.Kind != Map || name == nil || value == nil || len(item.Entries) != 2 || name.Str() == "" {
			return refuse(item, "%s has not just a name and a value", item.Path())
		}
		for _, v := range []*Value{name, value} {
			if err := movableScalar(v); err != nil {
				return err
			}
		}
		if _, ok := out[name.Text]; ok {
			return refuse(name, "the flag %s stands more than once; a map has it once", name.Text)
		}
		out[name.Text] = value.JSON()
		style := Plain
		if name.Style == SingleQuoted || name.Style == DoubleQuoted {
			style = name.Style
		}
		key, err := spelling{style: style, flow: list.Style == Flow, json: e.json, key: true}.spell(name.Text)
		if err != nil {
			return err
		}
		if err := e.mapEntry(item, key); err != nil {
			return err
		}
	}
	e.brackets(list, "{", "}")
	e.has(replaced, PathTo(list), out)
	return nil
}

// mapEntry makes K: V of an item.
func (e *edit) mapEntry(item *Value, key string) error {
	value, inList := item.Get("value"), item.parent.Style == Block
	dash, ok := item.Start, true
	if inList {
		dash, ok = e.dashOf(item)
	}
	before, behind := e.src[item.Start:value.Start], e.src[value.End:item.End]
	switch {
	case item.Style == Flow && (bytes.ContainsAny(before, "#\n") || bytes.ContainsAny(behind, "#\n")):
		return refuse(item, "%s runs over several lines", item.Path())
	case !ok || item.Style == Block && !inList:
		return refuse(item, "%s shares its line", item.Path())
	case item.Style == Block:
		return e.joinItem(dash, item, key)
	case inList:
		key = "  " + key
	}
	e.put(dash, value.Start, key+": ")
	e.put(value.End, item.End, "")
	return nil
}

// joinItem makes one entry of the two lines of an item: that of the name goes, but for its comment.
func (e *edit) joinItem(dash int, item *Value, key string) error {
	name, value := item.Find("name"), item.Find("value")
	pad := strings.Repeat(" ", e.column(item.Start))
	onDash := e.sameLine(dash, min(name.KeyStart, value.KeyStart))
	if !onDash || e.sameLine(name.KeyStart, value.KeyStart) || !e.sameLine(name.KeyStart, name.Value.End) {
		return refuse(item, "%s is written in an unusual way", item.Path())
	}
	at := e.lineStart(name.KeyStart)
	gone := Edit{Start: at, End: e.nextLine(name.Value.End)}
	if gone.End == e.doc.End && (gone.End == 0 || e.src[gone.End-1] != '\n') {
		gone = e.removeLines(name.KeyStart, name.Value.End)
	}
	if comment := strings.TrimSpace(e.restOfLine(name.Value.End)); comment != "" {
		gone = Edit{Start: at, End: e.lineEnd(name.Value.End), New: []byte(pad + comment)}
	}
	e.edits = append(e.edits, gone)
	e.put(e.lineStart(value.KeyStart), value.KeyEnd, pad+key)
	return nil
}
