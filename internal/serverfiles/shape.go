package serverfiles

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// shape are the fields that an object may have, each with the shape of its value; nil is any value. A list has the shape of
// its items.
type shape map[string]shape

// object adds the fields that every document has.
func (s shape) object() shape {
	s["apiVersion"], s["kind"] = nil, nil
	return s
}

// unknownField says which field of a text is in no shape, as a strict decoder does. Capitals count.
func (s shape) unknownField(text []byte) string {
	var top any
	if err := yaml.Unmarshal(text, &top); err != nil {
		return "is not YAML"
	}
	return s.find(top, "")
}

func (s shape) find(value any, path string) string {
	if s == nil {
		return ""
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, ok := s[name]
			if !ok {
				return fmt.Sprintf("has a field %q that is not known%s", name, in(path))
			}
			if problem := inner.find(v[name], join(path, name)); problem != "" {
				return problem
			}
		}
	case []any:
		for i, item := range v {
			if problem := s.find(item, fmt.Sprintf("%s[%d]", path, i)); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func in(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fields makes a shape of names with any values.
func fields(names ...string) shape {
	s := shape{}
	for _, name := range names {
		s[name] = nil
	}
	return s
}

// decode reads a text into a struct, as the server does: a number is no text.
func decode(text []byte, into any) string {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return "is not YAML"
	}
	if err := json.Unmarshal(data, into); err != nil {
		return "has a value of the wrong type"
	}
	return ""
}
