package serverfiles

import (
	"fmt"
	"path"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"
)

var podSecurityLevels = []string{"", "privileged", "baseline", "restricted"}

var podSecurityVersion = regexp.MustCompile(`^(|latest|v1\.(0|[1-9][0-9]*))$`)

// AdmissionPlugins are those that the server runs, as far as they matter here.
type AdmissionPlugins struct {
	// Named are the plugins that flags switch on, Configured those of them that do not do without a configuration.
	Named, Configured []string
}

// Admission judges an AdmissionConfiguration or one of the two older kinds of files, which stands at name: of what it holds
// for plugins, that of PodSecurity (admission/api/validation of k8s.io/pod-security-admission), and whether plugins have one
// that need one (pkg/admission/config.go of k8s.io/apiserver). Plugins that there are not are passed over.
func Admission(text []byte, name string, plugins AdmissionPlugins, exists func(string) bool) string {
	if problem := podSecurity(text); problem != "" {
		return problem
	}
	var config struct {
		Kind    string
		Plugins []admissionPlugin
	}
	if yaml.Unmarshal(text, &config) != nil {
		return "" // which is another rule's
	}
	for _, plugin := range plugins.Named {
		i := slices.IndexFunc(config.Plugins, func(p admissionPlugin) bool { return p.Name == plugin })
		switch {
		case config.Kind == "" && plugin == "ImagePolicyWebhook": // the file is its own
		case i >= 0 && config.Plugins[i].Configuration != nil:
		case i >= 0 && config.Plugins[i].Path != "":
			file := config.Plugins[i].Path
			if !path.IsAbs(file) {
				file = path.Join(path.Dir(name), file)
			}
			if !exists(file) {
				return fmt.Sprintf("has plugins[%d] (%s) with the path %q, a file that is not there", i, plugin, config.Plugins[i].Path)
			}
		case slices.Contains(plugins.Configured, plugin):
			return "has no configuration for " + plugin + ", which is switched on and needs one"
		}
	}
	return ""
}

// admissionPlugin is what an AdmissionConfiguration says of a plugin: the configuration, or the file that has it.
type admissionPlugin struct {
	Name, Path    string
	Configuration any
}

func podSecurity(text []byte) string {
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
