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

// plan turns a change into the edit that makes it; nil where nothing is left to change. added are the flags that were
// added before: new ones go below them.
func plan(c *config.Cluster, ch checks.Change, added []string) (*edit, error) {
	switch ch.Op {
	case checks.SetGate:
		return setGate(c, ch.Gate, ch.On, added)
	case checks.SetFlag:
		return setFlag(c, ch.Flag, ch.Value, added)
	case checks.SetArg:
		return setArg(ch.Arg, ch.Value)
	case checks.RemoveArg:
		return removeArg(ch.Arg)
	case checks.RenameArg:
		return renameArg(ch.Arg, ch.Flag)
	case checks.DropMergeMethod:
		return dropMergeMethod(ch.Arg)
	case checks.QuoteValue:
		return quoteScalar(ch.Node, ch.Value)
	case checks.ReshapeArgs:
		return reshape(ch.Entry, listForm(c))
	case checks.RemoveEntry:
		return removeEntry(ch.Entry.Value.Parent(), ch.Entry)
	case checks.AddVolume:
		return addVolume(c, ch.Value)
	}
	return nil, fmt.Errorf("mvpcheck does not know the change %d", ch.Op)
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

// argsPath is the way from the cluster's root to its apiServer.
func argsPath(c *config.Cluster) []string {
	if c.Form == config.FormControlPlane && c.Root.Entry() != nil && c.Root.Entry().Key == "kubeadmConfigSpec" {
		return []string{"clusterConfiguration", "apiServer"}
	}
	return []string{"apiServer"}
}

// setGate sets a gate where the gates stand. Several feature-gates flags accumulate, and of one gate the last
// entry wins: the last flag that names it is changed, else the last flag.
func setGate(c *config.Cluster, gate string, on bool, added []string) (*edit, error) {
	var last, naming *config.Arg
	for _, a := range c.APIServer.Args {
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
		return addFlag(c, release.FlagFeatureGates, release.SetGate("", gate, on), added)
	}
	return setArg(last, release.SetGate(last.Value, gate, on))
}

// setFlag sets a flag that takes one value: of several the last, which is the one in force.
func setFlag(c *config.Cluster, flag, value string, added []string) (*edit, error) {
	var last *config.Arg
	for _, a := range c.APIServer.Args {
		if release.NormalizeFlag(a.Name) == release.NormalizeFlag(flag) {
			last = a
		}
	}
	if last == nil {
		return addFlag(c, flag, value, added)
	}
	if e, err := setArg(last, value); e != nil || err != nil {
		return e, err
	}
	if last.MergeMethod != "" {
		return dropMergeMethod(last)
	}
	return nil, nil
}

// setArg gives an argument another value, and does nothing where it has that.
func setArg(a *config.Arg, value string) (*edit, error) {
	switch {
	case a.ValueNode == nil:
		p := printerFor(layoutOf(a.Node.Document()), a.Node)
		p.value = layoutOf(a.Node.Document()).siblingHabitOf(a.Node.Parent())
		return insertEntry(a.Node, "value", str(value), p, atEnd)
	case a.ValueNode.Kind == yamldoc.String && a.ValueNode.Text == value:
		return nil, nil
	}
	return setScalar(a.ValueNode, value)
}

// siblingHabitOf is how the values of a list of arguments are quoted.
func (l *layout) siblingHabitOf(list *yamldoc.Value) yamldoc.Style {
	if list == nil || list.Kind != yamldoc.List {
		return yamldoc.Plain
	}
	return quoteHabit(fieldValues(list, "value"))
}

// inMap tells whether an argument is an entry of a map, not an item of a list.
func inMap(a *config.Arg) bool { return a.Node == a.ValueNode }

func removeArg(a *config.Arg) (*edit, error) {
	if inMap(a) {
		return removeEntry(a.Node.Parent(), a.Node.Entry())
	}
	return removeItem(a.Node)
}

func renameArg(a *config.Arg, name string) (*edit, error) {
	if inMap(a) {
		return renameKey(a.Node.Parent(), a.Node.Entry(), name)
	}
	return setScalar(a.Node.Get("name"), name)
}

func dropMergeMethod(a *config.Arg) (*edit, error) {
	entry := a.Node.Find("mergeMethod")
	if entry == nil {
		return nil, nil
	}
	return removeEntry(a.Node, entry)
}

// addFlag adds an argument to apiServer's extraArgs, with the parents that are missing.
func addFlag(c *config.Cluster, name, value string, added []string) (*edit, error) {
	keys := append(argsPath(c), "extraArgs")
	found, missing := descend(c.Root, keys)
	l := layoutOf(c.Root.Document())
	p := printerFor(l, found)
	p.value, p.key = argHabits(c, l)
	asList := listForm(c)
	n := object(field{name, str(value)})
	item := argItem(name, value)
	if asList {
		item.entries[0].value.style, item.entries[0].value.styled = nameHabit(c, l), true
		n = list(item)
		p.key = itemKeyHabit(c, l)
	}
	top := leading(found, added)
	switch {
	case len(missing) > 0 || found.Kind == yamldoc.Null || found.Kind != yamldoc.String && emptyCollection(found):
		return create(found, missing, n, p)
	case asList && found.Kind == yamldoc.List:
		return insertItem(found, item, p, top)
	case !asList && found.Kind == yamldoc.Map:
		return insertEntry(found, name, str(value), p, top)
	}
	return nil, refuse(found, "%s is %s, which this apiVersion does not take", found.Path(), found.Kind)
}

// nameHabit is how the names of arguments are quoted.
func nameHabit(c *config.Cluster, l *layout) yamldoc.Style {
	var names []*yamldoc.Value
	for _, a := range c.APIServer.Args {
		if !inMap(a) && a.Node != nil && a.Node.Document() == l.doc {
			names = append(names, a.Node.Get("name"))
		}
	}
	return quoteHabit(names)
}

// leading counts the arguments at the top of a collection that have one of the names.
func leading(v *yamldoc.Value, names []string) position {
	n := 0
	for _, item := range v.Items {
		if !slices.Contains(names, item.Get("name").Str()) {
			return position(n)
		}
		n++
	}
	for _, e := range ownEntries(v) {
		if !slices.Contains(names, e.Key) {
			return position(n)
		}
		n++
	}
	return position(n)
}

func argItem(name, value string) node {
	return object(field{"name", str(name)}, field{"value", str(value)})
}

// descend follows the keys as far as there is a map that has them, and returns the keys that are missing.
func descend(v *yamldoc.Value, keys []string) (found *yamldoc.Value, missing []string) {
	for i, key := range keys {
		next := v.Find(key)
		if v.Kind != yamldoc.Map || next == nil {
			return v, keys[i:]
		}
		v = next.Value
	}
	return v, nil
}

func emptyCollection(v *yamldoc.Value) bool {
	return (v.Kind == yamldoc.Map || v.Kind == yamldoc.List) && len(v.Entries) == 0 && len(v.Items) == 0
}

// create puts content below found, within maps for the missing keys.
func create(found *yamldoc.Value, missing []string, n node, p *printer) (*edit, error) {
	for i := len(missing) - 1; i > 0; i-- {
		n = object(field{missing[i], n})
	}
	switch {
	case found.Kind == yamldoc.Null || emptyCollection(found):
		if len(missing) > 0 {
			n = object(field{missing[0], n})
		}
		return fill(found, n, p)
	case found.Kind == yamldoc.Map && len(missing) > 0:
		return insertEntry(found, missing[0], n, p, atEnd)
	}
	return nil, refuse(found, "%s is %s, not a map", found.Path(), found.Kind)
}

// argHabits is how the values and the keys of arguments are quoted: those of apiServer, else of the other
// components.
func argHabits(c *config.Cluster, l *layout) (value, key yamldoc.Style) {
	for _, args := range [][]*config.Arg{c.APIServer.Args, c.ControllerManager.Args, c.Scheduler.Args} {
		var values []*yamldoc.Value
		var keys []*yamldoc.Entry
		for _, a := range args {
			if a.Node == nil || a.Node.Document() != l.doc || a.Node.Fixed != "" || a.Field != "extraArgs" {
				continue
			}
			values = append(values, a.ValueNode)
			if inMap(a) {
				keys = append(keys, a.Node.Entry())
			}
		}
		value, key = quoteHabit(values), keyHabit(l, keys)
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

// itemKeyHabit is how the keys name and value are quoted.
func itemKeyHabit(c *config.Cluster, l *layout) yamldoc.Style {
	var keys []*yamldoc.Entry
	for _, a := range c.APIServer.Args {
		if !inMap(a) && a.Node != nil && a.Node.Document() == l.doc && a.Node.Fixed == "" {
			keys = append(keys, ownEntries(a.Node)...)
		}
	}
	return keyHabit(l, keys)
}

// addVolume mounts a path of the host into the pod of kube-apiserver.
func addVolume(c *config.Cluster, hostPath string) (*edit, error) {
	for _, v := range c.APIServer.Volumes {
		if v.HostPath == hostPath && v.MountPath == hostPath {
			return nil, nil
		}
	}
	found, missing := descend(c.Root, append(argsPath(c), "extraVolumes"))
	l := layoutOf(c.Root.Document())
	p := printerFor(l, found)
	p.value, _ = argHabits(c, l)
	item := volumeItem(c, hostPath)
	if len(missing) == 0 && found.Kind == yamldoc.List && len(found.Items) > 0 {
		p.value = quoteHabit(append(fieldValues(found, "hostPath"), fieldValues(found, "mountPath")...))
		return insertItem(found, item, p, 0)
	}
	return create(found, missing, list(item), p)
}

func volumeItem(c *config.Cluster, hostPath string) node {
	return object(field{"name", str(volumeName(c, hostPath))}, field{"hostPath", str(hostPath)},
		field{"mountPath", str(hostPath)}, field{"readOnly", trueNode()})
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
	name := "peer-" + strings.TrimPrefix(base, "peer-")
	for n := 2; ; n++ {
		taken := false
		for _, v := range c.APIServer.Volumes {
			taken = taken || v.Name == name
		}
		if !taken {
			return name
		}
		name = fmt.Sprintf("peer-%s-%d", strings.TrimPrefix(base, "peer-"), n)
	}
}
