package packages

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNotes: the notes of a release are its section of the changelog; a release without one is a mistake.
func TestNotes(t *testing.T) {
	need(t, "bash", "awk")
	dir := t.TempDir()
	script := filepath.Join(dir, "hack", "release", "notes.sh")
	writeFile(t, script, string(readFile(t, filepath.Join(root, "hack", "release", "notes.sh"))))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n- x\n\n## 0.2.0 (2026-12-01)\n\n- two\n\n### More\n\n- three\n\n## 0.2.0-rc.1\n\n- rc\n\n## 0.1.0\n")
	for version, want := range map[string]result{
		"v0.2.0":      {out: "\n- two\n\n### More\n\n- three\n"},
		"v0.2.0-rc.1": {out: "\n- rc\n"},
		"v0.1.0":      {errs: "notes: CHANGELOG.md has no section \"## 0.1.0\"\n", code: 1},
		"v0.2":        {errs: "notes: CHANGELOG.md has no section \"## 0.2\"\n", code: 1},
	} {
		if got := execute(t, dir, nil, script, version); got != want {
			t.Errorf("%s: %+v, want %+v", version, got, want)
		}
	}
}
