package patch

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// planner turns the changes of a finding into operations on the file.
type planner struct {
	c *config.Cluster
	// added are the flags that were added before: new ones go below them.
	added []string
	// fresh counts those that the operations add.
	fresh int
	ops   []yamldoc.Op
}

func (p *planner) plan(ch checks.Change) error {
	switch ch.Op {
	case checks.SetGate:
		return p.setGate(ch.Gate, ch.On)
	case checks.SetFlag:
		return p.setFlag(ch.Flag, ch.Value)
	case checks.SetArg:
		return p.setArg(ch.Arg, ch.Value)
	case checks.RemoveArg:
		return p.at(ch.Arg.Node, yamldoc.Op{Kind: yamldoc.Remove, Drop: meaningless})
	case checks.RenameArg:
		return p.renameArg(ch.Arg, ch.Flag)
	case checks.DropMergeMethod:
		return p.dropMergeMethod(ch.Arg)
	case checks.QuoteValue:
		return p.at(ch.Node, yamldoc.Op{Kind: yamldoc.QuoteScalar, Text: ch.Value})
	case checks.ReshapeArgs:
		kind := yamldoc.ToMap
		if listForm(p.c) {
			kind = yamldoc.ToList
		}
		return p.at(ch.Entry.Value, yamldoc.Op{Kind: kind})
	case checks.RemoveEntry:
		return p.at(ch.Entry.Value, yamldoc.Op{Kind: yamldoc.Remove, Drop: meaningless})
	case checks.AddVolume:
		p.addVolume(ch.Value)
		return nil
	}
	return fmt.Errorf("mvpcheck does not know the change %d", ch.Op)
}

// meaningless are the keys that go when what they hold becomes empty: kubeadm reads nothing else from their
// absence, and Cluster API refuses a null there.
var meaningless = []string{"extraArgs", "extraVolumes", "featureGates", "apiServer", "controllerManager", "scheduler"}

// at adds an operation on a value that stands in the file.
func (p *planner) at(v *yamldoc.Value, op yamldoc.Op) error {
	op.Path = yamldoc.PathTo(v)
	p.ops = append(p.ops, op)
	return v.Editable()
}

// listForm tells whether the extraArgs of this configuration are a list: from kubeadm v1beta4 and from
// KubeadmControlPlane v1beta2 on.
func listForm(c *config.Cluster) bool {
	if c.Form != config.FormControlPlane {
		return c.APIVersion != "v1beta3"
	}
	_, version, _ := strings.Cut(controlPlane(c).Get("apiVersion").Str(), "/")
	return version != "v1alpha3" && version != "v1alpha4" && version != "v1beta1"
}

// controlPlane returns the KubeadmControlPlane that a cluster was read from, which may stand in a List.
func controlPlane(c *config.Cluster) *yamldoc.Value {
	v := c.Root
	for v != nil && !strings.HasPrefix(v.Get("kind").Str(), "KubeadmControlPlane") {
		v = v.Parent()
	}
	return v
}

// apiServerKeys is the way from the cluster's root to a field of its apiServer.
func apiServerKeys(c *config.Cluster, field string) []string {
	if c.Form == config.FormControlPlane && c.Root.Entry() != nil && c.Root.Entry().Key == "kubeadmConfigSpec" {
		return []string{"clusterConfiguration", "apiServer", field}
	}
	return []string{"apiServer", field}
}

// setGate sets a gate where the gates stand. Several feature-gates flags accumulate, and of one gate the last
// entry wins: the last flag that names it is changed, else the last flag.
func (p *planner) setGate(gate string, on bool) error {
	var last, naming *config.Arg
	for _, a := range p.c.APIServer.Args {
		if release.NormalizeFlag(a.Name) != release.FlagFeatureGates || a.MergeMethod != "" {
			continue
		}
		last = a
		for _, e := range release.ParseFeatureGates([]string{a.Value}).Entries {
			if e.Name == gate || e.Prefix == gate {
				naming = a
			}
		}
	}
	if naming != nil {
		last = naming
	}
	if last == nil {
		p.addFlag(release.FlagFeatureGates, release.SetGate("", gate, on))
		return nil
	}
	return p.setArg(last, release.SetGate(last.Value, gate, on))
}

