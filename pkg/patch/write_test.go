package patch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteInPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	link := filepath.Join(dir, "link.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("c.yaml", link); err != nil {
		t.Skip(err)
	}
	if err := WriteInPlace(link, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "new" {
		t.Errorf("got %q, %v", got, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	err := WriteInPlace(file, []byte("old"), []byte("newer"))
	if err == nil || !strings.Contains(err.Error(), "has changed since it was read") {
		t.Errorf("changed file: %v", err)
	}
	if got, _ := os.ReadFile(file); string(got) != "new" {
		t.Errorf("a changed file was written: %q", got)
	}
	for _, name := range []string{dir, filepath.Join(dir, "none.yaml")} {
		if err := WriteInPlace(name, nil, []byte("x")); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("files left: %v, %v", left, err)
	}
}
