package patch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// edit is a change of one document: the bytes, and what it does to the document's JSON value.
type edit struct {
	doc   *yamldoc.Document
	edits []yamldoc.Edit
	// want makes the same change on the JSON value; it may change its argument.
	want func(root any) any
}

// editError is a reason why an edit is not made, with the place that stands in the way.
type editError struct {
	at     yamldoc.Place
	reason string
}

func (e *editError) Error() string { return e.reason }

func refuse(v *yamldoc.Value, format string, args ...any) error {
	return &editError{at: v.Place(), reason: fmt.Sprintf(format, args...)}
}

func jsonNumber(text string) any { return json.Number(text) }

// movable refuses values that do not stand in the file where they are used, or have no effect there.
func movable(v *yamldoc.Value) error {
	for p := v; p != nil; p = p.Parent() {
		if p.Fixed != "" {
			return refuse(v, "%s cannot be edited: %s", v.Path(), p.Fixed)
		}
		if e := p.Entry(); e != nil && e.Replaced {
			return &editError{at: p.KeyPlace(), reason: fmt.Sprintf("the key %s stands more than once: remove the one that is not meant first", p.Path())}
		}
	}
	return nil
}

// single refuses an entry whose key stands more than once: without it, another one would take its place.
func single(m *yamldoc.Value, e *yamldoc.Entry) error {
	for _, other := range m.Entries {
		if other != e && other.Key == e.Key {
			return &editError{at: other.Value.KeyPlace(), reason: fmt.Sprintf("the key %s stands more than once: remove the one that is not meant first", e.Value.Path())}
		}
	}
	return nil
}

// rendered refuses values that a template will fill in.
func rendered(v *yamldoc.Value) error {
	if mark := config.PlaceholderIn(v.Text); mark != "" {
		return refuse(v, "the value has the template mark %s: change the template", mark)
	}
	return nil
}

// jsonPath is the way from the root of the document to the value: keys and indexes.
func jsonPath(v *yamldoc.Value) []any {
	if v.Parent() == nil {
		return nil
	}
	if e := v.Entry(); e != nil {
		return append(jsonPath(v.Parent()), e.Key)
	}
	return append(jsonPath(v.Parent()), v.Index())
}

// jsonAt replaces the value at a path by what f makes of it.
func jsonAt(root any, path []any, f func(any) any) any {
	if len(path) == 0 {
		return f(root)
	}
	switch key := path[0].(type) {
	case string:
		if m, ok := root.(map[string]any); ok {
			m[key] = jsonAt(m[key], path[1:], f)
		}
	case int:
		if list, ok := root.([]any); ok && key < len(list) {
			list[key] = jsonAt(list[key], path[1:], f)
		}
	}
	return root
}

func (e *edit) setJSON(v *yamldoc.Value, to any) {
	path := jsonPath(v)
	e.want = func(root any) any { return jsonAt(root, path, func(any) any { return to }) }
}

func (e *edit) setKey(m *yamldoc.Value, key string, to any) {
	path := jsonPath(m)
	e.want = func(root any) any {
		return jsonAt(root, path, func(v any) any {
			if v, ok := v.(map[string]any); ok {
				v[key] = to
			}
			return v
		})
	}
}

func (e *edit) deleteKey(m *yamldoc.Value, key string) {
	path := jsonPath(m)
	e.want = func(root any) any {
		return jsonAt(root, path, func(v any) any {
			if v, ok := v.(map[string]any); ok {
				delete(v, key)
			}
			return v
		})
	}
}

func (e *edit) changeList(list *yamldoc.Value, f func([]any) []any) {
	path := jsonPath(list)
	e.want = func(root any) any {
		return jsonAt(root, path, func(v any) any {
			if v, ok := v.([]any); ok {
				return f(v)
			}
			return v
		})
	}
}

