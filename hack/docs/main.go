// Command docs writes the generated pages of docs/rules and docs/cli, and the schema of .mvpcheck.yaml, below the folder
// that it is started in. Pages of rules and commands that are gone are removed.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mvpcheck/mvpcheck/internal/cli"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func write() error {
	pages := cli.Documentation()
	for _, dir := range []string{"docs/rules", "docs/cli"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		old, err := filepath.Glob(dir + "/*.md")
		if err != nil {
			return err
		}
		for _, name := range old {
			if _, ok := pages[filepath.ToSlash(name)]; ok {
				continue
			}
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	names := make([]string, 0, len(pages))
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, pages[name]) {
			continue
		}
		if err := os.WriteFile(name, pages[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
