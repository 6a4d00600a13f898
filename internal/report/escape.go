package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

const hexDigits = "0123456789abcdef"

// What a configuration holds is not to be trusted with a terminal: an escape
// sequence could hide a finding, a bidi mark turn it round, a line break fake
// one. All that does not print is therefore shown as Go would write it.

// plainPrefix is how many bytes at the start of s are printable ASCII, which
// is nearly always all of them.
func plainPrefix(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return i
		}
	}
	return len(s)
}

// appendEscaped appends s with all that does not print made visible.
func appendEscaped(dst []byte, s string) []byte {
	for len(s) > 0 {
		if n := plainPrefix(s); n > 0 {
			dst = append(dst, s[:n]...)
			s = s[n:]
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		dst = appendRune(dst, s[:size])
		s = s[size:]
	}
	return dst
}

// appendRune appends the first rune of s, of which s holds no more, or its
// escape.
func appendRune(dst []byte, s string) []byte {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return append(dst, '\\', 'x', hexDigits[s[0]>>4], hexDigits[s[0]&0xf])
	case strconv.IsPrint(r):
		return append(dst, s...)
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	}
	digits := 8
	letter := byte('U')
	switch {
	case r < utf8.RuneSelf:
		digits, letter = 2, 'x'
	case r <= 0xffff:
		digits, letter = 4, 'u'
	}
	dst = append(dst, '\\', letter)
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, hexDigits[r>>(4*i)&0xf])
	}
	return dst
}

// columns is how many terminal columns a printable rune takes.
func columns(r rune) int {
	switch {
	case r < 0x300: // nothing below combines or is wide
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), 0x1160 <= r && r <= 0x11ff: // the latter join a Hangul syllable
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// textColumns is how many terminal columns s takes when it is escaped.
func textColumns(s string) int {
	n := plainPrefix(s)
	for i := n; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		n += runeColumns(s[i : i+size])
		i += size
	}
	return n
}

// runeColumns is textColumns of one rune.
func runeColumns(s string) int {
	if r, size := utf8.DecodeRuneInString(s); strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
		return columns(r)
	}
	var buf [16]byte
	return len(appendRune(buf[:0], s))
}

// shellQuote is s as one word for a POSIX shell, safe to show. What does not
// print needs the $'...' of the shells that people type into.
func shellQuote(s string) string {
	const harmless = "%+,-./:=@_"
	plain, printable := s != "", utf8.ValidString(s)
	for _, r := range s {
		if !(r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune(harmless, r)) {
			plain = false
		}
		printable = printable && strconv.IsPrint(r)
	}
	switch {
	case plain:
		return s
	case printable:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	quoted := []byte("$'")
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'' || r == '\\':
			quoted = append(quoted, '\\', byte(r))
		case strconv.IsPrint(r) && (r != utf8.RuneError || size > 1):
			quoted = append(quoted, s[i:i+size]...)
		default:
			// Three octal digits: unlike \x they end where they should in every shell.
			for _, b := range []byte(s[i : i+size]) {
				quoted = append(quoted, '\\', '0'+b>>6, '0'+b>>3&7, '0'+b&7)
			}
		}
		i += size
	}
	return string(append(quoted, '\''))
}

// shellFile is the name of a file as an argument: one that begins with a dash
// must not become a flag.
func shellFile(name string) string {
	if len(name) > 1 && name[0] == '-' {
		name = "./" + name
	}
	return shellQuote(name)
}

// Printable is s with all that does not print made visible, for what is said
// about a report beside it.
func Printable(s string) string {
	if plainPrefix(s) == len(s) {
		return s
	}
	return string(appendEscaped(nil, s))
}

// ShellWord is s as one word of a command to type.
func ShellWord(s string) string { return shellQuote(s) }

// ShellFile is the name of a file as an argument of a command to type.
func ShellFile(name string) string { return shellFile(name) }
