package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// paths lists all fields below f with their kinds, as ".apiServer.extraArgs[].name string".
func paths(f *Field, at string) []string {
	all := []string{fmt.Sprintf("%s %s", at, f.Kind)}
	for _, c := range f.Fields {
		all = append(all, paths(c, at+"."+c.Name)...)
	}
	if f.Elem != nil {
		all = append(all, paths(f.Elem, at+"[]")...)
	}
	return all
}

// schemaSizes are the kinds and how many fields each has, which were compared, name by name and kind by kind, with the
// Go types.
var schemaSizes = map[string]int{
	"kubeadm.k8s.io/v1beta3 ClusterConfiguration": 67,
	"kubeadm.k8s.io/v1beta3 InitConfiguration":    35,
	"kubeadm.k8s.io/v1beta3 JoinConfiguration":    38,
	"kubeadm.k8s.io/v1beta4 ClusterConfiguration": 182,
	"kubeadm.k8s.io/v1beta4 InitConfiguration":    47,
	"kubeadm.k8s.io/v1beta4 JoinConfiguration":    49,
	"kubeadm.k8s.io/v1beta4 ResetConfiguration":   22,
	"kubeadm.k8s.io/v1beta4 UpgradeConfiguration": 52,
	"kubeadm.k8s.io/v1 ClusterConfiguration":      186,
	"kubeadm.k8s.io/v1 InitConfiguration":         48,
	"kubeadm.k8s.io/v1 JoinConfiguration":         50,
	"kubeadm.k8s.io/v1 ResetConfiguration":        22,
	"kubeadm.k8s.io/v1 UpgradeConfiguration":      52,

	"controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlane":         46,
	"controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlaneTemplate": 48,
	"bootstrap.cluster.x-k8s.io/v1beta1 KubeadmConfig":                  45,
	"bootstrap.cluster.x-k8s.io/v1beta1 KubeadmConfigTemplate":          47,
	"controlplane.cluster.x-k8s.io/v1beta2 KubeadmControlPlane":         47,
	"controlplane.cluster.x-k8s.io/v1beta2 KubeadmControlPlaneTemplate": 49,
	"bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfig":                  46,
	"bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfigTemplate":          48,
}

func schemaOf(t *testing.T, key string) *Field {
	t.Helper()
	apiVersion, kind, _ := strings.Cut(key, " ")
	f, ok := Schema(apiVersion, kind)
	if !ok {
		t.Fatalf("there is no %s", key)
	}
	return f
}

