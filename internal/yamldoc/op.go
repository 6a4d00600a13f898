package yamldoc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// OpKind is a kind of operation.
type OpKind uint8

// The operations. What stands around the values stays as it is: comments, order, quoting, line ends.
const (
	// SetScalar makes the string Text of the scalar at Path, in the style of the old one.
	SetScalar OpKind = iota
	// QuoteScalar makes the string Text, in quotes, of the scalar at Path, which YAML reads as something else.
	QuoteScalar
	// AddEntry gives the map at Path the Key with Value. Maps that are missing on the way are made.
	AddEntry
	// AddItem gives the list at Path the item Value. The list and the maps that are missing on the way are made.
	AddItem
	// Remove removes the entry or item at Path. What becomes empty with it goes too where its key is one of Drop, else it
	// becomes {} or [].
	Remove
	// Rename gives the entry at Path the Key.
	Rename
	// ToList makes a list of name and value of the map at Path, ToMap the other way round.
	ToList
	ToMap
)

// Op is an operation on the values of a file.
type Op struct {
	Kind OpKind
	Path Path
	// Key is that of AddEntry and Rename; Keys is how new keys are quoted where they need not be.
	Key  string
	Keys Style
	// Text is that of SetScalar and QuoteScalar, Value that of AddEntry and AddItem.
	Text  string
	Value Node
	// At is the number of entries or items that stay in front of a new one; AtEnd: all.
	At   int
	Drop []string
}

// AtEnd puts a new entry behind the last one, in front of the blank lines and comments that follow. At 0 it stands right
// below the line of the map's key.
const AtEnd = -1

// effect is what an operation does to the values of a document.
type effect struct {
	op   effectOp
	path Path
	// value is the new one as Value.JSON would return it.
	value any
}

type effectOp uint8

const (
	added effectOp = iota
	removed
	replaced
)

// on has the effect on the JSON value of which path is the rest of the way, and returns it.
func (e effect) on(root any, path Path) any {
	if len(path) == 0 {
		return e.value
	}
	switch m := root.(type) {
	case map[string]any:
		key, _ := path[0].(string)
		if len(path) == 1 && e.op == removed {
			delete(m, key)
		} else {
			m[key] = e.on(m[key], path[1:])
		}
	case []any:
		i, isIndex := path[0].(int)
		switch {
		case !isIndex || i > len(m):
		case len(path) == 1 && e.op == removed:
			return slices.Delete(m, i, i+1)
		case len(path) == 1 && e.op == added:
			return slices.Insert(m, i, e.value)
		case i < len(m):
			m[i] = e.on(m[i], path[1:])
		}
	}
	return root
}

// edit makes changes of a document's bytes of an operation.
type edit struct {
	*layout
	edits   []Edit
	effects []effect
}

func (e *edit) has(op effectOp, path Path, value any) {
	e.effects = append(e.effects, effect{op, path, value})
}

func (e *edit) put(start, end int, text string) {
	e.edits = append(e.edits, Edit{Start: start, End: end, New: []byte(text)})
}

func (e *edit) putLines(at int, lines []string) { e.edits = append(e.edits, e.insertLines(at, lines)) }

// EditError is a reason why an operation cannot be done, with the place that stands in the way.
type EditError struct {
	At     Place
	Reason string
}

// Error returns the reason.
func (e *EditError) Error() string { return e.Reason }

func refuse(v *Value, format string, args ...any) error {
	return &EditError{At: v.Place(), Reason: fmt.Sprintf(format, args...)}
}

// Editable returns an *EditError for a value that does not stand in the file where it is used, or has no effect there.
func (v *Value) Editable() error {
	for p := v; p != nil; p = p.Parent() {
		if p.Fixed != "" {
			return refuse(v, "%s cannot be edited: %s", v.Path(), p.Fixed)
		}
		if e := p.Entry(); e != nil && e.Replaced {
			return twice(p)
		}
	}
	return nil
}

// twice refuses an entry whose key stands more than once.
func twice(v *Value) error {
	return &EditError{At: v.KeyPlace(), Reason: fmt.Sprintf("the key %s stands more than once: remove the one that is not meant first", v.Path())}
}

// single refuses an entry whose key stands more than once: without it, another one would take its place.
func single(e *Entry) error {
	for _, other := range e.Value.parent.Entries {
		if other != e && other.Key == e.Key {
			return twice(other.Value)
		}
	}
	return nil
}

// Apply does the operations one after the other on a copy of the file, reads all of it again after each, and fails unless
// exactly the wanted values changed. The paths are those in the file as it is: where operations move what others are about,
// they are followed.
func (f *File) Apply(ops ...Op) (*File, error) {
	var effects []effect
	for _, op := range ops {
		for _, e := range effects {
			if op.Path = op.Path.after(e); op.Path == nil {
				return nil, errors.New("it is gone with another change")
			}
		}
		d := f.document(op.Path)
		if d == nil {
			return nil, errors.New("a document is gone")
		}
		e := &edit{layout: layoutOf(d)}
		if err := e.do(op); err != nil {
			return nil, err
		}
		if len(e.edits) == 0 {
			continue // nothing is left to do
		}
		var err error
		if f, err = f.apply(e); err != nil {
			return nil, err
		}
		effects = append(effects, e.effects...)
	}
	return f, nil
}

