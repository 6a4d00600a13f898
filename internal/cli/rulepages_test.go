package cli

import "testing"

func TestMarkdown(t *testing.T) {
	if got, want := markdown("<a> *b* | `c` [d]"), "&lt;a> \\*b\\* \\| \\`c\\` \\[d]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
