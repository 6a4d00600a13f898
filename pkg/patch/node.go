package patch

import (
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// node is new content: a string, a boolean, a map or a list.
type node struct {
	kind    yamldoc.Kind
	text    string
	entries []field
	items   []node
	// style is how a string is written where styled is set; else the printer knows.
	style  yamldoc.Style
	styled bool
}

type field struct {
	key   string
	value node
}

func str(s string) node         { return node{kind: yamldoc.String, text: s} }
func object(f ...field) node    { return node{kind: yamldoc.Map, entries: f} }
func list(items ...node) node   { return node{kind: yamldoc.List, items: items} }
func trueNode() node            { return node{kind: yamldoc.Bool, text: "true"} }
func (n node) collection() bool { return n.kind == yamldoc.Map || n.kind == yamldoc.List }
func (n node) empty() bool      { return len(n.entries) == 0 && len(n.items) == 0 }

// json is the value as it will be read.
func (n node) json() any {
	switch n.kind {
	case yamldoc.String:
		return n.text
	case yamldoc.Bool:
		return n.text == "true"
	case yamldoc.Number:
		return jsonNumber(n.text)
	case yamldoc.List:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.json()
		}
		return out
	case yamldoc.Map:
		out := make(map[string]any, len(n.entries))
		for _, f := range n.entries {
			out[f.key] = f.value.json()
		}
		return out
	}
	return nil
}

// nodeOf copies a value, with the entries that are in force.
func nodeOf(v *yamldoc.Value) node {
	n := node{kind: v.Kind, text: v.Text}
	for _, item := range v.Items {
		n.items = append(n.items, nodeOf(item))
	}
	for _, e := range v.Entries {
		if !e.Replaced {
			n.entries = append(n.entries, field{e.Key, nodeOf(e.Value)})
		}
	}
	return n
}

// printer writes new content in the manner of its surroundings.
type printer struct {
	habits
	// value and key are the styles of strings that could be plain.
	value, key yamldoc.Style
	json       bool
	// flowItems: the maps of a list are written in flow style.
	flowItems bool
	// literal: strings of several lines become literal block scalars.
	literal bool
	err     error
}

func (p *printer) scalar(n node, flow bool) string {
	switch n.kind {
	case yamldoc.String:
		style := p.value
		if n.styled {
			style = n.style
		}
		s, err := spelling{style: style, flow: flow, json: p.json}.spell(n.text)
		p.fail(err)
		return s
	case yamldoc.Map:
		return "{}"
	case yamldoc.List:
		return "[]"
	case yamldoc.Null:
		return "null"
	}
	return n.text
}

func (p *printer) keyText(key string, flow bool) string {
	s, err := spelling{style: p.key, flow: flow, json: p.json, key: true}.spell(key)
	p.fail(err)
	return s
}

func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// block returns the lines of a map or a list in block style, each with the indentation.
func (p *printer) block(n node, indent string) []string {
	if n.kind == yamldoc.List {
		return p.blockItems(n, indent)
	}
	var lines []string
	for _, f := range n.entries {
		lines = append(lines, p.blockEntry(f, indent)...)
	}
	return lines
}

func (p *printer) blockEntry(f field, indent string) []string {
	key := indent + p.keyText(f.key, false) + ":"
	switch {
	case f.value.kind == yamldoc.Null:
		return []string{key}
	case p.literal && isLiteral(f.value):
		return p.literalEntry(key, f.value.text, indent)
	case !f.value.collection() || f.value.empty():
		return []string{key + " " + p.scalar(f.value, false)}
	}
	deeper := p.step
	if f.value.kind == yamldoc.List {
		deeper = p.dash
	}
	return append([]string{key}, p.block(f.value, indent+strings.Repeat(" ", deeper))...)
}

func (p *printer) blockItems(n node, indent string) []string {
	var lines []string
	for _, item := range n.items {
		switch {
		case !item.collection() || item.empty():
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
func (p *printer) flow(n node) string {
	if !n.collection() || n.empty() {
		return p.scalar(n, true)
	}
	var parts []string
	for _, item := range n.items {
		parts = append(parts, p.flow(item))
	}
	for _, f := range n.entries {
		parts = append(parts, p.keyText(f.key, true)+": "+p.flow(f.value))
	}
	if n.kind == yamldoc.List {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// flowLines returns a value in flow style over several lines: the first without indentation, the others with
// indent and a step for each level. Maps within a list are on one line each if flowItems is set.
func (p *printer) flowLines(n node, indent, step string) []string {
	if !n.collection() || n.empty() || p.flowItems && flatMap(n) {
		return []string{p.flow(n)}
	}
	lines := []string{"{"}
	end := "}"
	if n.kind == yamldoc.List {
		lines[0], end = "[", "]"
	}
	add := func(prefix string, value node, last bool) {
		inner := p.flowLines(value, indent+step, step)
		inner[0] = indent + step + prefix + inner[0]
		if !last {
			inner[len(inner)-1] += ","
		}
		lines = append(lines, inner...)
	}
	for i, item := range n.items {
		add("", item, i == len(n.items)-1)
	}
	for i, f := range n.entries {
		add(p.keyText(f.key, true)+": ", f.value, i == len(n.entries)-1)
	}
	return append(lines, indent+end)
}

// flatMap tells whether a map has only scalars.
func flatMap(n node) bool {
	for _, f := range n.entries {
		if f.value.collection() {
			return false
		}
	}
	return n.kind == yamldoc.Map
}

// isLiteral tells whether a string is a text of lines that a literal block scalar keeps as it is.
func isLiteral(n node) bool {
	if n.kind != yamldoc.String || !strings.Contains(n.text, "\n") || strings.ContainsAny(n.text[:1], " \n\t") {
		return false
	}
	for _, r := range n.text {
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
