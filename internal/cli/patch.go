package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

const patchLong = `Write the configuration that mvpcheck check has nothing to fix in.

The patched file goes to standard output. Every byte that need not change stays: comments, order, quoting, line ends,
other documents. What was changed, what is left to do by hand, and the steps to take go to standard error.

A change that cannot be made safely is refused with its place and the lines to write by hand; then nothing is written
at all. Rules that fix only on request (mvpcheck explain says which) must be named in --only. What kube-apiserver would
not start without is changed along, whatever --only and --skip say.

Exit codes: 0 the result has nothing at or above error, whether it was changed or not, 1 something is left to do by
hand, with --diff also: there is something to change, 2 usage, 3 the file cannot be read, a change was refused, or not
everything could be judged.`

const patchExample = `  # What would change?
  mvpcheck patch --diff cluster.yaml

  # Change the file
  mvpcheck patch --in-place cluster.yaml

  # The ConfigMap of a running cluster, for an upgrade to 1.36
  kubectl -n kube-system get configmap kubeadm-config -o yaml | mvpcheck patch --to 1.36 - > patched.yaml

  # A folder for kubeadm upgrade --patches
  mvpcheck patch --node-patches patches/ cluster.yaml`

// patchOptions are the flags of patch.
type patchOptions struct {
	options
	diff, inPlace bool
	format        wordValue
	nodePatches   string
}