// setFlag sets a flag that takes one value: of several the last, which is the one in force.
func (p *planner) setFlag(flag, value string) error {
	var last *config.Arg
	for _, a := range p.c.APIServer.Args {
		if release.NormalizeFlag(a.Name) == release.NormalizeFlag(flag) {
			last = a
		}
	}
	switch {
	case last == nil:
		p.addFlag(flag, value)
		return nil
	case last.MergeMethod != "" && hasValue(last, value):
		return p.dropMergeMethod(last)
	}
	return p.setArg(last, value)
}

// setArg gives an argument another value, and does nothing where it has that.
func (p *planner) setArg(a *config.Arg, value string) error {
	switch {
	case hasValue(a, value):
		return nil
	case a.ValueNode == nil:
		scalar := yamldoc.Scalar(value, yamldoc.QuoteHabit(yamldoc.FieldValues(a.Node.Parent(), "value")))
		return p.at(a.Node, yamldoc.Op{Kind: yamldoc.AddEntry, Key: "value", Value: scalar, At: yamldoc.AtEnd})
	}
	return p.setScalar(a.ValueNode, value)
}

func hasValue(a *config.Arg, value string) bool {
	return a.ValueNode != nil && a.ValueNode.Kind == yamldoc.String && a.ValueNode.Text == value
}

// setScalar refuses values that a template will fill in.
func (p *planner) setScalar(v *yamldoc.Value, text string) error {
	if err := p.at(v, yamldoc.Op{Kind: yamldoc.SetScalar, Text: text}); err != nil {
		return err
	}
	if mark := config.PlaceholderIn(v.Text); mark != "" {
		reason := fmt.Sprintf("the value has the template mark %s: change the template", mark)
		return &yamldoc.EditError{At: v.Place(), Reason: reason}
	}
	return nil
}

// inMap tells whether an argument is an entry of a map, not an item of a list.
func inMap(a *config.Arg) bool { return a.Node == a.ValueNode }

func (p *planner) renameArg(a *config.Arg, name string) error {
	if inMap(a) {
		return p.at(a.Node, yamldoc.Op{Kind: yamldoc.Rename, Key: name})
	}
	return p.setScalar(a.Node.Get("name"), name)
}

func (p *planner) dropMergeMethod(a *config.Arg) error {
	if v := a.Node.Get("mergeMethod"); v != nil {
		return p.at(v, yamldoc.Op{Kind: yamldoc.Remove, Drop: meaningless})
	}
	return nil
}

// addFlag adds an argument to apiServer's extraArgs.
func (p *planner) addFlag(name, value string) {
	keys := apiServerKeys(p.c, "extraArgs")
	have := p.c.Root.Get(keys...)
	style, keyStyle := p.argHabits()
	op := yamldoc.Op{
		Kind: yamldoc.AddEntry, Path: yamldoc.PathTo(p.c.Root).To(keys...), At: leading(have, p.added) + p.fresh,
		Key: name, Keys: keyStyle, Value: yamldoc.Scalar(value, style),
	}
	if listForm(p.c) {
		op.Kind, op.Value = yamldoc.AddItem, argItem(name, value)
		op.Value.Fields[0].Value.Style, op.Value.Fields[1].Value.Style = p.nameHabit(), style
		op.Keys = p.itemKeyHabit()
	}
	p.fresh++
	p.ops = append(p.ops, op)
}

// leading counts the arguments at the top of a collection that have one of the names.
func leading(v *yamldoc.Value, names []string) int {
	n := 0
	if v == nil {
		return n
	}
	for _, item := range v.Items {
		if !slices.Contains(names, item.Get("name").Str()) {
			return n
		}
		n++
	}
	for _, e := range v.Own() {
		if !slices.Contains(names, e.Key) {
			return n
		}
		n++
	}
	return n
}

func argItem(name, value string) yamldoc.Node {
	return yamldoc.Object(field("name", name), field("value", value))
}

// field is a key whose value is a string.
func field(key, value string) yamldoc.NodeField {
	return yamldoc.NodeField{Key: key, Value: yamldoc.Scalar(value, yamldoc.Plain)}
}

