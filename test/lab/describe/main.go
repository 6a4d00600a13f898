// Describe tells, as JSON on standard output, what the kube-apiserver that it is linked with accepts: each flag of
// the real command, each feature gate with its versioned specifications, locks and dependencies (which --help leaves
// out), and each group version with what the release makes of it when --runtime-config does not say; the admission
// plugins; and of kubeadm itself the feature gates and the types of its configuration.
//
// The nested module of each release below ../releases builds it against that release; ../catalogue reads it.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	componentversion "k8s.io/component-base/version"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubeadmscheme "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme"
	kubeadmfeatures "k8s.io/kubernetes/cmd/kubeadm/app/features"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	kubeapiserver "k8s.io/kubernetes/pkg/kubeapiserver/options"
)

// Description is the whole output; package catalogue has the same fields.
type Description struct {
	Version      string
	Flags        []Flag
	Gates        []Gate
	KubeadmGates []string
	KubeadmTypes []Type
	Plugins      []string // of admission
	Versions     []GroupVersion
}

// Flag is one flag of the command.
type Flag struct {
	Name, Type  string
	Default     string // as --help has it
	Deprecated  bool
	NoValue     bool // it may stand without a value
	Accumulates bool // given again it adds to what was given before
}

// Gate is one feature gate.
type Gate struct {
	Name  string
	Specs []Spec
	Needs []string
}

// Spec is what holds of a gate from a release on.
type Spec struct {
	Since   string // "1.36"
	Compat  string // the --min-compatibility-version that it also takes, or ""
	Stage   string // as the source has it: "ALPHA", "BETA", "", "DEPRECATED", "PRE-ALPHA"
	Default bool
	Locked  bool
}

// Type is a struct of one version of kubeadm's configuration: a kind, or what one is made of.
type Type struct {
	Version, Name string
	Fields        []Field
}

// Field is a field of a struct, as JSON has it. Type is string, integer, boolean, duration, anything or the name of a struct;
// [] before it is a list of these, {} a map to them.
type Field struct{ Name, Type string }

// GroupVersion is one registered version of a group.
type GroupVersion struct {
	GroupVersion string
	// Listed: the release has a default for it, hence api/all and the like reach it. Default is that default.
	Listed, Default bool
	// On and Off are resources for which the release has a default of their own.
	On, Off []string
}

func main() {
	description := Description{
		Version:      componentversion.Get().GitVersion,
		Flags:        flags(),
		Gates:        gates(),
		KubeadmGates: slices.Sorted(maps.Keys(kubeadmfeatures.InitFeatureGates)),
		KubeadmTypes: kubeadmTypes(),
		Plugins:      kubeapiserver.NewAdmissionOptions().GenericAdmission.Plugins.Registered(),
		Versions:     versions(),
	}
	if err := json.NewEncoder(os.Stdout).Encode(description); err != nil {
		fmt.Fprintln(os.Stderr, "describe:", err)
		os.Exit(1)
	}
}

func flags() []Flag {
	var all []Flag
	// Two commands in one process would share the feature gates, so each flag is tried on the one that there is.
	app.NewAPIServerCommand().Flags().VisitAll(func(f *pflag.Flag) {
		all = append(all, Flag{
			Name:        f.Name,
			Type:        f.Value.Type(),
			Default:     f.DefValue,
			Deprecated:  f.Deprecated != "",
			NoValue:     f.NoOptDefVal != "",
			Accumulates: accumulates(f),
		})
	})
	return all
}

// samples has values of which each flag takes two that differ, unless it takes one value only.
var samples = []string{
	"api/alpha=true", "api/beta=true", "A=true", "B=true", "a=b", "c=d", "a#1", "b#2", "1.31", "1.32", "17", "18", "17s", "18s",
	"127.0.0.1", "127.0.0.2", "10.0.0.0/8", "11.0.0.0/8", "100-200", "101-201", "a,b", "c,d", "a,b:c", "d,e:f", "true", "false",
	"a=1", "b=2", "a=b,c", "metric,label=a", "metric,label=b", "a", "b", "json", "text", "A", "B",
}

// accumulates tells whether setting the flag twice leaves something of the first value.
func accumulates(f *pflag.Flag) bool {
	var first string
	var alone []string // what the flag says after one value of its own
	for _, sample := range samples {
		if f.Value.Set(sample) != nil {
			continue
		}
		now := f.Value.String()
		if first == "" {
			first = sample
			alone = append(alone, now)
			continue
		}
		if now == alone[0] {
			continue
		}
		// After first, sample, first again: a flag that keeps the last value only says what it said after the first.
		if f.Value.Set(first) != nil {
			return false
		}
		return f.Value.String() != alone[0]
	}
	return false
}

