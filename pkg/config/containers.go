package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// readConfigMap reads the kubeadm-config ConfigMap; other ConfigMaps are of no use.
func (r *reader) readConfigMap(d *yamldoc.Document, v *yamldoc.Value) (bool, error) {
	text := v.Get("data", "ClusterConfiguration")
	if text == nil {
		return false, nil
	}
	if text.Kind != yamldoc.String {
		return false, &Error{Place: text.Place(), Msg: "data.ClusterConfiguration is " + text.Kind.String() +
			", not text"}
	}
	docs, err := text.Inner().Documents()
	if err != nil {
		return false, err
	}
	var inner kubeadmDocs
	for _, in := range docs {
		if in.Root == nil {
			continue
		}
		apiVersion := in.Root.Get("apiVersion").Str()
		if !strings.HasPrefix(apiVersion, kubeadmGroup) {
			return false, &Error{Place: in.Root.Place(),
				Msg: "data.ClusterConfiguration has no kubeadm document (its apiVersion is " +
					strconv.Quote(apiVersion) + ")"}
		}
		_, version, _ := strings.Cut(apiVersion, "/")
		if err := r.readKubeadm(in, in.Root, version, in.Root.Get("kind").Str(), &inner); err != nil {
			return false, err
		}
	}
	if inner.cluster == nil {
		return false, &Error{Place: text.Place(), Msg: "data.ClusterConfiguration holds no ClusterConfiguration"}
	}
	c, err := r.newCluster(&inner, FormConfigMap)
	if err != nil {
		return false, err
	}
	r.in.Clusters = append(r.in.Clusters, c)
	return true, nil
}

// readControlPlane reads a Cluster API KubeadmControlPlane or KubeadmControlPlaneTemplate.
func (r *reader) readControlPlane(d *yamldoc.Document, v *yamldoc.Value, version string) (bool, error) {
	spec := v.Get("spec")
	if v.Get("kind").Str() == "KubeadmControlPlaneTemplate" {
		spec = spec.Get("template", "spec")
	}
	kubeadm := spec.Get("kubeadmConfigSpec")
	if kubeadm == nil || kubeadm.Kind != yamldoc.Map {
		return false, &Error{Place: v.Place(), Msg: v.Get("kind").Str() + " without spec.kubeadmConfigSpec"}
	}
	r.checkSchema(v, v.Get("apiVersion").Text, v.Get("kind").Text)
	c := &Cluster{Input: r.in, Form: FormControlPlane, Doc: d, Root: kubeadm.Get("clusterConfiguration")}
	if c.Root == nil || c.Root.Kind != yamldoc.Map {
		// Cluster API fills in an empty one; there is a place to add flags to.
		c.Root = kubeadm
	}
	init := kubeadmDocs{}
	if in := kubeadm.Get("initConfiguration"); in != nil {
		init.addNode(in.Get("localAPIEndpoint"), in, "InitConfiguration")
		// The name is a template that cloud-init fills in on each machine, and one init configuration serves
		// whichever machine is first.
		init.nodes[0].Name = ""
		if init.nodes[0].Address != "" || init.nodes[0].Port != 0 {
			c.Nodes = init.nodes
		}
	}
	r.fillCluster(c, version == "v1alpha3" || version == "v1alpha4" || version == "v1beta1")
	if n := spec.Get("version"); n != nil {
		c.KubernetesVersion = Field{Value: n.Text, Node: n}
		if mark := PlaceholderIn(n.Text); mark != "" {
			r.problems = append(r.problems, Problem{Kind: Placeholder, At: n.Place(), Value: n, Text: mark})
		}
	}
	if n := spec.Get("replicas"); n != nil && n.Kind == yamldoc.Number {
		c.Replicas, _ = strconv.Atoi(n.Text)
		c.ReplicasFrom = "spec.replicas"
	}
	c.Problems, r.problems = r.problems, nil
	if err := c.refused(); err != nil {
		return false, err
	}
	r.in.Clusters = append(r.in.Clusters, c)
	return true, nil
}

