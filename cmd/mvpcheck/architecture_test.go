package main

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table of docs/architecture.md has each package of the program with what it imports of the others.
func TestArchitecture(t *testing.T) {
	const module = "github.com/mvpcheck/mvpcheck/"
	root := filepath.Join("..", "..")
	want := map[string]string{}
	for _, top := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(dir string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			// Packages for tests have a package above them.
			if p, err := build.ImportDir(dir, 0); err == nil && !strings.HasSuffix(p.Name, "test") {
				name, err := filepath.Rel(root, dir)
				if err != nil {
					return err
				}
				var imports []string
				for _, i := range p.Imports {
					if ours, ok := strings.CutPrefix(i, module); ok {
						imports = append(imports, ours)
					}
				}
				slices.Sort(imports)
				want[filepath.ToSlash(name)] = strings.Join(imports, ", ")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if name := strings.TrimSpace(cells[min(1, len(cells)-1)]); len(cells) == 4 && strings.Contains(name, "/") {
			got[name] = strings.TrimSpace(cells[2])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/architecture.md (+) and the packages (-): %s", diff)
	}
	for name := range want {
		if !strings.Contains(string(text), "**"+name+"**") && name != "cmd/mvpcheck" {
			t.Errorf("docs/architecture.md has no paragraph on %s", name)
		}
	}
}
