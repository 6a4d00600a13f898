package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// generated is what the pages begin with.
const generated = "<!-- Written by hack/update-docs.sh. Do not edit. -->\n\n"

// documentation is what there is to write, by the names within the repository.
func documentation() (map[string][]byte, error) {
	pages := map[string][]byte{settingsSchemaName: settingsSchema()}
	if err := rulePages(pages); err != nil {
		return nil, err
	}
	return pages, commandPages(pages, cli.Commands())
}

// rulePages adds what explain says of the rules.
func rulePages(pages map[string][]byte) error {
	explain := func(page string, rules ...string) error {
		out := bytes.NewBufferString(generated)
		args := append([]string{"mvpcheck", "explain", "-o", "markdown"}, rules...)
		if code := cli.Main(context.Background(), args, cli.Streams{Out: out, Err: os.Stderr}); code != 0 {
			return fmt.Errorf("%s ends with exit code %d", strings.Join(args, " "), code)
		}
		pages["docs/rules/"+page+".md"] = out.Bytes()
		return nil
	}
	for _, r := range checks.All() {
		if err := explain(r.ID, r.ID); err != nil {
			return err
		}
	}
	return explain("README")
}

// commandPages adds the page of a command and of those below it.
func commandPages(pages map[string][]byte, cmd *cobra.Command) error {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := commandPages(pages, sub); err != nil {
				return err
			}
		}
	}
	out := bytes.NewBufferString(generated)
	err := doc.GenMarkdownCustom(cmd, out, commandPage)
	pages["docs/cli/"+commandPage(strings.ReplaceAll(cmd.CommandPath(), " ", "_")+".md")] = out.Bytes()
	return err
}

// commandPage is the name of a page that cobra calls mvpcheck_check.md: check.md.
func commandPage(link string) string {
	if name, ok := strings.CutPrefix(link, "mvpcheck_"); ok {
		return name
	}
	return "README.md"
}
