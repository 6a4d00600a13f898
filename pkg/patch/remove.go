package patch

import (
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// droppable are the keys that go when what they hold becomes empty: kubeadm reads nothing else from their
// absence, and Cluster API refuses a null there.
var droppable = []string{"extraArgs", "extraVolumes", "featureGates", "apiServer", "controllerManager", "scheduler"}

// removeEntry removes an entry of a map. A map that becomes empty goes too where it means nothing, else it
// becomes {}.
func removeEntry(m *yamldoc.Value, entry *yamldoc.Entry) (*edit, error) {
	if err := movable(entry.Value); err != nil {
		return nil, err
	}
	if err := single(m, entry); err != nil {
		return nil, err
	}
	if len(m.Entries) == 1 {
		return removeLast(m, "{}", map[string]any{})
	}
	l := layoutOf(m.Document())
	e := &edit{doc: m.Document()}
	e.deleteKey(m, entry.Key)
	own := ownEntries(m)
	i := slices.Index(own, entry)
	if i < 0 {
		return nil, refuse(entry.Value, "%s does not stand where it is used", entry.Value.Path())
	}
	if m.Style == yamldoc.Flow {
		spans := make([][2]int, len(own))
		for i, o := range own {
			spans[i] = [2]int{o.KeyStart, max(o.KeyEnd, o.Value.End)}
		}
		var err error
		e.edits, err = flowRemove(l, m, spans, i)
		return e, err
	}
	return e, l.removeBlockEntry(e, m, own, i)
}

func (l *layout) removeBlockEntry(e *edit, m *yamldoc.Value, own []*yamldoc.Entry, i int) error {
	entry := own[i]
	if l.startsLine(entry.KeyStart) {
		end := l.endOf(entry.Value)
		if rest := strings.TrimSpace(l.restOfLine(end)); rest != "" && rest[0] != '#' {
			return refuse(entry.Value, "%s does not end its line", entry.Value.Path())
		}
		e.edits = []yamldoc.Edit{l.removeLines(entry.KeyStart, end)}
		return nil
	}
	// The first entry of a list item stands behind its dash: the next one takes its place.
	if i != 0 || i+1 == len(own) || strings.Contains(string(l.src[entry.Value.End:own[i+1].KeyStart]), "#") {
		return refuse(entry.Value, "%s shares its line", entry.Value.Path())
	}
	e.edits = []yamldoc.Edit{{Start: entry.KeyStart, End: own[i+1].KeyStart}}
	return nil
}

// removeLast removes what would become empty with its last entry or item.
func removeLast(v *yamldoc.Value, empty string, json any) (*edit, error) {
	entry := v.Entry()
	if entry != nil && slices.Contains(droppable, entry.Key) {
		return removeEntry(v.Parent(), entry)
	}
	if err := movable(v); err != nil {
		return nil, err
	}
	l := layoutOf(v.Document())
	e := &edit{doc: v.Document()}
	e.setJSON(v, json)
	if v.Style == yamldoc.Flow {
		e.edits = []yamldoc.Edit{{Start: v.Start, End: v.End, New: []byte(empty)}}
		return e, nil
	}
	if entry == nil || strings.Contains(string(l.src[v.Start:v.End]), "#") || l.sameLine(entry.KeyEnd, v.Start) {
		return nil, refuse(v, "nothing would be left of %s", v.Path())
	}
	at := l.behindKey(entry)
	gone := l.removeLines(v.Start, l.endOf(v))
	e.edits = []yamldoc.Edit{{Start: at, End: at, New: []byte(" " + empty)}, gone}
	return e, nil
}

// removeItem removes an item of a list.
func removeItem(item *yamldoc.Value) (*edit, error) {
	list, i := item.Parent(), item.Index()
	if list == nil || list.Kind != yamldoc.List {
		return nil, refuse(item, "%s is no item of a list", item.Path())
	}
	if err := movable(item); err != nil {
		return nil, err
	}
	if len(list.Items) == 1 {
		return removeLast(list, "[]", []any{})
	}
	l := layoutOf(list.Document())
	e := &edit{doc: list.Document()}
	e.changeList(list, func(items []any) []any { return slices.Delete(slices.Clone(items), i, i+1) })
	if list.Style == yamldoc.Flow {
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
	e.edits = []yamldoc.Edit{l.removeLines(dash, end)}
	return e, nil
}

// dashOf returns the offset of the dash of an item of a block list, which must be the first on its line.
func (l *layout) dashOf(item *yamldoc.Value) (int, bool) {
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
func flowRemove(l *layout, v *yamldoc.Value, spans [][2]int, i int) ([]yamldoc.Edit, error) {
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
	return []yamldoc.Edit{{Start: start, End: end}}, nil
}

// renameKey gives an entry another key, in the quotes of the old one.
func renameKey(m *yamldoc.Value, entry *yamldoc.Entry, key string) (*edit, error) {
	if err := movable(entry.Value); err != nil {
		return nil, err
	}
	if err := single(m, entry); err != nil {
		return nil, err
	}
	if other := m.Find(key); other != nil {
		return nil, &editError{at: other.Value.KeyPlace(), reason: "the key " + other.Value.Path() + " is there already"}
	}
	l := layoutOf(m.Document())
	text, err := spelling{style: keyHabit(l, []*yamldoc.Entry{entry}), flow: m.Style == yamldoc.Flow, json: l.json, key: true}.spell(key)
	if err != nil {
		return nil, err
	}
	path, old := jsonPath(m), entry.Key
	return &edit{
		doc:   m.Document(),
		edits: []yamldoc.Edit{{Start: entry.KeyStart, End: entry.KeyEnd, New: []byte(text)}},
		want: func(root any) any {
			return jsonAt(root, path, func(v any) any {
				if v, ok := v.(map[string]any); ok {
					v[key] = v[old]
					delete(v, old)
				}
				return v
			})
		},
	}, nil
}
