package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/probe"
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

const probeLong = `Ask every API server of a running control plane, and prove which of them hands requests to which peer.

The servers are found through the EndpointSlice default/kubernetes, the identity leases and the mirror pods in
kube-system, never through the address of a load balancer; --server names them instead. Each is asked for its version,
its start hooks, what it serves with and without its peers, its counters and flags, and, for each resource that not all
of them have, for an object of a name that does not exist, with and without leave to hand the request on. The answers
prove the hand-off, or name the cause why there is none.

Only GET requests are sent. Credentials go only to servers whose certificate the kubeconfig's CA verifies, and
redirects are not followed. deploy/rbac.yaml has the smallest role that gives the whole verdict; what a missing permission costs
is part of the report (MVP513).

The connection is that of --kubeconfig, else of $KUBECONFIG, ~/.kube/config, the ServiceAccount of the pod that mvpcheck
runs in, or /etc/kubernetes/admin.conf.

Exit codes: 0 nothing at or above --fail-on, 1 findings at or above it, 2 usage, 3 could not ask or could not tell
(a server that cannot be reached, a permission that is missing). 1 wins over 3.`

const probeExample = `  # Before an upgrade, and after each upgraded node
  mvpcheck probe

  # Servers take some seconds to learn of each other: wait until the hand-off is proved
  mvpcheck probe --wait 2m

  # These servers, whatever the cluster lists
  mvpcheck probe --server 192.0.2.11:6443 --server 192.0.2.12:6443

  # Keep what the servers said, and judge it again elsewhere
  mvpcheck probe --record evidence.json
  mvpcheck probe --replay evidence.json -v`

// probeOptions are the flags of probe.
type probeOptions struct {
	kubeconfig, context string
	servers             []string
	timeout, wait       time.Duration
	noObjectProbe       bool
	record, replay      string

	only, skip     listValue
	failOn         levelValue
	outputs        outputsValue
	color          colorValue
	quiet, verbose bool
	rules          []*checks.Rule
}

