package campaign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// gateArgs draws feature gates, once or several times, and flags of the hand-off beside them.
func (d *draw) gateArgs() []Arg {
	args := []Arg{{release.FlagFeatureGates, d.gates()}}
	if d.chance(15) {
		args = append(args, Arg{release.FlagFeatureGates, d.gates()})
	}
	if d.chance(20) {
		args = append(args, d.arg(release.FlagPeerCAFile))
	}
	return args
}

// gates draws a value of feature-gates.
func (d *draw) gates() string {
	prefix := ""
	if d.chance(10) {
		prefix = "kube:"
	}
	var entries []string
	for range 1 + d.IntN(4) {
		entries = append(entries, prefix+d.gate())
	}
	separator := ","
	switch n := d.IntN(100); {
	case n < 4:
		separator = ", "
	case n < 7:
		separator = ",\n"
	case n < 9:
		separator = ",,"
	}
	value := strings.Join(entries, separator)
	switch n := d.IntN(100); {
	case n < 3:
		value += ","
	case n < 6:
		value = " " + value + " "
	case n < 8:
		value += "\n"
	case n < 9:
		value = strings.Replace(value, "kube:", "", 1)
	case n < 11:
		value += "," + one(d, malformedGates)
	}
	return value
}

var malformedGates = []string{
	"", " ", "=true", "NoValue", "APIServerIdentity", "APIServerIdentity=", "APIServerIdentity=yes", "APIServerIdentity: true", "APIServerIdentity:true",
	"'APIServerIdentity=true'", "wardle:Gate=true", "kube:APIServerIdentity=true", "APIServerIdentity=true=true", "APIServerIdentity==true", "{}", "null",
	"APIServerIdentity true", "apiserveridentity=true", "kube:", ":", ":APIServerIdentity=true", "Kube:APIServerIdentity=true", "APIServerIdentity=on",
}

// gate draws one entry.
func (d *draw) gate() string {
	name, value := one(d, d.catalogue.Gates()), ""
	switch n := d.IntN(100); {
	case n < 15:
		name = one(d, []string{release.Gate, release.Identity})
	case n < 19:
		name = one(d, []string{release.AllAlpha, release.AllBeta})
		value = "false"
	case n < 23:
		other, _ := release.CatalogueOf(one(d, release.Known()))
		name = one(d, other.Gates())
	}
	switch n := d.IntN(100); {
	case n < 2:
		name = d.misspelt(name)
	case n < 3:
		name = strings.ToLower(name)
	}
	spec, _ := d.catalogue.Gate(name, release.EffectiveOf(d.release))
	if value == "" {
		value = fmt.Sprint(spec.Default)
		if d.chance(50) && (!spec.Locked || d.chance(10)) {
			value = fmt.Sprint(!spec.Default)
		}
	}
	if d.chance(6) {
		value = one(d, []string{"True", "1", "0", "t", "F", "yes", "", " true", "TRUE", "tRue", "false "})
	}
	return name + "=" + value
}

// versionArgs draws what decides about the API versions that a server has.
func (d *draw) versionArgs() []Arg {
	var args []Arg
	if d.chance(70) {
		args = append(args, Arg{release.FlagRuntimeConfig, d.runtimeConfig()})
	}
	if d.chance(10) {
		args = append(args, Arg{release.FlagRuntimeConfig, d.runtimeConfig()})
	}
	if len(args) == 0 || d.chance(40) {
		args = append(args, Arg{release.FlagEmulatedVersion, d.version()})
		if d.chance(30) {
			args = append(args, d.arg(release.FlagMinCompatibility))
		}
		if d.chance(20) {
			args = append(args, d.arg(one(d, []string{"emulation-forward-compatible", "runtime-config-emulation-forward-compatible"})))
		}
	}
	return args
}

// version draws a value of emulated-version or min-compatibility-version.
func (d *draw) version() string {
	minor := d.release.Minor() - d.IntN(4)
	text := fmt.Sprintf("1.%d", minor)
	if !d.chance(25) {
		return text
	}
	switch d.IntN(14) {
	case 0:
		return "kube=" + text
	case 1:
		return "kube:" + text
	case 2:
		return "v" + text
	case 3:
		return text + ".0"
	case 4:
		return text + ".3"
	case 5:
		return fmt.Sprintf("1.%d", d.release.Minor()+1)
	case 6:
		return fmt.Sprintf("1.%d", d.release.Minor()-5)
	case 7:
		return text + "," + text
	case 8:
		return ""
	case 9:
		return " " + text
	case 10:
		return "kube = " + text
	case 11:
		return "wardle=1.2"
	case 12:
		return text + ","
	default:
		return one(d, []string{"1", "1.x", "2.0", "-1.35", "1.36-alpha.1", "latest", "kube=", "=1.35", "\"1.35\"", "1,35", "0.0", "1.035"})
	}
}

