package report

import (
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// sourceRoot is what relative names are relative to: for GitHub and others the root of the repository.
const sourceRoot = "%SRCROOT%"

// sarifArtifactOf names a file by a URI: relative with forward slashes, or of the scheme file where its name is
// absolute.
func sarifArtifactOf(of Text) sarifArtifact {
	file := string(of)
	name := filepath.ToSlash(file)
	if filepath.IsAbs(file) {
		if !strings.HasPrefix(name, "/") {
			name = "/" + name // a drive of Windows
		}
		return sarifArtifact{URI: "file://" + escapePath(name)}
	}
	return sarifArtifact{URI: escapePath(path.Clean(name)), URIBase: sourceRoot}
}

// escapePath percent-encodes all bytes of a path that are not unreserved in a URI. A colon too: in the first segment
// it would end a scheme.
func escapePath(name string) string {
	const upperHex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(upperHex[c>>4])
		b.WriteByte(upperHex[c&0xf])
	}
	return b.String()
}

// sarifAt is a place of a file with the text that stands there, which is taken from the line where that is known.
func sarifAt(l *Location, line string) *sarifPhysical {
	region := sarifRegion{StartLine: max(1, l.Line)} // GitHub refuses results without a line
	if l.Line > 0 && l.Column > 0 {
		region.StartColumn = l.Column
		if l.EndColumn > 0 && (l.EndLine > l.Line || l.EndLine == l.Line && l.EndColumn > l.Column) {
			region.EndLine, region.EndColumn = l.EndLine, l.EndColumn
		}
		region.Snippet = sarifSnippet(l, line)
	}
	return &sarifPhysical{Artifact: sarifArtifactOf(l.File), Region: &region}
}

// sarifSnippet is the text of a region that ends in its first line. It is the file's own, for machines that compare it.
func sarifSnippet(l *Location, line string) *sarifText {
	if l.EndLine != l.Line || l.EndColumn <= l.Column {
		return nil
	}
	start := runeOffset(line, l.Column-1)
	text := line[start : start+runeOffset(line[start:], l.EndColumn-l.Column)]
	if text == "" || !utf8.ValidString(text) {
		return nil
	}
	return &sarifText{Text: text}
}

// sarifFixOf turns edits into a fix. Edits that JSON cannot hold are none.
func sarifFixOf(edits []Edit, description Text) []sarifFix {
	if len(edits) == 0 {
		return nil
	}
	fix := sarifFix{Description: sarifMessage(description)}
	change := sarifChange{Artifact: sarifArtifactOf(edits[0].Location.File)}
	for _, e := range edits {
		l := &e.Location
		ends := l.EndLine > l.Line && l.EndColumn > 0 || l.EndLine == l.Line && l.EndColumn >= l.Column
		if l.File != edits[0].Location.File || l.Line < 1 || l.Column < 1 || !ends || !utf8.ValidString(e.New) {
			return nil
		}
		r := sarifReplacement{Deleted: sarifRegion{
			StartLine: l.Line, StartColumn: l.Column, EndLine: l.EndLine, EndColumn: l.EndColumn,
		}}
		if e.New != "" {
			r.Inserted = &sarifText{Text: e.New}
		}
		change.Replacements = append(change.Replacements, r)
	}
	fix.Changes = []sarifChange{change}
	return []sarifFix{fix}
}

// sarifMessage is a text for people. What does not print is made visible, and nothing in it becomes a link: SARIF
// makes one of [text](target).
func sarifMessage(lines ...Text) sarifText {
	var b strings.Builder
	for _, s := range lines {
		if s == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.ReplaceAll(s.String(), "](", "] ("))
	}
	return sarifText{Text: b.String()}
}
