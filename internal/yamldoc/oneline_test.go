package yamldoc

import (
	"fmt"
	"strings"
	"testing"
)

// oneLine is JSON with all of its values on one line, as kubectl get -o json | jq -c prints it.
func oneLine(items int) []byte {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range items {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"é-%d","list":[1,{"a":"b"}]}`, i)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// TestOneLine: each value of a long line is where it is, however the places are found.
func TestOneLine(t *testing.T) {
	text := oneLine(500)
	docs, err := NewFile("one.json", text).Text().Documents()
	if err != nil {
		t.Fatal(err)
	}
	for i, item := range docs[0].Root.Get("items").Items {
		name := item.Get("name")
		if got, want := string(text[name.Start:name.End]), fmt.Sprintf("%q", fmt.Sprintf("é-%d", i)); got != want {
			t.Fatalf("item %d: the place is that of %s, want %s", i, got, want)
		}
	}
}

// BenchmarkOneLine grows with the length of the line, not with its square.
func BenchmarkOneLine(b *testing.B) {
	for _, items := range []int{1000, 10000} {
		text := oneLine(items)
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			for b.Loop() {
				if _, err := NewFile("one.json", text).Text().Documents(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
