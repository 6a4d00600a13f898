package yamldoc

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func text(s string) Node { return Scalar(s, Plain) }

// Each operation, with paths as they are in the text before all of them.
func TestApply(t *testing.T) {
	in := func(steps ...any) Path { return append(Path{Doc(1)}, steps...) }
	pair := Object(NodeField{"k", text("x")}, NodeField{"v", text("1")})
	tests := map[string]struct {
		text string
		ops  []Op
		want string
	}{
		"set":                    {"a: b # c\n", []Op{{Kind: SetScalar, Path: in("a"), Text: "d"}}, "a: d # c\n"},
		"quote":                  {"a: 7\n", []Op{{Kind: QuoteScalar, Path: in("a"), Text: "7"}}, "a: \"7\"\n"},
		"add an entry":           {"a: b\n", []Op{{Kind: AddEntry, Path: in(), Key: "c", Value: text("d"), At: AtEnd}}, "a: b\nc: d\n"},
		"add what leads there":   {"a: b\n", []Op{{Kind: AddEntry, Path: in("c", "d"), Key: "e", Value: text("f")}}, "a: b\nc:\n  d:\n    e: f\n"},
		"add an item":            {"a:\n- k: z\n  v: \"2\"\n", []Op{{Kind: AddItem, Path: in("a"), Value: pair}}, "a:\n- k: x\n  v: \"1\"\n- k: z\n  v: \"2\"\n"},
		"make the list":          {"a: {}\n", []Op{{Kind: AddItem, Path: in("a", "b"), Value: text("x")}}, "a:\n  b:\n  - x\n"},
		"remove":                 {"a: b\nc: d\n", []Op{{Kind: Remove, Path: in("a")}}, "c: d\n"},
		"remove the last":        {"a:\n  b: c\nd: e\n", []Op{{Kind: Remove, Path: in("a", "b")}}, "a: {}\nd: e\n"},
		"remove what is left":    {"a:\n  b: c\nd: e\n", []Op{{Kind: Remove, Path: in("a", "b"), Drop: []string{"a"}}}, "d: e\n"},
		"rename":                 {"'a': b\n", []Op{{Kind: Rename, Path: in("a"), Key: "c"}}, "'c': b\n"},
		"map to list":            {"a:\n  b: c\n", []Op{{Kind: ToList, Path: in("a")}}, "a:\n- name: b\n  value: c\n"},
		"list to map":            {"a:\n- name: b\n  value: c\n", []Op{{Kind: ToMap, Path: in("a")}}, "a:\n  b: c\n"},
		"nothing to do":          {"a: [b]\n", []Op{{Kind: ToList, Path: in("a")}}, "a: [b]\n"},
		"items move up":          {"a:\n- b\n- c\n- d\n", []Op{{Kind: Remove, Path: in("a", 0)}, {Kind: Remove, Path: in("a", 2)}}, "a:\n- c\n"},
		"items move down":        {"a:\n- b\n", []Op{{Kind: AddItem, Path: in("a"), Value: text("x")}, {Kind: SetScalar, Path: in("a", 0), Text: "z"}}, "a:\n- x\n- z\n"},
		"another document":       {"a: b\n---\nc: d\n", []Op{{Kind: SetScalar, Path: Path{Doc(2), "c"}, Text: "e"}}, "a: b\n---\nc: e\n"},
		"a text within a scalar": {"a: |\n  b: c\n", []Op{{Kind: SetScalar, Path: in("a", Doc(1), "b"), Text: "d"}}, "a: |\n  b: d\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, lineBreak := range []string{"\n", "\r\n"} {
				spell := func(s string) string { return strings.ReplaceAll(s, "\n", lineBreak) }
				after, err := NewFile("x.yaml", []byte(spell(test.text))).Apply(test.ops...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(spell(test.want), string(after.Data)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	tests := map[string]struct {
		text string
		ops  []Op
		want string
	}{
		"an alias":         {"a: &x {b: c}\nd: *x\n", []Op{{Kind: SetScalar, Path: Path{Doc(1), "d", "b"}, Text: "e"}}, "d.b cannot be edited: it comes from the alias *x"},
		"an anchor":        {"a: &x\n  b: c\nd: *x\n", []Op{{Kind: SetScalar, Path: Path{Doc(1), "a", "b"}, Text: "e"}}, "the edit would also change d.b"},
		"a key twice":      {"a: b\na: c\n", []Op{{Kind: Remove, Path: Path{Doc(1), "a"}}}, "the key a stands more than once: remove the one that is not meant first"},
		"a scalar":         {"a: b\n", []Op{{Kind: AddItem, Path: Path{Doc(1), "a"}, Value: text("x")}}, "a is a string, not a list"},
		"no such value":    {"a: b\n", []Op{{Kind: Remove, Path: Path{Doc(1), "c"}}}, "it is gone"},
		"no such document": {"a: b\n", []Op{{Kind: Remove, Path: Path{Doc(2), "c"}}}, "a document is gone"},
		"twice":            {"a: [b, c]\n", []Op{{Kind: Remove, Path: Path{Doc(1), "a", 0}}, {Kind: Remove, Path: Path{Doc(1), "a", 0}}}, "it is gone with another change"},
		"folded text":      {"a: >\n  b: c\n", []Op{{Kind: SetScalar, Path: Path{Doc(1), "a", Doc(1), "b"}, Text: "d"}}, "text in a folded scalar cannot be edited in place"},
		"no YAML":          {"a: b\n---\n{\n", []Op{{Kind: Remove, Path: Path{Doc(1), "a"}}}, "a document is gone"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := NewFile("x.yaml", []byte(test.text)).Apply(test.ops...)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
			var at *EditError
			if errors.As(err, &at) && at.At.IsZero() {
				t.Errorf("%v has no place", err)
			}
		})
	}
}

// Every value of every case file is found again at its path.
func TestPathTo(t *testing.T) {
	for _, name := range caseFiles(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file := NewFile(name, data)
		docs, err := file.Text().Documents()
		if err != nil {
			continue
		}
		for _, d := range docs {
			walk(d.Root, func(v *Value) {
				if v.Editable() != nil {
					return
				}
				path := PathTo(v)
				if got := file.document(path).follow(path.within()); got != v {
					t.Errorf("%s: %v leads to %v, not to %s", name, path, got, v.Path())
				}
			})
		}
	}
}
