package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a report quotes must not become markup on GitHub, and must not ping or link: @name mentions people, #12, GH-12
// and the like name issues, a run of hex digits a commit, :name: is an emoji, and bare addresses are links. A
// backslash takes the markup away but not these, for GitHub looks for them in what is rendered. Only code is left
// alone. So words that are more than letters and harmless signs are written as code. That is how one would write most
// of them anyway, they can be copied, and none of it depends on where the text stands.

// mdText is text with nothing in it that means something to GitHub.
func mdText(s Text) string {
	words := strings.Fields(s.String())
	for i, word := range words {
		words[i] = mdWord(word, i == 0)
	}
	return strings.Join(words, " ")
}

// mdWord is a word of a text. The first one could make the text a list, a quotation or a line below a heading.
func mdWord(word string, first bool) string {
	if mdHarmless(word, first) {
		return word
	}
	// What closes a part of a sentence stays outside.
	end := len(strings.TrimRight(word, `.,;:!?)"'`))
	start := len(word) - len(strings.TrimLeft(word, `("'`))
	if start >= end {
		return mdCode(Text(word))
	}
	return word[:start] + mdCode(Text(word[start:end])) + word[end:]
}

// mdHarmless tells whether a word is nothing but text.
func mdHarmless(word string, first bool) bool {
	const signs = ".,;:!'\"()-/=+%?{}>"
	hex, colons := 0, 0
	for _, r := range word {
		isHex := r < utf8.RuneSelf && strings.ContainsRune("0123456789abcdef", unicode.ToLower(r))
		if hex++; !isHex {
			hex = 0
		}
		if hex >= 7 { // so many digits of a commit make a link
			return false
		}
		if r == ':' {
			colons++
		}
		switch {
		case r >= utf8.RuneSelf, 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		case !strings.ContainsRune(signs, r):
			return false
		}
	}
	switch {
	case colons > 1, strings.Contains(word, "://"), strings.Contains(strings.ToLower(word), "www."), mdReference(word):
		return false
	case first:
		number := strings.TrimLeft(word, "0123456789")
		return word[0] != '>' && strings.Trim(word, "-+=:") != "" && (number == word || number != "." && number != ")")
	}
	return true
}

// mdReference tells whether a part of a word looks like a ticket: a capital, a dash and a digit, such as GH-12, or
// gh-12.
func mdReference(word string) bool {
	for i := 1; i+1 < len(word); i++ {
		if word[i] != '-' || word[i+1] < '0' || word[i+1] > '9' {
			continue
		}
		if 'A' <= word[i-1] && word[i-1] <= 'Z' || strings.HasSuffix(strings.ToLower(word[:i]), "gh") {
			return true
		}
	}
	return false
}

// mdCode is s as code. A bar, which in a table would end the cell even within code, stands between two pieces of code.
func mdCode(s Text) string {
	parts := strings.Split(s.String(), "|")
	for i, part := range parts {
		if part != "" {
			parts[i] = mdSpan(part)
		}
	}
	return strings.Join(parts, "&#124;")
}

// mdSpan is s, without bars and line breaks, between as many backticks as it takes.
func mdSpan(s string) string {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	// Markdown takes one blank on both sides away, and must not see a longer fence.
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// mdCommands is commands to copy; none that is longer than anybody would type.
func mdCommands(commands []Command) string {
	var text string
	for _, c := range commands {
		if len(c.Line) > 2*mdSentence {
			continue
		}
		if c.When != "" {
			c.Label += ", " + c.When
		}
		text += "# " + c.Label + "\n" + c.Line + "\n"
	}
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return "\n" + fence + "sh\n" + text + fence + "\n"
}

// mdSummary is s as code for the heading of what is collapsed, where GitHub reads HTML and not Markdown.
func mdSummary(s Text) string { return "<code>" + htmlEscapes.Replace(s.String()) + "</code>" }

// mdMore says how many findings or the like are not shown.
func mdMore(n int, noun string) string {
	return "\n**" + countOf(n, "more "+noun) + "** not shown: GitHub takes no longer text. " +
		mdCode("-o html=report.html") + " has all.\n"
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// clip is s with all that does not print made visible, and with at most so many runes; the middle is left out.
func clip(s Text, most int) Text {
	s = Text(s.String())
	if len(s) <= most {
		return s
	}
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	head := most / 2
	return Text(slices.Concat(runes[:head], []rune(ellipsis), runes[len(runes)-(most-head-len(ellipsis)):]))
}
