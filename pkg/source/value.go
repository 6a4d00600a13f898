package source

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
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

// builder makes Values out of yaml/v3 nodes (places) and decoded values.
type builder struct {
	doc    *Document
	src    []byte
	lines  []int
	fixed  string
	budget int
}

// offset returns the byte offset of a node's line and column.
func (b *builder) offset(n *yamlv3.Node) int {
	line := min(max(n.Line, 1), len(b.lines))
	pos := b.lines[line-1]
	for range n.Column - 1 {
		if pos >= b.doc.End {
			break
		}
		_, size := utf8.DecodeRune(b.src[pos:])
		pos += size
	}
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

func endOfDoubleQuoted(src []byte, pos, end int) int {
	for pos++; pos < end; pos++ {
		switch src[pos] {
		case '\\':
			pos++
		case '"':
			return pos + 1
		}
	}
	return end
}

func endOfSingleQuoted(src []byte, pos, end int) int {
	for pos++; pos < end; pos++ {
		if src[pos] != '\'' {
			continue
		}
		if pos+1 == end || src[pos+1] != '\'' {
			return pos + 1
		}
		pos++
	}
	return end
}

// endOfPlain finds the end of a plain scalar, which may run over several lines: its words stand in the
// source in the same order with nothing but white space between them.
func endOfPlain(src []byte, pos, end int, value string) int {
	last := pos
	for word := range strings.FieldsSeq(value) {
		for pos < end && isSpace(src[pos]) {
			pos++
		}
		if !bytes.HasPrefix(src[pos:end], []byte(word)) {
			return last
		}
		pos += len(word)
		last = pos
	}
	return last
}

// endOfBlockScalar returns where the content of a literal or folded scalar ends (before the last line's
// break) and how far it is indented.
func endOfBlockScalar(src []byte, pos, end, parentIndent int) (stop, indent int) {
	header := src[pos:end]
	if i := bytes.IndexByte(header, '\n'); i >= 0 {
		header = header[:i]
	}
	stop = pos + len(bytes.TrimRight(header, "\r"))
	indent = -1
	for _, c := range header[1:] {
		if c == '#' {
			break
		}
		if c >= '1' && c <= '9' {
			indent = max(parentIndent, 0) + int(c-'0')
			break
		}
	}
	for pos += len(header) + 1; pos < end; {
		line := src[pos:end]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		text := bytes.TrimRight(line, "\r")
		depth := len(text) - len(bytes.TrimLeft(text, " "))
		if depth < len(text) {
			if indent < 0 {
				indent = depth
			}
			if depth < indent || depth <= parentIndent {
				break
			}
			stop = pos + len(text)
		}
		pos += len(line) + 1
	}
	return min(stop, end), max(indent, 0)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skipProperties passes over anchors and tags, and over what stands between them and the value.
func skipProperties(src []byte, pos, end int) int {
	for pos < end && (src[pos] == '&' || src[pos] == '!') {
		for pos < end && !isSpace(src[pos]) {
			pos++
		}
		pos = skipBlank(src, pos, end)
	}
	return pos
}

// skipBlank passes over white space and comments.
func skipBlank(src []byte, pos, end int) int {
	for pos < end {
		switch {
		case isSpace(src[pos]):
			pos++
		case src[pos] == '#' && (pos == 0 || isSpace(src[pos-1])):
			for pos < end && src[pos] != '\n' && src[pos] != '\r' {
				pos++
			}
		default:
			return pos
		}
	}
	return pos
}

// skipToColon returns the offset behind the colon after a key.
func skipToColon(src []byte, pos, end int) int {
	if at := skipBlank(src, pos, end); at < end && src[at] == ':' {
		return at + 1
	}
	return pos
}

// skipToDash returns the offset behind the dash of the next item of a block list.
func skipToDash(src []byte, pos, end int) int {
	if at := skipBlank(src, pos, end); at < end && src[at] == '-' {
		return at + 1
	}
	return pos
}

// skipToClose returns the offset behind the closing bracket of a flow collection whose last value ends at pos.
func skipToClose(src []byte, pos, end int, bracket byte) int {
	for pos < end {
		pos = skipBlank(src, pos, end)
		if pos == end {
			break
		}
		if src[pos] == bracket {
			return pos + 1
		}
		pos++
	}
	return end
}
