package yamldoc

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// The functions below find in the text what the nodes of the YAML library do not tell: where values end, and what
// stands between them.

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
	for word := range strings.FieldsFuncSeq(value, isYAMLSpace) {
		for pos < end {
			r, size := utf8.DecodeRune(src[pos:end])
			if !isYAMLSpace(r) {
				break
			}
			pos += size
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

// isYAMLSpace tells whether a rune is a blank or one of the line breaks of go.yaml.in/yaml/v3.
func isYAMLSpace(r rune) bool { return strings.ContainsRune(" \t\n\r\u0085\u2028\u2029", r) }

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
