package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

const repo = "../../"

func pages(t *testing.T) map[string][]byte {
	t.Helper()
	pages, err := documentation()
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestDocumentation fails when docs/rules, docs/cli or the schema are not what hack/update-docs.sh writes.
func TestDocumentation(t *testing.T) {
	pages := pages(t)
	for name, want := range pages {
		have, err := os.ReadFile(repo + name)
		switch {
		case err != nil:
			t.Errorf("%v; run hack/update-docs.sh", err)
		case !bytes.Equal(have, want):
			t.Errorf("%s is stale; run hack/update-docs.sh", name)
		}
	}
	for _, dir := range []string{"docs/rules", "docs/cli"} {
		files, err := filepath.Glob(repo + dir + "/*.md")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", dir, files, err)
		}
		for _, f := range files {
			if name := dir + "/" + filepath.Base(f); pages[name] == nil {
				t.Errorf("%s belongs to nothing; run hack/update-docs.sh", name)
			}
		}
	}
	for _, r := range checks.All() {
		if pages["docs/rules/"+r.ID+".md"] == nil {
			t.Errorf("%s has no page", r.ID)
		}
	}
}

// The page of each command tells of its flags, examples and exit codes; no link leads nowhere.
func TestDocumentationIsWhole(t *testing.T) {
	pages := pages(t)
	for _, want := range []string{"--fail-on error|warning|info|never", "mvpcheck check cluster.yaml", "# mvpcheck:ignore MVP303"} {
		if !strings.Contains(string(pages["docs/cli/check.md"]), want) {
			t.Errorf("docs/cli/check.md lacks %q", want)
		}
	}
	for _, cmd := range cli.Commands().Commands() {
		name := "docs/cli/" + cmd.Name() + ".md"
		_, codes, _ := strings.Cut(cmd.Long, "Exit codes")
		for _, want := range []string{cmd.Short, cmd.UseLine(), cmd.Example, cmd.LocalFlags().FlagUsages(), codes} {
			if !strings.Contains(string(pages[name]), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
	for name, page := range pages {
		if filepath.Ext(name) != ".md" {
			continue
		}
		for _, part := range strings.Split(string(page), "](")[1:] {
			target, _, _ := strings.Cut(part, ")")
			if pages[filepath.ToSlash(filepath.Join(filepath.Dir(name), target))] == nil {
				t.Errorf("%s: no page %s", name, target)
			}
		}
	}
}