// readKind reads a kind Cluster: its featureGates go to every component, and its kubeadmConfigPatches are text.
func (r *reader) readKind(d *yamldoc.Document, v *yamldoc.Value) error {
	c := &Cluster{Input: r.in, Form: FormKind, Doc: d, CertificatesDir: Field{Value: DefaultCertificatesDir}}
	r.fillKindNodes(c, v)
	if gates := v.Get("featureGates"); gates != nil && len(gates.Entries) > 0 {
		// kind hands the gates to each component as its --feature-gates.
		var pairs []string
		for _, e := range entries(gates) {
			pairs = append(pairs, e.Key+"="+e.Value.AsString())
		}
		c.APIServer.Args = append(c.APIServer.Args, &Arg{Name: "feature-gates", Value: strings.Join(pairs, ","),
			Node: gates, NameAt: gates.KeyPlace(), ValueNode: gates, Field: "featureGates"})
	}
	patches := []*yamldoc.Value{v.Get("kubeadmConfigPatches")}
	if nodes := v.Get("nodes"); nodes != nil {
		for _, n := range nodes.Items {
			patches = append(patches, n.Get("kubeadmConfigPatches"))
		}
	}
	for _, list := range patches {
		if list == nil {
			continue
		}
		for _, item := range list.Items {
			if err := r.readKindPatch(c, item); err != nil {
				return err
			}
		}
	}
	c.Problems, r.problems = r.problems, nil
	if err := c.refused(); err != nil {
		return err
	}
	r.in.Clusters = append(r.in.Clusters, c)
	return nil
}

func (r *reader) readKindPatch(c *Cluster, item *yamldoc.Value) error {
	if item.Kind != yamldoc.String {
		return nil
	}
	docs, err := item.Inner().Documents()
	if err != nil {
		return err
	}
	for _, d := range docs {
		if d.Root == nil || d.Root.Get("kind").Str() != "ClusterConfiguration" {
			continue
		}
		p := &Cluster{Root: d.Root, Input: c.Input}
		// A patch of kind has no apiVersion of its own: map and list are both merged into what kind writes.
		args := d.Root.Get("apiServer", "extraArgs")
		r.fillCluster(p, args == nil || args.Kind != yamldoc.List)
		c.APIServer.Node = p.APIServer.Node
		c.APIServer.ArgsEntry = p.APIServer.ArgsEntry
		c.APIServer.Args = append(c.APIServer.Args, p.APIServer.Args...)
		c.APIServer.Volumes = append(c.APIServer.Volumes, p.APIServer.Volumes...)
		c.APIServer.Envs = append(c.APIServer.Envs, p.APIServer.Envs...)
		c.ControllerManager, c.Scheduler = p.ControllerManager, p.Scheduler
		c.FeatureGates = append(c.FeatureGates, p.FeatureGates...)
		if p.CertificatesDir.Set() {
			c.CertificatesDir = p.CertificatesDir
		}
		if p.KubernetesVersion.Set() {
			c.KubernetesVersion = p.KubernetesVersion
		}
	}
	return nil
}

func (r *reader) fillKindNodes(c *Cluster, v *yamldoc.Value) {
	nodes := v.Get("nodes")
	c.Replicas, c.ReplicasFrom = 1, "kind's default of one control-plane node"
	if nodes == nil {
		return
	}
	n := 0
	for _, node := range nodes.Items {
		if node.Get("role").Str() != "control-plane" {
			continue
		}
		n++
		// The release is the tag of the node image: kindest/node:v1.35.0[@sha256:…].
		if image := node.Get("image"); image != nil && !c.KubernetesVersion.Set() {
			if tag := imageTag(image.Text); tag != "" {
				c.KubernetesVersion = Field{Value: tag, Node: image}
			}
		}
	}
	if n > 0 {
		c.Replicas, c.ReplicasFrom = n, "nodes"
	}
}

// imageTag returns the tag of a container image, empty where it has none.
func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	i := strings.LastIndexByte(image, ':')
	if i < 0 || strings.Contains(image[i:], "/") {
		return ""
	}
	return image[i+1:]
}

// ParseNodes reads the value of --nodes: a number of control-plane nodes, or name=ADDRESS[:PORT] for each.
func ParseNodes(s string) (count int, nodes []Node, err error) {
	if n, err := strconv.Atoi(s); err == nil {
		if n < 1 || n > 99 {
			return 0, nil, errors.New("the number of control-plane nodes must be 1 to 99")
		}
		return n, nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		name, addr, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || name == "" || addr == "" {
			return 0, nil,
				errors.New("want a number, or name=ADDRESS for each control-plane node, separated by commas; not " +
					strconv.Quote(part))
		}
		n := Node{Name: name, From: "--nodes"}
		n.Address, n.Port = splitPort(addr)
		nodes = append(nodes, n)
	}
	return len(nodes), nodes, nil
}

// splitPort splits ADDRESS, ADDRESS:PORT, [IPv6] and [IPv6]:PORT; a bare IPv6 address has no port.
func splitPort(s string) (addr string, port int) {
	host, p := s, ""
	switch {
	case strings.HasPrefix(s, "["):
		i := strings.IndexByte(s, ']')
		if i < 0 {
			return s, 0
		}
		host, p = s[1:i], strings.TrimPrefix(s[i+1:], ":")
	case strings.Count(s, ":") == 1:
		host, p, _ = strings.Cut(s, ":")
	}
	port, _ = strconv.Atoi(p)
	return host, port
}
