package yamldoc

import "slices"

// Doc is the step of a Path into a document: of the file, or of the text that a scalar holds. It counts from 1.
type Doc int

// Path leads from a file to a value: a Doc, then keys (string), indexes of lists (int), and a Doc again where the value
// stands in a text within a scalar.
type Path []any

// PathTo returns the path of a value.
func PathTo(v *Value) Path {
	switch {
	case v.parent != nil:
		return append(PathTo(v.parent), v.step())
	case v.doc.Text.outer != nil:
		return append(PathTo(v.doc.Text.outer), Doc(v.doc.Index))
	}
	return Path{Doc(v.doc.Index)}
}

// step is the last step of a value's path: its key or its index.
func (v *Value) step() any {
	if v.entry != nil {
		return v.entry.Key
	}
	return v.index
}

// To returns the path of what stands at the keys below.
func (p Path) To(keys ...string) Path {
	p = slices.Clip(p)
	for _, key := range keys {
		p = append(p, key)
	}
	return p
}

// within returns the part of a path behind its last Doc: from the root of the document.
func (p Path) within() Path {
	for i := len(p) - 1; i >= 0; i-- {
		if _, ok := p[i].(Doc); ok {
			return p[i+1:]
		}
	}
	return p
}

// document returns the document that a path leads into, nil where there is none.
func (f *File) document(p Path) *Document {
	p = p[:len(p)-len(p.within())]
	text := f.Text()
	if len(p) > 1 {
		outer := f.document(p[:len(p)-1]).follow(p[:len(p)-1].within())
		if outer == nil {
			return nil
		}
		text = outer.Inner()
	}
	docs, err := text.Documents()
	if i := int(p[len(p)-1].(Doc)); err == nil && i <= len(docs) {
		return docs[i-1]
	}
	return nil
}

// follow returns the value at a path from the root of the document, nil where there is none. It can be called on nil.
func (d *Document) follow(p Path) *Value {
	if d == nil {
		return nil
	}
	v := d.Root
	for _, step := range p {
		v = v.child(step)
	}
	return v
}

// child returns the value at a step below, nil where there is none. It can be called on nil.
func (v *Value) child(step any) *Value {
	switch step := step.(type) {
	case string:
		return v.Get(step)
	case int:
		if v != nil && step < len(v.Items) {
			return v.Items[step]
		}
	}
	return nil
}

// after returns where a path leads once an effect was had: items move up and down. It is nil where what it led to is
// gone.
func (p Path) after(e effect) Path {
	n := len(e.path) - 1
	if len(p) <= n || !slices.Equal(p[:n], e.path[:n]) {
		return p
	}
	index, isIndex := e.path[n].(int)
	at, alsoIndex := p[n].(int)
	switch {
	case e.op == removed && p[n] == e.path[n]:
		return nil
	case e.op == replaced || !isIndex || !alsoIndex || at < index:
		return p
	case e.op == added:
		at++
	default:
		at--
	}
	p = slices.Clone(p)
	p[n] = at
	return p
}
