package startup

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// typeMeta is how a configuration file names what it is.
type typeMeta struct {
	APIVersion, Kind string
}

// configuration is what a file that configures kube-apiserver is to be.
type configuration struct {
	kind string
	// versions are the apiVersions that are read; later is one that not all releases read (ReadsV1Configuration).
	versions []string
	later    string
	// old tells whether the file has a name that these had before they were kinds of a group, which is still read.
	old func(meta typeMeta, top map[string]any) bool
	// fields are those of the top, shape those of all of it. Where neither is given others are passed over, as the
	// server does.
	fields []string
	shape  shape
	// needs is a list that must not be empty, "" is none.
	needs string
	// holds judges the values.
	holds func(c content) string
}

const (
	configV1alpha1    = "apiserver.config.k8s.io/v1alpha1"
	configV1beta1     = "apiserver.config.k8s.io/v1beta1"
	configV1          = "apiserver.config.k8s.io/v1"
	apiserverV1alpha1 = "apiserver.k8s.io/v1alpha1"
)

var (
	auditPolicy = configuration{kind: "Policy", versions: []string{"audit.k8s.io/v1"}, needs: "rules", holds: audit}
	encryption  = configuration{
		kind: "EncryptionConfiguration", versions: []string{configV1},
		needs: "resources", shape: encryptionShape, holds: encrypted,
		old: func(meta typeMeta, _ map[string]any) bool { return meta == typeMeta{"v1", "EncryptionConfig"} },
	}
	authentication = configuration{
		kind: "AuthenticationConfiguration", versions: []string{configV1alpha1, configV1beta1}, later: configV1,
		shape: authenticationShape, holds: authenticators,
	}
	authorization = configuration{
		kind: "AuthorizationConfiguration", versions: []string{configV1alpha1, configV1beta1, configV1},
		needs: "authorizers", shape: authorizationShape, holds: authorizers,
	}
	admission = configuration{
		kind: "AdmissionConfiguration", versions: []string{configV1, apiserverV1alpha1},
		fields: []string{"plugins"}, holds: admissionPlugins,
		old: func(_ typeMeta, top map[string]any) bool {
			return top["imagePolicy"] != nil || top["podNodeSelectorPluginConfig"] != nil
		},
	}
	egressSelectors = configuration{
		kind: "EgressSelectorConfiguration", versions: []string{apiserverV1alpha1, "apiserver.k8s.io/v1beta1"},
		fields: []string{"egressSelections"}, holds: egress,
	}
	tracing = configuration{
		kind: "TracingConfiguration", versions: []string{configV1alpha1, configV1beta1}, later: configV1,
		fields: []string{"endpoint", "samplingRatePerMillion"}, holds: traced,
	}
)

// refused says what is wrong with a file: its syntax, its kind, its fields, or their values.
func (k configuration) refused(c content) string {
	data, err := yaml.YAMLToJSON(c.text)
	defer clear(data)
	var meta typeMeta
	top := map[string]any{}
	// The error can quote the file, which may hold secrets; it only matters that there is one.
	if err != nil || json.Unmarshal(data, &meta) != nil || json.Unmarshal(data, &top) != nil {
		return "is not YAML, or its apiVersion or kind is not text"
	}
	c.json = data
	if k.old == nil || !k.old(meta, top) {
		if problem := k.refusedTop(c, meta, top); problem != "" {
			return problem
		}
	}
	return k.refusedValues(c, top)
}

func (k configuration) refusedTop(c content, meta typeMeta, top map[string]any) string {
	known := k.versions
	if k.later != "" && c.catalogue.Does(release.ReadsV1Configuration) {
		known = append(slices.Clone(known), k.later)
	}
	if meta.Kind != k.kind || !slices.Contains(known, meta.APIVersion) {
		return fmt.Sprintf("holds kind %s of apiVersion %s; %s reads %s of %s",
			quoted(meta.Kind), quoted(meta.APIVersion), c.catalogue.MinorRelease(), k.kind, strings.Join(known, ", "))
	}
	known = append(slices.Clone(k.fields), "apiVersion", "kind", "metadata")
	for _, field := range slices.Sorted(maps.Keys(top)) {
		if k.fields != nil && !slices.Contains(known, field) {
			return fmt.Sprintf("has a field %s, which a %s does not have", quoted(field), k.kind)
		}
	}
	if list, _ := top[k.needs].([]any); k.needs != "" && len(list) == 0 {
		return "has no " + k.needs
	}
	return ""
}

func (k configuration) refusedValues(c content, top map[string]any) string {
	if problem := k.shape.find(top, ""); problem != "" {
		return problem
	}
	return k.holds(c)
}

// decode reads a document into a struct, as the server does: a number is no text.
func (c content) decode(into any) string {
	if err := json.Unmarshal(c.json, into); err != nil {
		return "has a value of the wrong type"
	}
	return ""
}

// has says what is wrong with a part of a file: "has rules[0] with the level ...".
func has(at, format string, args ...any) string {
	return "has " + at + " " + fmt.Sprintf(format, args...)
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// shape are the fields that an object may have, each with the shape of its value; nil is any value. A list has the
// shape of its items.
type shape map[string]shape

// find says which field is in no shape, as a strict decoder does. Capitals count.
func (s shape) find(value any, path string) string {
	if s == nil {
		return ""
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, ok := s[name]
			switch {
			case !ok && path == "":
				return fmt.Sprintf("has a field %q that is not known", name)
			case !ok:
				return fmt.Sprintf("has a field %q that is not known in %s", name, path)
			}
			if problem := inner.find(v[name], strings.TrimPrefix(path+"."+name, ".")); problem != "" {
				return problem
			}
		}
	case []any:
		for i, item := range v {
			if problem := s.find(item, fmt.Sprintf("%s[%d]", path, i)); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// object adds the fields that every document has.
func (s shape) object() shape {
	s["apiVersion"], s["kind"] = nil, nil
	return s
}

// fields makes a shape of names with any values.
func fields(names ...string) shape {
	s := shape{}
	for _, name := range names {
		s[name] = nil
	}
	return s
}
