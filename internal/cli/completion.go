package cli

import (
	"github.com/spf13/cobra"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/release"
)

// complete registers the completion of a flag that exists.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // two completions for one flag: a mistake in this package
	}
}

// completeRules completes rules; behind a comma too.
func completeRules(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	before := toComplete[:lastComma(toComplete)]
	var words []string
	for _, r := range checks.All() {
		words = append(words, before+r.ID+"\t"+r.Name)
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// lastComma returns the offset behind the last comma, 0 where there is none.
func lastComma(s string) int {
	for i := len(s); i > 0; i-- {
		if s[i-1] == ',' {
			return i
		}
	}
	return 0
}

func completeReleases(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, r := range release.Known() {
		words = append(words, r.String())
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("%s takes no argument %q", cmd.Name(), args[0])
	}
	return nil
}
