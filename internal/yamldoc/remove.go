package yamldoc

import (
	"slices"
	"strings"
)

// remove removes an entry or an item.
func remove(v *Value, drop []string) (*edit, error) {
	switch {
	case v.parent == nil:
		return nil, refuse(v, "a whole document is not removed")
	case v.entry != nil:
		return removeEntry(v.entry, drop)
	}
	return removeItem(v, drop)
}

// removeEntry removes an entry of a map. A map that becomes empty goes too where its key is one to drop, else it becomes {}.
func removeEntry(entry *Entry, drop []string) (*edit, error) {
	m := entry.Value.parent
	if err := single(m, entry); err != nil {
		return nil, err
	}
	if len(m.Entries) == 1 {
		return removeLast(m, drop, "{}", map[string]any{})
	}
	l := layoutOf(m.Document())
	e := &edit{doc: m.Document()}
	e.has(Removed, PathTo(entry.Value), nil)
	own := m.Own()
	i := slices.Index(own, entry)
	if i < 0 {
		return nil, refuse(entry.Value, "%s does not stand where it is used", entry.Value.Path())
	}
	if m.Style == Flow {
		spans := make([][2]int, len(own))
		for i, o := range own {
			spans[i] = [2]int{o.KeyStart, max(o.KeyEnd, o.Value.End)}
		}
		var err error
		e.edits, err = flowRemove(l, m, spans, i)
		return e, err
	}
	return e, l.removeBlockEntry(e, own, i)
}

func (l *layout) removeBlockEntry(e *edit, own []*Entry, i int) error {
	entry := own[i]
	if l.startsLine(entry.KeyStart) {
		end := l.endOf(entry.Value)
		if rest := strings.TrimSpace(l.restOfLine(end)); rest != "" && rest[0] != '#' {
			return refuse(entry.Value, "%s does not end its line", entry.Value.Path())
		}
		e.edits = []Edit{l.removeLines(entry.KeyStart, end)}
		return nil
	}
	// The first entry of a list item stands behind its dash: the next one takes its place.
	if i != 0 || i+1 == len(own) || strings.Contains(string(l.src[entry.Value.End:own[i+1].KeyStart]), "#") {
		return refuse(entry.Value, "%s shares its line", entry.Value.Path())
	}
	e.edits = []Edit{{Start: entry.KeyStart, End: own[i+1].KeyStart}}
	return nil
}

// removeLast removes what would become empty with its last entry or item.
func removeLast(v *Value, drop []string, empty string, json any) (*edit, error) {
	entry := v.Entry()
	if entry != nil && slices.Contains(drop, entry.Key) {
		return removeEntry(entry, drop)
	}
	l := layoutOf(v.Document())
	e := &edit{doc: v.Document()}
	e.has(Replaced, PathTo(v), json)
	if v.Style == Flow {
		e.edits = []Edit{{Start: v.Start, End: v.End, New: []byte(empty)}}
		return e, nil
	}
	if entry == nil || strings.Contains(string(l.src[v.Start:v.End]), "#") || l.sameLine(entry.KeyEnd, v.Start) {
		return nil, refuse(v, "nothing would be left of %s", v.Path())
	}
	at := l.behindKey(entry)
	gone := l.removeLines(v.Start, l.endOf(v))
	e.edits = []Edit{{Start: at, End: at, New: []byte(" " + empty)}, gone}
	return e, nil
}

// removeItem removes an item of a list.
func removeItem(item *Value, drop []string) (*edit, error) {
	list, i := item.Parent(), item.Index()
	if len(list.Items) == 1 {
		return removeLast(list, drop, "[]", []any{})
	}
	l := layoutOf(list.Document())
	e := &edit{doc: list.Document()}
	e.has(Removed, PathTo(item), nil)
	if list.Style == Flow {
		spans := make([][2]int, len(list.Items))
		for i, it := range list.Items {
			spans[i] = [2]int{it.Start, it.End}
		}
		var err error
		e.edits, err = flowRemove(l, list, spans, i)
		return e, err
	}
	dash, ok := l.dashOf(item)
	end := max(l.endOf(item), dash+1)
	if rest := strings.TrimSpace(l.restOfLine(end)); !ok || rest != "" && rest[0] != '#' {
		return nil, refuse(item, "%s shares its line", item.Path())
	}
	e.edits = []Edit{l.removeLines(dash, end)}
	return e, nil
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

// flowRemove removes one of the elements of a flow collection with its comma.
func flowRemove(l *layout, v *Value, spans [][2]int, i int) ([]Edit, error) {
	start, end := spans[i][0], spans[i][1]
	switch {
	case i+1 < len(spans):
		end = spans[i+1][0]
	case i > 0:
		start = spans[i-1][1]
	}
	if text := string(l.src[start:end]); strings.Contains(text[:spans[i][0]-start], "#") || strings.Contains(text[spans[i][1]-start:], "#") {
		return nil, refuse(v, "there is a comment between the elements of %s", v.Path())
	}
	return []Edit{{Start: start, End: end}}, nil
}

// rename gives an entry another key, in the quotes of the old one.
func rename(v *Value, key string) (*edit, error) {
	m, entry := v.parent, v.entry
	if entry == nil {
		return nil, refuse(v, "%s has no key", v.Path())
	}
	if err := single(m, entry); err != nil {
		return nil, err
	}
	if other := m.Find(key); other != nil {
		return nil, &EditError{At: other.Value.KeyPlace(), Reason: "the key " + other.Value.Path() + " is there already"}
	}
	l := layoutOf(m.Document())
	text, err := spelling{style: KeyHabit([]*Entry{entry}), flow: m.Style == Flow, json: l.json, key: true}.spell(key)
	if err != nil {
		return nil, err
	}
	e := &edit{doc: l.doc, edits: []Edit{{Start: entry.KeyStart, End: entry.KeyEnd, New: []byte(text)}}}
	e.has(Removed, PathTo(v), nil)
	e.has(Added, PathTo(m).To(key), v.JSON())
	return e, nil
}
