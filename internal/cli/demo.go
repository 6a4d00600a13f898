package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mvpcheck/mvpcheck/internal/demo"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

const demoLong = `Show the whole story without a cluster: a configuration as most clusters have it, what is wrong with it, the patch, and
what the API servers of an upgrade that is on its way answer without it and with it.

The servers are embedded: three of them, of 1.35 and 1.36, on free ports of 127.0.0.1. They answer over TLS what real
servers were measured to answer, and really hand requests to each other, or do not. What is printed comes from the code
of mvpcheck check, patch and probe. No file is read or written, and no network is asked but loopback.

With --serve the servers stay up until ctrl-C, so that mvpcheck probe and kubectl can be tried on them. A kubeconfig is
written for that, readable by its owner alone, and removed at the end.

Exit codes: 0 the story went as it should, whatever mvpcheck found in it, 2 usage, 3 it did not.`

const demoExample = `  # The story, in a few seconds
  mvpcheck demo

  # Servers to try probe on, in the middle of an upgrade that nobody has prepared
  mvpcheck demo --serve

  # The same with the hand-off set up
  mvpcheck demo --serve --state prepared --kubeconfig demo.kubeconfig`

// The states of the servers of --serve.
const (
	stateUnprepared = "unprepared"
	statePrepared   = "prepared"
)

// demoOptions are the flags of demo.
type demoOptions struct {
	serve      bool
	state      wordValue
	kubeconfig string
	color      colorValue
	quiet      bool
}

func (a *app) demoCommand() *cobra.Command {
	o := &demoOptions{state: wordValue{stateUnprepared, []string{stateUnprepared, statePrepared}}, color: "auto"}
	cmd := &cobra.Command{
		Use:     "demo [flags]",
		Short:   "Show the whole story on embedded API servers, without a cluster",
		Long:    demoLong,
		Example: demoExample,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd.Flags().Changed); err != nil {
				return err
			}
			run := a.tellStory
			if o.serve {
				run = a.serveDemo
			}
			if err := run(cmd.Context(), o); err != nil {
				return interrupted(cmd.Context(), err)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.serve, "serve", false, "keep the servers up until ctrl-C instead")
	f.Var(&o.state, "state", "with --serve: the servers with the configuration as it is, or with the patched one")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "with --serve: write the kubeconfig to `FILE`, which must not be there (default: into a temporary folder)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "what the commands print in their short form, and little else")
	f.Var(&o.color, "color", "when to use colour; auto: on a terminal, unless NO_COLOR is set or TERM is dumb")
	complete(cmd, "state", cobra.FixedCompletions(o.state.allowed, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "color", cobra.FixedCompletions(colorModes, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *demoOptions) validate(given func(flag string) bool) error {
	for _, flag := range []string{"state", "kubeconfig"} {
		if given(flag) && !o.serve {
			return usageError("--%s is for servers that stay up: give --serve, too", flag)
		}
	}
	if given("kubeconfig") && o.kubeconfig == "" {
		return usageError("--kubeconfig names no file")
	}
	return nil
}

// demoFile is what the configuration of the demo is called.
const demoFile = "cluster.yaml"

// demoJob is a configuration of the demo as mvpcheck check and patch take it from a file. No .mvpcheck.yaml is looked for.
func demoJob(name, text string, o *options) (job, error) {
	c, err := o.resolve(nil)
	return job{name: name, argument: name, data: []byte(text), choices: c}, err
}

// patchDemo has mvpcheck patch the configuration of the demo, and returns the patcher for what else it has to say.
func (a *app) patchDemo() (*patcher, *patch.Result, error) {
	o := &patchOptions{options: newOptions(), diff: true}
	o.addTo(&cobra.Command{})
	j, err := demoJob(demoFile, demo.Configuration, &o.options)
	if err != nil {
		return nil, nil, err
	}
	p := &patcher{app: a, o: o, job: &j, judge: &judge{options: &o.options, extras: &extras{}, now: a.now()}}
	r, err := p.fix()
	return p, r, err
}

// write writes to standard output; an error is one of what standard output leads to.
func (a *app) write(text string) error {
	_, err := io.WriteString(a.Out, text)
	return err
}

// startDemo starts the servers of the demo in a state.
func (a *app) startDemo(ctx context.Context, state string) (*demo.ControlPlane, error) {
	configuration := demo.Configuration
	if state == statePrepared {
		_, r, err := a.patchDemo()
		if err != nil {
			return nil, err
		}
		configuration = string(r.After)
	}
	return demo.Start(ctx, configuration)
}
