package release

import (
	"slices"
	"sync"
)

// Kind is the JSON type that a field takes. Null is taken for each of them, as nothing.
type Kind string

// The types of fields. The texts are words for people.
const (
	Any      Kind = "anything"
	String   Kind = "string"
	Int      Kind = "integer"
	Bool     Kind = "boolean"
	Duration Kind = "duration" // a string such as 4m0s; a bare number is refused
	Object   Kind = "object"
	List     Kind = "list"
	Map      Kind = "map"
)

// Field is a field of a configuration, or a whole document, an element of a list or a value of a map,
// which have no Name. It is shared: do not change it.
type Field struct {
	Name string
	Kind Kind
	// Since is the minor of the first kubeadm that has the field, 0 where it has been there as long as
	// its apiVersion. An earlier kubeadm takes it for an unknown field.
	Since int
	// Fields are those of an Object. If it is Open, it has others that are not listed.
	Fields []*Field
	Open   bool
	// Elem is what a List or a Map holds.
	Elem *Field
}

// Field returns the field of an Object by its name, in which capitals count. In an Open one, a field
// that is not listed can be anything. Other kinds have no fields.
func (f *Field) Field(name string) (*Field, bool) {
	for _, c := range f.Fields {
		if c.Name == name {
			return c, true
		}
	}
	if f.Open {
		return &Field{Name: name, Kind: Any}, true
	}
	return nil, false
}

// Names lists the names of the fields of an Object, for Suggest.
func (f *Field) Names() []string {
	var names []string
	for _, c := range f.Fields {
		names = append(names, c.Name)
	}
	return names
}

// The API groups of Cluster API whose kinds embed kubeadm's configuration.
const (
	bootstrapGroup    = "bootstrap.cluster.x-k8s.io/"
	controlPlaneGroup = "controlplane.cluster.x-k8s.io/"
)

// Schema returns the fields of the documents of a kind: of kubeadm's v1beta3, v1beta4 and v1 all five
// configurations (v1beta3 has no ResetConfiguration and no UpgradeConfiguration), and of Cluster API's
// v1beta1 and v1beta2 the kinds KubeadmControlPlane, KubeadmControlPlaneTemplate, KubeadmConfig and
// KubeadmConfigTemplate down to clusterConfiguration.apiServer. ok is false for anything else.
//
// The fields are those of the Go types in cmd/kubeadm/app/apis/kubeadm of Kubernetes 1.36 (v1beta3)
// and 1.37 (v1beta4, v1) and in api/bootstrap/kubeadm of Cluster API 1.12.
func Schema(apiVersion, kind string) (f *Field, ok bool) {
	f, ok = schemas()[apiVersion+" "+kind]
	return f, ok
}

var schemas = sync.OnceValue(func() map[string]*Field {
	all := map[string]*Field{}
	add := func(apiVersion, kind string, fields ...[]*Field) {
		fields = append(fields, text("apiVersion", "kind"))
		all[apiVersion+" "+kind] = object("", fields...)[0]
	}
	for _, v := range []kubeadmTypes{{"v1beta3"}, {"v1beta4"}, {"v1"}} {
		apiVersion := KubeadmGroup + "/" + v.version
		add(apiVersion, "ClusterConfiguration", v.clusterConfiguration())
		add(apiVersion, "InitConfiguration", v.initConfiguration())
		add(apiVersion, "JoinConfiguration", v.joinConfiguration())
		if !v.isV1beta3() {
			add(apiVersion, "ResetConfiguration", resetConfiguration())
			add(apiVersion, "UpgradeConfiguration", upgradeConfiguration())
		}
	}
	for _, version := range []string{"v1beta1", "v1beta2"} {
		cluster := openObject("clusterConfiguration", clusterAPIServer(version))
		spec := openObject("kubeadmConfigSpec", cluster)
		add(controlPlaneGroup+version, "KubeadmControlPlane", anything("metadata", "status"), openObject("spec", spec))
		add(controlPlaneGroup+version, "KubeadmControlPlaneTemplate", anything("metadata", "status"), openObject("spec", openObject("template", openObject("spec", spec))))
		add(bootstrapGroup+version, "KubeadmConfig", anything("metadata", "status"), openObject("spec", cluster))
		add(bootstrapGroup+version, "KubeadmConfigTemplate", anything("metadata", "status"), openObject("spec", openObject("template", openObject("spec", cluster))))
	}
	return all
})

// The functions below build lists of fields, so that a type reads as a list of its parts.

func join(fields ...[]*Field) []*Field { return slices.Concat(fields...) }

func scalar(kind Kind, names []string) (fields []*Field) {
	for _, name := range names {
		fields = append(fields, &Field{Name: name, Kind: kind})
	}
	return fields
}

func text(names ...string) []*Field     { return scalar(String, names) }
func integer(names ...string) []*Field  { return scalar(Int, names) }
func boolean(names ...string) []*Field  { return scalar(Bool, names) }
func duration(names ...string) []*Field { return scalar(Duration, names) }
func anything(names ...string) []*Field { return scalar(Any, names) }

func object(name string, fields ...[]*Field) []*Field {
	return []*Field{{Name: name, Kind: Object, Fields: join(fields...)}}
}

func openObject(name string, fields ...[]*Field) []*Field {
	f := object(name, fields...)
	f[0].Open = true
	return f
}

// texts are lists of strings.
func texts(names ...string) []*Field {
	fields := scalar(List, names)
	for _, f := range fields {
		f.Elem = &Field{Kind: String}
	}
	return fields
}

func objects(name string, fields ...[]*Field) []*Field {
	return []*Field{{Name: name, Kind: List, Elem: object("", fields...)[0]}}
}

func mapOf(name string, value Kind) []*Field {
	return []*Field{{Name: name, Kind: Map, Elem: &Field{Kind: value}}}
}

func since(minor int, fields []*Field) []*Field {
	for _, f := range fields {
		f.Since = minor
	}
	return fields
}
