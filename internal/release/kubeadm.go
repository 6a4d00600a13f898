package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ReadStatus is what a kubeadm does with a configuration of some apiVersion.
type ReadStatus string

// What kubeadm does with a configuration file. Of ReadsDeprecated it warns. Experimental is taken by
// `kubeadm config validate` and `migrate` with --allow-experimental-api, and refused by init and join.
const (
	Reads           ReadStatus = "reads"
	ReadsDeprecated ReadStatus = "reads-deprecated"
	Refuses         ReadStatus = "refuses"
	Experimental    ReadStatus = "experimental"
)

// KubeadmGroup is the API group of kubeadm's configuration.
const KubeadmGroup = "kubeadm.k8s.io"

// kubeadmAPI says which kubeadm minors read an apiVersion: as their own from minor first on, with a
// warning from deprecated to last, each 0 if not yet.
type kubeadmAPI struct {
	version                 string
	first, deprecated, last int
	experimental            bool
}

// kubeadmAPIs is the support matrix in validateSupportedVersion of cmd/kubeadm/app/util/config/
// common.go (1.33 to 1.37), oldest first, and facts, "kubeadm". v1alpha1 was read by 1.10 and earlier;
// nothing older than that matters here.
var kubeadmAPIs = []kubeadmAPI{
	{version: "v1alpha1", first: 10, deprecated: 11, last: 11},
	{version: "v1alpha2", first: 11, deprecated: 12, last: 12},
	{version: "v1alpha3", first: 12, deprecated: 13, last: 14},
	{version: "v1beta1", first: 13, deprecated: 15, last: 21},
	{version: "v1beta2", first: 15, deprecated: 22, last: 26},
	{version: "v1beta3", first: 22, deprecated: 31, last: 36},
	{version: "v1beta4", first: 31},
	{version: "v1", first: 37, experimental: true},
}

func findKubeadmAPI(apiVersion string) (index int, ok bool) {
	v := strings.TrimPrefix(apiVersion, KubeadmGroup+"/")
	index = slices.IndexFunc(kubeadmAPIs, func(a kubeadmAPI) bool { return a.version == v })
	return index, index >= 0
}

// KubeadmRelease is the kubeadm of one release.
type KubeadmRelease struct{ release Release }

// Kubeadm returns the kubeadm of release r.
func Kubeadm(r Release) KubeadmRelease { return KubeadmRelease{r} }

// ReadStatus tells what this kubeadm does with documents of an apiVersion, given as
// kubeadm.k8s.io/v1beta4 or v1beta4. One that kubeadm never had is refused.
func (k KubeadmRelease) ReadStatus(apiVersion string) ReadStatus {
	i, ok := findKubeadmAPI(apiVersion)
	if !ok {
		return Refuses
	}
	a, minor := kubeadmAPIs[i], k.release.minor
	switch {
	case minor < a.first || a.last != 0 && minor > a.last:
		return Refuses
	case a.experimental:
		return Experimental
	case a.deprecated != 0 && minor >= a.deprecated:
		return ReadsDeprecated
	}
	return Reads
}

// MigrationHint says in a sentence how a configuration of an apiVersion becomes one that today's
// kubeadm reads: which kubeadm can still run `kubeadm config migrate` on it, and what that writes. It
// is empty for an apiVersion that needs no migration or that kubeadm never had.
func MigrationHint(apiVersion string) string {
	i, ok := findKubeadmAPI(apiVersion)
	if !ok || kubeadmAPIs[i].deprecated == 0 {
		return ""
	}
	var steps []string
	for i < len(kubeadmAPIs) && kubeadmAPIs[i].deprecated != 0 {
		a := kubeadmAPIs[i]
		// The newest kubeadm that reads it writes the newest apiVersion that can be had from it.
		next := i
		for j, b := range kubeadmAPIs {
			if !b.experimental && b.first <= a.last {
				next = j
			}
		}
		with := fmt.Sprintf("%s to %s", OfMinor(a.deprecated), OfMinor(a.last))
		if a.deprecated == a.last {
			with = OfMinor(a.last).String()
		}
		steps = append(steps, fmt.Sprintf("kubeadm %s writes %s", with, kubeadmAPIs[next].version))
		i = next
	}
	return "run `kubeadm config migrate --old-config OLD --new-config NEW` with a kubeadm that still reads it: " + strings.Join(steps, ", then ")
}

// KubeadmGates lists, sorted, the names that the kubeadm of release r accepts in
// ClusterConfiguration.featureGates; it refuses the file for any other. It is nil for a release that
// mvpcheck has no facts for.
func KubeadmGates(r Release) []string {
	c, ok := CatalogueOf(r)
	if !ok {
		return nil
	}
	return slices.Sorted(maps.Keys(c.kubeadmGates()))
}
