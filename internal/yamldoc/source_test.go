package yamldoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func caseFiles(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("../../testdata/cases/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	return names
}

// checkText tests the invariants of a text that can be read: values equal those of sigs.k8s.io/yaml, and
// what stands at a scalar's place reads as that scalar.
func checkText(t *testing.T, text *Text) {
	docs, err := text.Documents()
	if err != nil {
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Fatalf("error is a %T, not a *SyntaxError: %v", err, err)
		}
		if se.Place.Start > len(text.File.Data) {
			t.Fatalf("place %d is behind the end of the file", se.Place.Start)
		}
		return
	}
	for _, d := range docs {
		want := any(nil)
		if converted, err := yaml.YAMLToJSON(text.Data[d.Start:d.End]); err != nil {
			t.Fatalf("document %d: sigs.k8s.io/yaml refuses what Documents took: %v", d.Index, err)
		} else {
			dec := json.NewDecoder(bytes.NewReader(converted))
			dec.UseNumber()
			if err := dec.Decode(&want); err != nil {
				t.Fatal(err)
			}
		}
		if d.Root != nil && sameKeyTwice(d.Root) {
			// Of 1 and "1" sigs.k8s.io/yaml takes either, by chance.
			continue
		}
		if diff := cmp.Diff(want, d.Root.JSON()); diff != "" {
			t.Fatalf("document %d (-sigs.k8s.io/yaml +Documents):\n%s", d.Index, diff)
		}
		if d.Root != nil {
			checkValue(t, d, d.Root)
		}
	}
}

func sameKeyTwice(v *Value) bool {
	for _, item := range v.Items {
		if sameKeyTwice(item) {
			return true
		}
	}
	spelling := map[string]string{}
	for _, e := range v.Entries {
		src := string(v.doc.Text.Data[e.KeyStart:e.KeyEnd])
		if was, ok := spelling[e.Key]; ok && was != src || sameKeyTwice(e.Value) {
			return true
		}
		spelling[e.Key] = src
	}
	return false
}

func checkValue(t *testing.T, d *Document, v *Value) {
	if v.Start < d.Start || v.End > d.End || v.Start > v.End {
		t.Fatalf("%s: region %d-%d is outside the document %d-%d", v.Path(), v.Start, v.End, d.Start, d.End)
	}
	v.Place().Range()
	for _, item := range v.Items {
		checkValue(t, d, item)
	}
	for _, e := range v.Entries {
		checkValue(t, d, e.Value)
	}
	if v.Fixed != "" || v.Kind == List || v.Kind == Map || v.Style == Literal || v.Style == Folded {
		return
	}
	src := string(d.Text.Data[v.Start:v.End])
	if strings.ContainsAny(src, "\n\r\u0085\u2028\u2029") || src == "" || strings.Contains(src, "\t") {
		return
	}
	var got any
	converted, err := yaml.YAMLToJSON([]byte("[" + src + "\n]"))
	if err != nil && v.Style == Plain {
		converted, err = yaml.YAMLToJSON([]byte("- " + src + "\n"))
	}
	if err != nil {
		t.Fatalf("%s: %q is not a scalar: %v", v.Path(), src, err)
	}
	if err := json.Unmarshal(converted, &got); err != nil {
		t.Fatal(err)
	}
	// A tag in front (!!str 1) makes a string of another scalar.
	if s, ok := got.([]any)[0].(string); v.Kind == String && src != v.Text && (!ok || s != v.Text) && !strings.ContainsAny(src, ",{}[]") {
		t.Fatalf("%s: %q reads as %q, want %q", v.Path(), src, s, v.Text)
	}
}

func TestCases(t *testing.T) {
	for _, name := range caseFiles(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			checkText(t, NewFile(name, data).Text())
		})
	}
}

func FuzzDocuments(f *testing.F) {
	for _, name := range caseFiles(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{
		"a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n", "a: !!str 1\n", "? a\n: b\n", "- |2\n   x\n  y\n- >-\n  z\n",
		"\"a\\\n  b\": \"c\\u0041 \n\n  d\"\n", "{a, b: , 'it''s': [x y, 1]}\n", "a: x\u2028b: y\n", "y: yes\n1: 0x1f\n~: null\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		text := NewFile("fuzz.yaml", data).Text()
		checkText(t, text)
		docs, err := text.Documents()
		if err != nil {
			return
		}
		for _, d := range docs {
			if d.Root != nil {
				checkInner(t, d.Root)
			}
		}
	})
}

// checkInner tests that text within a scalar maps to its source and can be edited there.
func checkInner(t *testing.T, v *Value) {
	for _, item := range v.Items {
		checkInner(t, item)
	}
	for _, e := range v.Entries {
		checkInner(t, e.Value)
	}
	if v.Kind != String || v.Fixed != "" || len(v.Text) > 1000 {
		return
	}
	in := v.Inner()
	if in.fixed != "" {
		return
	}
	for i := range in.Data {
		at := in.FileOffset(i)
		if v.Style == Literal && v.doc.Text.Data[at] != in.Data[i] && !(in.Data[i] == '\n' && v.doc.Text.Data[at] == '\r') {
			t.Fatalf("byte %d of %q maps to %q", i, in.Data, v.doc.Text.Data[at])
		}
	}
}

