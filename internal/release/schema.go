package release

import (
	"slices"
	"strings"
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

// Schema returns the fields of the documents of a kind: of kubeadm's kinds in each apiVersion that the kubeadm of a
// known release reads, and of Cluster API's v1beta1 and v1beta2 the kinds KubeadmControlPlane,
// KubeadmControlPlaneTemplate, KubeadmConfig and KubeadmConfigTemplate down to clusterConfiguration.apiServer. ok is
// false for anything else.
//
// The fields are those that the newest such kubeadm has.
func Schema(apiVersion, kind string) (f *Field, ok bool) {
	key := [2]string{apiVersion, kind}
	known, ok := schemas.Load(key)
	if !ok {
		if version, ours := strings.CutPrefix(apiVersion, KubeadmGroup+"/"); ours {
			f = kubeadmKind(version, kind)
		} else {
			f = clusterAPIKind(apiVersion, kind)
		}
		known, _ = schemas.LoadOrStore(key, f)
	}
	f = known.(*Field)
	return f, f != nil
}

// schemas are the fields of those that were asked for, nil where there are none.
var schemas sync.Map

// kubeadmKind returns the fields of one of kubeadm's kinds, nil for what is none.
func kubeadmKind(version, kind string) (f *Field) {
	for _, r := range known() {
		c, _ := CatalogueOf(r)
		if newer := c.structure(version, kind); newer != nil && newer.has("apiVersion") && newer.has("kind") {
			if f != nil {
				newer.date(f, r.minor)
			}
			f = newer
		}
	}
	return f
}

// date sets since when there are the fields that an older kubeadm does not have.
func (f *Field) date(older *Field, minor int) {
	for _, field := range f.Fields {
		if i := slices.IndexFunc(older.Fields, func(o *Field) bool { return o.Name == field.Name }); i < 0 {
			field.Since = minor
		} else {
			field.Since = older.Fields[i].Since
			field.date(older.Fields[i], minor)
		}
	}
	if f.Elem != nil && older.Elem != nil {
		f.Elem.date(older.Elem, minor)
	}
}

func (f *Field) has(name string) bool {
	_, ok := f.Field(name)
	return ok
}

// structure returns a struct of a version of kubeadm's configuration, nil where there is none.
func (c *Catalogue) structure(version, name string) *Field {
	fields, ok := c.kubeadmTypes()[version+"."+name]
	if !ok {
		return nil
	}
	f := &Field{Kind: Object}
	for word := range strings.FieldsSeq(fields) {
		name, kind, _ := strings.Cut(word, "=")
		field := c.value(version, kind)
		field.Name = name
		f.Fields = append(f.Fields, field)
	}
	return f
}

// value returns what is of a type as a catalogue writes it: a kind, the name of a struct, or a list or a map of these.
func (c *Catalogue) value(version, text string) *Field {
	if of, ok := strings.CutPrefix(text, "[]"); ok {
		return &Field{Kind: List, Elem: c.value(version, of)}
	}
	if to, ok := strings.CutPrefix(text, "{}"); ok {
		return &Field{Kind: Map, Elem: c.value(version, to)}
	}
	if f := c.structure(version, text); f != nil {
		return f
	}
	return &Field{Kind: Kind(text)}
}

// clusterAPIKinds are the kinds of Cluster API that embed kubeadm's configuration, and where in them
// (api/bootstrap/kubeadm and api/controlplane/kubeadm of Cluster API 1.12).
var clusterAPIKinds = map[string]string{
	"controlplane.cluster.x-k8s.io KubeadmControlPlane":         "spec.kubeadmConfigSpec.clusterConfiguration",
	"controlplane.cluster.x-k8s.io KubeadmControlPlaneTemplate": "spec.template.spec.kubeadmConfigSpec.clusterConfiguration",
	"bootstrap.cluster.x-k8s.io KubeadmConfig":                  "spec.clusterConfiguration",
	"bootstrap.cluster.x-k8s.io KubeadmConfigTemplate":          "spec.template.spec.clusterConfiguration",
}

// clusterAPIKind returns the fields of one of these kinds, nil for another one. What stands beside the apiServer is
// kubeadm's matter no more than Cluster API's webhooks are.
func clusterAPIKind(apiVersion, kind string) *Field {
	group, version, _ := strings.Cut(apiVersion, "/")
	path, ok := clusterAPIKinds[group+" "+kind]
	if !ok || version != "v1beta1" && version != "v1beta2" {
		return nil
	}
	f := clusterAPIServer(version)
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		f = &Field{Name: name, Kind: Object, Fields: []*Field{f}, Open: true}
	}
	return &Field{Kind: Object, Fields: []*Field{
		{Name: "metadata", Kind: Any}, {Name: "status", Kind: Any}, f, {Name: "apiVersion", Kind: String}, {Name: "kind", Kind: String},
	}}
}

// clusterAPIServer is the apiServer of Cluster API: in v1beta2 that of kubeadm's v1beta4, while in v1beta1 two fields
// are still those of v1beta3.
func clusterAPIServer(version string) *Field {
	cluster := func(version string) *Field {
		f, _ := Schema(KubeadmGroup+"/"+version, "ClusterConfiguration")
		server, _ := f.Field("apiServer")
		return server
	}
	server := *cluster("v1beta4")
	if version == "v1beta1" {
		server.Fields = slices.Clone(server.Fields)
		for _, field := range cluster("v1beta3").Fields {
			switch i := slices.IndexFunc(server.Fields, func(f *Field) bool { return f.Name == field.Name }); {
			case i < 0:
				server.Fields = append(server.Fields, field)
			case field.Name == "extraArgs":
				server.Fields[i] = field
			}
		}
	}
	return &server
}