// ownArgs are the arguments of a component that stand in the document of the ClusterConfiguration.
func (p *planner) ownArgs(args []*config.Arg) []*config.Arg {
	var own []*config.Arg
	for _, a := range args {
		if a.Node != nil && a.Node.Document() == p.c.Root.Document() {
			own = append(own, a)
		}
	}
	return own
}

// argHabits is how the values and the keys of arguments are quoted: those of apiServer, else of the other
// components.
func (p *planner) argHabits() (value, key yamldoc.Style) {
	for _, args := range [][]*config.Arg{p.c.APIServer.Args, p.c.ControllerManager.Args, p.c.Scheduler.Args} {
		var values []*yamldoc.Value
		var keys []*yamldoc.Entry
		for _, a := range p.ownArgs(args) {
			if a.Node.Fixed != "" || a.Field != "extraArgs" {
				continue
			}
			values = append(values, a.ValueNode)
			if inMap(a) {
				keys = append(keys, a.Node.Entry())
			}
		}
		value, key = yamldoc.QuoteHabit(values), yamldoc.KeyHabit(keys)
		if value == yamldoc.Plain && key != yamldoc.Plain {
			// Even the names of the flags are quoted.
			value = key
		}
		if len(values) > 0 {
			break
		}
	}
	return value, key
}

// nameHabit is how the names of arguments are quoted, itemKeyHabit how the keys name and value are.
func (p *planner) nameHabit() yamldoc.Style {
	var names []*yamldoc.Value
	for _, a := range p.ownArgs(p.c.APIServer.Args) {
		if !inMap(a) {
			names = append(names, a.Node.Get("name"))
		}
	}
	return yamldoc.QuoteHabit(names)
}

func (p *planner) itemKeyHabit() yamldoc.Style {
	var keys []*yamldoc.Entry
	for _, a := range p.ownArgs(p.c.APIServer.Args) {
		if !inMap(a) && a.Node.Fixed == "" {
			keys = append(keys, a.Node.Own()...)
		}
	}
	return yamldoc.KeyHabit(keys)
}

// addVolume mounts a path of the host into the pod of kube-apiserver.
func (p *planner) addVolume(hostPath string) {
	for _, v := range p.c.APIServer.Volumes {
		if v.HostPath == hostPath && v.MountPath == hostPath {
			return
		}
	}
	keys := apiServerKeys(p.c, "extraVolumes")
	style, _ := p.argHabits()
	if have := p.c.Root.Get(keys...); have != nil && len(have.Items) > 0 {
		style = yamldoc.QuoteHabit(append(yamldoc.FieldValues(have, "hostPath"), yamldoc.FieldValues(have, "mountPath")...))
	}
	list, item := yamldoc.PathTo(p.c.Root).To(keys...), volumeItem(p.c, hostPath, style)
	p.ops = append(p.ops, yamldoc.Op{Kind: yamldoc.AddItem, Path: list, Value: item})
}

func volumeItem(c *config.Cluster, hostPath string, style yamldoc.Style) yamldoc.Node {
	readOnly := yamldoc.NodeField{Key: "readOnly", Value: yamldoc.Node{Kind: yamldoc.Bool, Text: "true"}}
	item := yamldoc.Object(
		field("name", volumeName(c, hostPath)), field("hostPath", hostPath), field("mountPath", hostPath), readOnly)
	for i := range item.Fields {
		item.Fields[i].Value.Style = style
	}
	return item
}

// volumeName returns a name that no other volume of the pod has: a second volume of a name replaces the first.
func volumeName(c *config.Cluster, hostPath string) string {
	base := strings.ToLower(path.Base(hostPath))
	base = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(strings.TrimSuffix(base, ".crt"), ".pem")), "-")
	if len(base) > 40 || base == "" {
		base = "ca"
	}
	first := "peer-" + strings.TrimPrefix(base, "peer-")
	name := first
	for n := 2; slices.ContainsFunc(c.APIServer.Volumes, func(v config.Volume) bool { return v.Name == name }); n++ {
		name = fmt.Sprintf("%s-%d", first, n)
	}
	return name
}
