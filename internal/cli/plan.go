package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mvpcheck/mvpcheck/internal/plan"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

const planLong = `Walk through the upgrade of a control plane, node by node, without touching it.

At each step plan says which server answers a false 404 for which resource: while the node's server is stopped, and when
it runs again with the new release. It compares the roll with the configuration as it is with that of the configuration
that mvpcheck patch writes, which has to be rolled out on the running release first, and says what happens without that
first roll. It knows which resources each release serves with the settings of the configuration.

PATH is a file with one cluster, or - for standard input; mvpcheck check says what is read. --from and --to are as those
of check, and must be known here. With --manifest the running servers of these nodes are taken as their manifests say.
Nothing is asked of any network.

What is said of a step holds when the servers have learned of each other: until then, for some seconds after each start,
a server answers 404 for what it would hand to the one that has started, whatever the settings are.

Exit codes: 0 no false 404 that settings could avoid, and every server starts, 1 there is one, or a server does not start
(--fail-on never: 0), 2 usage, 3 the file cannot be read, or it cannot be told. 1 wins over 3.`

const planExample = `  # What will happen during the upgrade to the next minor release?
  mvpcheck plan cluster.yaml

  # A table for the change ticket
  mvpcheck plan --to 1.36 -o markdown cluster.yaml

  # The configuration of a running cluster, with its nodes in the order of the roll
  kubectl -n kube-system get configmap kubeadm-config -o yaml | mvpcheck plan --nodes cp-a=192.0.2.1,cp-b=192.0.2.2 --order cp-b,cp-a -`

// maxPlanNodes bounds the walk: each step has an entry for each pair of servers.
const maxPlanNodes = 15

// namesValue are names separated by commas.
type namesValue struct{ listValue }

func (v *namesValue) Type() string { return "NAME,..." }

// notForPlan are flags of check that plan has not: what a roll does is not a matter of what one wants to hear of.
var notForPlan = []string{"only", "skip", "cert-days"}

// planOptions are the flags of plan.
type planOptions struct {
	options
	order          namesValue
	outputs        outputsValue
	color          colorValue
	quiet, verbose bool
}

