package yamldoc

import (
	"bytes"
	"sort"
	"strconv"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
)

// builder makes Values out of yaml/v3 nodes (places) and decoded values.
type builder struct {
	doc    *Document
	src    []byte
	lines  []int
	fixed  string
	budget int
	// last is the place that was found last. Nodes come nearly in their order, and JSON may have all of them on one line:
	// from there it is not far to the next.
	last struct{ line, column, pos int }
}

// offset returns the byte offset of a node's line and column.
func (b *builder) offset(n *yamlv3.Node) int {
	line := min(max(n.Line, 1), len(b.lines))
	column, pos := 1, b.lines[line-1]
	if b.last.line == line && b.last.column < 2*n.Column {
		column, pos = b.last.column, b.last.pos
	}
	for ; column > n.Column; column-- {
		_, size := utf8.DecodeLastRune(b.src[:pos])
		pos -= size
	}
	for ; column < n.Column && pos < b.doc.End; column++ {
		_, size := utf8.DecodeRune(b.src[pos:])
		pos += size
	}
	b.last.line, b.last.column, b.last.pos = line, column, pos
	return min(pos, b.doc.End)
}

// build returns the value of a node. after is the offset behind the key's colon or the item's dash,
// -1 at the root.
func (b *builder) build(n *yamlv3.Node, value any, parent *Value, after int) *Value {
	v := &Value{doc: b.doc, parent: parent, Fixed: b.fixed}
	b.budget--
	if b.budget <= 0 {
		return v
	}
	if n.Kind == yamlv3.AliasNode {
		v.Start = b.offset(n)
		v.End = min(v.Start+1+len(n.Value), b.doc.End)
		b.buildAliased(v, n.Alias, value, "it comes from the alias *"+n.Value)
		return v
	}
	start := b.offset(n)
	if n.Anchor != "" || n.Style&yamlv3.TaggedStyle != 0 {
		start = skipProperties(b.src, start, b.doc.End)
	}
	v.Start, v.End = start, start
	switch n.Kind {
	case yamlv3.MappingNode:
		v.Kind = Map
		b.buildMap(v, n, value)
	case yamlv3.SequenceNode:
		v.Kind = List
		b.buildList(v, n, value)
	default:
		b.buildScalar(v, n, value, after)
	}
	return v
}

// buildAliased fills v with what an alias or merge key brings in; all of it has v's place.
func (b *builder) buildAliased(v *Value, target *yamlv3.Node, value any, why string) {
	outer := b.fixed
	b.fixed = why
	t := b.build(target, value, v.parent, -1)
	b.fixed = outer
	v.Fixed = why
	v.Kind, v.Style, v.Text, v.Items, v.Entries, v.indent = t.Kind, t.Style, t.Text, t.Items, t.Entries, t.indent
	for _, item := range v.Items {
		item.parent = v
	}
	for _, e := range v.Entries {
		e.Value.parent = v
	}
}

func (b *builder) buildMap(v *Value, n *yamlv3.Node, value any) {
	values, _ := value.(map[string]any)
	v.Style = Block
	if n.Style&yamlv3.FlowStyle != 0 {
		v.Style = Flow
	}
	var keys []*Entry
	nodes := make([]*yamlv3.Node, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			b.mergeInto(v, val, values)
			continue
		}
		k := b.build(key, nil, v, -1)
		keys = append(keys, &Entry{Key: b.keyString(key, k, values), KeyStart: k.Start, KeyEnd: k.End})
		nodes = append(nodes, val)
	}
	again := markReplaced(keys)
	for i, e := range keys {
		value := values[e.Key]
		if again[e.Key] && (e.Replaced || !b.speltAlike(keys, e)) {
			// The decoded JSON has one value only for all of them: the last one's, but of 1 and "1" either.
			value = valueOf(nodes[i])
		}
		e.Value = b.build(nodes[i], value, v, skipToColon(b.src, e.KeyEnd, b.doc.End))
		e.Value.entry = e
		if v.Style == Block && i == 0 && v.Fixed == "" {
			v.Start = e.KeyStart
		}
		v.End = max(v.End, e.KeyEnd, e.Value.End)
	}
	v.Entries = append(v.Entries, keys...)
	if len(v.Entries) > len(keys) {
		markReplaced(v.Entries)
	}
	if v.Style == Flow {
		v.End = skipToClose(b.src, v.End, b.doc.End, '}')
	}
}

// speltAlike tells whether the keys that read like e's are the same in the source.
func (b *builder) speltAlike(keys []*Entry, e *Entry) bool {
	for _, k := range keys {
		if k.Key == e.Key && !bytes.Equal(b.src[k.KeyStart:k.KeyEnd], b.src[e.KeyStart:e.KeyEnd]) {
			return false
		}
	}
	return true
}

