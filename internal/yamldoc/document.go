package yamldoc

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
)

// Document is one document of a text.
type Document struct {
	Text *Text
	// Index counts from 1 within the text.
	Index int
	// Start and End are byte offsets into Text.Data, without the separator lines.
	Start, End int
	// Root is nil for a document without a value (blank, or only comments).
	Root *Value

	inner map[*Value]*Text // the texts within its scalars that were asked for
}

// SyntaxError is a text that is not YAML.
type SyntaxError struct {
	Place Place
	Msg   string
}

// Error returns file:line:column: message.
func (e *SyntaxError) Error() string {
	p := e.Place.File.Position(e.Place.Start)
	return fmt.Sprintf("%s:%d:%d: %s", e.Place.File.Name, p.Line, p.Column, OneLine(e.Msg))
}

// OneLine returns a message in which what does not print (line breaks, escape sequences, marks that turn the direction
// of the text) is spelt as Go would: messages quote what files have.
func OneLine(msg string) string {
	if strings.IndexFunc(msg, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 && utf8.ValidString(msg) {
		return msg
	}
	spelt := strconv.Quote(msg)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(spelt[1 : len(spelt)-1])
}

// Documents splits the text as kubeadm and kubectl do, at lines that start with "---", and reads each
// document, the first time that it is called. An error is a *SyntaxError.
func (t *Text) Documents() ([]*Document, error) {
	if t.docs == nil && t.err == nil {
		t.docs, t.err = t.read()
	}
	return t.docs, t.err
}

func (t *Text) read() ([]*Document, error) {
	data := t.Data
	if err := t.checkEncoding(); err != nil {
		return nil, err
	}
	var docs []*Document
	add := func(start, end int) error {
		d := &Document{Text: t, Index: len(docs) + 1, Start: start, End: end}
		docs = append(docs, d)
		return d.parse()
	}
	start := 0
	if bytes.HasPrefix(data, bom) {
		start = len(bom)
	}
	separated := false
	for pos := start; pos < len(data); {
		next := len(data)
		if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
			next = pos + i + 1
		}
		if line := data[pos:next]; bytes.HasPrefix(line, []byte("---")) {
			rest := bytes.TrimSpace(line[3:])
			if len(rest) > 0 && rest[0] != '#' {
				return nil, t.syntaxError(pos, "text after the document separator ---: start the document on a line of its own")
			}
			// A separator at the very start opens the first document.
			if pos > start || separated {
				if err := add(start, pos); err != nil {
					return nil, err
				}
			}
			separated = true
			start = next
		}
		pos = next
	}
	if start < len(data) || separated || len(docs) == 0 {
		if err := add(start, len(data)); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func (t *Text) checkEncoding() error {
	data := t.Data
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return t.syntaxError(0, "the text is UTF-16; save it as UTF-8")
	}
	if utf8.Valid(data) {
		return nil
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return t.syntaxError(i, fmt.Sprintf("byte 0x%02x is not UTF-8 text", data[i]))
		}
		i += n
	}
	return nil
}

func (t *Text) syntaxError(offset int, msg string) *SyntaxError {
	at := t.FileOffset(offset)
	return &SyntaxError{Place: Place{File: t.File, Start: at, End: at}, Msg: msg}
}

// parse fills Root.
func (d *Document) parse() error {
	chunk := d.Text.Data[d.Start:d.End]
	var node yamlv3.Node
	if err := unmarshalNode(chunk, &node); err != nil {
		return d.yamlError(chunk, err)
	}
	if node.Kind == 0 || len(node.Content) == 0 {
		return nil
	}
	value, ok := resolve(chunk, node.Content[0])
	if !ok {
		var err error
		if value, err = decode(chunk); err != nil {
			return d.yamlError(chunk, err)
		}
	}
	if value == nil && node.Content[0].Kind == yamlv3.ScalarNode && node.Content[0].Value == "" {
		return nil
	}
	b := builder{doc: d, src: d.Text.Data, lines: lineTable(d.Text.Data, d.Start, d.End), budget: maxValues}
	root := b.build(node.Content[0], value, nil, -1)
	if b.budget <= 0 {
		return d.Text.syntaxError(d.Start, fmt.Sprintf("the document has more than %d values", maxValues))
	}
	d.Root = root
	return nil
}

// maxValues bounds what aliases can blow up; the largest kubeadm file has a few hundred values.
const maxValues = 1 << 20

// unmarshalNode guards against panics of the YAML library on hostile input: such a text is refused like any other.
func unmarshalNode(chunk []byte, node *yamlv3.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	return yamlv3.Unmarshal(chunk, node)
}

var yamlErrorLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?(?:yaml: )?line (\d+): (.*)`)

// yamlError turns an error of a YAML library into one with its place in the file.
func (d *Document) yamlError(chunk []byte, err error) error {
	msg := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if at := tabIndent(chunk); at >= 0 && strings.Contains(msg, "cannot start any token") {
		return d.Text.syntaxError(d.Start+at, "a tab is used as indentation; YAML takes blanks only")
	}
	line := 1
	if m := yamlErrorLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		msg = m[2]
	}
	msg = strings.TrimPrefix(msg, "yaml: ")
	msg, _, _ = strings.Cut(msg, "\n")
	table := lineTable(d.Text.Data, d.Start, d.End)
	line = min(max(line, 1), len(table))
	at := table[line-1]
	for at < d.End && d.Text.Data[at] == ' ' {
		at++
	}
	return d.Text.syntaxError(at, "not valid YAML: "+msg)
}

// tabIndent returns the offset of the first tab in the indentation of a line, -1 if there is none.
func tabIndent(chunk []byte) int {
	atIndent := true
	for i, c := range chunk {
		switch {
		case c == '\n':
			atIndent = true
		case atIndent && c == '\t':
			return i
		case c != ' ':
			atIndent = false
		}
	}
	return -1
}

// lineTable returns the offsets of the lines of data[start:end] as go.yaml.in/yaml/v3 counts them: there
// NEL, LINE SEPARATOR and PARAGRAPH SEPARATOR end a line too.
func lineTable(data []byte, start, end int) []int {
	table := []int{start}
	for i := start; i < end; {
		switch c := data[i]; {
		case c == '\n', c == '\r' && (i+1 == end || data[i+1] != '\n'):
			i++
			table = append(table, i)
		case c == 0xc2 && i+1 < end && data[i+1] == 0x85:
			i += 2
			table = append(table, i)
		case c == 0xe2 && i+2 < end && data[i+1] == 0x80 && (data[i+2] == 0xa8 || data[i+2] == 0xa9):
			i += 3
			table = append(table, i)
		default:
			i++
		}
	}
	return table
}
