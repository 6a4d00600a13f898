package release

import "strings"

// maxTypos is the number of typing errors up to which a name is taken for another one.
const maxTypos = 3

// IsMisspelling tells whether name is Gate with up to three typing errors (a character too many, too
// few or wrong, or two swapped) or other capitals. kube-apiserver exits on such a name (S8). No other
// gate of 1.33 to 1.37 is that near.
func IsMisspelling(name string) bool {
	return name != Gate && typos(name, Gate, maxTypos) <= maxTypos
}

// Suggest returns the candidate that name was probably meant to be: the one with the fewest typing
// errors, at most three and a third of the length of name. Capitals, dashes and underscores do not
// count. Of equally near ones the first wins. ok is false if none is near, and if name is a candidate.
func Suggest(name string, candidates []string) (near string, ok bool) {
	best := min(maxTypos, len(name)/3) + 1
	for _, c := range candidates {
		if c == name {
			return "", false
		}
		if d := typos(plainWord(name), plainWord(c), best-1); d < best {
			near, best = c, d
		}
	}
	return near, near != ""
}

// plainWord drops what people put between words, or leave out.
func plainWord(s string) string { return strings.NewReplacer("-", "", "_", "").Replace(s) }

// typos is the number of typing errors between two words, capitals aside (optimal string alignment):
// exact up to limit, anything greater beyond it.
func typos(a, b string, limit int) int {
	s, t := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if d := len(s) - len(t); d > limit || -d > limit {
		return limit + 1
	}
	// Rows i-2, i-1 and i of the table of distances between the first i runes of s and j of t.
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			wrong := 1
			if s[i-1] == t[j-1] {
				wrong = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+wrong)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
