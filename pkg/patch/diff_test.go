package patch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiffApplies gives the diffs to git apply and to patch.
func TestDiffApplies(t *testing.T) {
	texts := []struct{ name, before, after string }{
		{"cluster.yaml", "a: 1\nb: 2\n", "a: 1\nc: 3\nb: 2\n"},
		{"no final line break", "a: 1\nb: 2", "a: 1\nb: 2\nc: 3"},
		{"crlf.yaml", "a: 1\r\nb: 2\r\n", "a: 1\r\nb: 3\r\nc: 3\r\n"},
		{"bom.yaml", "\xef\xbb\xbfa: 1\n", "\xef\xbb\xbfa: 2\n"},
		{"dir with blanks/my cluster.yaml", "a: 1\n", "a: 2\n"},
		{"größe.yaml", "a: ä\n", "a: ö\n"},
		{"./x/y.yaml", strings.Repeat("a: 1\n", 20), strings.Repeat("a: 1\n", 19)},
		{"q\"uote.yaml", "a: 1\n", "a: 2\n"},
		{"dash.yaml", "-- a\n", "-- b\n++ c\n"},
	}
	for name, data := range caseFiles(t) {
		r, err := Fix(name, data, Options{Judge: needs})
		if err == nil && r.Changed() {
			texts = append(texts, struct{ name, before, after string }{name, string(data), string(r.After)})
		}
	}
	tools := map[string][]string{"git": {"apply", "--whitespace=nowarn", "-"}, "patch": {"-p1", "--binary", "-s"}}
	for tool, args := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("%s is not installed", tool)
			continue
		}
		for _, tt := range texts {
			if tool == "patch" && strings.ContainsAny(tt.name, "\"") {
				continue
			}
			t.Run(tool+"/"+filepath.Base(tt.name), func(t *testing.T) {
				dir := t.TempDir()
				file := filepath.Join(dir, tt.name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(tt.before), 0o644); err != nil {
					t.Fatal(err)
				}
				diff := Diff(tt.name, []byte(tt.before), []byte(tt.after))
				cmd := exec.Command(tool, args...)
				cmd.Dir = dir
				// Not the repository around the temporary folder, if there is one.
				cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
				cmd.Stdin = strings.NewReader(diff)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s\n%s", err, out, diff)
				}
				got, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != tt.after {
					t.Errorf("got %q\nwant %q\ndiff:\n%s", got, tt.after, diff)
				}
			})
		}
	}
	if d := Diff("x", []byte("a"), []byte("a")); d != "" {
		t.Errorf("diff of equal texts: %q", d)
	}
	if d := Diff("-", []byte("a\n"), []byte("b\n")); !strings.HasPrefix(d, "--- a/stdin\n+++ b/stdin\n") {
		t.Errorf("diff of standard input: %q", d)
	}
	if d := Diff("/etc/kubernetes/c.yaml", []byte("a\n"), []byte("b\n")); !strings.HasPrefix(d, "--- a/etc/kubernetes/c.yaml\n") {
		t.Errorf("diff of an absolute path: %q", d)
	}
}
