package yamldoc

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Kind is the kind of a value as kubeadm reads it, after YAML's rules for plain scalars.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// String returns the kind as a noun with its article.
func (k Kind) String() string {
	return [...]string{"nothing", "a boolean", "a number", "a string", "a list", "a map"}[k]
}

// Style is how a value is spelt.
type Style uint8

// The styles of values: five of scalars, two of collections.
const (
	Plain Style = iota
	SingleQuoted
	DoubleQuoted
	Literal
	Folded
	Flow
	Block
)

// String returns the style's name in the YAML specification.
func (s Style) String() string {
	return [...]string{"plain", "single-quoted", "double-quoted", "literal", "folded", "flow", "block"}[s]
}

// Value is one value of a document with its place.
type Value struct {
	Kind  Kind
	Style Style
	// Text is a String's value, and for a Bool or Number the value as kubeadm's JSON has it.
	Text string
	// Start and End are byte offsets into the document's text: of the scalar with its quotes, of a
	// collection from its first byte to the end of its last value or closing bracket. An empty plain
	// scalar stands right after its colon or dash.
	Start, End int
	// Entries are a Map's, in the order of the text, also those that a later duplicate replaces.
	Entries []*Entry
	// Items are a List's.
	Items []*Value
	// Fixed says why the value cannot be edited where it stands (it comes from an alias or a merge key);
	// empty: it can.
	Fixed string

	doc    *Document
	parent *Value
	entry  *Entry // the entry of parent that has this value; nil in a List
	index  int    // the index in parent's Items
	indent int    // block scalars: columns of indentation of the content
}

// Entry is a key of a Map with its value.
type Entry struct {
	Key              string
	KeyStart, KeyEnd int
	Value            *Value
	// Replaced: a later entry of the same key takes this one's place.
	Replaced bool
}

// Document returns the document that the value stands in.
func (v *Value) Document() *Document { return v.doc }

// Parent returns the collection that holds the value, nil for a root.
func (v *Value) Parent() *Value { return v.parent }

// Entry returns the map entry that has this value, nil for a list item or a root.
func (v *Value) Entry() *Entry { return v.entry }

// Index returns the index in the parent list.
func (v *Value) Index() int { return v.index }

// Indent returns the columns of indentation of a block scalar's content.
func (v *Value) Indent() int { return v.indent }

// Get returns the value at a path of keys, or nil. It can be called on nil.
func (v *Value) Get(keys ...string) *Value {
	for _, key := range keys {
		e := v.Find(key)
		if e == nil {
			return nil
		}
		v = e.Value
	}
	return v
}

// Find returns the entry of a Map that is in force for a key (of duplicates the last), or nil.
func (v *Value) Find(key string) *Entry {
	if v == nil {
		return nil
	}
	for i := len(v.Entries) - 1; i >= 0; i-- {
		if v.Entries[i].Key == key {
			return v.Entries[i]
		}
	}
	return nil
}

// Str returns a String's value, and "" for anything else. It can be called on nil.
func (v *Value) Str() string {
	if v == nil || v.Kind != String {
		return ""
	}
	return v.Text
}

// AsString returns the string that the author of a scalar most likely meant: a number as it is spelt (0644 is
// no decimal), a boolean as true or false. Nothing is an empty string. It can be called on nil.
func (v *Value) AsString() string {
	switch {
	case v == nil || v.Kind == Null:
		return ""
	case v.Kind == Number && v.Fixed == "" && v.Style == Plain:
		return string(v.doc.Text.Data[v.Start:v.End])
	}
	return v.Text
}

// Path returns the path of the value within its document, such as apiServer.extraArgs[2].value.
func (v *Value) Path() string {
	var b strings.Builder
	v.writePath(&b)
	return b.String()
}

func (v *Value) writePath(b *strings.Builder) {
	if v.parent == nil {
		if outer := v.doc.Text.outer; outer != nil {
			outer.writePath(b)
			b.WriteByte('|')
		}
		return
	}
	v.parent.writePath(b)
	if v.entry == nil {
		b.WriteString("[" + strconv.Itoa(v.index) + "]")
		return
	}
	if n := b.Len(); n > 0 && b.String()[n-1] != '|' {
		b.WriteByte('.')
	}
	b.WriteString(pathKey(v.entry.Key))
}

// pathKey quotes a key that would be ambiguous within a path.
func pathKey(key string) string {
	if key == "" || strings.ContainsAny(key, ".[]|\"\n") {
		return strconv.Quote(key)
	}
	return key
}

// Place returns the place of the value.
func (v *Value) Place() Place { return v.doc.place(v.Start, v.End, v) }

// KeyPlace returns the place of the value's key, or of the value where it has none.
func (v *Value) KeyPlace() Place {
	if v.entry == nil {
		return v.Place()
	}
	return v.doc.place(v.entry.KeyStart, v.entry.KeyEnd, v)
}

func (d *Document) place(start, end int, v *Value) Place {
	p := Place{File: d.Text.File, Document: d.FileIndex(), Start: d.Text.FileOffset(start), End: d.Text.FileOffset(end)}
	if end > start && d.Text.outer != nil {
		// The last byte's place, so that the region does not run over a block scalar's indentation.
		p.End = d.Text.FileOffset(end-1) + 1
	}
	if v != nil {
		p.Path = v.Path()
	}
	return p
}

// Region returns the place of a part of a document's text.
func (d *Document) Region(start, end int) Place { return d.place(start, end, nil) }

// FileIndex returns the number of the document of the file that this one stands in; they differ for a
// text within a scalar.
func (d *Document) FileIndex() int {
	for d.Text.outer != nil {
		d = d.Text.outer.doc
	}
	return d.Index
}

// JSON returns the value as kubeadm reads it, with json.Number for numbers.
func (v *Value) JSON() any {
	if v == nil {
		return nil
	}
	switch v.Kind {
	case Bool:
		return v.Text == "true"
	case Number:
		return json.Number(v.Text)
	case String:
		return v.Text
	case List:
		out := make([]any, len(v.Items))
		for i, item := range v.Items {
			out[i] = item.JSON()
		}
		return out
	case Map:
		out := make(map[string]any, len(v.Entries))
		for _, e := range v.Entries {
			out[e.Key] = e.Value.JSON()
		}
		return out
	default:
		return nil
	}
}