func TestInnerEdit(t *testing.T) {
	tests := []struct {
		name, text, old, new, want string
	}{
		{"literal", "d:\n  C: |\n    a: 1\n    b: 2\n", "b: 2", "b: 3\nc: 4", "d:\n  C: |\n    a: 1\n    b: 3\n    c: 4\n"},
		{"literal line", "d:\n  C: |\n    a: 1\n    b: 2\n", "b: 2\n", "c: 4\nb: 2\n", "d:\n  C: |\n    a: 1\n    c: 4\n    b: 2\n"},
		{"literal end", "d:\n  C: |\n    a: 1\nz: 1\n", "a: 1\n", "a: 1\nb: 2\n", "d:\n  C: |\n    a: 1\n    b: 2\nz: 1\n"},
		{"literal crlf", "d:\r\n  C: |\r\n    a: 1\r\n    b: 2\r\n", "b: 2\n", "c: 4\nb: 2\n", "d:\r\n  C: |\r\n    a: 1\r\n    c: 4\r\n    b: 2\r\n"},
		{"literal blank lines", "C: |-\n  a: 1\n\n  b: 2", "b: 2", "b: 3", "C: |-\n  a: 1\n\n  b: 3"},
		{"literal delete end", "d:\n  C: |\n    a: 1\n    b: 2\nz: 1\n", "b: 2\n", "", "d:\n  C: |\n    a: 1\nz: 1\n"},
		{"literal delete", "d:\n  C: |\n    a: 1\n    b: 2\nz: 1\n", "a: 1\n", "", "d:\n  C: |\n    b: 2\nz: 1\n"},
		{"literal blank line", "C: |-\n  a: 1\n\n  b: 2", "\n\n", "\nc: 3\n\n", "C: |-\n  a: 1\n  c: 3\n\n  b: 2"},
		{"literal delete before a blank line", "C: |\n  a: 1\n  b: 2\n\n  c: 3\n", "b: 2\n", "", "C: |\n  a: 1\n\n  c: 3\n"},
		{"literal before a line of blanks", "C: |\n  a: 1\n  \n  b: 2\n", "\nb: 2", "c: 3\n\nb: 2", "C: |\n  a: 1\n  c: 3\n\n  b: 2\n"},
		{"literal before a short line of blanks", "C: |\n   a: 1\n \n   b: 2\n", "\nb: 2", "c: 3\n\nb: 2", "C: |\n   a: 1\n   c: 3\n\n   b: 2\n"},
		{"quoted", `{"C": "a: 1\nb: \"x\"\n"}`, "b: ", "c: 4\nb: ", `{"C": "a: 1\nc: 4\nb: \"x\"\n"}`},
		{"quoted folded", "C: \"a: 1\\nb:\n    2\\n\"\n", "2\n", "3\n", "C: \"a: 1\\nb:\n    3\\n\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := NewFile("x.yaml", []byte(tt.text)).Text()
			docs, err := text.Documents()
			if err != nil {
				t.Fatal(err)
			}
			v := docs[0].Root.Get("d", "C")
			if v == nil {
				v = docs[0].Root.Get("C")
			}
			in := v.Inner()
			at := bytes.Index(in.Data, []byte(tt.old))
			if at < 0 {
				t.Fatalf("%q is not in %q", tt.old, in.Data)
			}
			want := string(Apply(in.Data, Edit{at, at + len(tt.old), []byte(tt.new)}))
			e, err := in.ToFile(Edit{at, at + len(tt.old), []byte(tt.new)})
			if err != nil {
				t.Fatal(err)
			}
			got := Apply(text.Data, e)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			docs, err = NewFile("x.yaml", got).Text().Documents()
			if err != nil {
				t.Fatal(err)
			}
			v = docs[0].Root.Get("d", "C")
			if v == nil {
				v = docs[0].Root.Get("C")
			}
			if diff := cmp.Diff(want, v.Text); diff != "" {
				t.Errorf("inner text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	text := "# c\na:\n  - name: x # note\n    value: 'it''s'\n  - {k: [1, \"two\"]}\nempty:\nlast: one\n  two\n"
	docs, err := NewFile("x.yaml", []byte("\xef\xbb\xbf"+strings.ReplaceAll(text, "\n", "\r\n"))).Text().Documents()
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		Text                string
		Line, Col, End, Eol int
	}
	got := map[string]place{}
	var walk func(v *Value)
	walk = func(v *Value) {
		for _, e := range v.Entries {
			walk(e.Value)
		}
		for _, item := range v.Items {
			walk(item)
		}
		if v.Kind == Map || v.Kind == List {
			return
		}
		p := v.Place()
		s, e := p.Range()
		got[p.Path] = place{string(p.File.Data[p.Start:p.End]), s.Line, s.Column, e.Line, e.Column}
	}
	walk(docs[0].Root)
	want := map[string]place{
		"a[0].name":  {"x", 3, 11, 3, 12},
		"a[0].value": {"'it''s'", 4, 12, 4, 19},
		"a[1].k[0]":  {"1", 5, 10, 5, 11},
		"a[1].k[1]":  {"\"two\"", 5, 13, 5, 18},
		"empty":      {"", 6, 7, 6, 7},
		"last":       {"one\r\n  two", 7, 7, 8, 6},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func TestSyntaxErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"a:\n\t- b\n", "x.yaml:2:1: a tab is used as indentation; YAML takes blanks only"},
		{"a: [1\nb: 2\n", "x.yaml:1:1: not valid YAML: did not find expected ',' or ']'"},
		{"--- x\n", "x.yaml:1:1: text after the document separator ---: start the document on a line of its own"},
		{"\xff\xfea\x00", "x.yaml:1:1: the text is UTF-16; save it as UTF-8"},
		{"a: b\nc: \xff\n", "x.yaml:2:4: byte 0xff is not UTF-8 text"},
		{"a: b\n---\nc: *nowhere\n", "x.yaml:3:1: not valid YAML: unknown anchor 'nowhere' referenced"},
		{"{{/* t */}}\n", "x.yaml:1:1: not valid YAML: invalid map key: map[interface {}]interface {}{\"/* t */\":interface {}(nil)}"},
	}
	for _, tt := range tests {
		_, err := NewFile("x.yaml", []byte(tt.text)).Text().Documents()
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}