// groupVersions are some that the releases have, and had, and have not.
var groupVersions = []string{
	"v1", "api/v1", "admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1alpha1", "admissionregistration.k8s.io/v1beta1", "apiextensions.k8s.io/v1",
	"apiregistration.k8s.io/v1", "apps/v1", "authentication.k8s.io/v1", "authentication.k8s.io/v1alpha1", "authentication.k8s.io/v1beta1", "authorization.k8s.io/v1", "autoscaling/v1",
	"autoscaling/v2", "batch/v1", "certificates.k8s.io/v1", "certificates.k8s.io/v1alpha1", "certificates.k8s.io/v1beta1", "coordination.k8s.io/v1",
	"coordination.k8s.io/v1alpha1", "coordination.k8s.io/v1alpha2", "coordination.k8s.io/v1beta1", "discovery.k8s.io/v1", "events.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1",
	"flowcontrol.apiserver.k8s.io/v1beta3", "internal.apiserver.k8s.io/v1alpha1", "networking.k8s.io/v1", "networking.k8s.io/v1beta1", "node.k8s.io/v1", "policy/v1",
	"rbac.authorization.k8s.io/v1", "resource.k8s.io/v1", "resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2", "scheduling.k8s.io/v1",
	"scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1alpha2", "storage.k8s.io/v1", "storage.k8s.io/v1alpha1", "storage.k8s.io/v1beta1", "storagemigration.k8s.io/v1alpha1",
	"storagemigration.k8s.io/v1beta1", "storagemigration.k8s.io/v1",
}

var strangeVersions = []string{
	"extensions/v1beta1", "batch/v2alpha1", "policy/v1beta1", "apps/v1beta1", "no.such.example/v1", "apps", "apps/", "apps/v9", "/v1", "v1beta1", "api/legacy", "api", "apis/apps/v1",
	"apps/v1/deployments/scale", "APPS/v1", "settings.k8s.io/v1alpha1", "admission.k8s.io/v1", "", " ", "api/all ", "node.k8s.io/v1beta1", "imagepolicy.k8s.io/v1alpha1",
	"networking.k8s.io/v1/ipaddresses", "networking.k8s.io/v1/Ingresses", "apps/v1/nosuch", "v1/pods", "api/v1/pods", "autoscaling/v2beta2", "auditregistration.k8s.io/v1alpha1",
}

// resourcesOf are resources that a key of three parts may name.
var resourcesOf = []string{
	"apps/v1/deployments", "batch/v1/cronjobs", "storage.k8s.io/v1/csinodes", "networking.k8s.io/v1/servicecidrs", "resource.k8s.io/v1beta1/resourceclaims",
	"admissionregistration.k8s.io/v1/mutatingadmissionpolicies", "policy/v1/poddisruptionbudgets", "certificates.k8s.io/v1beta1/clustertrustbundles",
}

// runtimeConfig draws a value of runtime-config.
func (d *draw) runtimeConfig() string {
	var entries []string
	for range 1 + d.IntN(3) {
		entries = append(entries, d.runtimeEntry())
	}
	return strings.Join(entries, one(d, []string{",", ",", ",", ",", ", ", ",\n"}))
}

func (d *draw) runtimeEntry() string {
	var key string
	switch n := d.IntN(100); {
	case n < 22:
		key = one(d, []string{"api/alpha", "api/beta", "api/ga", "api/all"})
	case n < 78:
		key = one(d, groupVersions)
	case n < 90:
		key = one(d, resourcesOf)
	default:
		key = one(d, strangeVersions)
	}
	value := "=true"
	// What is on by default is needed in places.
	if d.chance(12) || slices.Contains([]string{"api/alpha", "api/beta"}, key) && d.chance(30) {
		value = "=false"
	}
	if d.chance(7) {
		value = one(d, []string{"", "=", "=1", "=0", "=True", "=yes", "=TRUE", " = true", "=true=false", ":true", "=t"})
	}
	return key + value
}
