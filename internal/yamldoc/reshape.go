package yamldoc

import (
	"bytes"
	"strings"
)

// reshape turns extraArgs from a map into a list of name and value, or back. Comments, the order and the
// spelling of the values stay.
func reshape(v *Value, toList bool) (*edit, error) {
	l := layoutOf(v.Document())
	e := &edit{doc: v.Document()}
	switch {
	case v.empty() && (v.Kind == List) != toList:
		empty := map[bool]string{true: "[]", false: "{}"}[toList]
		e.edits = []Edit{{Start: v.Start, End: v.End, New: []byte(empty)}}
		e.has(Replaced, PathTo(v), map[bool]any{true: []any{}, false: map[string]any{}}[toList])
		return e, nil
	case v.Kind == Map && toList:
		return e, l.toList(e, v)
	case v.Kind == List && !toList:
		return e, l.toMap(e, v)
	case v.Kind == List || v.Kind == Map:
		return nil, nil
	}
	return nil, refuse(v, "%s is %s", v.Path(), v.Kind)
}

// toList writes - name: K, value: V for each K: V.
func (l *layout) toList(e *edit, m *Value) error {
	own := m.Own()
	if len(own) != len(m.Entries) {
		return refuse(m, "a merge key brings in entries of %s", m.Path())
	}
	items := make([]any, 0, len(own))
	indent := 0
	if m.Style == Block {
		indent = l.dashColumn(m, own)
		if indent < 0 {
			return refuse(m, "%s is indented too little to become a list", m.Path())
		}
	}
	for _, entry := range own {
		if err := movableScalar(entry.Value); err != nil {
			return err
		}
		if err := single(m, entry); err != nil {
			return err
		}
		items = append(items, map[string]any{"name": entry.Key, "value": entry.Value.JSON()})
		key, err := spelling{style: KeyHabit([]*Entry{entry}), flow: m.Style == Flow, json: l.json}.spell(entry.Key)
		if err != nil {
			return err
		}
		if m.Style == Flow {
			e.edits = append(e.edits, l.flowItem(entry, key)...)
			continue
		}
		if !l.startsLine(entry.KeyStart) {
			return refuse(entry.Value, "%s shares its line", entry.Value.Path())
		}
		pad := strings.Repeat(" ", indent)
		text := pad + "- name: " + key + l.lineBreak(l.nextLine(entry.KeyStart)) + pad + "  value"
		e.edits = append(e.edits, Edit{Start: l.lineStart(entry.KeyStart), End: entry.KeyEnd, New: []byte(text)})
	}
	if m.Style == Flow {
		e.edits = append(e.edits, brackets(m, "[", "]")...)
	}
	e.has(Replaced, PathTo(m), items)
	return nil
}

// dashColumn is where the dashes of a map's new items go: the content of block scalars must stay deeper than
// the item. -1: there is no room.
func (l *layout) dashColumn(m *Value, own []*Entry) int {
	column := l.column(m.Start)
	key := 0
	if m.Entry() != nil {
		key = l.column(m.Entry().KeyStart)
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
func (l *layout) flowItem(entry *Entry, key string) []Edit {
	open := "{name: " + key + ", value"
	if l.json {
		open = `{"name": ` + key + `, "value"`
	}
	end := max(entry.KeyEnd, entry.Value.End)
	return []Edit{
		{Start: entry.KeyStart, End: entry.KeyEnd, New: []byte(open)},
		{Start: end, End: end, New: []byte("}")},
	}
}

func brackets(v *Value, open, closing string) []Edit {
	return []Edit{
		{Start: v.Start, End: v.Start + 1, New: []byte(open)},
		{Start: v.End - 1, End: v.End, New: []byte(closing)},
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
func (l *layout) toMap(e *edit, list *Value) error {
	out := map[string]any{}
	for _, item := range list.Items {
		name, value := item.Get("name"), item.Get("value")
		if item.Kind != Map || name == nil || value == nil || len(item.Entries) != 2 || name.Str() == "" {
			return refuse(item, "%s has not just a name and a value", item.Path())
		}
		if err := movableScalar(name); err != nil {
			return err
		}
		if err := movableScalar(value); err != nil {
			return err
		}
		if _, ok := out[name.Text]; ok {
			return refuse(name, "the flag %s stands more than once; a map has it once", name.Text)
		}
		out[name.Text] = value.JSON()
		key, err := spelling{style: nameStyle(name), flow: list.Style == Flow, json: l.json, key: true}.spell(name.Text)
		if err != nil {
			return err
		}
		edits, err := l.mapEntry(list, item, key)
		if err != nil {
			return err
		}
		e.edits = append(e.edits, edits...)
	}
	if list.Style == Flow {
		e.edits = append(e.edits, brackets(list, "{", "}")...)
	}
	e.has(Replaced, PathTo(list), out)
	return nil
}

func nameStyle(name *Value) Style {
	if name.Style == SingleQuoted || name.Style == DoubleQuoted {
		return name.Style
	}
	return Plain
}

// mapEntry returns the edits that make K: V of an item.
func (l *layout) mapEntry(list, item *Value, key string) ([]Edit, error) {
	value := item.Get("value")
	if item.Style == Flow {
		around := l.src[item.Start:value.Start]
		if bytes.ContainsAny(around, "#\n") || bytes.ContainsAny(l.src[value.End:item.End], "#\n") {
			return nil, refuse(item, "%s runs over several lines", item.Path())
		}
		start, text := item.Start, key+": "
		if list.Style == Block {
			dash, ok := l.dashOf(item)
			if !ok {
				return nil, refuse(item, "%s shares its line", item.Path())
			}
			start, text = dash, "  "+text
		}
		return []Edit{{Start: start, End: value.Start, New: []byte(text)}, {Start: value.End, End: item.End}}, nil
	}
	dash, ok := l.dashOf(item)
	if !ok || list.Style == Flow {
		return nil, refuse(item, "%s shares its line", item.Path())
	}
	return l.joinItem(dash, item, key)
}

// joinItem makes one entry of the two lines of an item: that of the name goes, but for its comment.
func (l *layout) joinItem(dash int, item *Value, key string) ([]Edit, error) {
	name, value := item.Find("name"), item.Find("value")
	pad := strings.Repeat(" ", l.column(item.Start))
	first := name
	if value.KeyStart < name.KeyStart {
		first = value
	}
	if !l.sameLine(dash, first.KeyStart) || l.sameLine(name.KeyStart, value.KeyStart) || !l.sameLine(name.KeyStart, name.Value.End) {
		return nil, refuse(item, "%s is written in an unusual way", item.Path())
	}
	at := l.lineStart(name.KeyStart)
	gone := Edit{Start: at, End: l.nextLine(name.Value.End)}
	if gone.End == l.doc.End && (gone.End == 0 || l.src[gone.End-1] != '\n') {
		gone = l.removeLines(name.KeyStart, name.Value.End)
	}
	if comment := strings.TrimSpace(l.restOfLine(name.Value.End)); comment != "" {
		gone = Edit{Start: at, End: l.lineEnd(name.Value.End), New: []byte(pad + comment)}
	}
	rewritten := Edit{Start: l.lineStart(value.KeyStart), End: value.KeyEnd, New: []byte(pad + key)}
	return []Edit{gone, rewritten}, nil
}
