package release

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Catalogue is what kube-apiserver of one release accepts and serves: its flags, its feature gates and its API
// surface. It is generated from the release itself: the flags and gates are those that the linked command has, the
// resources those that running servers list (make update-catalogue). A catalogue stands for all patch releases of its
// minor, although it was made from one; Version tells which.
type Catalogue struct {
	// Version is the release that the catalogue was made from: v1.36.3.
	Version string

	binary   Release
	flags    func() map[string]Flag
	gates    func() map[string]gate
	versions func() map[string]groupVersion
	surface  func() []Resource
}

// Flag is a flag of kube-apiserver.
type Flag struct {
	// Name is without dashes. Type is what pflag calls the type of its value: string, stringSlice, duration.
	Name, Type string
	// Bare: it may stand on a command line without a value.
	Bare bool
	// Again: given several times the values add up (S10, S11); of any other flag the last one wins.
	Again bool
	// Deprecated: the release says so.
	Deprecated bool
}

// gate is a feature gate of one release.
type gate struct {
	specs []gateSpec
	// needs are the gates without which kube-apiserver exits when this one is on (S6).
	needs []string
}

type gateSpec struct {
	since  int // the emulated minor from which on it holds
	compat int // the minor that --min-compatibility-version must have reached, too; 0 where that does not count
	GateSpec
}

// groupVersion is a version of an API group that a release has registered.
type groupVersion struct {
	// listed: the release has a default for it, so --runtime-config reaches it. on is that default.
	listed, on bool
}

// Resource is a resource or, with a slash in its name, a subresource that a release can serve.
type Resource struct {
	// Group is "" for core. Name is "deployments" or "deployments/scale".
	Group, Version, Name string
	Namespaced           bool
	// Emptied: deletecollection and list are among its verbs, so namespace deletion empties it (if Namespaced).
	// Collected: list, watch and delete are, so garbage collection looks after it.
	Emptied, Collected bool

	// gates must all be on for it to be served; a ! in front: off.
	gates []string
	// since and until are the first and the last minor that a server may emulate and serve it; 0 is no bound.
	since, until int
}

// GroupVersion is "apps/v1", and "v1" for the core group.
func (r Resource) GroupVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// String is "apps/v1 deployments".
func (r Resource) String() string { return r.GroupVersion() + " " + r.Name }

// Compare orders by group, version and name.
func (r Resource) Compare(o Resource) int {
	return cmp.Or(strings.Compare(r.Group, o.Group), strings.Compare(r.Version, o.Version), strings.Compare(r.Name, o.Name))
}

//go:embed catalogue/*.txt
var catalogueFiles embed.FS

// catalogues returns those that there are by their minor. Nothing is decoded before it is asked for: a start costs the
// list of a folder's names.
var catalogues = sync.OnceValue(func() map[int]func() *Catalogue {
	files, err := fs.Glob(catalogueFiles, "catalogue/*.txt")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	all := map[int]func() *Catalogue{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "catalogue/"), ".txt")
		r, err := Parse(name)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", file, err)) // TestCatalogues opens them all
		}
		all[r.minor] = sync.OnceValue(func() *Catalogue {
			text, err := catalogueFiles.ReadFile(file)
			if err == nil {
				var c *Catalogue
				if c, err = parseCatalogue(string(text)); err == nil {
					return c
				}
			}
			panic(fmt.Sprintf("%s: %v", file, err))
		})
	}
	return all
})

// CatalogueOf returns the catalogue of the minor of r; ok is false where there is none.
func CatalogueOf(r Release) (c *Catalogue, ok bool) {
	of, ok := catalogues()[r.minor]
	if !ok {
		return nil, false
	}
	return of(), true
}

// nearestCatalogue is the catalogue of r's minor, or else of the known minor next to it.
func nearestCatalogue(r Release) *Catalogue {
	known := Known()
	i, _ := slices.BinarySearchFunc(known, r.minor, func(k Release, minor int) int { return cmp.Compare(k.minor, minor) })
	c, _ := CatalogueOf(known[min(i, len(known)-1)])
	return c
}

// Release is the release that the catalogue was made from.
func (c *Catalogue) Release() Release { return c.binary }

// Flag returns a flag, which may be written as NormalizeFlag takes it.
func (c *Catalogue) Flag(name string) (f Flag, ok bool) {
	f, ok = c.flags()[NormalizeFlag(name)]
	return f, ok
}

