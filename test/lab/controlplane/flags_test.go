//go:build linux

package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChanges(t *testing.T) {
	for name, test := range map[string]struct {
		change Change
		want   []string
	}{
		"set":           {Set("a", "9"), []string{"--b=2=3", "--a-b=4", "--a=9"}},
		"set to many":   {Set("c", "x", "y"), []string{"--a=1", "--b=2=3", "--a=1,2", "--a-b=4", "--c=x", "--c=y"}},
		"set to none":   {Set("b", ""), []string{"--a=1", "--a=1,2", "--a-b=4", "--b="}},
		"add":           {Add("a", "9"), []string{"--a=1", "--b=2=3", "--a=1,2", "--a-b=4", "--a=9"}},
		"remove":        {Remove("b"), []string{"--a=1", "--a=1,2", "--a-b=4"}},
		"remove no one": {Remove("c"), []string{"--a=1", "--b=2=3", "--a=1,2", "--a-b=4"}},
		"raw":           {Raw("--a_b", "5"), []string{"--a=1", "--b=2=3", "--a=1,2", "--a-b=4", "--a_b", "5"}},
	} {
		if diff := cmp.Diff(test.want, test.change([]string{"--a=1", "--b=2=3", "--a=1,2", "--a-b=4"})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	args := []string{"--a=1", "--b=2=3", "--a="}
	for name, want := range map[string]struct {
		value string
		ok    bool
	}{"a": {"", true}, "b": {"2=3", true}, "c": {"", false}} {
		if value, ok := flagValue(args, name); value != want.value || ok != want.ok {
			t.Errorf("%s: got %q %v, want %q %v", name, value, ok, want.value, want.ok)
		}
	}
}
