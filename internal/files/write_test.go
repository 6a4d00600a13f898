package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, text string, mode fs.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func checkContent(t *testing.T, name, want string) {
	t.Helper()
	if data, err := os.ReadFile(name); err != nil || string(data) != want {
		t.Errorf("%s: %q, %v; want %q", name, data, err, want)
	}
}

// A file is there as a whole or not at all.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	name := write(t, filepath.Join(dir, "r.json"), "before", 0o600)
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	f.Abandon()
	checkContent(t, name, "before")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A link stays a link, and a mode the mode; a new file has the mode of any new file.
func TestCommit(t *testing.T) {
	dir := t.TempDir()
	target := write(t, filepath.Join(dir, "target.json"), "before", 0o604)
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink("target.json", link); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{link, filepath.Join(dir, "new.json")} {
		f, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("after"); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		f.Abandon() // has nothing left to do
		checkContent(t, name, "after")
	}
	checkContent(t, target, "after")
	if to, err := os.Readlink(link); err != nil || to != "target.json" {
		t.Errorf("the link: %q, %v", to, err)
	}
	created, err := os.Create(filepath.Join(dir, "any"))
	if err != nil {
		t.Fatal(err)
	}
	defer created.Close()
	any, err := created.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"new.json": any.Mode(), "target.json": 0o604} {
		if got, err := os.Stat(filepath.Join(dir, name)); err != nil || got.Mode() != want {
			t.Errorf("mode of %s: %v, %v; want %v", name, got.Mode(), err, want)
		}
	}
}

// A device is written, not replaced.
func TestDevice(t *testing.T) {
	before, err := os.Stat(os.DevNull)
	if err != nil {
		t.Skip(err)
	}
	f, err := Create(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abandon()
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(os.DevNull); err != nil || !os.SameFile(before, after) {
		t.Errorf("%s was replaced: %v", os.DevNull, err)
	}
}

func TestCreateFails(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{dir, filepath.Join(dir, "none", "r.json")} {
		if _, err := Create(name); err == nil || !strings.HasPrefix(err.Error(), name+": ") || strings.Contains(err.Error(), "open ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriteNew(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new")
	if err := WriteNew(name, []byte("once"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(name, []byte("twice"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file was replaced: %v", err)
	}
	checkContent(t, name, "once")
}