// Flags returns the flags by their names.
func (c *Catalogue) Flags() []Flag {
	all := make([]Flag, 0, len(c.flags()))
	for _, f := range c.flags() {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Flag) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Gates returns the names of the feature gates, sorted; AllAlpha and AllBeta are among them.
func (c *Catalogue) Gates() []string {
	var names []string
	for name := range c.gates() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Gate returns what the release makes of a gate in a server of such effective versions. ok is false for a gate that the
// binary does not know.
func (c *Catalogue) Gate(name string, at Effective) (spec GateSpec, ok bool) {
	g, ok := c.gates()[name]
	if !ok {
		return GateSpec{}, false
	}
	// A gate that comes after the emulated release cannot be set.
	spec = GateSpec{Stage: PreAlpha}
	for _, s := range g.specs {
		if s.since <= at.Emulated.minor && s.compat <= at.Compatible.minor {
			spec = s.GateSpec
		}
	}
	return spec, true
}

// Needs returns the gates without which kube-apiserver exits when this one is on. Before 1.35 no release checks that.
func (c *Catalogue) Needs(name string) []string { return c.gates()[name].needs }

// Resources returns all resources that the release can serve, whatever --runtime-config and the gates must be for it,
// in the order of Compare.
func (c *Catalogue) Resources() []Resource { return slices.Clone(c.surface()) }

// The text of a catalogue has a line for each thing, in sections that are decoded when they are asked for:
//
//	kube-apiserver v1.36.3
//
//	[flags]
//	feature-gates colonSeparatedMultimapStringString again
//
//	[gates]
//	UnknownVersionInteroperabilityProxy 1.28=alpha,off 1.36=beta,on needs=APIServerIdentity
//
//	[versions]
//	storage.k8s.io/v1beta1 off
//
//	[resources]
//	storage.k8s.io/v1 csinodes emptied,collected
//
// Lines that begin with # and empty ones are passed over.
func parseCatalogue(text string) (*Catalogue, error) {
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
	lines := map[string]string{}
	for _, section := range sections[1:] {
		name, body, ok := strings.Cut(section, "]\n")
		if !ok {
			return nil, fmt.Errorf("a section without a name")
		}
		lines[name] = body
	}
	c.flags = lazily(lines["flags"], parseFlags)
	c.gates = lazily(lines["gates"], parseGates)
	c.versions = lazily(lines["versions"], parseVersions)
	c.surface = lazily(lines["resources"], parseResources)
	return c, nil
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

// lazily decodes a section when it is asked for. What is embedded is decoded by a test, so an error cannot come later.
func lazily[T any](body string, parse func(lines [][]string) (T, error)) func() T {
	return sync.OnceValue(func() T {
		v, err := parse(fields(body))
		if err != nil {
			panic("catalogue: " + err.Error())
		}
		return v
	})
}

func fields(body string) [][]string {
	var lines [][]string
	for line := range strings.Lines(body) {
		if words := strings.Fields(line); len(words) > 0 && words[0][0] != '#' {
			lines = append(lines, words)
		}
	}
	return lines
}

func parseFlags(lines [][]string) (map[string]Flag, error) {
	flags := make(map[string]Flag, len(lines))
	for _, words := range lines {
		if len(words) < 2 {
			return nil, fmt.Errorf("flag %s: no type", words[0])
		}
		f := Flag{Name: words[0], Type: words[1]}
		for _, word := range words[2:] {
			switch word {
			case "bare":
				f.Bare = true
			case "again":
				f.Again = true
			case "deprecated":
				f.Deprecated = true
			default:
				return nil, fmt.Errorf("flag %s: %q", f.Name, word)
			}
		}
		flags[f.Name] = f
	}
	return flags, nil
}

func parseGates(lines [][]string) (map[string]gate, error) {
	gates := make(map[string]gate, len(lines))
	for _, words := range lines {
		var g gate
		for _, word := range words[1:] {
			key, value, ok := strings.Cut(word, "=")
			switch {
			case !ok:
				return nil, fmt.Errorf("gate %s: %q", words[0], word)
			case key == "needs":
				g.needs = strings.Split(value, ",")
			default:
				spec, err := parseGateSpec(key, value)
				if err != nil {
					return nil, fmt.Errorf("gate %s: %w", words[0], err)
				}
				g.specs = append(g.specs, spec)
			}
		}
		gates[words[0]] = g
	}
	return gates, nil
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

func parseVersions(lines [][]string) (map[string]groupVersion, error) {
	versions := make(map[string]groupVersion, len(lines))
	for _, words := range lines {
		if len(words) != 2 || !slices.Contains([]string{"on", "off", "unlisted"}, words[1]) {
			return nil, fmt.Errorf("version %s: not on, off or unlisted", words[0])
		}
		versions[words[0]] = groupVersion{listed: words[1] != "unlisted", on: words[1] == "on"}
	}
	return versions, nil
}

func parseResources(lines [][]string) ([]Resource, error) {
	all := make([]Resource, 0, len(lines))
	for _, words := range lines {
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
