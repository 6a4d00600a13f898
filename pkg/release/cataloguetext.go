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
	head := strings.Fields(uncomment(sections[0]))
	if len(head) != 2 || head[0] != "kube-apiserver" {
		return nil, fmt.Errorf("the first line is not kube-apiserver and its version")
	}
	binary, err := Parse(head[1])
	if err != nil {
		return nil, err
	}
	c := &Catalogue{Version: head[1], binary: binary}
	found := map[string]section{}
	for _, text := range sections[1:] {
		name, body, ok := strings.Cut(text, "]\n")
		if !ok {
			return nil, fmt.Errorf("a section without a name")
		}
		found[name] = section("\n" + body)
	}
	c.flags, c.gates = found["flags"], found["gates"]
	c.kubeadm, c.plugins = found["kubeadm-gates"], found["admission-plugins"]
	c.allGates = lazily(found["gates"], parseGates)
	c.versions = lazily(found["versions"], parseVersions)
	c.surface = lazily(found["resources"], parseResources)
	return c, nil
}

// A section of a catalogue has a line break in front of each line. A line begins with the name of what it is about.
type section string

// line returns the words of a name's line.
func (s section) line(name string) (words []string, ok bool) {
	start := strings.Index(string(s), "\n"+name+" ")
	if start < 0 || name == "" {
		return nil, false
	}
	line, _, _ := strings.Cut(string(s[start+1:]), "\n")
	return strings.Fields(line), true
}

// lines returns the words of every line.
func (s section) lines() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(string(s)) {
			if words := strings.Fields(line); len(words) > 0 && words[0][0] != '#' && !yield(words) {
				return
			}
		}
	}
}

func uncomment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// names returns the first word of every line.
func (s section) names() []string {
	var names []string
	for words := range s.lines() {
		names = append(names, words[0])
	}
	return names
}

// lazily decodes a section when it is asked for.
func lazily[T any](s section, parse func(section) (T, error)) func() T {
	return sync.OnceValue(func() T { return must(parse(s)) })
}

// must is for what is embedded: a test decodes all of it, so an error cannot come later.
func must[T any](v T, err error) T {
	if err != nil {
		panic("catalogue: " + err.Error())
	}
	return v
}

func parseFlag(words []string) (Flag, error) {
	if len(words) < 2 {
		return Flag{}, fmt.Errorf("flag %s: no type", words[0])
	}
	f := Flag{Name: words[0], Type: words[1]}
	for i, word := range words[2:] {
		switch first, isDefault := strings.CutPrefix(word, "default="); {
		case isDefault:
			f.Default = strings.Join(append([]string{first}, words[2+i+1:]...), " ")
			return f, nil
		case word == "bare":
			f.Bare = true
		case word == "again":
			f.Again = true
		case word == "deprecated":
			f.Deprecated = true
		default:
			return Flag{}, fmt.Errorf("flag %s: %q", f.Name, word)
		}
	}
	return f, nil
}

func parseGates(s section) (map[string]gate, error) {
	gates := map[string]gate{}
	for words := range s.lines() {
		g, err := parseGate(words)
		if err != nil {
			return nil, err
		}
		gates[words[0]] = g
	}
	return gates, nil
}

func parseGate(words []string) (g gate, err error) {
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			return gate{}, fmt.Errorf("gate %s: %q", words[0], word)
		case key == "needs":
			g.needs = strings.Split(value, ",")
		default:
			spec, err := parseGateSpec(key, value)
			if err != nil {
				return gate{}, fmt.Errorf("gate %s: %w", words[0], err)
			}
			g.specs = append(g.specs, spec)
		}
	}
	return g, nil
}

func parseGateSpec(since, text string) (spec gateSpec, err error) {
	_, minor, _ := strings.Cut(since, ".")
	if spec.since, err = strconv.Atoi(minor); err != nil {
		return spec, fmt.Errorf("%q is no release", since)
	}
	words := strings.Split(text, ",")
	spec.Stage = Stage(words[0])
	for _, word := range words[1:] {
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

func parseVersions(s section) (map[string]groupVersion, error) {
	versions := map[string]groupVersion{}
	for words := range s.lines() {
		if len(words) != 2 || !slices.Contains([]string{"on", "off", "unlisted"}, words[1]) {
			return nil, fmt.Errorf("version %s: not on, off or unlisted", words[0])
		}
		versions[words[0]] = groupVersion{listed: words[1] != "unlisted", on: words[1] == "on"}
	}
	return versions, nil
}

func parseResources(s section) ([]Resource, error) {
	var all []Resource
	for words := range s.lines() {
		if len(words) < 2 {
			return nil, fmt.Errorf("resource of %s: no name", words[0])
		}
		r := Resource{Version: words[0], Name: words[1]}
		if group, version, ok := strings.Cut(words[0], "/"); ok {
			r.Group, r.Version = group, version
		}
		for _, word := range words[2:] {
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
	slices.SortFunc(all, Resource.Compare)
	return all, nil
}
