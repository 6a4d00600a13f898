package yamldoc

import (
	"bytes"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// resolve returns the values of a document from its nodes, where that cannot differ from what decode returns: no
// aliases, tags, merge keys or keys that are no strings. ok is false where decode must read the text itself. It saves
// the second parse of nearly all files; the fuzz target of decode covers it too.
func resolve(chunk []byte, root *yamlv3.Node) (value any, ok bool) {
	if bytes.ContainsAny(chunk, "&*!?%@`\t\r") || !isASCII(chunk) {
		return nil, false
	}
	return resolveNode(root)
}

func isASCII(chunk []byte) bool {
	for _, c := range chunk {
		if c >= 0x7f || c < ' ' && c != '\n' {
			return false
		}
	}
	return true
}

func resolveNode(n *yamlv3.Node) (value any, ok bool) {
	switch n.Kind {
	case yamlv3.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, isScalar := resolveNode(n.Content[i])
			name, isString := key.(string)
			if !isScalar || !isString {
				return nil, false
			}
			if m[name], ok = resolveNode(n.Content[i+1]); !ok {
				return nil, false
			}
		}
		return m, true
	case yamlv3.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			if list[i], ok = resolveNode(item); !ok {
				return nil, false
			}
		}
		return list, true
	case yamlv3.ScalarNode:
		return resolveScalar(n)
	}
	return nil, false
}

// resolveScalar resolves the scalars whose type their first character tells, as the table of go.yaml.in/yaml/v2 has it;
// all others are decoded one by one.
func resolveScalar(n *yamlv3.Node) (value any, ok bool) {
	text := n.Value
	if n.Style&(yamlv3.DoubleQuotedStyle|yamlv3.SingleQuotedStyle|yamlv3.LiteralStyle|yamlv3.FoldedStyle) != 0 {
		return text, true
	}
	switch c := firstByte(text); {
	case strings.IndexByte("yYnNtTfFoO", c) >= 0 && (len(text) > len("false") || !yamlWords[strings.ToLower(text)]):
		return text, true
	case c >= 'a' && c <= 'z' && strings.IndexByte("yntfo", c) < 0,
		c >= 'A' && c <= 'Z' && strings.IndexByte("YNTFO", c) < 0, c == '/':
		return text, true
	case c == 0:
		return nil, true
	case c >= '1' && c <= '9' && len(text) < 19 && strings.Trim(text, "0123456789") == "":
		return number(text), true
	case c >= '0' && c <= '9' && (strings.Contains(text, "/") || strings.Count(text, ".") > 1):
		// An address or a range: neither a number nor a time has a slash or two dots.
		return text, true
	}
	value, err := decode([]byte("- " + text + "\n"))
	list, isList := value.([]any)
	if err != nil || !isList || len(list) != 1 {
		return nil, false
	}
	return list[0], true
}

// yamlWords are the words, in small letters, that are no strings in some spelling.
var yamlWords = map[string]bool{
	"y": true, "yes": true, "on": true, "true": true,
	"n": true, "no": true, "off": true, "false": true, "null": true,
}

func firstByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}
