// Command docs writes the generated pages of docs/rules and docs/cli, and the schema of .mvpcheck.yaml, below the
// folder that it is started in. Pages of rules and commands that are gone are removed.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func write() error {
	pages, err := documentation()
	if err != nil {
		return err
	}
	for _, dir := range []string{"docs/rules", "docs/cli"} {
		old, err := filepath.Glob(dir + "/*.md")
		if err != nil {
			return err
		}
		for _, name := range old {
			if pages[filepath.ToSlash(name)] == nil {
				err = errors.Join(err, os.Remove(name))
			}
		}
		if err != nil {
			return err
		}
	}
	for name, text := range pages {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
