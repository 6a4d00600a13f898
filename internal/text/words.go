// Package text has what messages are made of: lists of names, counts, lines of a width, words of a shell, and text from
// elsewhere made safe to show.
package text

import (
	"fmt"
	"strconv"
	"strings"
)

// And is "a", "a and b", "a, b and c".
func And(words []string) string { return enumerate(words, " and ") }

// Or is "a", "a or b", "a, b or c".
func Or(words []string) string { return enumerate(words, " or ") }

func enumerate(words []string, last string) string {
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + last + words[n]
	}
	return strings.Join(words, "")
}

// Few names the first of many: "a, b and 3 more". A single one more is named, too.
func Few(words []string, most int) string {
	if more := len(words) - most; more > 1 {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(words, ", ")
}

// Count is "1 server" and "2 servers".
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + Plural(n, noun, noun+"s") }

// Plural is the word for one or for any other number.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Wrap writes the words of a text in lines of a width: behind first, and in further lines behind next.
func Wrap(first, next, text string, width int) string {
	var b strings.Builder
	b.WriteString(first)
	at := Columns(first)
	for i, word := range strings.Fields(text) {
		n := Columns(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + next)
			at = Columns(next)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
	return b.String()
}