func gates() []Gate {
	gate := utilfeature.DefaultMutableFeatureGate
	needs := neededByOptions
	// From 1.35 on.
	if d, ok := gate.(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}); ok {
		needs = d.Dependencies()
	}
	var all []Gate
	for name, specs := range gate.GetAllVersioned() {
		g := Gate{Name: string(name)}
		for _, spec := range specs {
			g.Specs = append(g.Specs, Spec{
				Since:   spec.Version.String(),
				Compat:  minCompatibility(spec),
				Stage:   string(spec.PreRelease),
				Default: spec.Default,
				Locked:  spec.LockToDefault,
			})
		}
		for _, need := range needs[name] {
			g.Needs = append(g.Needs, string(need))
		}
		slices.Sort(g.Needs)
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b Gate) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// neededByOptions are what gates need in releases whose gates don't tell: there the options check these few
// (pkg/controlplane/apiserver/options/validation.go and pkg/kubeapiserver/options/authentication.go of k8s.io/kubernetes).
var neededByOptions = map[featuregate.Feature][]featuregate.Feature{
	"AuthorizeNodeWithSelectors":     {"AuthorizeWithSelectors"},
	"ServiceAccountTokenNodeBinding": {"ServiceAccountTokenNodeBindingValidation"},
}

// minCompatibility reads a field that releases before 1.35 do not have.
func minCompatibility(spec featuregate.FeatureSpec) string {
	field := reflect.ValueOf(spec).FieldByName("MinCompatibilityVersion")
	if !field.IsValid() || field.IsNil() {
		return ""
	}
	return field.Interface().(*version.Version).String()
}

func versions() []GroupVersion {
	registered := slices.Concat(
		legacyscheme.Scheme.PrioritizedVersionsAllGroups(),
		apiextensions.Scheme.PrioritizedVersionsAllGroups(),
		aggregatorscheme.Scheme.PrioritizedVersionsAllGroups())
	byVersion := map[schema.GroupVersion]*GroupVersion{}
	for _, gv := range registered {
		byVersion[gv] = &GroupVersion{GroupVersion: gv.String()}
	}
	for _, defaults := range []*serverstorage.ResourceConfig{
		controlplane.DefaultAPIResourceConfigSource(),
		apiextensions.DefaultAPIResourceConfigSource(),
		aggregator.DefaultAPIResourceConfigSource(),
	} {
		of := func(gv schema.GroupVersion) *GroupVersion {
			if byVersion[gv] == nil {
				fmt.Fprintf(os.Stderr, "describe: %s has a default and is not registered\n", gv)
				os.Exit(1)
			}
			return byVersion[gv]
		}
		for gv, on := range defaults.GroupVersionConfigs {
			v := of(gv)
			v.Listed, v.Default = true, on
		}
		for gvr, on := range defaults.ResourceConfigs {
			if v := of(gvr.GroupVersion()); on {
				v.On = append(v.On, gvr.Resource)
			} else {
				v.Off = append(v.Off, gvr.Resource)
			}
		}
	}
	var all []GroupVersion
	for _, v := range byVersion {
		slices.Sort(v.On)
		slices.Sort(v.Off)
		all = append(all, *v)
	}
	slices.SortFunc(all, func(a, b GroupVersion) int { return strings.Compare(a.GroupVersion, b.GroupVersion) })
	return all
}

// kubeadmTypes returns the kinds of each version that kubeadm reads, each with the structs that come with it.
func kubeadmTypes() []Type {
	known := map[string]*Type{}
	for gvk, kind := range kubeadmscheme.Scheme.AllKnownTypes() {
		// Besides its own kinds a group has those of every group, such as ListOptions.
		if gvk.Version != runtime.APIVersionInternal && strings.HasSuffix(kind.PkgPath(), "/apis/kubeadm/"+gvk.Version) {
			addType(known, gvk.Version, kind)
		}
	}
	var all []Type
	for _, name := range slices.Sorted(maps.Keys(known)) {
		all = append(all, *known[name])
	}
	return all
}

func addType(known map[string]*Type, version string, t reflect.Type) {
	name := version + "." + t.Name()
	if known[name] != nil {
		return
	}
	known[name] = &Type{Version: version, Name: t.Name()}
	known[name].Fields = fieldsOf(known, version, t)
}

func fieldsOf(known map[string]*Type, version string, t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "": // from 1.37 on without the option inline
			fields = append(fields, fieldsOf(known, version, f.Type)...)
		default:
			fields = append(fields, Field{name, jsonType(known, version, f.Type)})
		}
	}
	return fields
}

// ownJSON are the types that say themselves what they are in JSON.
var ownJSON = map[string]string{"Duration": "duration", "Time": "string", "Quantity": "anything", "BootstrapTokenString": "string"}

func jsonType(known map[string]*Type, version string, t reflect.Type) string {
	if t.Implements(reflect.TypeFor[json.Unmarshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if ownJSON[t.Name()] != "" {
			return ownJSON[t.Name()]
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(known, version, t.Elem())
	case reflect.Slice:
		return "[]" + jsonType(known, version, t.Elem())
	case reflect.Map:
		return "{}" + jsonType(known, version, t.Elem())
	case reflect.Struct:
		addType(known, version, t)
		return t.Name()
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	}
	fmt.Fprintf(os.Stderr, "describe: no word for the type %s\n", t)
	os.Exit(1)
	return ""
}
