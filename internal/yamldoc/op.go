package yamldoc

import (
	"errors"
	"fmt"
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

// AtEnd puts a new entry behind the last one, in front of the blank lines and comments that follow. At 0 it stands
// right below the line of the map's key.
const AtEnd = -1

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
	reason := "the key " + v.Path() + " stands more than once: remove the one that is not meant first"
	return &EditError{At: v.KeyPlace(), Reason: reason}
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

// Apply does the operations one after the other on a copy of the file, reads all of it again after each, and fails
// unless exactly the wanted values changed. The paths are those in the file as it is: where operations move what others
// are about, they are followed.
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
	if _, err := after.Text().Documents(); err != nil {
		return nil, broken(err)
	}
	path := PathTo(outer)
	scalar := after.document(path).follow(path.within())
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
