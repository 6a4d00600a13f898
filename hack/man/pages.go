package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// manPages adds the manual pages of section 1 of a command and of those below it, by their names. The version and the
// date stand in their margins.
func manPages(pages map[string][]byte, cmd *cobra.Command, version string, date time.Time) error {
	var list strings.Builder
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := manPages(pages, sub, version, date); err != nil {
			return err
		}
		fmt.Fprintf(&list, "**%s**(1)\n: %s\n\n", pageName(sub), sub.Short)
	}
	cmd.Long = strings.Replace(cmd.Long, "\n\nExit codes", "\n\n# EXIT STATUS\nExit codes", 1)
	if list.Len() > 0 {
		cmd.Long += "\n\n# COMMANDS\n" + list.String()
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(tellValue)
	var out bytes.Buffer
	err := doc.GenMan(cmd, &doc.GenManHeader{Date: &date, Source: "mvpcheck " + version, Manual: "mvpcheck Manual"},
		&out)
	page := bytes.Replace(out.Bytes(), []byte(date.Format("Jan 2006")), []byte(date.Format(time.DateOnly)), 1)
	pages[pageName(cmd)+".1"] = option.ReplaceAll(page, []byte(".TP\n$1\n"))
	return err
}

// option is an option as cobra writes it: its text stands behind a tab, where formatters want an indented paragraph. A
// value that is not there has its = all the same.
var option = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*?)=?\n\t`)

// pageName is what man is asked for: mvpcheck-check for mvpcheck check.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// tellValue makes a flag say in the manual what it says in the help. cobra writes the default of a flag where the
// manual should say what a value is.
func tellValue(f *pflag.Flag) {
	var one pflag.FlagSet
	one.AddFlag(f)
	_, usage, _ := strings.Cut(strings.TrimSpace(one.FlagUsages()), "   ")
	f.DefValue, _ = pflag.UnquoteUsage(f)
	f.Usage, f.NoOptDefVal = usage, ""
}
