package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

const explainLong = `Say what a rule means: when it fires, why that matters, and what to do. Rules are named by ID or name.

Without a RULE it lists them all.`

const explainExample = `  # All rules
  mvpcheck explain

  # One of them
  mvpcheck explain MVP101
  mvpcheck explain gate-off-on-running`

func (a *app) explainCommand() *cobra.Command {
	format := wordValue{"text", []string{"text", "markdown"}}
	cmd := &cobra.Command{
		Use:     "explain [RULE...] [flags]",
		Short:   "Say what a rule means; without one, list them",
		Long:    explainLong,
		Example: explainExample,
		ValidArgsFunction: func(*cobra.Command, []string, string) (words []string, _ cobra.ShellCompDirective) {
			for _, r := range checks.All() {
				words = append(words, r.ID+"\t"+r.Name)
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.explain(args, format.word) },
	}
	cmd.Flags().VarP(&format, "output", "o", "the format")
	complete(cmd, "output", cobra.FixedCompletions(format.allowed, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) explain(names []string, format string) error {
	var rules []*checks.Rule
	for _, name := range names {
		r, ok := checks.Find(name)
		if !ok {
			return usageError("unknown rule %q; mvpcheck explain lists them", name)
		}
		rules = append(rules, r)
	}
	var out bytes.Buffer
	markdown := format == "markdown"
	switch {
	case len(rules) == 0 && markdown:
		writeRuleIndex(&out, checks.All())
	case len(rules) == 0:
		writeRuleList(&out, checks.All())
	}
	for i, r := range rules {
		if i > 0 {
			out.WriteString("\n")
		}
		if markdown {
			writeRulePage(&out, r)
		} else {
			a.writeRule(&out, r)
		}
	}
	_, err := a.Out.Write(out.Bytes())
	return failure(err)
}

// writeRuleList writes a line for each rule.
func writeRuleList(out *bytes.Buffer, rules []*checks.Rule) {
	width := 0
	for _, r := range rules {
		width = max(width, len(r.Name))
	}
	for _, r := range rules {
		fmt.Fprintf(out, "%s  %-7s  %-*s  %s\n", r.ID, r.Severity, width, r.Name, firstSentence(r.Doc.What))
	}
}

// firstSentence is a text up to its first full stop that ends a sentence.
func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}

// explainWidth is the width of explanations: that of a terminal, less a margin.
const explainWidth = 78

func (a *app) writeRule(out *bytes.Buffer, r *checks.Rule) {
	fmt.Fprintf(out, "%s %s (%s)\n", r.ID, r.Name, r.Severity)
	for _, part := range [][2]string{
		{"what", r.Doc.What}, {"why", r.Doc.Why}, {"fix", r.Doc.Fix},
		{command(r), a.inProgramsName(fixedBy(r))},
		{"facts", strings.Join(r.Doc.Facts, ", ")},
		{"since", r.Doc.Since},
		{"page", report.PageOf(r)},
	} {
		if part[1] != "" {
			label := fmt.Sprintf("   %-7s", part[0]+":")
			out.WriteString(text.Wrap(label, strings.Repeat(" ", len(label)), part[1], explainWidth))
		}
	}
}

// command is the command that does something about the findings of a rule, or finds them.
func command(r *checks.Rule) string {
	if r.Run == nil {
		return "probe"
	}
	return "patch"
}

// fixedBy says what mvpcheck patch does about the findings of a rule.
func fixedBy(r *checks.Rule) string {
	switch {
	case r.Fixable && r.OnRequest:
		return "mvpcheck patch --only " + r.ID + " makes the change"
	case r.Fixable:
		return "mvpcheck patch makes the change where it is plain"
	case r.Run == nil:
		return "mvpcheck probe asks the running servers"
	}
	return "mvpcheck patch leaves it to you"
}
