package yamldoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
