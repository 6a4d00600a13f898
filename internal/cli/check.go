package cli

import (
	"context"
	"errors"

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
	o.outputs.addTo(cmd, f, formatNames((*format).forCheck))
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
	out, err := a.openSinks(&o.outputs, formatOptions{version: versionInfo().Version, text: report.TextOptions{
		Program: a.program, Flags: o.repeated(), Verbose: o.verbose, Quiet: o.quiet,
	}}, o.color)
	if err != nil {
		return failure(err)
	}
	defer a.tuneGC(len(jobs))()
	r := &checkRun{app: a, out: out}
	if err := r.run(ctx, jobs, o); err != nil {
		out.abandon()
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

// checkRun writes the report of one run and keeps what decides about the exit code.
type checkRun struct {
	*app
	out   *sinks
	tally report.Tally
	// failing: a finding is at or above --fail-on; untold: something could not be judged.
	failing, untold bool
}

func (r *checkRun) run(ctx context.Context, jobs []job, o *checkOptions) error {
	extras, errs := o.readExtras()
	for _, e := range errs {
		if err := r.inputError(e.name, e.err); err != nil {
			return err
		}
	}
	// Without what was asked for, a verdict would be one on something else.
	if len(errs) == 0 {
		j := &judge{options: &o.options, extras: extras, now: r.now(), edits: o.outputs.haveEdits()}
		if err := j.checkAll(ctx, jobs, r.emit); err != nil {
			return err
		}
	}
	sum := r.tally.Summary()
	r.untold = r.untold || sum.Verdict == report.VerdictCannotTell
	return r.out.close(sum)
}

// emit writes what came of one file.
func (r *checkRun) emit(out *outcome) error {
	r.failing = r.failing || out.failing
	switch {
	case out.err != nil:
		return r.inputError(out.name, out.err)
	case out.passedOver != "":
		p := report.PassedOver{File: out.name, Reason: out.passedOver}
		return r.out.each(func(w report.Writer) error { return w.PassedOver(p) })
	}
	for _, c := range out.clusters {
		r.untold = r.untold || c.Verdict() == report.VerdictCannotTell
		r.tally.Cluster(&c)
		if err := r.out.each(func(w report.Writer) error { return w.Cluster(c) }); err != nil {
			return err
		}
	}
	return nil
}

// inputError writes that a file could not be read, to standard error too.
func (r *checkRun) inputError(name string, err error) error {
	r.untold = true
	e := inputError(name, err)
	// In the order in which a person reads both streams on one terminal.
	if err := r.out.stdout.Flush(); err != nil {
		return err
	}
	r.complain(err.Error())
	r.tally.InputError()
	return r.out.each(func(w report.Writer) error { return w.InputError(e) })
}
