package text

import (
	"strings"
	"testing"
)

func TestLists(t *testing.T) {
	for _, test := range []struct {
		words        string
		and, or, few string
	}{
		{"", "", "", ""},
		{"a", "a", "a", "a"},
		{"a b", "a and b", "a or b", "a, b"},
		{"a b c", "a, b and c", "a, b or c", "a, b, c"},
		{"a b c d", "a, b, c and d", "a, b, c or d", "a, b and 2 more"},
	} {
		words := strings.Fields(test.words)
		if and, or, few := And(words), Or(words), Few(words, 2); and != test.and || or != test.or || few != test.few {
			t.Errorf("%q: %q, %q, %q", words, and, or, few)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range []string{"0 steps", "1 step", "2 steps"} {
		if got := Count(n, "step"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":               "x: \n",
		"aaa bbb ccc":    "x: aaa bbb\n | ccc\n",
		" aaa\n\tbbb":    "x: aaa bbb\n",
		"aaaaaaaaaaaa b": "x: aaaaaaaaaaaa\n | b\n",
		"世界 bb ccc ddd":  "x: 世界 bb\n | ccc ddd\n",
	} {
		if got := Wrap("x: ", " | ", text, 10); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "世": 2, "\x1b": 4, "\xff": 4, "\u202e": 6} {
		if got := Columns(s); got != want {
			t.Errorf("Columns(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{"plain": "plain", "ü": "ü", "a\x1b[2Jb\nc": `a\x1b[2Jb\nc`} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShellFile(t *testing.T) {
	tests := map[string]string{
		"":                   `''`,
		"-":                  `-`,
		"cluster.yaml":       `cluster.yaml`,
		"./a/b_c-1.yaml":     `./a/b_c-1.yaml`,
		"-x.yaml":            `./-x.yaml`,
		"my cluster.yaml":    `'my cluster.yaml'`,
		"it's.yaml":          `'it'\''s.yaml'`,
		"$HOME`id`\"*?~.yml": "'$HOME`id`\"*?~.yml'",
		"été.yaml":           `'été.yaml'`,
		"a\nb'c\\d.yaml":     `$'a\012b\'c\\d.yaml'`,
		"\u202e1.yaml":       `$'\342\200\2561.yaml'`,
		"\xff.yaml":          `$'\377.yaml'`,
		"é\x1b.yaml":         `$'é\033.yaml'`,
	}
	for name, want := range tests {
		if got := ShellFile(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}
