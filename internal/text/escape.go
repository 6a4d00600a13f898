package text

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

const hexDigits = "0123456789abcdef"

// plainPrefix is how many bytes at the start of s are printable ASCII, which is nearly always all of them.
func plainPrefix(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return i
		}
	}
	return len(s)
}

// Printable is s with all that does not print made visible, as Go would write it. What a configuration holds is not to
// be trusted with a terminal: an escape sequence could hide a finding, a bidi mark turn it round, a line break fake
// one.
func Printable(s string) string {
	if plainPrefix(s) == len(s) {
		return s
	}
	return string(AppendPrintable(nil, s))
}

// AppendPrintable appends Printable of s.
func AppendPrintable(dst []byte, s string) []byte {
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

// appendRune appends the first rune of s, of which s holds no more, or its escape.
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

// Columns is how many terminal columns Printable of s takes.
func Columns(s string) int {
	n := plainPrefix(s)
	for i := n; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		n += runeColumns(s[i : i+size])
		i += size
	}
	return n
}

// runeColumns is Columns of one rune.
func runeColumns(s string) int {
	if r, size := utf8.DecodeRuneInString(s); strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
		return columns(r)
	}
	var buf [16]byte
	return len(appendRune(buf[:0], s))
}