func (a *app) planCommand() *cobra.Command {
	o := &planOptions{options: newOptions(), color: "auto"}
	cmd := &cobra.Command{
		Use:     "plan PATH [flags]",
		Short:   "Walk through the upgrade node by node: who answers a false 404, when, for what",
		Long:    planLong,
		Example: planExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError("plan needs a PATH (a file, or - for standard input); asking a live cluster is not possible yet")
			case len(args) > 1:
				return usageError("plan takes one PATH, not %d", len(args))
			}
			return a.plan(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	o.outputs.addTo(cmd, f, formatNames(false))
	f.Var(&o.failOn, "fail-on", "the least severity that ends in exit code 1: a false 404 or a server that does not start is an error, a 503 a warning, what no setting avoids an info")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "one line a cause and one for the verdict")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show all changes of who hands requests to whom, and where the releases come from")
	f.Var(&o.order, "order", "the nodes in the order of the roll (default: that of the configuration, of --nodes, else cp-1, cp-2, cp-3)")
	o.addTo(cmd)
	for _, name := range notForPlan {
		f.Lookup(name).Hidden = true
	}
	f.Var(&o.color, "color", "when to use colour; auto: on a terminal, unless NO_COLOR is set or TERM is dumb")
	complete(cmd, "order", cobra.NoFileCompletions)
	complete(cmd, "fail-on", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "color", cobra.FixedCompletions(colorModes, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) plan(ctx context.Context, path string, o *planOptions) error {
	switch {
	case o.quiet && o.verbose:
		return usageError("--quiet and --verbose exclude each other")
	case path != "-" && isDir(path) == nil:
		return usageError("%s: is a folder; plan takes one file", path)
	}
	for _, name := range notForPlan {
		if o.flags.Changed(name) {
			return usageError("--%s: plan judges by all rules", name)
		}
	}
	p, err := a.newPlanner(ctx, path, o)
	if err != nil {
		return interrupted(ctx, err)
	}
	r, err := p.report()
	if err != nil {
		return failure(err)
	}
	whole := r.Report(report.Invocation{Program: a.program, Flags: o.repeated()})
	if err := a.writeReport(whole, &o.outputs, report.Options{Verbose: o.verbose, Quiet: o.quiet}, o.color); err != nil {
		return failure(err)
	}
	worst, wrong := plan.Severity(r)
	switch {
	case wrong && p.job.choices.failOn.reached(worst):
		return &exitError{code: exitFindings}
	case r.Summary.Verdict == report.VerdictCannotTell, r.CannotTell != "":
		return &exitError{code: exitFailed}
	}
	return nil
}

// planner plans the upgrade of one cluster.
type planner struct {
	patcher
	o       *planOptions
	cluster *config.Cluster
	pair    checks.Pair
	why     string
}

// newPlanner reads the file and those beside it.
func (a *app) newPlanner(ctx context.Context, path string, o *planOptions) (*planner, error) {
	jobs, err := a.jobs(ctx, []string{path}, &o.options)
	if err != nil {
		return nil, err
	}
	if err := findChoices(jobs, &o.options); err != nil {
		return nil, err
	}
	p := &planner{o: o, patcher: patcher{app: a, o: &patchOptions{options: o.options}, job: &jobs[0]}}
	// A patch changes all that it can, whatever is left out of reports.
	ch := *p.job.choices
	ch.only, ch.skip = nil, nil
	if ch.rules, err = checks.Select(nil, nil); err != nil {
		return nil, err
	}
	p.job.choices = &ch
	if err := p.read(); err != nil {
		return nil, err
	}
	in, err := config.Read(p.job.name, p.job.data)
	switch {
	case err != nil:
		return nil, err
	case len(in.Clusters) == 0 && len(in.Patches) > 0:
		return nil, fmt.Errorf("%s: this is a kubeadm patch, not a configuration; give the ClusterConfiguration, and this with --patches", p.job.name)
	case len(in.Clusters) == 0:
		return nil, fmt.Errorf("%s: %s", p.job.name, noteTexts(in))
	case len(in.Clusters) > 1:
		return nil, usageError("%s: has %d clusters; plan takes one", p.job.name, len(in.Clusters))
	}
	p.cluster = in.Clusters[0]
	p.judge.extras.prepare(p.cluster, &ch)
	return p, p.findPair()
}

// findPair finds the two releases, which must be known for a plan.
func (p *planner) findPair() error {
	pairs, why, err := checks.Pairs(p.cluster, p.job.choices.from.Release, p.job.choices.to.Release)
	switch {
	case err != nil:
		return err
	case len(pairs) != 1:
		return usageError("%s: %s; say which upgrade it is: --from 1.35 --to 1.36", p.job.name, why)
	case pairs[0].Upgrade && pairs[0].From.SameMinor(pairs[0].To):
		return usageError("%s: mvpcheck knows no release after %s; --to names one", p.job.name, release.Newest())
	}
	p.pair, p.why = pairs[0], why
	if n, _, _ := p.cluster.ControlPlaneCount(); n > maxPlanNodes {
		return usageError("plan walks at most %d control-plane nodes, not %d", maxPlanNodes, n)
	}
	return nil
}

// facts reads the facts of a cluster.
func (p *planner) facts(c *config.Cluster) (checks.HandOff, error) {
	h := checks.HandOffOf(p.judge.by(p.job.choices).Input(c, p.pair))
	if len(p.o.order.listValue) == 0 || len(h.Nodes) == 0 {
		return h, nil
	}
	var ordered []checks.NodeServers
	for _, name := range p.o.order.listValue {
		i := slices.IndexFunc(h.Nodes, func(n checks.NodeServers) bool { return n.Name == name })
		if i < 0 || slices.ContainsFunc(ordered, func(n checks.NodeServers) bool { return n.Name == name }) {
			break
		}
		ordered = append(ordered, h.Nodes[i])
	}
	if len(ordered) != len(h.Nodes) || len(ordered) != len(p.o.order.listValue) {
		var names []string
		for _, n := range h.Nodes {
			names = append(names, n.Name)
		}
		return h, usageError("--order must name each control-plane node once: %s", strings.Join(names, ","))
	}
	h.Nodes = ordered
	return h, nil
}

// report walks the rolls.
func (p *planner) report() (*report.PlanReport, error) {
	in := plan.Input{Pair: p.pair}
	var err error
	if in.Now, err = p.facts(p.cluster); err != nil {
		return nil, err
	}
	result, err := p.fix()
	switch {
	case err != nil:
		in.Refused = refusal(err)
	case result.Changed():
		c := result.Input.Clusters[0]
		// What runs now is told by the file as it is.
		c.Manifests, c.ManifestFolders = nil, nil
		patched, err := p.facts(c)
		if err != nil {
			return nil, err
		}
		in.Patched, in.Changes = &patched, result.Applied
	}
	r := plan.Of(in)
	r.Version, r.Source, r.Argument = versionInfo().Version, report.Text(p.job.name), report.Text(p.job.argument)
	r.Documents, r.Why = report.Text(p.cluster.Documents()), report.Text(p.why)
	return r, nil
}

// refusal is the first reason why a file is not patched, without its name.
func refusal(err error) string {
	errs := unjoin(err)
	text := errs[0].Error()
	var r *patch.Refusal
	if errors.As(errs[0], &r) && r.Rule != nil {
		text += " [" + r.Rule.ID + "]"
	}
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}
