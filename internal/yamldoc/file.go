// Package yamldoc reads YAML and JSON text so that every value keeps its place.
//
// It knows nothing of Kubernetes beyond how kubeadm splits a file into documents
// and resolves scalars: values come from sigs.k8s.io/yaml, which kubeadm uses,
// places from the nodes of go.yaml.in/yaml/v3. Text that stands inside a string
// (a ConfigMap's data, kind's kubeadmConfigPatches) is read the same way, and its
// places are those of the file around it.
//
// Operations on the values (File.Apply) are byte edits: every other byte stays, and the edited
// text is read again before it is returned.
package yamldoc

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// File is one input as it was read. Its bytes are never changed.
type File struct {
	// Name is shown to people; "-" is standard input.
	Name string
	Data []byte

	lines []int // byte offset of the start of each line, filled on first use
	text  *Text
}

// NewFile returns a File of the given name and content.
func NewFile(name string, data []byte) *File {
	return &File{Name: name, Data: data}
}

// Position is a point in a file as an editor counts it: lines end at "\n", "\r\n" or "\r",
// and columns count runes. Both start at 1.
type Position struct {
	Line, Column int
}

// Position returns the position of a byte offset. A byte-order mark takes no column.
func (f *File) Position(offset int) Position {
	offset = min(max(offset, 0), len(f.Data))
	f.indexLines()
	i := sort.SearchInts(f.lines, offset+1) - 1
	text := f.Data[f.lines[i]:offset]
	if i == 0 {
		text = bytes.TrimPrefix(text, bom)
	}
	return Position{Line: i + 1, Column: utf8.RuneCount(text) + 1}
}

// Line returns the text of a line, without its line break and the byte-order mark.
// A line that does not exist is empty.
func (f *File) Line(line int) string {
	f.indexLines()
	if line < 1 || line > len(f.lines) {
		return ""
	}
	text := f.Data[f.lines[line-1]:]
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	return string(bytes.TrimPrefix(text, bom))
}

// Lines returns the number of lines; a line break at the end of the file does not start a further one.
func (f *File) Lines() int {
	f.indexLines()
	n := len(f.lines)
	if n > 1 && f.lines[n-1] == len(f.Data) {
		n--
	}
	return n
}

func (f *File) indexLines() {
	if f.lines != nil {
		return
	}
	lines := make([]int, 1, 1+bytes.Count(f.Data, []byte("\n")))
	for i := 0; i < len(f.Data); i++ {
		switch {
		case f.Data[i] == '\n', f.Data[i] == '\r' && (i+1 == len(f.Data) || f.Data[i+1] != '\n'):
			lines = append(lines, i+1)
		}
	}
	f.lines = lines
}

var bom = []byte("\xef\xbb\xbf")

// Place is a region of a file, in bytes, and what stands there.
type Place struct {
	File *File
	// Document counts from 1; 0 is a place of the file as a whole.
	Document int
	// Start and End are byte offsets into File.Data; End is exclusive.
	Start, End int
	// Path is the YAML path within the document, such as apiServer.extraArgs[2].value.
	Path string
}

// IsZero tells whether the place names no file.
func (p Place) IsZero() bool { return p.File == nil }

// Range returns the positions of the first byte and of the byte after the last one.
func (p Place) Range() (start, end Position) {
	return p.File.Position(p.Start), p.File.Position(p.End)
}
