package config

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

const kubeadmGroup = "kubeadm.k8s.io/"

// reader reads the documents of one input.
type reader struct {
	in *Input
	// problems of the kubeadm documents of the text at hand; they go to its cluster.
	problems []Problem
}

// kubeadmDocs are the kubeadm documents of one text: a file, or one ConfigMap's data.
type kubeadmDocs struct {
	cluster     *yamldoc.Document
	clusterRoot *yamldoc.Value
	nodes       []Node
	upgrade     []*yamldoc.Value
	kubelet     *yamldoc.Value
	kinds       []string
}

func (r *reader) read() error {
	var plain kubeadmDocs
	var manifests []*Manifest
	found := false
	for _, d := range r.in.Docs {
		if d.Root == nil {
			continue
		}
		ok, err := r.readObject(d, d.Root, &plain, &manifests)
		if err != nil {
			return err
		}
		found = found || ok
	}
	if !found && len(plain.kinds) == 0 {
		return notConfig(r.in.File, r.in.Docs)
	}
	if err := r.addPlain(&plain); err != nil {
		return err
	}
	if len(manifests) > 0 {
		r.addManifests(manifests)
	}
	if len(r.in.Clusters) == 0 && len(r.in.Patches) == 0 {
		r.noteNothing(&plain)
	}
	return nil
}

// readObject reads one object: a document or an item of a List. It returns false for objects that mvpcheck has
// no use for.
func (r *reader) readObject(d *yamldoc.Document, v *yamldoc.Value, plain *kubeadmDocs,
	manifests *[]*Manifest) (bool, error) {
	if v.Kind == yamldoc.List {
		p := jsonPatch(v)
		if p != nil {
			r.in.Patches = append(r.in.Patches, p)
		}
		return p != nil, nil
	}
	apiVersion, kind := v.Get("apiVersion").Str(), v.Get("kind").Str()
	group, version, _ := strings.Cut(apiVersion, "/")
	switch {
	case strings.HasPrefix(apiVersion, kubeadmGroup):
		return true, r.readKubeadm(d, v, version, kind, plain)
	case kind == "ClusterConfiguration" && apiVersion == "":
		return false, &Error{Place: v.Place(), Msg: "this ClusterConfiguration has no apiVersion; kubeadm refuses " +
			"the file: add apiVersion: kubeadm.k8s.io/v1beta4"}
	case kind == "ClusterConfiguration":
		return false, &Error{Place: v.Get("apiVersion").Place(),
			Msg: fmt.Sprintf("apiVersion %q of this ClusterConfiguration is not one of kubeadm's: write "+
				"kubeadm.k8s.io/v1beta4", apiVersion)}
	case kind == "KubeletConfiguration":
		plain.kubelet = v
		plain.kinds = append(plain.kinds, kind)
		return true, nil
	case strings.HasSuffix(group, ".config.k8s.io"):
		plain.kinds = append(plain.kinds, kind)
		return true, nil
	case kind == "ConfigMap" && apiVersion == "v1":
		return r.readConfigMap(d, v)
	case strings.HasSuffix(kind, "List") && v.Get("items") != nil:
		found := false
		for _, item := range v.Get("items").Items {
			ok, err := r.readObject(d, item, plain, manifests)
			if err != nil {
				return false, err
			}
			found = found || ok
		}
		return found, nil
	case group == "controlplane.cluster.x-k8s.io" && strings.HasPrefix(kind, "KubeadmControlPlane"):
		return r.readControlPlane(d, v, version)
	case group == "kind.x-k8s.io" && kind == "Cluster":
		return true, r.readKind(d, v)
	case kind == "Pod":
		if p := strategicPatch(v); p != nil {
			r.in.Patches = append(r.in.Patches, p)
			return true, nil
		}
		m, err := readManifest(d, v)
		if m != nil {
			*manifests = append(*manifests, m)
		}
		return m != nil, err
	}
	return false, nil
}

