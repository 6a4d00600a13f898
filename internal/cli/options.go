package cli

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// choices are what flags and .mvpcheck.yaml both can say. They hold for the configurations of one folder.
type choices struct {
	from, to   releaseValue
	nodes      nodesValue
	only, skip listValue
	certDays   daysValue
	failOn     levelValue
	// rules are those that only and skip leave.
	rules []*checks.Rule
}

// restricted tells whether some rules are left out.
func (c *choices) restricted() bool { return len(c.only)+len(c.skip) > 0 }

// settings are the flags of the choices, in the order in which messages name them. A .mvpcheck.yaml has keys of the
// same names.
func (c *choices) settings() *pflag.FlagSet {
	f := pflag.NewFlagSet(settingsName, pflag.ContinueOnError)
	f.SortFlags = false
	f.Var(&c.from, "from", "the release that the servers run now, such as 1.35 or v1.35.4 (default: the one that the "+
		"configuration names)")
	f.Var(&c.to, "to", "the release to upgrade to (default: the next minor)")
	f.Var(&c.nodes, "nodes", "the control-plane nodes: how many, or the name and address of each "+
		"(default: those that the configuration names, else 3)")
	f.Var(&c.failOn, "fail-on", "the least severity that ends in exit code 1")
	f.Var(&c.only, "only", "judge by these rules only; IDs or names")
	f.Var(&c.skip, "skip", "do not judge by these rules; IDs or names")
	f.Var(&c.certDays, "cert-days", "report certificates that end within this many days")
	return f
}

// options are the flags that check and patch have in common.
type options struct {
	choices
	manifests     []string
	patches       string
	root          string
	stdinFilename string

	flags *pflag.FlagSet
}

// newOptions has the defaults.
func newOptions() options {
	return options{choices: choices{certDays: 30, failOn: "error"}}
}

// addTo adds the flags to a command.
func (o *options) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	o.flags = f
	own := o.choices.settings()
	for _, name := range []string{"from", "to", "nodes", "only", "skip"} {
		f.AddFlag(own.Lookup(name))
	}
	f.StringArrayVar(&o.manifests, "manifest", nil, "a node's static pod manifest (`FILE`), to compare with what runs "+
		"now; once for each node")
	f.StringVar(&o.patches, "patches", "", "the folder that kubeadm gets with its own --patches (`DIR`)")
	f.StringVar(&o.root, "root", "", "the files of a control-plane node below `DIR`, for certificates and manifests; "+
		"/ on the node itself")
	f.AddFlag(own.Lookup("cert-days"))
	f.StringVar(&o.stdinFilename, "stdin-filename", "",
		"what to call standard input; .mvpcheck.yaml is looked for beside this `FILE`")

	for _, name := range []string{"only", "skip"} {
		complete(cmd, name, completeRules(checks.Select))
	}
	for _, name := range []string{"from", "to"} {
		complete(cmd, name, completeReleases)
	}
	complete(cmd, "nodes", completeNodes)
	complete(cmd, "cert-days", cobra.NoFileCompletions)
	for _, name := range []string{"patches", "root"} {
		complete(cmd, name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		})
	}
}

// forReport is what the report asks of the choices.
func (c *choices) forReport() report.Choices {
	return report.Choices{Requested: c.only, Fails: c.failOn.reached}
}

// resolve puts flags, settings and defaults together.
func (o *options) resolve(settings []setting) (*choices, error) {
	c := o.choices
	flags := c.settings()
	for _, s := range settings {
		if o.flags.Changed(s.flag) {
			continue
		}
		for _, value := range s.values {
			if err := flags.Set(s.flag, value); err != nil {
				return nil, usageError("%w", err)
			}
		}
	}
	var err error
	if c.rules, err = checks.Select(c.only, c.skip); err != nil {
		return nil, usageError("%w", err)
	}
	if len(c.rules) == 0 {
		return nil, usageError("--only and --skip leave no rule to judge by")
	}
	return &c, nil
}

// repeated returns the flags to repeat in the command that a report suggests.
func (o *options) repeated() []string {
	var out []string
	for _, name := range []string{"from", "to", "nodes", "only", "skip", "patches", "root"} {
		if f := o.flags.Lookup(name); f.Changed && f.Value.String() != "" {
			out = append(out, "--"+name, f.Value.String())
		}
	}
	for _, name := range o.manifests {
		out = append(out, "--manifest", name)
	}
	return out
}

// extras are the files beside the configurations, read once for all of them.
type extras struct {
	folders [][]*config.Manifest
	patches []*config.PatchFile
}

// fileError is a file that cannot be read.
type fileError struct {
	name string
	err  error
}

// readExtras reads what --manifest, --patches and --root name. The errors are those of inputs.
func (o *options) readExtras() (*extras, []fileError) {
	x := &extras{}
	var errs []fileError
	fail := func(name string, err error) { errs = append(errs, fileError{name, err}) }
	names := o.manifests
	if o.root != "" {
		if err := isDir(o.root); err != nil {
			fail(o.root, err)
		}
		name := filepath.Join(o.root, "etc", "kubernetes", "manifests", "kube-apiserver.yaml")
		if exists(name) && !sameFileIn(name, names) {
			names = append(names[:len(names):len(names)], name)
		}
	}
	for _, name := range names {
		folder, err := config.ReadManifest(name)
		if err != nil {
			fail(name, err)
			continue
		}
		x.folders = append(x.folders, folder)
	}
	if o.patches != "" {
		err := isDir(o.patches)
		if err == nil {
			x.patches, err = config.ReadPatches(o.patches)
		}
		if err != nil {
			fail(o.patches, err)
		}
	}
	x.index()
	return x, errs
}

// index makes the files find their lines now: they are shared by the clusters, which are judged side by side.
func (x *extras) index() {
	for _, folder := range x.folders {
		for _, m := range folder {
			m.Doc.Text.File.Lines()
		}
	}
	for _, p := range x.patches {
		p.File.Lines()
	}
}

// prepare adds to a cluster what the command line knows of it.
func (x *extras) prepare(c *config.Cluster, ch *choices) {
	if ch.nodes.text != "" {
		c.Replicas, c.ReplicasFrom = ch.nodes.count, "--nodes"
		if ch.nodes.nodes != nil {
			c.Nodes = ch.nodes.nodes
		}
	}
	c.Patches = append(c.Patches, x.patches...)
	for _, folder := range x.folders {
		if !isOwnManifest(c, folder) {
			c.AddFolder(folder)
		}
	}
}

// isOwnManifest tells whether the manifest of a folder is the configuration itself: --root / beside the node's
// manifest.
func isOwnManifest(c *config.Cluster, folder []*config.Manifest) bool {
	return c.Form == config.FormManifest && sameFileIn(folder[0].File, []string{c.Input.File.Name})
}

var errManifestsOfSeveral = errors.New("--manifest belongs to one cluster; give one configuration with it")
