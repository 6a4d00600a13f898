package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// complete registers the completion of a flag that exists.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // two completions for one flag: a mistake in this package
	}
}

// completeRules completes the rules that a command judges by; behind a comma too, and then not those that are named
// already. What begins like a name is completed to names, everything else to IDs.
func completeRules(selectRules func(only, skip []string) ([]*checks.Rule, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		rules, err := selectRules(nil, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		at := strings.LastIndexByte(toComplete, ',') + 1
		before, last := toComplete[:at], toComplete[at:]
		named := strings.Split(before, ",")
		byName := last != "" && last[0] >= 'a' && last[0] <= 'z'
		var words []string
		for _, r := range rules {
			switch {
			case slices.Contains(named, r.ID) || slices.Contains(named, r.Name):
			case byName:
				words = append(words, before+r.Name+"\t"+r.ID)
			default:
				words = append(words, before+r.ID+"\t"+r.Name)
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func completeReleases(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, r := range release.Known() {
		words = append(words, r.String())
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeNodes offers the usual numbers; names and addresses are the user's.
func completeNodes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	words := []string{"1\tone control-plane node", "3\tthree of them", "5\tfive of them"}
	return cobra.AppendActiveHelp(words, "or NAME=ADDRESS,... for each node"), cobra.ShellCompDirectiveNoFileComp
}

// completeFormats completes formats, each also with the = that a file follows, and behind that the file.
func completeFormats(formats []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		format, file, ok := strings.Cut(toComplete, "=")
		if ok {
			return completeFiles(format+"=", file)
		}
		var words []string
		for _, name := range formats {
			words = append(words, name, name+"=")
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFiles completes a file that stands behind a prefix in its word. The shells would complete the whole word.
func completeFiles(prefix, file string) ([]string, cobra.ShellCompDirective) {
	dir, base := filepath.Split(file)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	var words []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || name[0] == '.' && base == "" {
			continue
		}
		if e.IsDir() {
			name += string(filepath.Separator)
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		words = append(words, prefix+dir+name)
	}
	return words, directive
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("%s takes no argument %q", cmd.Name(), args[0])
	}
	return nil
}

// bashCompletion writes cobra's script for bash so that it completes words with commas: its printf %q puts a backslash
// before a comma, which is not in what the user has typed.
func bashCompletion(root *cobra.Command, descriptions bool) ([]byte, error) {
	var script, out bytes.Buffer
	if err := root.GenBashCompletionV2(&script, descriptions); err != nil {
		return nil, err
	}
	// The lines that quote answers: all of an array, or one.
	quoted := regexp.MustCompile(`(?:read -ra (\w+) .*printf|printf -v (\w+)|^ *(COMPREPLY\[0\])=\$\(printf) "%q`)
	for line := range bytes.Lines(script.Bytes()) {
		out.Write(line)
		m := quoted.FindSubmatch(line)
		if m == nil {
			continue
		}
		indent := line[:len(line)-len(bytes.TrimLeft(line, " "))]
		if array := m[1]; array != nil {
			fmt.Fprintf(&out, "%s%s=(\"${%[2]s[@]//\\\\,/,}\")\n", indent, array)
		} else {
			fmt.Fprintf(&out, "%s%s=${%[2]s//\\\\,/,}\n", indent, cmp.Or(string(m[2]), string(m[3])))
		}
	}
	return out.Bytes(), nil
}

// fixBashCompletion puts bashCompletion in place of what cobra's command does.
func (a *app) fixBashCompletion(completion *cobra.Command) {
	for _, cmd := range completion.Commands() {
		if cmd.Name() != "bash" {
			continue
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			plain, err := cmd.Flags().GetBool("no-descriptions")
			if err != nil {
				return err
			}
			script, err := bashCompletion(cmd.Root(), !plain)
			if err == nil {
				_, err = a.Out.Write(script)
			}
			return failure(err)
		}
	}
}