func (a *app) patchCommand() *cobra.Command {
	o := &patchOptions{options: newOptions(), format: wordValue{"", []string{"extraargs", "configmap", "jsonpatch"}}}
	cmd := &cobra.Command{
		Use:     "patch PATH [flags]",
		Short:   "Write the configuration that is safe to upgrade with",
		Long:    patchLong,
		Example: patchExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError("patch needs a PATH (a file, or - for standard input); " +
					"changing a live cluster is not possible yet")
			case len(args) > 1:
				return usageError("patch takes one PATH, not %d", len(args))
			}
			return a.patch(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.diff, "diff", false,
		"print a unified diff, which git apply takes; exit code 1 if there is something to change")
	f.BoolVarP(&o.inPlace, "in-place", "i", false, "change the file itself")
	f.VarP(&o.format, "output", "o",
		"print just the apiServer part, a complete ConfigMap kubeadm-config, or an RFC 6902 patch")
	f.StringVar(&o.nodePatches, "node-patches", "", "write a folder for kubeadm's --patches (`DIR`)")
	o.addTo(cmd)
	complete(cmd, "output", cobra.FixedCompletions(o.format.allowed, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "node-patches", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	return cmd
}

// validate finds flags that exclude each other.
func (o *patchOptions) validate(path string) error {
	var modes []string
	for _, mode := range []struct {
		flag string
		set  bool
	}{
		{"--diff", o.diff}, {"--in-place", o.inPlace},
		{"--output", o.format.word != ""}, {"--node-patches", o.nodePatches != ""},
	} {
		if mode.set {
			modes = append(modes, mode.flag)
		}
	}
	switch {
	case len(modes) > 1:
		return usageError("%s exclude each other", text.And(modes))
	case o.inPlace && path == "-":
		return usageError("--in-place: standard input cannot be written; give a file")
	case path != "-" && isDir(path) == nil:
		return usageError("%s: is a folder; patch takes one file", path)
	}
	return nil
}

func (a *app) patch(ctx context.Context, path string, o *patchOptions) error {
	if err := o.validate(path); err != nil {
		return err
	}
	if _, err := o.resolve(nil); err != nil {
		return err
	}
	jobs, err := a.jobs(ctx, []string{path}, &o.options)
	if err != nil {
		return interrupted(ctx, err)
	}
	if err := findChoices(jobs, &o.options); err != nil {
		return err
	}
	p := &patcher{app: a, o: o, job: &jobs[0]}
	if err := p.read(); err != nil {
		return failure(err)
	}
	result, err := p.fix()
	if err != nil {
		return a.refuse(err)
	}
	return p.deliver(result)
}

// patcher patches one file.
type patcher struct {
	*app
	o     *patchOptions
	job   *job
	judge *judge
}

// read reads the file and those beside it.
func (p *patcher) read() error {
	switch {
	case p.job.err != nil:
		return p.job.err
	case p.job.argument != "-":
		var buf bytes.Buffer
		if err := files.Configuration.ReadRegular(&buf, p.job.name); err != nil {
			return err
		}
		p.job.data = buf.Bytes()
	}
	extras, failed := p.o.readExtras()
	if len(failed) > 0 {
		errs := make([]error, len(failed))
		for i, f := range failed {
			errs[i] = f.err
		}
		return errors.Join(errs...)
	}
	p.judge = &judge{options: &p.o.options, extras: extras, now: p.now()}
	return nil
}

func (p *patcher) fix() (*patch.Result, error) {
	in, err := config.Read(p.job.name, p.job.data)
	switch {
	case err != nil:
		return nil, err
	case len(in.Clusters) == 0 && len(in.Patches) > 0:
		return nil, fmt.Errorf("%s: this is a kubeadm patch, not a configuration; give the ClusterConfiguration", p.job.name)
	case len(in.Clusters) == 0:
		return nil, fmt.Errorf("%s: %s", p.job.name, noteTexts(in))
	case len(in.Clusters) > 1 && len(p.o.manifests) > 0:
		return nil, usageError("%w", errManifestsOfSeveral)
	}
	// What judges has no error to return; without a judgement there is no result.
	var judgeErr error
	judge := func(by checks.Options) func(c *config.Cluster) []checks.Finding {
		return func(c *config.Cluster) []checks.Finding {
			d, err := checks.Judge(c, by)
			if err != nil {
				judgeErr = err
				return nil
			}
			return p.wanted(d.Findings)
		}
	}
	o := patch.Options{Judge: judge(p.judge.by(p.job.choices)), Prepare: p.judge.prepare(p.job.choices)}
	if p.job.choices.restricted() {
		o.Every = judge(p.judge.byEvery(p.job.choices))
	}
	result, err := patch.Fix(p.job.name, p.job.data, o)
	if judgeErr != nil {
		return nil, judgeErr
	}
	return result, err
}

// wanted takes the changes from findings that are fixed only on request.
func (p *patcher) wanted(findings []checks.Finding) []checks.Finding {
	findings = slices.Clone(findings)
	for i := range findings {
		if !findings[i].Fixable(p.job.choices.only) {
			findings[i].Changes = nil
		}
	}
	return findings
}

// refuse prints why nothing was written, with the lines to write by hand.
func (a *app) refuse(err error) error {
	for _, err := range unjoin(err) {
		var r *patch.Refusal
		if !errors.As(err, &r) {
			return failure(err)
		}
		rule := ""
		if r.Rule != nil {
			rule = " [" + r.Rule.ID + "]"
		}
		a.complain(r.Error() + rule)
		if len(r.Lines) > 0 {
			fmt.Fprintln(a.Err, "   by hand:")
		}
		for _, line := range r.Lines {
			fmt.Fprintln(a.Err, "     "+text.Printable(line))
		}
	}
	fmt.Fprintln(a.Err, "Nothing was written.")
	return &exitError{code: exitFailed}
}

// deliver writes the result in the way that was asked for, then what there is to say about it.
func (p *patcher) deliver(r *patch.Result) error {
	if err := p.write(r); err != nil {
		return failure(err)
	}
	return p.conclude(r)
}

func (p *patcher) write(r *patch.Result) error {
	var text []byte
	var err error
	switch {
	case p.o.diff:
		text = []byte(patch.Diff(r.Name, r.Before, r.After))
	case p.o.inPlace:
		return patch.WriteInPlace(p.job.name, r.Before, r.After)
	case p.o.nodePatches != "":
		return patch.NodePatches(p.o.nodePatches, r)
	case p.o.format.word == "extraargs" && len(r.Input.Clusters) > 1:
		return fmt.Errorf("%s: has %d clusters; --output extraargs is for one", r.Name, len(r.Input.Clusters))
	case p.o.format.word == "extraargs":
		text, err = patch.ExtraArgs(r.Input.Clusters[0])
	case p.o.format.word == "configmap":
		text, err = patch.ConfigMap(r)
	case p.o.format.word == "jsonpatch":
		text, err = patch.JSONPatch(r)
	default:
		text = r.After
	}
	if err != nil {
		return err
	}
	_, err = p.Out.Write(text)
	return err
}
