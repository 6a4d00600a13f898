package release

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ParseCatalogue reads the text of a catalogue, which has a line for each thing, in sections that are decoded when they
// are asked for:
//
//	kube-apiserver v1.36.3
//
//	[flags]
//	feature-gates colonSeparatedMultimapStringString again
//	event-ttl duration default=1h0m0s
//
//	[gates]
//	UnknownVersionInteroperabilityProxy 1.28=alpha,off 1.36=beta,on needs=APIServerIdentity
//
//	[kubeadm-gates]
//	RootlessControlPlane
//
//	[kubeadm-types]
//	v1beta4.ControlPlaneComponent extraArgs=[]Arg extraVolumes=[]HostPathMount extraEnvs=[]EnvVar
//
//	[admission-plugins]
//	NodeRestriction
//
//	[versions]
//	storage.k8s.io/v1beta1 off
//
//	[resources]
//	storage.k8s.io/v1 csinodes emptied collected
//
// Lines that begin with # and empty ones are passed over. An error in a section is a panic when that is decoded.
func ParseCatalogue(text string) (*Catalogue, error) {
	sections := strings.Split(text, "\n[")
	head, _, _ := strings.Cut(sections[0], "\n")
	version, ok := strings.CutPrefix(head, "kube-apiserver ")
	if !ok {
		return nil, fmt.Errorf("the first line is not kube-apiserver and its version")
	}
	// Release parses it when it is asked for: that costs more than the rest of this.
	digits, _, _ := strings.Cut(strings.TrimPrefix(version, "v1."), ".")
	minor, err := strconv.Atoi(digits)
	if err != nil {
		return nil, fmt.Errorf("%q is no release", version)
	}
	c := &Catalogue{Version: version, binary: OfMinor(minor)}
	found := map[string]string{}
	for _, text := range sections[1:] {
		name, body, ok := strings.Cut(text, "]\n")
		if !ok {
			return nil, fmt.Errorf("a section without a name")
		}
		found[name] = body
	}
	c.flags, c.gates, c.versions = index(found["flags"]), index(found["gates"]), index(found["versions"])
	c.kubeadmGates, c.kubeadmTypes, c.plugins = index(found["kubeadm-gates"]), index(found["kubeadm-types"]), index(found["admission-plugins"])
	c.dependent = sync.OnceValue(c.dependentGates)
	c.behaviours = behavioursOf(c.binary)
	c.surface = sync.OnceValue(func() []Resource { return must(parseResources(found["resources"])) })
	return c, nil
}

// index returns for each line of a section what follows the first word, by that word, when it is asked for.
func index(body string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		rest := make(map[string]string, strings.Count(body, "\n"))
		for line := range lines(body) {
			name, more, _ := strings.Cut(line, " ")
			rest[name] = more
		}
		return rest
	})
}

// lines returns the lines that are not empty and no comments.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// must is for what is embedded: a test decodes all of it, so an error cannot come later.
func must[T any](v T, err error) T {
	if err != nil {
		panic("catalogue: " + err.Error())
	}
	return v
}

func parseFlag(name, rest string) (Flag, error) {
	f := Flag{Name: name}
	rest, f.Default, _ = strings.Cut(rest, " default=")
	f.Type, rest, _ = strings.Cut(rest, " ")
	if f.Type == "" {
		return Flag{}, fmt.Errorf("flag %s: no type", name)
	}
	for word := range strings.FieldsSeq(rest) {
		switch word {
		case "bare":
			f.Bare = true
		case "again":
			f.Again = true
		case "deprecated":
			f.Deprecated = true
		default:
			return Flag{}, fmt.Errorf("flag %s: %q", name, word)
		}
	}
	return f, nil
}

// needsKey is in the line of each gate that needs others.
const needsKey = "needs="

func parseGate(name, rest string) (g gate, err error) {
	for word := range strings.FieldsSeq(rest) {
		if needs, ok := strings.CutPrefix(word, needsKey); ok {
			g.needs = strings.Split(needs, ",")
			continue
		}
		since, text, ok := strings.Cut(word, "=")
		if !ok {
			return gate{}, fmt.Errorf("gate %s: %q", name, word)
		}
		spec, err := parseGateSpec(since, text)
		if err != nil {
			return gate{}, fmt.Errorf("gate %s: %w", name, err)
		}
		g.specs = append(g.specs, spec)
	}
	return g, nil
}

func parseGateSpec(since, text string) (spec gateSpec, err error) {
	_, minor, _ := strings.Cut(since, ".")
	if spec.since, err = strconv.Atoi(minor); err != nil {
		return spec, fmt.Errorf("%q is no release", since)
	}
	stage, text, _ := strings.Cut(text, ",")
	spec.Stage = Stage(stage)
	for word := range strings.SplitSeq(text, ",") {
		switch word {
		case "on":
			spec.Default = true
		case "off":
		case "locked":
			spec.Locked = true
		default:
			minor, ok := strings.CutPrefix(word, "compat=1.")
			if spec.compat, err = strconv.Atoi(minor); !ok || err != nil {
				return spec, fmt.Errorf("%q", word)
			}
		}
	}
	return spec, nil
}

func parseResources(body string) ([]Resource, error) {
	all := make([]Resource, 0, strings.Count(body, "\n"))
	for line := range lines(body) {
		groupVersion, rest, _ := strings.Cut(line, " ")
		name, rest, _ := strings.Cut(rest, " ")
		if name == "" {
			return nil, fmt.Errorf("resource of %s: no name", groupVersion)
		}
		r := Resource{Version: groupVersion, Name: name}
		if group, version, ok := strings.Cut(groupVersion, "/"); ok {
			r.Group, r.Version = group, version
		}
		for word := range strings.FieldsSeq(rest) {
			key, value, _ := strings.Cut(word, "=")
			var err error
			switch key {
			case "namespaced":
				r.Namespaced = true
			case "emptied":
				r.Emptied = true
			case "collected":
				r.Collected = true
			case "gates":
				r.gates = strings.Split(value, ",")
			case "since":
				r.since, err = strconv.Atoi(strings.TrimPrefix(value, "1."))
			case "until":
				r.until, err = strconv.Atoi(strings.TrimPrefix(value, "1."))
			default:
				err = fmt.Errorf("%q", word)
			}
			if err != nil {
				return nil, fmt.Errorf("resource %s: %w", r, err)
			}
		}
		all = append(all, r)
	}
	if !slices.IsSortedFunc(all, Resource.Compare) {
		return nil, fmt.Errorf("the resources are not sorted")
	}
	return all, nil
}
