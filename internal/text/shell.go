package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShellWord is s as one word of a command to type into a POSIX shell, safe to show. What does not print needs the
// $'...' of the shells that people type into.
func ShellWord(s string) string {
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

// ShellFile is the name of a file as an argument of a command to type: one that begins with a dash must not become a
// flag.
func ShellFile(name string) string {
	if len(name) > 1 && name[0] == '-' {
		name = "./" + name
	}
	return ShellWord(name)
}