func (r *reader) readKubeadm(d *yamldoc.Document, v *yamldoc.Value, version, kind string, docs *kubeadmDocs) error {
	docs.kinds = append(docs.kinds, kind)
	r.checkSchema(v, kubeadmGroup+version, kind)
	switch kind {
	case "ClusterConfiguration", "MasterConfiguration":
		if docs.cluster != nil {
			return &Error{Place: v.Place(),
				Msg: fmt.Sprintf("a second %s in one text (the first is document %d); kubeadm refuses the "+
					"file: split it", kind, docs.cluster.FileIndex())}
		}
		docs.cluster, docs.clusterRoot = d, v
	case "InitConfiguration":
		docs.addNode(v.Get("localAPIEndpoint"), v, kind)
	case "JoinConfiguration":
		if cp := v.Get("controlPlane"); cp != nil && cp.Kind == yamldoc.Map {
			docs.addNode(cp.Get("localAPIEndpoint"), v, kind)
		}
	case "UpgradeConfiguration":
		docs.upgrade = append(docs.upgrade, v)
	}
	return nil
}

func (docs *kubeadmDocs) addNode(endpoint, root *yamldoc.Value, kind string) {
	n := Node{Name: root.Get("nodeRegistration", "name").Str(), From: kind, At: root.Place()}
	if a := endpoint.Get("advertiseAddress"); a != nil && a.Text != "" {
		n.Address, n.At = a.Text, a.Place()
	}
	if p := endpoint.Get("bindPort"); p != nil {
		n.Port, _ = strconv.Atoi(p.Text)
		if n.Address == "" {
			n.At = p.Place()
		}
	}
	if PlaceholderIn(n.Name) != "" {
		n.Name = ""
	}
	docs.nodes = append(docs.nodes, n)
}

func (r *reader) addPlain(docs *kubeadmDocs) error {
	if docs.cluster == nil {
		return nil
	}
	c, err := r.newCluster(docs, FormKubeadm)
	if err != nil {
		return err
	}
	r.in.Clusters = append(r.in.Clusters, c)
	return nil
}

func (r *reader) newCluster(docs *kubeadmDocs, form Form) (*Cluster, error) {
	v := docs.clusterRoot
	c := &Cluster{Input: r.in, Form: form, Doc: docs.cluster, Root: v, Nodes: docs.nodes, Upgrade: docs.upgrade}
	if av := v.Get("apiVersion"); av != nil {
		c.APIVersion = strings.TrimPrefix(av.Text, kubeadmGroup)
		c.APIVersionAt = av.Place()
	}
	if docs.kubelet != nil {
		c.KubeletGates = entries(docs.kubelet.Get("featureGates"))
	}
	// From v1beta4 on extraArgs are a list; all versions before have a map.
	r.fillCluster(c, c.APIVersion < "v1beta4" && c.APIVersion != "v1")
	c.Problems = append(c.Problems, r.problems...)
	r.problems = nil
	return c, c.refused()
}

// refused returns an *Error for the first value that kubeadm cannot decode at all: nothing can be said of the rest.
func (c *Cluster) refused() error {
	if p := c.Problem(WrongType); p != nil {
		return &Error{Place: p.At, Msg: p.Text}
	}
	return nil
}

// entries returns a Map's entries that are in force.
func entries(v *yamldoc.Value) []*yamldoc.Entry {
	if v == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Entries), func(e *yamldoc.Entry) bool { return e.Replaced })
}

// fillCluster reads the fields of a ClusterConfiguration. mapArgs: the extraArgs are a map.
func (r *reader) fillCluster(c *Cluster, mapArgs bool) {
	root := c.Root
	field := func(def string, keys ...string) Field {
		n := root.Get(keys...)
		if n == nil || n.Text == "" || n.Kind == yamldoc.Null {
			return Field{Value: def, Node: n}
		}
		return Field{Value: n.Text, Node: n}
	}
	c.KubernetesVersion = field("", "kubernetesVersion")
	c.CertificatesDir = field(DefaultCertificatesDir, "certificatesDir")
	c.ControlPlaneEndpoint = field("", "controlPlaneEndpoint")
	c.DNSDomain = field("cluster.local", "networking", "dnsDomain")
	c.ServiceSubnet = field("10.96.0.0/12", "networking", "serviceSubnet")
	c.FeatureGatesNode = root.Get("featureGates")
	c.FeatureGates = entries(c.FeatureGatesNode)
	r.fillEtcd(c, mapArgs)
	c.APIServer = r.readComponent(root, "apiServer", mapArgs)
	c.ControllerManager = r.readComponent(root, "controllerManager", mapArgs)
	c.Scheduler = r.readComponent(root, "scheduler", mapArgs)
	r.findPlaceholders(c)
}

