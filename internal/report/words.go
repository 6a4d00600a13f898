package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/text"
)

// unknown is what a table shows for a number or a state that is not known; of an empty cell it makes the same.
const unknown = "-"

// join is strings.Join for words of any kind.
func join[S ~string](words []S, separator string) S {
	var text S
	for i, word := range words {
		if i > 0 {
			text += S(separator)
		}
		text += word
	}
	return text
}

// texts are words that others wrote.
func texts(words []string) []Text {
	out := make([]Text, len(words))
	for i, word := range words {
		out[i] = Text(word)
	}
	return out
}

// fewNames is how many of many names firstOf says.
const fewNames = 3

// firstOf joins the first few of many.
func firstOf(names []Text, separator string) Text {
	if more := len(names) - fewNames; more > 0 {
		return join(names[:fewNames], separator) + Text(" and "+strconv.Itoa(more)+" more")
	}
	return join(names, separator)
}

// counter adds parts such as "2 failing" to a text, a colon before the first, where there are any.
type counter struct {
	text      string
	separator string
}

func (c *counter) add(n int, what string) {
	if n > 0 {
		c.text += c.separator + strconv.Itoa(n) + " " + what
		c.separator = ", "
	}
}

// few are the first few of many nodes.
func few(nodes []string) string { return text.Few(nodes, fewNames) }

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// resourceWords are resources for a list: the group version once, then the names.
func resourceWords(names []Text) []Text {
	words := slices.Clone(names)
	last := ""
	for i, name := range names {
		gv, resource, _ := strings.Cut(string(name), " ")
		if gv == last {
			words[i] = Text(resource)
		}
		last = gv
	}
	return words
}
