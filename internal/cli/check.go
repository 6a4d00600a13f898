package cli

import (
	"context"
	"errors"
	"iter"

	"github.com/spf13/cobra"

	"github.com/mvpcheck/mvpcheck/internal/report"
)

const checkLong = `Check whether control planes can be upgraded with these configurations.

PATH is a file, - for standard input, or a folder, which is searched for .yaml, .yml and .json files. mvpcheck reads
kubeadm's documents, the ConfigMap kube-system/kubeadm-config, KubeadmControlPlane, kind's Cluster and static pod
manifests. With a PATH nothing is asked of any network.

Not given, --from is the release that the configuration names and --to the next minor. A configuration that names no
release is judged for every pair of neighbouring releases that mvpcheck knows.

A comment silences a finding on its line, or on the line below it:

    # mvpcheck:ignore MVP303 kept for 1.39

A file .mvpcheck.yaml beside the configuration or in a folder above it, up to the root of the repository, has the keys
from, to, nodes, fail-on, only, skip and cert-days, which say what the flags of these names do. Flags win. The nearest
file holds alone.

Exit codes: 0 nothing at or above --fail-on, 1 findings at or above it, 2 usage, 3 could not check or could not tell
(an input that cannot be read, nothing to check). 1 wins over 3.`

const checkExample = `  # Is this configuration ready for the upgrade to the next minor release?
  mvpcheck check cluster.yaml

  # The configuration of a running cluster, for an upgrade to 1.36
  kubectl -n kube-system get configmap kubeadm-config -o yaml | mvpcheck check --to 1.36 -

  # All configurations of a repository; the report for people and one for machines
  mvpcheck check -o text -o json=report.json clusters/

  # On a control-plane node: with its certificates and the manifest that runs now
  mvpcheck check --root / kubeadm-config.yaml`

// checkOptions are the flags of check.
type checkOptions struct {
	options
	outputs        outputsValue
	color          colorValue
	quiet, verbose bool
}

func (a *app) checkCommand() *cobra.Command {
	o := &checkOptions{options: newOptions(), color: "auto"}
	cmd := &cobra.Command{
		Use:     "check PATH... [flags]",
		Short:   "Tell whether a configuration is safe to upgrade with",
		Long:    checkLong,
		Example: checkExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("check needs a PATH (a file, a folder, or - for standard input); asking a live cluster is not possible yet")
			}
			return a.check(cmd.Context(), args, o)
		},
	}
	f := cmd.Flags()
	o.outputs.addTo(cmd, f, formatNames(true))
	f.AddFlag(o.choices.settings().Lookup("fail-on"))
	f.BoolVarP(&o.quiet, "quiet", "q", false, "one line a finding and one for the verdict")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list the rules that passed and were skipped, and the files that were passed over")
	o.addTo(cmd)
	f.Var(&o.color, "color", "when to use colour; auto: on a terminal, unless NO_COLOR is set or TERM is dumb")
	complete(cmd, "fail-on", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "color", cobra.FixedCompletions(colorModes, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) check(ctx context.Context, paths []string, o *checkOptions) error {
	if o.quiet && o.verbose {
		return usageError("--quiet and --verbose exclude each other")
	}
	if _, err := o.resolve(nil); err != nil {
		return err
	}
	jobs, err := a.jobs(ctx, paths, &o.options)
	if err != nil {
		return interrupted(ctx, err)
	}
	if err := findChoices(jobs, &o.options); err != nil {
		return err
	}
	if len(o.manifests) > 0 && countClusters(jobs) > 1 {
		return usageError("%w", errManifestsOfSeveral)
	}
	defer a.tuneGC(len(jobs))()
	r := &checkRun{app: a, flags: o.repeated()}
	if err := r.run(ctx, jobs, o); err != nil {
		return interrupted(ctx, err)
	}
	switch {
	case r.failing:
		return &exitError{code: exitFindings}
	case r.untold:
		return &exitError{code: exitFailed}
	}
	return nil
}

// findChoices finds the settings of each job, before the report begins: a mistake in a .mvpcheck.yaml is one of usage.
func findChoices(jobs []job, o *options) error {
	f := newSettingsFinder(o)
	for i := range jobs {
		name := jobs[i].name
		if jobs[i].argument == "-" && o.stdinFilename == "" {
			name = "." // beside nothing: the working folder's
		}
		var err error
		if jobs[i].choices, err = f.forFile(name); err != nil {
			return err
		}
	}
	return nil
}

// interrupted tells an interruption from what went wrong by itself.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return failure(err)
}

// checkRun collects the report of one run and keeps what decides about the exit code.
type checkRun struct {
	*app
	flags  []string // that are repeated in the next commands
	report report.CheckReport
	// complaints are what standard error is told of files that cannot be read.
	complaints []string
	// failing: a finding is at or above --fail-on; untold: something could not be judged.
	failing, untold bool
}

func (r *checkRun) run(ctx context.Context, jobs []job, o *checkOptions) error {
	defer r.complainOfAll()
	extras, errs := o.readExtras()
	for _, e := range errs {
		r.inputError(e.name, e.err)
	}
	// Without what was asked for, a verdict would be one on something else.
	if len(errs) == 0 {
		j := &judge{options: &o.options, extras: extras, now: r.now(), edits: o.outputs.haveEdits()}
		if err := j.checkAll(ctx, jobs, r.emit); err != nil {
			return err
		}
	}
	r.report.Version = versionInfo().Version
	whole := r.report.Report(report.Invocation{Program: r.program, Flags: r.flags})
	r.untold = r.untold || whole.Summary.Verdict == report.VerdictCannotTell
	whole.Blocks = r.complaining(whole.Blocks)
	return r.writeReport(whole, &o.outputs, report.Options{Verbose: o.verbose, Quiet: o.quiet}, o.color)
}

// emit takes what came of one file.
func (r *checkRun) emit(out *outcome) error {
	r.failing = r.failing || out.failing
	switch {
	case out.err != nil:
		r.inputError(out.name, out.err)
	case out.passedOver != "":
		r.report.AddPassedOver(report.PassedOver{File: report.Text(out.name), Reason: report.Text(out.passedOver)})
	}
	for _, c := range out.clusters {
		r.untold = r.untold || c.Verdict() == report.VerdictCannotTell
		r.report.Add(c)
	}
	return nil
}

// inputError takes that a file could not be read.
func (r *checkRun) inputError(name string, err error) {
	r.untold = true
	r.report.AddError(inputError(name, err))
	r.complaints = append(r.complaints, err.Error())
}

// complaining says on standard error what could not be read when a report comes to it: in the order in which a person
// reads both streams on one terminal, and where the log of a CI system takes nothing for a command.
func (r *checkRun) complaining(blocks iter.Seq[report.Block]) iter.Seq[report.Block] {
	return func(yield func(report.Block) bool) {
		for b := range blocks {
			if _, ok := b.(report.InputError); ok && len(r.complaints) > 0 {
				r.complain(r.complaints[0])
				r.complaints = r.complaints[1:]
			}
			if !yield(b) {
				return
			}
		}
	}
}

// complainOfAll says what no report came to.
func (r *checkRun) complainOfAll() {
	for _, text := range r.complaints {
		r.complain(text)
	}
	r.complaints = nil
}
