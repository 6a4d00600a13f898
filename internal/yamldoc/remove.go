package yamldoc

import "slices"

// element is an item of a list, or an entry of a map with its key.
type element struct {
	start, end int
	value      *Value
}

// elements returns those that stand in the collection itself.
func (v *Value) elements() []element {
	var all []element
	for _, item := range v.Items {
		all = append(all, element{item.Start, item.End, item})
	}
	for _, e := range v.Own() {
		all = append(all, element{e.KeyStart, max(e.KeyEnd, e.Value.End), e.Value})
	}
	return all
}

// remove removes an entry or an item. A collection that becomes empty goes too where its key is one to drop.
func (e *edit) remove(v *Value, drop []string) error {
	parent := v.parent
	if parent == nil {
		return refuse(v, "a whole document is not removed")
	}
	if v.entry != nil {
		if err := single(v.entry); err != nil {
			return err
		}
	}
	if len(parent.Entries)+len(parent.Items) == 1 {
		return e.removeLast(parent, drop)
	}
	e.has(removed, PathTo(v), nil)
	all := parent.elements()
	i := slices.IndexFunc(all, func(el element) bool { return el.value == v })
	switch {
	case i < 0:
		return refuse(v, "%s does not stand where it is used", v.Path())
	case parent.Style == Flow:
		return e.removeFlow(parent, all, i)
	case v.entry == nil:
		return e.removeItem(v)
	}
	return e.removeEntry(all, i)
}

// removeLast removes what would become empty with its last entry or item, or leaves {} or [].
func (e *edit) removeLast(v *Value, drop []string) error {
	entry := v.entry
	if entry != nil && slices.Contains(drop, entry.Key) {
		return e.remove(v, drop)
	}
	e.empty(v, v.Kind)
	switch {
	case v.Style == Flow:
		return nil
	case entry == nil || e.hasComment(v.Start, v.End) || e.sameLine(entry.KeyEnd, v.Start):
		return refuse(v, "nothing would be left of %s", v.Path())
	}
	at := e.behindKey(entry)
	text := e.edits[0].New
	e.edits = []Edit{{Start: at, End: at, New: slices.Concat([]byte(" "), text)}, e.removeLines(v.Start, e.endOf(v))}
	return nil
}

// empty puts an empty collection in place of a value.
func (e *edit) empty(v *Value, kind Kind) {
	n := Node{Kind: kind}
	e.has(replaced, PathTo(v), n.JSON())
	e.put(v.Start, v.End, (&printer{}).scalar(n, true))
}

func (e *edit) removeEntry(all []element, i int) error {
	el := all[i]
	if e.startsLine(el.start) {
		end := e.endOf(el.value)
		if !e.endsLine(end) {
			return refuse(el.value, "%s does not end its line", el.value.Path())
		}
		e.edits = []Edit{e.removeLines(el.start, end)}
		return nil
	}
	// The first entry of a list item stands behind its dash: the next one takes its place.
	if i != 0 || i+1 == len(all) || e.hasComment(el.value.End, all[i+1].start) {
		return refuse(el.value, "%s shares its line", el.value.Path())
	}
	e.put(el.start, all[i+1].start, "")
	return nil
}

func (e *edit) removeItem(item *Value) error {
	dash, ok := e.dashOf(item)
	end := max(e.endOf(item), dash+1)
	if !ok || !e.endsLine(end) {
		return refuse(item, "%s shares its line", item.Path())
	}
	e.edits = []Edit{e.removeLines(dash, end)}
	return nil
}

// removeFlow removes one of the elements of a flow collection with its comma.
func (e *edit) removeFlow(v *Value, all []element, i int) error {
	start, end := all[i].start, all[i].end
	switch {
	case i+1 < len(all):
		end = all[i+1].start
	case i > 0:
		start = all[i-1].end
	}
	if e.hasComment(start, all[i].start) || e.hasComment(all[i].end, end) {
		return refuse(v, "there is a comment between the elements of %s", v.Path())
	}
	e.put(start, end, "")
	return nil
}

// rename gives an entry another key, in the quotes of the old one.
func (e *edit) rename(v *Value, key string) error {
	m, entry := v.parent, v.entry
	if entry == nil {
		return refuse(v, "%s has no key", v.Path())
	}
	if err := single(entry); err != nil {
		return err
	}
	if other := m.Find(key); other != nil {
		return &EditError{At: other.Value.KeyPlace(), Reason: "the key " + other.Value.Path() + " is there already"}
	}
	text, err := spelling{style: KeyHabit([]*Entry{entry}), flow: m.Style == Flow, json: e.json, key: true}.spell(key)
	e.put(entry.KeyStart, entry.KeyEnd, text)
	e.has(removed, PathTo(v), nil)
	e.has(added, PathTo(m).To(key), v.JSON())
	return err
}