// apply makes an edit on a copy of the file and reads all of it again. It fails unless exactly the wanted
// value changed.
func apply(file *yamldoc.File, e *edit) ([]byte, error) {
	var fileEdits []yamldoc.Edit
	for _, part := range e.edits {
		if part.Start < e.doc.Start || part.End > e.doc.End || part.Start > part.End {
			return nil, fmt.Errorf("the edit leaves its document")
		}
		fe, err := e.doc.Text.ToFile(part)
		if err != nil {
			return nil, err
		}
		fileEdits = append(fileEdits, fe)
	}
	if err := inOrder(fileEdits); err != nil {
		return nil, err
	}
	after := yamldoc.Apply(file.Data, fileEdits...)
	want := expected{e: e, inner: nil}
	docText := e.doc.Text
	if outer := docText.Outer(); outer != nil {
		if outer.Document().Text.Outer() != nil {
			return nil, fmt.Errorf("text within text within a document is not edited")
		}
		want.inner = yamldoc.Apply(docText.Data, e.edits...)
	}
	if err := want.check(file, yamldoc.NewFile(file.Name, after)); err != nil {
		return nil, err
	}
	return after, nil
}

// inOrder refuses edits that overlap.
func inOrder(edits []yamldoc.Edit) error {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b yamldoc.Edit) int { return a.Start - b.Start })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Start < sorted[i-1].End {
			return fmt.Errorf("the edits overlap")
		}
	}
	return nil
}

// expected is what the file should read like after an edit.
type expected struct {
	e *edit
	// inner is the new text of the scalar that the edited document stands in, nil for a document of the file.
	inner []byte
}

func (x expected) check(before, after *yamldoc.File) error {
	outer := x.e.doc.Text.Outer()
	if outer == nil {
		return sameDocuments(before.Text(), after.Text(), x.e.doc.Index, x.e.want)
	}
	path := jsonPath(outer)
	index := outer.Document().Index
	docs, err := after.Text().Documents()
	if err != nil {
		return fmt.Errorf("the edit would break the document: %w", err)
	}
	var scalar *yamldoc.Value
	if index <= len(docs) {
		scalar = valueAt(docs[index-1].Root, path)
	}
	if scalar == nil {
		return fmt.Errorf("the edit would lose %s", outer.Path())
	}
	inner := string(x.inner)
	if strings.TrimRight(inner, "\n") == strings.TrimRight(scalar.Text, "\n") {
		// A block scalar drops blank lines that stand at its end now.
		inner = scalar.Text
	}
	err = sameDocuments(before.Text(), after.Text(), index, func(root any) any {
		return jsonAt(root, path, func(any) any { return inner })
	})
	if err != nil {
		return err
	}
	return sameDocuments(x.e.doc.Text, scalar.Inner(), x.e.doc.Index, x.e.want)
}

// valueAt follows a path of keys and indexes.
func valueAt(v *yamldoc.Value, path []any) *yamldoc.Value {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			v = v.Get(step)
		case int:
			if v == nil || step >= len(v.Items) {
				return nil
			}
			v = v.Items[step]
		}
	}
	return v
}

// sameDocuments compares the values of all documents of a text: all are to be as before but for the change
// of one.
func sameDocuments(before, after *yamldoc.Text, changed int, want func(any) any) error {
	old, err := before.Documents()
	if err != nil {
		return err
	}
	docs, err := after.Documents()
	if err != nil {
		return fmt.Errorf("the edit would break the document: %w", err)
	}
	if len(old) != len(docs) {
		return fmt.Errorf("the edit would make %d documents of %d", len(docs), len(old))
	}
	for i, d := range docs {
		expect := old[i].Root.JSON()
		if i+1 == changed {
			expect = want(expect)
		}
		if got := d.Root.JSON(); !reflect.DeepEqual(expect, got) {
			return fmt.Errorf("the edit would also change %s", firstDifference(expect, got, ""))
		}
	}
	return nil
}

// firstDifference returns the path of a value that differs.
func firstDifference(a, b any, path string) string {
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := map[string]bool{}
		for key := range a {
			keys[key] = true
		}
		for key := range m {
			keys[key] = true
		}
		for _, key := range sortedKeys(keys) {
			x, inA := a[key]
			y, inB := m[key]
			if inA != inB || !reflect.DeepEqual(x, y) {
				if path != "" {
					key = "." + key
				}
				return firstDifference(x, y, path+key)
			}
		}
	case []any:
		l, ok := b.([]any)
		if !ok || len(l) != len(a) {
			break
		}
		for i := range a {
			if !reflect.DeepEqual(a[i], l[i]) {
				return firstDifference(a[i], l[i], path+"["+strconv.Itoa(i)+"]")
			}
		}
	}
	if path == "" {
		return "the whole document"
	}
	return path
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