func (a *app) probeCommand() *cobra.Command {
	o := &probeOptions{failOn: "error", color: "auto"}
	cmd := &cobra.Command{
		Use:     "probe [flags]",
		Short:   "Ask every live API server and prove the hand-off",
		Long:    probeLong,
		Example: probeExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("probe takes no arguments, found %q; servers are named with --server", args[0])
			}
			return a.probe(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig (`FILE`)")
	f.StringVar(&o.context, "context", "", "the context of the kubeconfig (`NAME`)")
	f.StringArrayVar(&o.servers, "server", nil, "ask this API server, a `URL` or HOST[:PORT], not those that the cluster lists; once for each")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "the time that each request may take")
	f.DurationVar(&o.wait, "wait", 0, "ask again until the hand-off is proved, for at most this time")
	f.BoolVar(&o.noObjectProbe, "no-object-probe", false, "leave out the GETs of objects that do not exist; discovery documents alone decide then")
	f.StringVar(&o.record, "record", "", "write what the servers said to `FILE`")
	f.StringVar(&o.replay, "replay", "", "judge what --record wrote to `FILE`; nothing is asked of any network")
	o.outputs.addTo(cmd, f, formatNames(true))
	f.Var(&o.failOn, "fail-on", "the least severity that ends in exit code 1")
	f.Var(&o.only, "only", "judge by these rules only; IDs or names")
	f.Var(&o.skip, "skip", "do not judge by these rules; IDs or names")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "one line a finding and one for the verdict")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the pairs of servers, the rules that passed and were skipped, and all requests")
	f.Var(&o.color, "color", "when to use colour; auto: on a terminal, unless NO_COLOR is set or TERM is dumb")
	for _, name := range []string{"only", "skip"} {
		complete(cmd, name, completeRules(checks.SelectLive))
	}
	for _, name := range []string{"timeout", "wait", "server", "context"} {
		complete(cmd, name, cobra.NoFileCompletions)
	}
	complete(cmd, "fail-on", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "color", cobra.FixedCompletions(colorModes, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// validate finds mistakes in how the command was called.
func (o *probeOptions) validate() (err error) {
	switch {
	case o.quiet && o.verbose:
		return usageError("--quiet and --verbose exclude each other")
	case o.timeout <= 0:
		return usageError("--timeout: %s is no time to answer in", o.timeout)
	case o.wait < 0:
		return usageError("--wait: %s is no time to wait", o.wait)
	case o.replay != "" && (o.kubeconfig != "" || o.context != "" || len(o.servers) > 0 || o.wait != 0 || o.record != "" || o.noObjectProbe):
		return usageError("--replay judges what was recorded: --kubeconfig, --context, --server, --wait, --record and --no-object-probe have no place beside it")
	}
	if o.record != "" && o.outputs.toFile(o.record) {
		return usageError("--record and -o name the same file %s", o.record)
	}
	if o.rules, err = checks.SelectLive(o.only, o.skip); err != nil {
		return usageError("%w", err)
	}
	if len(o.rules) == 0 {
		return usageError("--only and --skip leave no rule to judge a live control plane by")
	}
	return nil
}

func (a *app) probe(ctx context.Context, o *probeOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	gather := a.askCluster
	if o.replay != "" {
		gather = replay
	}
	cp, result, err := gather(ctx, o)
	if err != nil {
		return interrupted(ctx, err)
	}
	return a.reportProbe(cp, &result, o)
}

// reportProbe writes what the servers said and returns what the exit code says of it.
func (a *app) reportProbe(cp *evidence.ControlPlane, result *checks.LiveResult, o *probeOptions) error {
	r := report.ProbeReportOf(cp, result)
	r.Version, r.Replayed = versionInfo().Version, o.replay
	for i := range r.Findings { // in the order of the result's
		r.Findings[i].Fails = o.fails(&result.Findings[i])
	}
	if err := a.writeProbe(cp, r, o); err != nil {
		return failure(err)
	}
	switch {
	case slices.ContainsFunc(result.Findings, func(f checks.Finding) bool { return o.fails(&f) }):
		return &exitError{code: exitFindings}
	case result.CannotTell != "":
		return &exitError{code: exitFailed}
	}
	return nil
}

// fails tells whether a finding ends in exit code 1. A gap in the verdict ends in 3.
func (o *probeOptions) fails(f *checks.Finding) bool {
	return !f.Rule.Gap && o.failOn.reached(f.Severity)
}

// waitPause is the time between two rounds of --wait.
const waitPause = 2 * time.Second

// askCluster asks the control plane of the kubeconfig.
func (a *app) askCluster(ctx context.Context, o *probeOptions) (*evidence.ControlPlane, checks.LiveResult, error) {
	cfg, name, err := probe.LoadConfig(o.kubeconfig, o.context)
	if err != nil {
		return nil, checks.LiveResult{}, err
	}
	return a.askUntilProved(ctx, cfg, name, o)
}

// askUntilProved asks once, or with --wait again and again until there is nothing to complain of.
func (a *app) askUntilProved(ctx context.Context, cfg *rest.Config, name string, o *probeOptions) (*evidence.ControlPlane, checks.LiveResult, error) {
	p, err := probe.New(probe.Options{
		Config: cfg, Context: name, Servers: o.servers, Timeout: o.timeout, NoObjectProbe: o.noObjectProbe, Version: versionInfo().Version,
	})
	if err != nil {
		return nil, checks.LiveResult{}, err
	}
	defer p.Close()
	deadline := a.now().Add(o.wait)
	for said := false; ; {
		var result checks.LiveResult
		cp, err := p.Ask(ctx)
		if err == nil {
			result = checks.RunLive(cp, o.rules)
		}
		if proved := err == nil && result.CannotTell == "" && !hasErrors(&result); proved || a.now().Add(waitPause).After(deadline) {
			return cp, result, err
		}
		if !said {
			said = true
			a.complain(fmt.Sprintf("not proved yet; asking again for up to %s", o.wait))
		}
		select {
		case <-time.After(waitPause):
		case <-ctx.Done():
			return nil, result, ctx.Err()
		}
	}
}

func hasErrors(r *checks.LiveResult) bool {
	return slices.ContainsFunc(r.Findings, func(f checks.Finding) bool { return f.Severity == checks.Error })
}

// replay judges what was recorded.
func replay(_ context.Context, o *probeOptions) (*evidence.ControlPlane, checks.LiveResult, error) {
	f, err := os.Open(o.replay)
	if err != nil {
		return nil, checks.LiveResult{}, files.Error(o.replay, err)
	}
	defer f.Close()
	cp, err := evidence.Read(f)
	if err != nil {
		return nil, checks.LiveResult{}, files.Error(o.replay, err)
	}
	return cp, checks.RunLive(cp, o.rules), nil
}

// writeProbe writes the report in every format that was asked for, and the evidence.
func (a *app) writeProbe(cp *evidence.ControlPlane, r *report.ProbeReport, o *probeOptions) error {
	var pieces []piece
	if o.record != "" {
		pieces = append(pieces, piece{o.record, cp.Write})
	}
	whole := r.Report(report.Invocation{Program: a.program})
	return a.writeReport(whole, &o.outputs, report.Options{Verbose: o.verbose, Quiet: o.quiet}, o.color, pieces...)
}
