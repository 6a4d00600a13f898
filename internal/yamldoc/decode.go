package yamldoc

import (
	"encoding/json"
	"fmt"
	"strconv"

	yamlv2 "go.yaml.in/yaml/v2"
)

// number is a YAML number in the spelling that JSON gives it.
type number string

// decode returns the values of a document as sigs.k8s.io/yaml's YAMLToJSON does, which kubeadm uses, without the way
// through JSON's text: nil, bool, number, string, []any and map[string]any. It uses the same parser; a fuzz target
// compares the two.
func decode(chunk []byte) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	var v any
	if err := yamlv2.Unmarshal(chunk, &v); err != nil {
		return nil, err
	}
	return jsonValue(v)
}

func jsonValue(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case int:
		return number(strconv.Itoa(v)), nil
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			key, err := jsonKey(k)
			if err != nil {
				return nil, err
			}
			if m[key], err = jsonValue(item); err != nil {
				return nil, err
			}
		}
		return m, nil
	case []any:
		for i, item := range v {
			var err error
			if v[i], err = jsonValue(item); err != nil {
				return nil, err
			}
		}
		return v, nil
	default:
		return viaJSON(v)
	}
}

// viaJSON is for the rare scalars: floats, large integers, binary. JSON has no infinity and no NaN.
func viaJSON(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) > 0 && text[0] == '"' {
		var s string
		err := json.Unmarshal(text, &s)
		return s, err
	}
	return number(text), nil
}

func jsonKey(k any) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case int:
		return strconv.Itoa(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case bool:
		return strconv.FormatBool(k), nil
	case float64:
		switch s := strconv.FormatFloat(k, 'g', -1, 32); s {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		default:
			return s, nil
		}
	}
	return "", fmt.Errorf("the key %v is no scalar that a key can be", k)
}
