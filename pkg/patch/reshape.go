package patch

import (
	"bytes"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// reshape turns extraArgs from a map into a list of name and value, or back. Comments, the order and the
// spelling of the values stay.
func reshape(entry *yamldoc.Entry, toList bool) (*edit, error) {
	v := entry.Value
	if err := movable(v); err != nil {
		return nil, err
	}
	l := layoutOf(v.Document())
	e := &edit{doc: v.Document()}
	switch {
	case emptyCollection(v) && (v.Kind == yamldoc.List) != toList:
		empty := map[bool]string{true: "[]", false: "{}"}[toList]
		e.edits = []yamldoc.Edit{{Start: v.Start, End: v.End, New: []byte(empty)}}
		e.setJSON(v, map[bool]any{true: []any{}, false: map[string]any{}}[toList])
		return e, nil
	case v.Kind == yamldoc.Map && toList:
		return e, l.toList(e, v)
	case v.Kind == yamldoc.List && !toList:
		return e, l.toMap(e, v)
	case v.Kind == yamldoc.List || v.Kind == yamldoc.Map:
		return nil, nil
	}
	return nil, refuse(v, "%s is %s", v.Path(), v.Kind)
}

// toList writes - name: K, value: V for each K: V.
func (l *layout) toList(e *edit, m *yamldoc.Value) error {
	own := ownEntries(m)
	if len(own) != len(m.Entries) {
		return refuse(m, "a merge key brings in entries of %s", m.Path())
	}
	items := make([]any, 0, len(own))
	indent := 0
	if m.Style == yamldoc.Block {
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
		key, err := spelling{style: keyHabit(l, []*yamldoc.Entry{entry}), flow: m.Style == yamldoc.Flow, json: l.json}.spell(entry.Key)
		if err != nil {
			return err
		}
		if m.Style == yamldoc.Flow {
			e.edits = append(e.edits, l.flowItem(entry, key)...)
			continue
		}
		if !l.startsLine(entry.KeyStart) {
			return refuse(entry.Value, "%s shares its line", entry.Value.Path())
		}
		pad := strings.Repeat(" ", indent)
		text := pad + "- name: " + key + l.lineBreak(l.nextLine(entry.KeyStart)) + pad + "  value"
		e.edits = append(e.edits, yamldoc.Edit{Start: l.lineStart(entry.KeyStart), End: entry.KeyEnd, New: []byte(text)})
	}
	if m.Style == yamldoc.Flow {
		e.edits = append(e.edits, brackets(m, "[", "]")...)
	}
	e.setJSON(m, items)
	return nil
}

// dashColumn is where the dashes of a map's new items go: the content of block scalars must stay deeper than
// the item. -1: there is no room.
func (l *layout) dashColumn(m *yamldoc.Value, own []*yamldoc.Entry) int {
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
func (l *layout) flowItem(entry *yamldoc.Entry, key string) []yamldoc.Edit {
	open := "{name: " + key + ", value"
	if l.json {
		open = `{"name": ` + key + `, "value"`
	}
	end := max(entry.KeyEnd, entry.Value.End)
	return []yamldoc.Edit{
		{Start: entry.KeyStart, End: entry.KeyEnd, New: []byte(open)},
		{Start: end, End: end, New: []byte("}")},
	}
}

func brackets(v *yamldoc.Value, open, closing string) []yamldoc.Edit {
	return []yamldoc.Edit{
		{Start: v.Start, End: v.Start + 1, New: []byte(open)},
		{Start: v.End - 1, End: v.End, New: []byte(closing)},
	}
}

// movableScalar refuses values that cannot be carried over as they are.
func movableScalar(v *yamldoc.Value) error {
	if err := movable(v); err != nil {
		return err
	}
	if v.Kind == yamldoc.List || v.Kind == yamldoc.Map {
		return refuse(v, "%s is %s, not a string", v.Path(), v.Kind)
	}
	return nil
}

// toMap writes K: V for each item with the name K and the value V.
func (l *layout) toMap(e *edit, list *yamldoc.Value) error {
	out := map[string]any{}
	for _, item := range list.Items {
		name, value := item.Get("name"), item.Get("value")
		if item.Kind != yamldoc.Map || name == nil || value == nil || len(item.Entries) != 2 || name.Str() == "" {
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
		key, err := spelling{style: nameStyle(name), flow: list.Style == yamldoc.Flow, json: l.json, key: true}.spell(name.Text)
		if err != nil {
			return err
		}
		edits, err := l.mapEntry(list, item, key)
		if err != nil {
			return err
		}
		e.edits = append(e.edits, edits...)
	}
	if list.Style == yamldoc.Flow {
		e.edits = append(e.edits, brackets(list, "{", "}")...)
	}
	e.setJSON(list, out)
	return nil
}

func nameStyle(name *yamldoc.Value) yamldoc.Style {
	if name.Style == yamldoc.SingleQuoted || name.Style == yamldoc.DoubleQuoted {
		return name.Style
	}
	return yamldoc.Plain
}

// mapEntry returns the edits that make K: V of an item.
func (l *layout) mapEntry(list, item *yamldoc.Value, key string) ([]yamldoc.Edit, error) {
	value := item.Get("value")
	if item.Style == yamldoc.Flow {
		around := l.src[item.Start:value.Start]
		if bytes.ContainsAny(around, "#\n") || bytes.ContainsAny(l.src[value.End:item.End], "#\n") {
			return nil, refuse(item, "%s runs over several lines", item.Path())
		}
		start, text := item.Start, key+": "
		if list.Style == yamldoc.Block {
			dash, ok := l.dashOf(item)
			if !ok {
				return nil, refuse(item, "%s shares its line", item.Path())
			}
			start, text = dash, "  "+text
		}
		return []yamldoc.Edit{{Start: start, End: value.Start, New: []byte(text)}, {Start: value.End, End: item.End}}, nil
	}
	dash, ok := l.dashOf(item)
	if !ok || list.Style == yamldoc.Flow {
		return nil, refuse(item, "%s shares its line", item.Path())
	}
	return l.joinItem(dash, item, key)
}

// joinItem makes one entry of the two lines of an item: that of the name goes, but for its comment.
func (l *layout) joinItem(dash int, item *yamldoc.Value, key string) ([]yamldoc.Edit, error) {
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
	gone := yamldoc.Edit{Start: at, End: l.nextLine(name.Value.End)}
	if gone.End == l.doc.End && (gone.End == 0 || l.src[gone.End-1] != '\n') {
		gone = l.removeLines(name.KeyStart, name.Value.End)
	}
	if comment := strings.TrimSpace(l.restOfLine(name.Value.End)); comment != "" {
		gone = yamldoc.Edit{Start: at, End: l.lineEnd(name.Value.End), New: []byte(pad + comment)}
	}
	rewritten := yamldoc.Edit{Start: l.lineStart(value.KeyStart), End: value.KeyEnd, New: []byte(pad + key)}
	return []yamldoc.Edit{gone, rewritten}, nil
}
