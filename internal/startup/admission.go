package startup

import (
	"fmt"
	"regexp"
	"slices"
)

var (
	podSecurityLevels  = []string{"", "privileged", "baseline", "restricted"}
	podSecurityVersion = regexp.MustCompile(`^(|latest|v1\.(0|[1-9][0-9]*))$`)
)

// admissionPlugin is what an AdmissionConfiguration says of a plugin: the configuration, or the file that has it.
type admissionPlugin struct {
	Name, Path    string
	Configuration any
}

// admissionPlugins judges an AdmissionConfiguration or one of the two older kinds of files: of what it holds for
// plugins, that of PodSecurity (admission/api/validation of k8s.io/pod-security-admission), and whether plugins have
// one that need one (pkg/admission/config.go of k8s.io/apiserver). Plugins that there are not are passed over.
func admissionPlugins(c content) string {
	var config struct {
		Kind    string
		Plugins []admissionPlugin
	}
	if c.decode(&config) != "" {
		return "" // what it exits on then was not measured
	}
	for i, plugin := range config.Plugins {
		if problem := plugin.refusedLevels(fmt.Sprintf("plugins[%d] (PodSecurity)", i)); problem != "" {
			return problem
		}
	}
	for _, name := range c.plugins() {
		i := slices.IndexFunc(config.Plugins, func(p admissionPlugin) bool { return p.Name == name })
		switch {
		case config.Kind == "" && name == "ImagePolicyWebhook": // the file is its own
		case i >= 0 && config.Plugins[i].Configuration != nil:
		case i >= 0 && config.Plugins[i].Path != "":
			if !c.sees(c.beside(config.Plugins[i].Path)) {
				at := fmt.Sprintf("plugins[%d] (%s)", i, name)
				return has(at, "with the path %q, a file that is not there", config.Plugins[i].Path)
			}
		case slices.Contains(configuredPlugins, name):
			return "has no configuration for " + name + ", which is switched on and needs one"
		}
	}
	return ""
}

func (p admissionPlugin) refusedLevels(at string) string {
	configuration, _ := p.Configuration.(map[string]any)
	defaults, _ := configuration["defaults"].(map[string]any)
	if p.Name != "PodSecurity" {
		return ""
	}
	for _, mode := range []string{"enforce", "audit", "warn"} {
		level, _ := defaults[mode].(string)
		version, _ := defaults[mode+"-version"].(string)
		if !slices.Contains(podSecurityLevels, level) || !podSecurityVersion.MatchString(version) {
			return has(at, "with %s %q and %s-version %q: "+
				"it takes privileged, baseline, restricted, and latest or v1.N", mode, level, mode, version)
		}
	}
	return ""
}
