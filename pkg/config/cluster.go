// Package config reads what people have of a control plane's configuration (kubeadm documents in a file, a
// ConfigMap or a KubeadmControlPlane, kind clusters, static pod manifests) into one model: a Cluster with
// the effective kube-apiserver command line of each of its servers.
//
// Values are what kubeadm reads; every value keeps its place. The package decides nothing: what kubeadm
// would refuse or drop is recorded as a Problem, and rules judge it.
package config

import (
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// Form is the kind of document that a configuration came in.
type Form string

// The forms that a configuration comes in.
const (
	FormKubeadm      Form = "ClusterConfiguration"
	FormConfigMap    Form = "ConfigMap kubeadm-config"
	FormControlPlane Form = "KubeadmControlPlane"
	FormKind         Form = "kind Cluster"
	FormManifest     Form = "static pod manifest"
	FormMirrorPod    Form = "mirror pod"
)

// Cluster is what one control plane is configured to be.
type Cluster struct {
	// Input is the file that the cluster was found in.
	Input *Input
	Form  Form
	// Doc is the document of the file that holds the configuration; for manifests the first manifest's.
	Doc *yamldoc.Document
	// APIVersion is the version part of the ClusterConfiguration's apiVersion, such as v1beta4. Empty for
	// forms that have none of kubeadm's (KubeadmControlPlane, kind, manifests).
	APIVersion string
	// APIVersionAt is the place of the apiVersion.
	APIVersionAt yamldoc.Place
	// Root is the map of the ClusterConfiguration, nil for manifests.
	Root *yamldoc.Value

	KubernetesVersion    Field
	CertificatesDir      Field
	ControlPlaneEndpoint Field
	DNSDomain            Field
	ServiceSubnet        Field
	Etcd                 Etcd
	// FeatureGates are kubeadm's own gates; FeatureGatesNode is their map.
	FeatureGates     []*yamldoc.Entry
	FeatureGatesNode *yamldoc.Value

	APIServer         Component
	ControllerManager Component
	Scheduler         Component
	// KubeletGates are the featureGates of a KubeletConfiguration in the same file.
	KubeletGates []*yamldoc.Entry

	// Nodes are the control-plane nodes that the input or the user names; see ControlPlaneCount.
	Nodes []Node
	// Replicas is the number of control-plane nodes where the configuration or the user tells it, else 0.
	Replicas int
	// ReplicasFrom says who told it, such as "spec.replicas" or "--nodes".
	ReplicasFrom string
	// Manifests are the API servers' pods: the cluster itself for FormManifest and FormMirrorPod, the
	// running state of the nodes beside a ClusterConfiguration.
	Manifests []*Manifest
	// ManifestFolders are the kube-apiserver pods of each node's manifests folder; more than one in a folder is a
	// mistake.
	ManifestFolders [][]*Manifest
	// Patches are kubeadm patch files for kube-apiserver.
	Patches []*PatchFile
	// Upgrade has the UpgradeConfiguration documents of the file.
	Upgrade []*yamldoc.Value
	// Problems are what kubeadm would refuse, drop or read otherwise than it looks.
	Problems []Problem
}

// Field is a field of the configuration with its value in force.
type Field struct {
	// Value is the field's value, or kubeadm's default.
	Value string
	// Node is nil where the configuration does not have the field.
	Node *yamldoc.Value
}

// Set tells whether the configuration has a value for the field.
func (f Field) Set() bool { return f.Node != nil && f.Node.Kind != yamldoc.Null }

// Etcd is the part of the etcd configuration that the API server's flags come from.
type Etcd struct {
	External                  bool
	Endpoints                 []string
	CAFile, CertFile, KeyFile string
	LocalArgs                 []*Arg
}

// Component is a control-plane component's part of the ClusterConfiguration.
type Component struct {
	// Node is the component's map, nil where it is absent or empty.
	Node *yamldoc.Value
	// Entry is the component's entry in the ClusterConfiguration, nil where it is absent.
	Entry *yamldoc.Entry
	// ArgsEntry is the extraArgs entry, nil where it is absent.
	ArgsEntry *yamldoc.Entry
	// Args are the extraArgs in the order in which kubeadm passes them on.
	Args []*Arg
	// Unreadable says why kubeadm cannot read the extraArgs; empty: it can. Args is then what was meant.
	Unreadable string
	Volumes    []Volume
	Envs       []EnvVar
}

// Arg is one extraArg.
type Arg struct {
	Name, Value string
	// MergeMethod is append or prepend (kubeadm v1 only), else empty.
	MergeMethod string
	// Node is the list item, or the value of the map entry.
	Node *yamldoc.Value
	// NameAt is the place of the name.
	NameAt yamldoc.Place
	// ValueNode is nil where the value is missing.
	ValueNode *yamldoc.Value
	// Field is the key that holds it: extraArgs, or the unknown key that it was found under.
	Field string
}

// ValuePlace returns the place of the value, or of the name where there is no value.
func (a *Arg) ValuePlace() yamldoc.Place {
	if a.ValueNode == nil || a.ValueNode.Start == a.ValueNode.End {
		return a.NameAt
	}
	return a.ValueNode.Place()
}

// Volume is an extraVolumes entry, or a host path volume of a pod, with where it is mounted.
type Volume struct {
	Name, HostPath, MountPath string
	Node                      *yamldoc.Value
}

// EnvVar is an environment variable of the kube-apiserver container.
type EnvVar struct {
	Name, Value string
	// Unknown: the value comes from elsewhere (valueFrom), so it is not known here.
	Unknown bool
	Node    *yamldoc.Value
}

// Node is a control-plane node.
type Node struct {
	// Name may be empty.
	Name string
	// Address is the node's localAPIEndpoint.advertiseAddress as written, empty where it is not known.
	Address string
	// Port is its bindPort; 0: not known, kubeadm's default is 6443.
	Port int
	// At is where the address (or else the node) is named.
	At yamldoc.Place
	// From says what told of the node: InitConfiguration, JoinConfiguration, manifest, --nodes.
	From string
}

// ProblemKind tells problems apart.
type ProblemKind uint8

// What a Problem can be. The rule that reports it stands behind each.
const (
	// NotString: a value that kubeadm reads as a number or a boolean where it wants a string (MVP003).
	NotString ProblemKind = iota
	// WrongShape: extraArgs in the shape of another apiVersion, or in none (MVP002).
	WrongShape
	// WrongItem: an item of extraArgs that is no mapping, or has no name (MVP002).
	WrongItem
	// DashedName: a flag name with leading dashes (MVP002).
	DashedName
	// NameWithEquals: a flag name with an equals sign in it (MVP002).
	NameWithEquals
	// MissingValue: an item of extraArgs without a value (MVP002).
	MissingValue
	// DuplicateKey: the same key twice in a mapping (MVP004).
	DuplicateKey
	// UnknownField: a field that the apiVersion does not have (MVP005).
	UnknownField
	// Placeholder: a template mark where a value matters (MVP006).
	Placeholder
	// WrongType: any other value that kubeadm cannot read into its field; the file is refused.
	WrongType
)

// Problem is something in a document that kubeadm refuses, drops or reads otherwise than it looks.
type Problem struct {
	Kind ProblemKind
	// At is the place to point at.
	At yamldoc.Place
	// Value is the value concerned, or for DuplicateKey and UnknownField the value of the Entry.
	Value *yamldoc.Value
	Entry *yamldoc.Entry
	// Earlier is the place of the first of duplicates.
	Earlier yamldoc.Place
	// Text says what is wrong, for WrongType and what MVP002 reports.
	Text string
	// Suggest is the field that was probably meant.
	Suggest string
	// APIVersion and Kind are the document's.
	APIVersion, DocKind string
	// Args are the flags that stand below an unknown field.
	Args []*Arg
	// Component is the component whose extraArgs are concerned: apiServer, controllerManager, ….
	Component string
}

// FlagNames returns the names of the flags that stand below an unknown field.
func (p *Problem) FlagNames() []string {
	names := make([]string, len(p.Args))
	for i, a := range p.Args {
		names[i] = a.Name
	}
	return names
}

// Problem returns the first problem of a kind, or nil.
func (c *Cluster) Problem(kind ProblemKind) *Problem {
	for i := range c.Problems {
		if c.Problems[i].Kind == kind {
			return &c.Problems[i]
		}
	}
	return nil
}

// FlagsPlace returns where a flag of kube-apiserver that is missing would stand: the extraArgs, else the
// component, else the document's kind; for manifests the command.
func (c *Cluster) FlagsPlace() yamldoc.Place {
	switch {
	case c.APIServer.ArgsEntry != nil:
		return c.APIServer.ArgsEntry.Value.KeyPlace()
	case c.APIServer.Entry != nil:
		return c.APIServer.Entry.Value.KeyPlace()
	case len(c.Manifests) > 0 && c.Root == nil:
		return c.Manifests[0].CommandPlace()
	case c.Root.Get("kind") != nil:
		return c.Root.Get("kind").Place()
	case c.Root != nil && c.Root.Entry() != nil:
		return c.Root.KeyPlace()
	}
	return c.Doc.Root.Get("kind").Place()
}

// CommandPlace returns the place of the pod's command.
func (m *Manifest) CommandPlace() yamldoc.Place {
	for _, key := range []string{"command", "args"} {
		if v := m.Container.Get(key); v != nil {
			return v.KeyPlace()
		}
	}
	return m.Container.Place()
}

// DefaultNodes is the number of control-plane nodes that a configuration is judged for when nothing tells it.
const DefaultNodes = 3

// ControlPlaneCount returns the number of control-plane nodes, and who told it; known is false where
// nothing did and DefaultNodes stands in.
func (c *Cluster) ControlPlaneCount() (n int, from string, known bool) {
	switch {
	case c.Replicas > 0:
		return c.Replicas, c.ReplicasFrom, true
	case len(c.Nodes) > 1:
		return len(c.Nodes), c.Nodes[0].From, true
	}
	return max(DefaultNodes, len(c.Nodes)), "", false
}

// Editable says why `mvpcheck patch` cannot edit this form; empty: it can.
func (c *Cluster) Editable() string {
	switch c.Form {
	case FormManifest:
		return "kubeadm upgrade rewrites a static pod manifest: the flags belong into the ClusterConfiguration " +
			"(kubectl -n kube-system get configmap kubeadm-config)"
	case FormMirrorPod:
		return "a mirror pod is only the picture of a static pod: the flags belong into the ClusterConfiguration " +
			"(kubectl -n kube-system get configmap kubeadm-config)"
	case FormKind:
		return "the patches of a kind cluster are text within the file; put the flags into kubeadmConfigPatches by hand"
	}
	return ""
}
