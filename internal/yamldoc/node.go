package yamldoc

import (
	"encoding/json"
	"slices"
	"strings"
)

// Node is new content: a string, a boolean, a number, nothing, a map or a list.
type Node struct {
	Kind   Kind
	Text   string
	Fields []NodeField
	Items  []Node
	// Style is how a string is quoted where it need not be.
	Style Style
}

// NodeField is a key of a map with its value.
type NodeField struct {
	Key   string
	Value Node
}

// Scalar returns a string in a style.
func Scalar(s string, style Style) Node { return Node{Kind: String, Text: s, Style: style} }

// Object returns a map.
func Object(fields ...NodeField) Node { return Node{Kind: Map, Fields: fields} }

// Array returns a list.
func Array(items ...Node) Node { return Node{Kind: List, Items: items} }

func (n Node) collection() bool { return n.Kind == Map || n.Kind == List }

// Empty tells whether a node has no entries and no items.
func (n Node) Empty() bool { return len(n.Fields) == 0 && len(n.Items) == 0 }

// JSON is the value as Value.JSON returns it once it was read.
func (n Node) JSON() any {
	switch n.Kind {
	case String:
		return n.Text
	case Bool:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.JSON()
		}
		return out
	case Map:
		out := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			out[f.Key] = f.Value.JSON()
		}
		return out
	}
	return nil
}

// NodeOf copies a value, with the entries that are in force and without those of the keys.
func NodeOf(v *Value, without ...string) Node {
	n := Node{Kind: v.Kind, Text: v.Text}
	for _, item := range v.Items {
		n.Items = append(n.Items, NodeOf(item))
	}
	for _, e := range v.Entries {
		if !e.Replaced && !slices.Contains(without, e.Key) {
			n.Fields = append(n.Fields, NodeField{e.Key, NodeOf(e.Value)})
		}
	}
	return n
}

// Print returns a map as YAML in block style, the way kubeadm writes it: strings of several lines are literal block
// scalars.
func (n Node) Print() ([]byte, error) {
	p := printer{habits: habits{step: 2}, literal: true}
	lines := p.block(n, "")
	return []byte(strings.Join(lines, "\n") + "\n"), p.err
}

// Lines returns the lines of a map in block style; each string stands on one.
func (n Node) Lines() []string {
	p := printer{habits: habits{step: 2}}
	return p.block(n, "")
}

// printer writes new content in the manner of its surroundings.
type printer struct {
	habits
	// keys is the style of keys that could be plain.
	keys Style
	json bool
	// flowItems: the maps of a list are written in flow style.
	flowItems bool
	// literal: strings of several lines become literal block scalars.
	literal bool
	err     error
}

func (p *printer) scalar(n Node, flow bool) string {
	switch n.Kind {
	case String:
		s, err := spelling{style: n.Style, flow: flow, json: p.json}.spell(n.Text)
		p.fail(err)
		return s
	case Map:
		return "{}"
	case List:
		return "[]"
	case Null:
		return "null"
	}
	return n.Text
}

func (p *printer) keyText(key string, flow bool) string {
	s, err := spelling{style: p.keys, flow: flow, json: p.json, key: true}.spell(key)
	p.fail(err)
	return s
}

func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// block returns the lines of a map or a list in block style, each with the indentation.
func (p *printer) block(n Node, indent string) []string {
	if n.Kind == List {
		return p.blockItems(n, indent)
	}
	var lines []string
	for _, f := range n.Fields {
		lines = append(lines, p.blockEntry(f, indent)...)
	}
	return lines
}

func (p *printer) blockEntry(f NodeField, indent string) []string {
	key := indent + p.keyText(f.Key, false) + ":"
	switch {
	case f.Value.Kind == Null:
		return []string{key}
	case p.literal && isLiteral(f.Value):
		return p.literalEntry(key, f.Value.Text, indent)
	case !f.Value.collection() || f.Value.Empty():
		return []string{key + " " + p.scalar(f.Value, false)}
	}
	deeper := p.step
	if f.Value.Kind == List {
		deeper = p.dash
	}
	return append([]string{key}, p.block(f.Value, indent+strings.Repeat(" ", deeper))...)
}

func (p *printer) blockItems(n Node, indent string) []string {
	var lines []string
	for _, item := range n.Items {
		switch {
		case !item.collection() || item.Empty():
			lines = append(lines, indent+"- "+p.scalar(item, false))
		case p.flowItems:
			lines = append(lines, indent+"- "+p.flow(item))
		default:
			inner := p.block(item, indent+"  ")
			inner[0] = indent + "- " + inner[0][len(indent)+2:]
			lines = append(lines, inner...)
		}
	}
	return lines
}

// flow returns a value in flow style on one line.
func (p *printer) flow(n Node) string {
	if !n.collection() || n.Empty() {
		return p.scalar(n, true)
	}
	var parts []string
	for _, item := range n.Items {
		parts = append(parts, p.flow(item))
	}
	for _, f := range n.Fields {
		parts = append(parts, p.keyText(f.Key, true)+": "+p.flow(f.Value))
	}
	if n.Kind == List {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// flowLines returns a value in flow style over several lines: the first without indentation, the others with
// indent and a step for each level. Maps within a list are on one line each if flowItems is set.
func (p *printer) flowLines(n Node, indent, step string) []string {
	if !n.collection() || n.Empty() || p.flowItems && flatMap(n) {
		return []string{p.flow(n)}
	}
	lines := []string{"{"}
	end := "}"
	if n.Kind == List {
		lines[0], end = "[", "]"
	}
	add := func(prefix string, value Node, last bool) {
		inner := p.flowLines(value, indent+step, step)
		inner[0] = indent + step + prefix + inner[0]
		if !last {
			inner[len(inner)-1] += ","
		}
		lines = append(lines, inner...)
	}
	for i, item := range n.Items {
		add("", item, i == len(n.Items)-1)
	}
	for i, f := range n.Fields {
		add(p.keyText(f.Key, true)+": ", f.Value, i == len(n.Fields)-1)
	}
	return append(lines, indent+end)
}

// flatMap tells whether a map has only scalars.
func flatMap(n Node) bool {
	for _, f := range n.Fields {
		if f.Value.collection() {
			return false
		}
	}
	return n.Kind == Map
}

// isLiteral tells whether a string is a text of lines that a literal block scalar keeps as it is.
func isLiteral(n Node) bool {
	if n.Kind != String || !strings.Contains(n.Text, "\n") || strings.ContainsAny(n.Text[:1], " \n\t") {
		return false
	}
	for _, r := range n.Text {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff {
			return false
		}
	}
	return true
}

// literalEntry returns the lines of an entry whose value is a literal block scalar.
func (p *printer) literalEntry(key, text, indent string) []string {
	trimmed := strings.TrimRight(text, "\n")
	header := " |"
	switch len(text) - len(trimmed) {
	case 0:
		header = " |-"
	case 1:
	default:
		header = " |+"
	}
	lines := []string{key + header}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line != "" {
			line = indent + strings.Repeat(" ", p.step) + line
		}
		lines = append(lines, line)
	}
	return lines
}
