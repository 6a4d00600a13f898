package serverfiles

import (
	"fmt"
	"regexp"
	"slices"
)

var podSecurityLevels = []string{"", "privileged", "baseline", "restricted"}

var podSecurityVersion = regexp.MustCompile(`^(|latest|v1\.(0|[1-9][0-9]*))$`)

// Admission judges an AdmissionConfiguration: of what it holds for plugins, that of PodSecurity (admission/api/validation of
// k8s.io/pod-security-admission). Plugins that there are not are passed over.
func Admission(text []byte) string {
	var config struct {
		Plugins []struct {
			Name          string
			Configuration *struct {
				Defaults map[string]string
			}
		}
	}
	// Other plugins may have a field of that name and another type.
	if decode(text, &config) != "" {
		return ""
	}
	for i, p := range config.Plugins {
		if p.Name != "PodSecurity" || p.Configuration == nil {
			continue
		}
		for _, mode := range []string{"enforce", "audit", "warn"} {
			level, version := p.Configuration.Defaults[mode], p.Configuration.Defaults[mode+"-version"]
			if !slices.Contains(podSecurityLevels, level) || !podSecurityVersion.MatchString(version) {
				return fmt.Sprintf("has plugins[%d] (PodSecurity) with %s %q and %s-version %q: it takes privileged, baseline, restricted, and latest or v1.N",
					i, mode, level, mode, version)
			}
		}
	}
	return ""
}
