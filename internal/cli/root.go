package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

const rootLong = `mvpcheck tells whether a Kubernetes control plane can be upgraded without false 404s.

While the servers of a control plane run two releases, a server that does not know a resource must hand the request to
one that does. Otherwise it answers 404, and clients such as garbage collection and namespace deletion believe it. The
feature gate UnknownVersionInteroperabilityProxy and a few flags decide about that; mvpcheck reads them where kubeadm
does, says what is missing, and writes the configuration that has it.

Exit codes of every command: 0 nothing found, 1 findings, 2 usage, 3 could not check or could not tell.`

// Commands returns the command mvpcheck with those below it, for documentation.
func Commands() *cobra.Command {
	a := &app{program: "mvpcheck"}
	root := a.rootCommand()
	root.DisableAutoGenTag = true
	return root
}

// rootCommand builds the commands. Nothing is shared between two runs.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:         "mvpcheck",
		Short:       "Check a control plane before its upgrade for what leads to false 404s",
		Long:        rootLong,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: a.program},
		Version:     versionInfo().Version,
		Args:        a.noSuchCommand,
		// Up to two typing errors.
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		SilenceErrors:              true,
		// A command of its own, so that what follows it is looked at by noSuchCommand.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetVersionTemplate("mvpcheck {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(a.helpCommand())
	root.AddCommand(a.checkCommand(), a.patchCommand(), a.planCommand(), a.probeCommand(), a.explainCommand(),
		a.demoCommand(), a.versionCommand())
	a.completionCommand(root)
	for _, cmd := range root.Commands() {
		cmd.Long = a.inProgramsName(cmd.Long)
		cmd.Example = a.inProgramsName(cmd.Example)
		cmd.Flags().SortFlags = false
		cmd.DisableFlagsInUseLine = true
	}
	return root
}

func (a *app) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + near[0] + "?"
	}
	return usageError("unknown command %q%s; %s --help lists them", args[0], hint, cmd.CommandPath())
}

// helpCommand is cobra's, with an exit code that tells of a topic that does not exist.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Long:  "Show the help of a command, as COMMAND --help does.",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(args) == 0 {
				for _, c := range cmd.Root().Commands() {
					if c.IsAvailableCommand() {
						names = append(names, c.Name()+"\t"+c.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError("unknown help topic %q; %s --help lists the commands", strings.Join(args, " "),
					cmd.Root().CommandPath())
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// completionCommand adds cobra's own command; a shell that it does not know is a mistake like any other.
func (a *app) completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd("completion")
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	a.fixBashCompletion(cmd)
	cmd.Use, cmd.Args = "completion SHELL", nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError("unknown shell %q; %s --help lists them", args[0], cmd.CommandPath())
		}
		return cmd.Help()
	}
}

// flagError says what is wrong with a flag, the flag first.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return usageError("unknown flag %s%s; %s --help lists them", name, nearFlag(cmd, name), cmd.CommandPath())
	case errors.As(err, &missing):
		name := "--" + missing.GetSpecifiedName()
		if missing.GetSpecifiedShortnames() != "" {
			name = "-" + missing.GetSpecifiedName()
		}
		return usageError("%s: needs a value", name)
	case errors.As(err, &invalid):
		return usageError("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
	}
	return usageError("%w", err)
}

// nearFlag asks whether another flag was meant.
func nearFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name, long := strings.CutPrefix(name, "--")
	if near, ok := release.Suggest(name, names); ok && long {
		return ", did you mean --" + near + "?"
	}
	return ""
}