func (e *edit) do(op Op) error {
	if op.Kind == AddEntry || op.Kind == AddItem {
		return e.add(op)
	}
	v := e.doc.follow(op.Path.within())
	if v == nil {
		return errors.New("it is gone")
	}
	if err := v.Editable(); err != nil {
		return err
	}
	switch op.Kind {
	case SetScalar:
		return e.setScalar(v, op.Text)
	case QuoteScalar:
		return e.quoteScalar(v, op.Text)
	case Remove:
		return e.remove(v, op.Drop)
	case Rename:
		return e.rename(v, op.Key)
	case ToList, ToMap:
		return e.reshape(v, op.Kind == ToList)
	}
	return fmt.Errorf("there is no operation %d", op.Kind)
}

// apply makes an edit and compares what is read then with what is wanted.
func (f *File) apply(e *edit) (*File, error) {
	edits := make([]Edit, len(e.edits))
	for i, part := range e.edits {
		if part.Start < e.doc.Start || part.End > e.doc.End || part.Start > part.End {
			return nil, errors.New("the edit leaves its document")
		}
		var err error
		if edits[i], err = e.doc.Text.ToFile(part); err != nil {
			return nil, err
		}
	}
	if err := inOrder(edits); err != nil {
		return nil, err
	}
	after := NewFile(f.Name, Apply(f.Data, edits...))
	outer := e.doc.Text.outer
	if outer == nil {
		return after, e.doc.Text.becomes(after.Text(), e.doc.Index, e.effects...)
	}
	if outer.doc.Text.outer != nil {
		return nil, errors.New("text within text within a document is not edited")
	}
	path := PathTo(outer)
	docs, err := after.Text().Documents()
	if err != nil {
		return nil, broken(err)
	}
	var scalar *Value
	if outer.doc.Index <= len(docs) {
		scalar = docs[outer.doc.Index-1].follow(path.within())
	}
	if scalar == nil {
		return nil, fmt.Errorf("the edit would lose %s", outer.Path())
	}
	inner := string(Apply(e.doc.Text.Data, e.edits...))
	if strings.TrimRight(inner, "\n") == strings.TrimRight(scalar.Text, "\n") {
		// A block scalar drops blank lines that stand at its end now.
		inner = scalar.Text
	}
	if err := f.Text().becomes(after.Text(), outer.doc.Index, effect{replaced, path, inner}); err != nil {
		return nil, err
	}
	return after, e.doc.Text.becomes(scalar.Inner(), e.doc.Index, e.effects...)
}

// inOrder refuses edits that overlap.
func inOrder(edits []Edit) error {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return a.Start - b.Start })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Start < sorted[i-1].End {
			return errors.New("the edits overlap")
		}
	}
	return nil
}

func broken(err error) error { return fmt.Errorf("the edit would break the document: %w", err) }

// becomes compares the values of all documents with those of a text that is to be the same but for effects on one.
func (t *Text) becomes(after *Text, changed int, effects ...effect) error {
	before, err := t.Documents()
	if err != nil {
		return err
	}
	docs, err := after.Documents()
	if err != nil {
		return broken(err)
	}
	if len(before) != len(docs) {
		return fmt.Errorf("the edit would make %d documents of %d", len(docs), len(before))
	}
	for i, d := range docs {
		want := before[i].Root.JSON()
		if i+1 == changed {
			for _, e := range effects {
				want = e.on(want, e.path.within())
			}
		}
		if path, differs := d.Root.differs(want); differs {
			if path == "" {
				path = "the whole document"
			}
			return fmt.Errorf("the edit would also change %s", path)
		}
	}
	return nil
}

// differs compares a value with one of JSON and returns the path of the first that is another. It can be called on nil.
func (v *Value) differs(from any) (path string, differs bool) {
	same := false
	switch from := from.(type) {
	case nil:
		same = v == nil || v.Kind == Null
	case bool:
		same = v != nil && v.Kind == Bool && (v.Text == "true") == from
	case json.Number:
		same = v != nil && v.Kind == Number && v.Text == string(from)
	case string:
		same = v != nil && v.Kind == String && v.Text == from
	case []any:
		if v != nil && v.Kind == List && len(v.Items) == len(from) {
			for i, item := range v.Items {
				if path, differs := item.differs(from[i]); differs {
					return path, true
				}
			}
			return "", false
		}
	case map[string]any:
		if v != nil && v.Kind == Map {
			return v.entriesDiffer(from)
		}
	}
	if same || v == nil || v.parent == nil {
		return "", !same
	}
	return v.Path(), true
}

func (v *Value) entriesDiffer(from map[string]any) (path string, differs bool) {
	n := 0
	for _, e := range v.Entries {
		if e.Replaced {
			continue
		}
		n++
		want, ok := from[e.Key]
		if !ok {
			return e.Value.Path(), true
		}
		if path, differs := e.Value.differs(want); differs {
			return path, true
		}
	}
	if n == len(from) {
		return "", false
	}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if v.Find(key) == nil {
			path = strings.TrimPrefix(v.Path()+"."+pathKey(key), ".")
			break
		}
	}
	return path, true
}