// DefaultCertificatesDir is kubeadm's default of ClusterConfiguration.certificatesDir.
const DefaultCertificatesDir = "/etc/kubernetes/pki"

func (r *reader) fillEtcd(c *Cluster, mapArgs bool) {
	etcd := c.Root.Get("etcd")
	external := etcd.Get("external")
	if external == nil || external.Kind != yamldoc.Map {
		c.Etcd.LocalArgs, _ = r.readArgs(etcd.Get("local").Find("extraArgs"), mapArgs, "etcd")
		return
	}
	c.Etcd.External = true
	for _, item := range items(external.Get("endpoints")) {
		c.Etcd.Endpoints = append(c.Etcd.Endpoints, item.Text)
	}
	c.Etcd.CAFile = external.Get("caFile").Str()
	c.Etcd.CertFile = external.Get("certFile").Str()
	c.Etcd.KeyFile = external.Get("keyFile").Str()
}

func (r *reader) readComponent(root *yamldoc.Value, name string, mapArgs bool) Component {
	comp := Component{Entry: root.Find(name)}
	node := root.Get(name)
	if node == nil || node.Kind != yamldoc.Map {
		return comp
	}
	comp.Node = node
	comp.ArgsEntry = node.Find("extraArgs")
	comp.Args, comp.Unreadable = r.readArgs(comp.ArgsEntry, mapArgs, name)
	if v := node.Get("extraVolumes"); v != nil {
		for _, item := range v.Items {
			comp.Volumes = append(comp.Volumes, Volume{
				Name: item.Get("name").Str(), HostPath: item.Get("hostPath").Str(),
				MountPath: item.Get("mountPath").Str(), Node: item,
			})
		}
	}
	if v := node.Get("extraEnvs"); v != nil {
		comp.Envs = readEnvs(v)
	}
	return comp
}

func readEnvs(list *yamldoc.Value) []EnvVar {
	var envs []EnvVar
	for _, item := range list.Items {
		e := EnvVar{Name: item.Get("name").Str(), Value: item.Get("value").Str(), Node: item}
		e.Unknown = item.Get("valueFrom") != nil
		envs = append(envs, e)
	}
	return envs
}

// readArgs reads extraArgs as kubeadm does, and where kubeadm cannot, as they were meant; unreadable then says
// why kubeadm refuses them.
func (r *reader) readArgs(e *yamldoc.Entry, mapArgs bool, component string) (args []*Arg, unreadable string) {
	if e == nil {
		return nil, ""
	}
	v := e.Value
	shape := func(kind ProblemKind, at yamldoc.Place, value *yamldoc.Value, format string, a ...any) {
		text := fmt.Sprintf(format, a...)
		r.problems = append(r.problems, Problem{Kind: kind, At: at, Value: value, Entry: e, Text: text,
			Component: component})
		if unreadable == "" {
			unreadable = text
		}
	}
	switch v.Kind {
	case yamldoc.Null:
		return nil, ""
	case yamldoc.Map:
		if !mapArgs {
			shape(WrongShape, v.KeyPlace(), v,
				"extraArgs is a map here; this apiVersion wants a list of name and value")
		}
		args = r.readMapArgs(v, component, mapArgs)
	case yamldoc.List:
		if mapArgs {
			shape(WrongShape, v.KeyPlace(), v, "extraArgs is a list here; this apiVersion wants a map of flag names "+
				"to values")
		}
		args = r.readListArgs(v, component, shape)
	default:
		shape(WrongShape, v.KeyPlace(), v, "extraArgs is %s", v.Kind)
		return nil, unreadable
	}
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.Name, "-"):
			shape(DashedName, a.NameAt, a.Node, "the flag name %q has leading dashes; kubeadm adds its own", a.Name)
		case strings.Contains(a.Name, "="):
			shape(NameWithEquals, a.NameAt, a.Node, "the flag name %q has an equals sign in it", a.Name)
		}
	}
	return args, unreadable
}

func (r *reader) readMapArgs(v *yamldoc.Value, component string, sorted bool) []*Arg {
	var args []*Arg
	for _, e := range entries(v) {
		r.wantString(e.Value, component)
		args = append(args, &Arg{Name: e.Key, Value: e.Value.AsString(), Node: e.Value, NameAt: e.Value.KeyPlace(),
			ValueNode: e.Value, Field: "extraArgs"})
	}
	if sorted {
		// kubeadm turns the map into a list in the order of the names.
		sort.SliceStable(args, func(i, j int) bool { return args[i].Name < args[j].Name })
	}
	return args
}