// valueOf reads one node by itself, scalar for scalar. What an alias or a merge key would bring in is left out.
func valueOf(n *yamlv3.Node) any {
	switch n.Kind {
	case yamlv3.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = valueOf(n.Content[i+1])
		}
		return m
	case yamlv3.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = valueOf(item)
		}
		return list
	case yamlv3.ScalarNode:
		if n.Style&(yamlv3.DoubleQuotedStyle|yamlv3.SingleQuotedStyle|yamlv3.LiteralStyle|yamlv3.FoldedStyle) != 0 {
			return n.Value
		}
		value, err := decode([]byte("- " + n.Value + "\n"))
		list, ok := value.([]any)
		if err != nil || !ok || len(list) != 1 {
			return n.Value
		}
		return list[0]
	}
	return nil
}

// markReplaced marks the entries that a later one of the same key replaces, and returns the keys that stand
// more than once.
func markReplaced(entries []*Entry) (again map[string]bool) {
	if len(entries) < 2 {
		return nil
	}
	seen := make(map[string]bool, len(entries))
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		e.Replaced = seen[e.Key]
		if e.Replaced {
			if again == nil {
				again = map[string]bool{}
			}
			again[e.Key] = true
		}
		seen[e.Key] = true
	}
	return again
}

// mergeInto adds the entries that a merge key (<<) brings in; v's own stand behind them and replace them.
func (b *builder) mergeInto(v *Value, from *yamlv3.Node, values map[string]any) {
	switch from.Kind {
	case yamlv3.SequenceNode:
		for _, item := range from.Content {
			b.mergeInto(v, item, values)
		}
		return
	case yamlv3.AliasNode:
		from = from.Alias
	}
	if from.Kind != yamlv3.MappingNode {
		return
	}
	outer := b.fixed
	b.fixed = "it comes from a merge key"
	merged := &Value{doc: b.doc, parent: v, Fixed: b.fixed}
	b.buildMap(merged, from, any(values))
	b.fixed = outer
	for _, e := range merged.Entries {
		e.Value.parent = v
		v.Entries = append(v.Entries, e)
	}
}

// keyString returns a key as kubeadm's JSON has it: sigs.k8s.io/yaml turns other scalars into strings.
func (b *builder) keyString(n *yamlv3.Node, k *Value, values map[string]any) string {
	text := n.Value
	if n.Kind == yamlv3.AliasNode && n.Alias != nil {
		text = n.Alias.Value
	}
	if _, ok := values[text]; ok || k.Style != Plain {
		return text
	}
	converted, err := decode([]byte("? " + text + "\n: 0\n"))
	m, ok := converted.(map[string]any)
	if err != nil || !ok || len(m) != 1 {
		return text
	}
	for key := range m {
		text = key
	}
	return text
}

func (b *builder) buildList(v *Value, n *yamlv3.Node, value any) {
	values, _ := value.([]any)
	v.Style = Block
	if n.Style&yamlv3.FlowStyle != 0 {
		v.Style = Flow
	}
	after := -1
	if v.Style == Block {
		after = v.Start + 1
		v.End = min(after, b.doc.End)
	}
	for i, item := range n.Content {
		var itemValue any
		if i < len(values) {
			itemValue = values[i]
		}
		child := b.build(item, itemValue, v, after)
		child.index = i
		v.Items = append(v.Items, child)
		v.End = max(v.End, child.End)
		if v.Style == Block && i+1 < len(n.Content) {
			after = skipToDash(b.src, v.End, b.doc.End)
		}
	}
	if v.Style == Flow {
		v.End = skipToClose(b.src, v.End, b.doc.End, ']')
	}
}

func (b *builder) buildScalar(v *Value, n *yamlv3.Node, value any, after int) {
	switch value := value.(type) {
	case nil:
		v.Kind = Null
		v.Text = n.Value
	case bool:
		v.Kind = Bool
		v.Text = strconv.FormatBool(value)
	case number:
		v.Kind = Number
		v.Text = string(value)
	case string:
		v.Kind = String
		v.Text = value
	}
	switch {
	case n.Style&yamlv3.DoubleQuotedStyle != 0:
		v.Style = DoubleQuoted
		v.End = endOfDoubleQuoted(b.src, v.Start, b.doc.End)
	case n.Style&yamlv3.SingleQuotedStyle != 0:
		v.Style = SingleQuoted
		v.End = endOfSingleQuoted(b.src, v.Start, b.doc.End)
	case n.Style&yamlv3.LiteralStyle != 0:
		v.Style = Literal
		v.End, v.indent = endOfBlockScalar(b.src, v.Start, b.doc.End, b.parentIndent(v))
	case n.Style&yamlv3.FoldedStyle != 0:
		v.Style = Folded
		v.End, v.indent = endOfBlockScalar(b.src, v.Start, b.doc.End, b.parentIndent(v))
	case n.Value == "":
		if after >= 0 {
			v.Start = min(after, b.doc.End)
		}
		v.End = v.Start
	default:
		v.End = endOfPlain(b.src, v.Start, b.doc.End, n.Value)
	}
}

// parentIndent returns the column (from 0) of the block collection that a scalar stands in, -1 at the root.
func (b *builder) parentIndent(v *Value) int {
	p := v.parent
	if p == nil {
		return -1
	}
	line := sort.SearchInts(b.lines, p.Start+1) - 1
	return p.Start - b.lines[line]
}
