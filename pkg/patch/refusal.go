package patch

import (
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// Refusal is a change that cannot be made safely, with what to do by hand.
type Refusal struct {
	// At is the place that stands in the way.
	At     yamldoc.Place
	Reason string
	// Lines are the YAML lines to write by hand.
	Lines []string
	// Rule is the rule whose finding asked for the change; nil where the file as a whole is refused.
	Rule *checks.Rule
}

// Error returns file:line:column: reason.
func (r *Refusal) Error() string {
	p := r.At.File.Position(r.At.Start)
	return fmt.Sprintf("%s:%d:%d: %s", r.At.File.Name, p.Line, p.Column, r.Reason)
}

// byHand returns the lines that make the changes of a finding by hand, in the form that the configuration has.
func byHand(c *config.Cluster, changes []checks.Change) []string {
	b := handLines{c: c}
	for _, ch := range changes {
		b.add(ch)
	}
	return b.lines()
}

// handOffLines are what the hand-off needs, for a form that is not edited.
func handOffLines(c *config.Cluster) []string {
	b := handLines{c: c}
	gates := release.SetGate(b.gates(), release.Gate, true)
	if on, set := release.ParseFeatureGates([]string{gates}).Explicit(release.Identity); set && !on {
		gates = release.RemoveGate(gates, release.Identity) // the hand-off depends on it (S6)
	}
	b.set(release.FlagFeatureGates, gates)
	dir := c.CertificatesDir.Value
	if dir == "" || config.PlaceholderIn(dir) != "" {
		dir = config.DefaultCertificatesDir
	}
	b.set(release.FlagPeerCAFile, strings.TrimRight(dir, "/")+"/ca.crt")
	return b.lines()
}

// handLines collects what the apiServer part must have.
type handLines struct {
	c       *config.Cluster
	args    []yamldoc.NodeField
	volumes []string
	notes   []string
	// component has the arguments where it is not apiServer.
	component string
}

func (b *handLines) set(name, value string) {
	for i := range b.args {
		if b.args[i].Key == name {
			b.args[i] = field(name, value)
			return
		}
	}
	b.args = append(b.args, field(name, value))
}

// gates returns the feature-gates as they are, without those that a template fills in.
func (b *handLines) gates() string {
	var values []string
	flags := config.CommandLine(nil)
	if b.c.Root == nil && len(b.c.Manifests) > 0 {
		flags = b.c.Manifests[0].Flags()
	}
	for _, f := range flags.All(release.FlagFeatureGates) {
		values = append(values, f.Value)
	}
	for _, a := range b.c.APIServer.Args {
		isGates := release.NormalizeFlag(a.Name) == release.FlagFeatureGates && a.MergeMethod == ""
		if isGates && config.PlaceholderIn(a.Value) == "" {
			values = append(values, strings.TrimSpace(a.Value))
		}
	}
	return strings.Join(values, ",")
}

func (b *handLines) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf("# "+format, args...))
}

func (b *handLines) add(ch checks.Change) {
	switch ch.Op {
	case checks.SetGate:
		b.set(release.FlagFeatureGates, release.SetGate(b.gates(), ch.Gate, ch.On))
	case checks.SetFlag:
		b.set(ch.Flag, ch.Value)
	case checks.SetArg:
		b.set(ch.Arg.Name, ch.Value)
	case checks.RenameArg:
		b.note("in place of %s:", ch.Arg.Name)
		b.set(ch.Flag, ch.Arg.Value)
	case checks.DropMergeMethod:
		b.note("without mergeMethod:")
		b.set(ch.Arg.Name, ch.Arg.Value)
	case checks.RemoveArg:
		b.note("remove %s (line %d)", ch.Arg.Name, lineOf(ch.Arg.NameAt, ch.Arg.Node))
	case checks.RemoveEntry:
		b.note("remove %s (line %d)", ch.Entry.Value.Path(), lineOf(yamldoc.Place{}, ch.Entry.Value))
	case checks.QuoteValue:
		b.note("in line %d: %s", lineOf(yamldoc.Place{}, ch.Node), quotedLine(ch.Node, ch.Value))
	case checks.AddVolume:
		b.volumes = append(b.volumes, ch.Value)
	case checks.ReshapeArgs:
		b.reshape(ch.Entry)
	}
}

func lineOf(at yamldoc.Place, v *yamldoc.Value) int {
	if at.IsZero() {
		at = v.Place()
	}
	return at.File.Position(at.Start).Line
}

func quotedLine(v *yamldoc.Value, text string) string {
	if e := v.Entry(); e != nil {
		return e.Key + ": " + yamldoc.JSONString(text)
	}
	return "- " + yamldoc.JSONString(text)
}

// reshape lists all arguments of the component.
func (b *handLines) reshape(entry *yamldoc.Entry) {
	if owner := entry.Value.Parent(); owner != nil && owner.Entry() != nil {
		b.component = owner.Entry().Key
	}
	for key, args := range map[string][]*config.Arg{
		"apiServer": b.c.APIServer.Args, "controllerManager": b.c.ControllerManager.Args,
		"scheduler": b.c.Scheduler.Args, "local": b.c.Etcd.LocalArgs,
	} {
		if key == b.component {
			for _, a := range args {
				b.set(a.Name, a.Value)
			}
		}
	}
}

func (b *handLines) lines() []string {
	component := yamldoc.Object()
	if len(b.args) > 0 {
		value := yamldoc.Object(b.args...)
		if b.asList() {
			value = yamldoc.Array()
			for _, f := range b.args {
				value.Items = append(value.Items, argItem(f.Key, f.Value.Text))
			}
		}
		component.Fields = append(component.Fields, yamldoc.NodeField{Key: "extraArgs", Value: value})
	}
	if len(b.volumes) > 0 {
		volumes := yamldoc.Array()
		for _, hostPath := range b.volumes {
			volumes.Items = append(volumes.Items, volumeItem(b.c, hostPath, yamldoc.Plain))
		}
		component.Fields = append(component.Fields, yamldoc.NodeField{Key: "extraVolumes", Value: volumes})
	}
	if component.Empty() {
		return b.notes
	}
	name := b.component
	if name == "" {
		name = "apiServer"
	}
	return append(b.notes, yamldoc.Object(yamldoc.NodeField{Key: name, Value: component}).Lines()...)
}

// asList tells which form of extraArgs the lines have: what the file has, and for a manifest that of the
// ClusterConfiguration that today's kubeadm writes.
func (b *handLines) asList() bool {
	if b.c.Form == config.FormKind {
		return b.c.APIServer.ArgsEntry != nil && b.c.APIServer.ArgsEntry.Value.Kind == yamldoc.List
	}
	return b.c.Root == nil || listForm(b.c)
}