func (r *reader) readListArgs(v *yamldoc.Value, component string,
	shape func(ProblemKind, yamldoc.Place, *yamldoc.Value, string, ...any)) []*Arg {
	var args []*Arg
	for _, item := range v.Items {
		if item.Kind != yamldoc.Map {
			shape(WrongItem, item.Place(), item, "an item of extraArgs is %s; it wants a map with name and value",
				item.Kind)
			continue
		}
		name, value := item.Get("name"), item.Get("value")
		if name == nil || name.Kind == yamldoc.Null || name.Kind == yamldoc.String && name.Text == "" {
			shape(WrongItem, item.Place(), item, "an item of extraArgs has no name")
			continue
		}
		r.wantString(name, component)
		a := &Arg{Name: name.AsString(), Value: value.AsString(), Node: item, NameAt: name.Place(), ValueNode: value,
			MergeMethod: item.Get("mergeMethod").Str(), Field: "extraArgs"}
		if value == nil {
			r.problems = append(r.problems, Problem{Kind: MissingValue, At: item.Place(), Value: item,
				Component: component,
				Text: fmt.Sprintf("the item %s of extraArgs has no value; kubeadm passes --%s= with nothing behind it",
					a.Name, a.Name)})
		} else {
			r.wantString(value, component)
		}
		args = append(args, a)
	}
	return args
}

// wantString records a scalar that kubeadm does not read as a string.
func (r *reader) wantString(v *yamldoc.Value, component string) {
	switch v.Kind {
	case yamldoc.Bool, yamldoc.Number:
		r.problems = append(r.problems, Problem{Kind: NotString, At: v.Place(), Value: v, Component: component})
	case yamldoc.List, yamldoc.Map:
		r.problems = append(r.problems, Problem{Kind: WrongType, At: v.Place(), Value: v,
			Text: fmt.Sprintf("%s is %s; kubeadm wants a string there and refuses the file", v.Path(), v.Kind)})
	}
}

// findPlaceholders records template marks where a value matters to the rules.
func (r *reader) findPlaceholders(c *Cluster) {
	note := func(v *yamldoc.Value) {
		if v == nil || v.Kind == yamldoc.Map || v.Kind == yamldoc.List {
			return
		}
		if mark := PlaceholderIn(v.Text); mark != "" {
			r.problems = append(r.problems, Problem{Kind: Placeholder, At: v.Place(), Value: v, Text: mark})
		}
	}
	for _, f := range []Field{c.KubernetesVersion, c.CertificatesDir, c.ControlPlaneEndpoint} {
		note(f.Node)
	}
	for _, a := range c.APIServer.Args {
		note(a.ValueNode)
	}
	for _, v := range c.APIServer.Volumes {
		note(v.Node.Get("hostPath"))
		note(v.Node.Get("mountPath"))
	}
	for _, n := range c.Nodes {
		if mark := PlaceholderIn(n.Address); mark != "" {
			r.problems = append(r.problems, Problem{Kind: Placeholder, At: n.At, Text: mark})
		}
	}
}

// noteNothing says why a file of kubeadm documents has nothing to check.
func (r *reader) noteNothing(docs *kubeadmDocs) {
	kinds := slices.Compact(slices.Sorted(slices.Values(docs.kinds)))
	text := "no ClusterConfiguration here (only " + strings.Join(kinds, ", ") + "), so nothing says which flags " +
		"kube-apiserver gets; give the cluster's: kubectl -n kube-system get configmap kubeadm-config -o yaml | " +
		"mvpcheck check -"
	at := yamldoc.Place{}
	for _, d := range r.in.Docs {
		if d.Root != nil {
			at = d.Root.Place()
			at.Path = ""
			break
		}
	}
	r.in.Notes = append(r.in.Notes, Note{Text: text, At: at})
	for _, u := range docs.upgrade {
		for _, section := range []string{"apply", "node"} {
			if dir := u.Get(section, "patches", "directory"); dir.Str() != "" {
				r.in.Notes = append(r.in.Notes, Note{At: dir.Place(),
					Text: fmt.Sprintf("kubeadm upgrade %s takes patches from %s: check them too, with --patches %s "+
						"beside the ClusterConfiguration", section, dir.Text, path.Clean(dir.Text))})
			}
		}
	}
}