func TestSchemaKinds(t *testing.T) {
	got := map[string]int{}
	for key := range schemaSizes {
		all := paths(schemaOf(t, key), "")
		got[key] = len(all)
		slices.Sort(all)
		if len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%s has a field twice", key)
		}
	}
	if diff := cmp.Diff(schemaSizes, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSchemaPaths(t *testing.T) {
	const (
		v1beta3, v1beta4, v1 = "kubeadm.k8s.io/v1beta3", "kubeadm.k8s.io/v1beta4", "kubeadm.k8s.io/v1"
		cluster              = "ClusterConfiguration"
		capi1, capi2         = "controlplane.cluster.x-k8s.io/v1beta1", "controlplane.cluster.x-k8s.io/v1beta2"
	)
	for _, tt := range []struct {
		apiVersion, kind string
		path             []string // "[]" is the element
		want             Kind     // none: there is no such field
		since            int
	}{
		{v1beta3, cluster, []string{"apiServer", "extraArgs"}, Map, 0},
		{v1beta3, cluster, []string{"apiServer", "extraArgs", "[]"}, String, 0},
		{v1beta3, cluster, []string{"apiServer", "extraEnvs"}, "", 0},
		{v1beta3, cluster, []string{"apiServer", "timeoutForControlPlane"}, Duration, 0},
		{v1beta3, cluster, []string{"featureGates", "[]"}, Bool, 0},
		{v1beta3, "UpgradeConfiguration", nil, "", 0},
		{v1beta4, cluster, []string{"apiServer", "extraArgs"}, List, 0},
		{v1beta4, cluster, []string{"apiServer", "extraArgs", "[]", "value"}, String, 0},
		{v1beta4, cluster, []string{"apiServer", "extraArgs", "[]", "mergeMethod"}, "", 0},
		{v1beta4, cluster, []string{"apiServer", "extraArg"}, "", 0},
		{v1beta4, cluster, []string{"apiServer", "extraargs"}, "", 0},
		{v1beta4, cluster, []string{"apiServer", "timeoutForControlPlane"}, "", 0},
		{v1beta4, cluster, []string{"apiServerExtraArgs"}, "", 0},
		{v1beta4, cluster, []string{"etcd", "external", "httpEndpoints"}, List, 35},
		{v1beta4, cluster, []string{"apiServer", "extraEnvs", "[]", "valueFrom", "fileKeyRef"}, Object, 34},
		{v1beta4, cluster, []string{"apiServer", "extraEnvs", "[]", "valueFrom", "resourceFieldRef", "divisor"}, Any, 0},
		{v1beta4, "InitConfiguration", []string{"localAPIEndpoint", "bindPort"}, Int, 0},
		{v1beta4, "InitConfiguration", []string{"nodeRegistration", "taints", "[]", "timeAdded"}, String, 0},
		{v1beta4, "JoinConfiguration", []string{"discovery", "timeout"}, "", 0},
		{v1beta4, "UpgradeConfiguration", []string{"diff", "contextLines"}, Int, 0},
		{v1, cluster, []string{"apiServer", "extraArgs", "[]", "mergeMethod"}, String, 0},
		{v1, "InitConfiguration", []string{"nodeRegistration", "kubeletExtraArgs", "[]", "mergeMethod"}, String, 0},
		{"kubeadm.k8s.io/v1beta2", cluster, nil, "", 0},
		{v1beta4, "ClusterStatus", nil, "", 0},
		{capi1, "KubeadmControlPlane", []string{"spec", "kubeadmConfigSpec", "clusterConfiguration", "apiServer", "extraArgs"}, Map, 0},
		{capi2, "KubeadmControlPlane", []string{"spec", "kubeadmConfigSpec", "clusterConfiguration", "apiServer", "extraArgs"}, List, 0},
		{capi2, "KubeadmControlPlane", []string{"spec", "kubeadmConfigSpec", "clusterConfiguration", "apiServer", "extraArg"}, "", 0},
		{capi2, "KubeadmControlPlane", []string{"spec", "replicas"}, Any, 0},
		{capi2, "KubeadmControlPlaneTemplate", []string{"spec", "template", "spec", "kubeadmConfigSpec", "clusterConfiguration", "etcd"}, Any, 0},
		{"bootstrap.cluster.x-k8s.io/v1beta1", "KubeadmConfig", []string{"spec", "clusterConfiguration", "apiServer", "certSANs", "[]"}, String, 0},
	} {
		f, ok := Schema(tt.apiVersion, tt.kind)
		for _, name := range tt.path {
			if !ok {
				break
			}
			if name == "[]" {
				f = f.Elem
			} else {
				f, ok = f.Field(name)
			}
		}
		switch {
		case ok != (tt.want != ""):
			t.Errorf("%s %s %v: found %v", tt.apiVersion, tt.kind, tt.path, ok)
		case ok && (f.Kind != tt.want || f.Since != tt.since):
			t.Errorf("%s %s %v: %s since %d, want %s since %d", tt.apiVersion, tt.kind, tt.path, f.Kind, f.Since, tt.want, tt.since)
		}
	}
}

func TestFieldNames(t *testing.T) {
	f, _ := Schema("kubeadm.k8s.io/v1beta4", "ClusterConfiguration")
	api, _ := f.Field("apiServer")
	if diff := cmp.Diff([]string{"extraArgs", "extraVolumes", "extraEnvs", "certSANs"}, api.Names()); diff != "" {
		t.Error(diff)
	}
	if near, ok := Suggest("extraArg", api.Names()); !ok || near != "extraArgs" {
		t.Errorf("for extraArg got %q", near)
	}
}

// Every field has what its kind needs and nothing else, so that a walk over it needs no checks.
func TestSchemaIsWellFormed(t *testing.T) {
	var check func(key string, f *Field)
	check = func(key string, f *Field) {
		if (f.Elem != nil) != (f.Kind == List || f.Kind == Map) || (len(f.Fields) > 0) != (f.Kind == Object) {
			t.Errorf("%s: %q is a %s with %d fields and element %v", key, f.Name, f.Kind, len(f.Fields), f.Elem)
		}
		if !slices.Contains([]Kind{Any, String, Int, Bool, Duration, Object, List, Map}, f.Kind) {
			t.Errorf("%s: %q is a %s", key, f.Name, f.Kind)
		}
		for _, c := range f.Fields {
			check(key, c)
		}
		if f.Elem != nil {
			check(key, f.Elem)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(schemaSizes)) {
		check(key, schemaOf(t, key))
	}
}
