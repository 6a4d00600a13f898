package release

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Catalogue is what kube-apiserver of one release accepts and serves: its flags, feature gates and admission plugins,
// and its API surface; and the feature gates of its kubeadm and the types of its configuration. It is generated from
// the release itself: what it accepts is what the linked command has, what it serves is what running servers list (make
// update-catalogue). A catalogue stands for all patch releases of its minor, although it was made from one; Version
// tells which.
type Catalogue struct {
	// Version is the release that the catalogue was made from: v1.36.3.
	Version string

	binary Release // without its patch
	// The Flag of each name that was asked for, without a name where there is none, and the gate.
	askedFlags, askedGates sync.Map
	// dependent are the gates that need others, by their names.
	dependent  func() []namedGate
	surface    func() []Resource
	behaviours func() map[Behaviour]bool
	// The lines of the other sections.
	flags, gates, kubeadmGates, kubeadmTypes, plugins, versions func() map[string]string
}

// Flag is a flag of kube-apiserver.
type Flag struct {
	// Name is without dashes. Type is what pflag calls the type of its value: string, stringSlice, duration.
	Name, Type string
	// Bare: it may stand on a command line without a value.
	Bare bool
	// Again: given several times the values add up (S10, S11); of any other flag the last one wins.
	Again bool
	// Deprecated tells that the release says so.
	Deprecated bool
	// Default is the value that --help gives, a list in brackets; "" is nothing, or an empty list.
	Default string
}

// gate is a feature gate of one release.
type gate struct {
	specs []gateSpec
	// needs are the gates without which kube-apiserver exits when this one is on (S6).
	needs []string
}

type namedGate struct {
	name string
	gate
}

type gateSpec struct {
	since  int // the emulated minor from which on it holds
	compat int // the minor that --min-compatibility-version must have reached, too; 0 where that does not count
	GateSpec
}

// Resource is a resource or, with a slash in its name, a subresource that a release can serve.
type Resource struct {
	// Group is "" for core. Name is "deployments" or "deployments/scale".
	Group, Version, Name string
	Namespaced           bool
	// Emptied: deletecollection and list are among its verbs, so namespace deletion empties it (if Namespaced).
	// Collected: list, watch and delete are, so garbage collection looks after it.
	Emptied, Collected bool

	// gates must all be on for it to be served.
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
		minor, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(file, "catalogue/1."), ".txt"))
		if err != nil {
			panic(fmt.Sprintf("%s: %v", file, err)) // TestCatalogues opens them all
		}
		all[minor] = sync.OnceValue(func() *Catalogue {
			text, err := catalogueFiles.ReadFile(file)
			if err == nil {
				var c *Catalogue
				if c, err = ParseCatalogue(string(text)); err == nil {
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

// Nearest is the catalogue of r's minor, or else of the known minor next to it.
func Nearest(r Release) *Catalogue {
	known := known()
	i, _ := slices.BinarySearchFunc(known, r.minor, func(k Release, minor int) int { return cmp.Compare(k.minor, minor) })
	c, _ := CatalogueOf(known[min(i, len(known)-1)])
	return c
}

// ResourceGates returns the gates that resources hang on, sorted.
func (c *Catalogue) ResourceGates() []string {
	var names []string
	for _, r := range c.surface() {
		names = append(names, r.gates...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Release is the release that the catalogue was made from.
func (c *Catalogue) Release() Release { return must(Parse(c.Version)) }

// MinorRelease is that release without its patch.
func (c *Catalogue) MinorRelease() Release { return c.binary }

// Does is that of the release.
func (c *Catalogue) Does(b Behaviour) bool { return c.behaviours()[b] }

// AdmissionPlugins returns the names of the admission plugins that the release has, sorted.
func (c *Catalogue) AdmissionPlugins() []string { return slices.Sorted(maps.Keys(c.plugins())) }

// HasAdmissionPlugin tells whether the release has an admission plugin.
func (c *Catalogue) HasAdmissionPlugin(name string) bool {
	_, ok := c.plugins()[name]
	return ok
}

// Flag returns a flag, which may be written as NormalizeFlag takes it.
func (c *Catalogue) Flag(name string) (f Flag, ok bool) {
	name = NormalizeFlag(name)
	if known, ok := c.askedFlags.Load(name); ok {
		f := known.(Flag)
		return f, f.Name != ""
	}
	rest, ok := c.flags()[name]
	if ok {
		f = must(parseFlag(name, rest))
	}
	c.askedFlags.Store(name, f)
	return f, ok
}

// Flags returns the flags, sorted by their names.
func (c *Catalogue) Flags() []Flag {
	var all []Flag
	for name, rest := range c.flags() {
		all = append(all, must(parseFlag(name, rest)))
	}
	slices.SortFunc(all, func(a, b Flag) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Gates returns the names of the feature gates, sorted; AllAlpha and AllBeta are among them.
func (c *Catalogue) Gates() []string { return slices.Sorted(maps.Keys(c.gates())) }

// Gate returns what the release makes of a gate in a server of such effective versions. ok is false for a gate that the
// binary does not know.
func (c *Catalogue) Gate(name string, at Effective) (spec GateSpec, ok bool) {
	g, ok := c.gate(name)
	if !ok {
		return GateSpec{}, false
	}
	return g.spec(at), true
}

// gate decodes the line of a gate when it is first asked for.
func (c *Catalogue) gate(name string) (g gate, ok bool) {
	if known, ok := c.askedGates.Load(name); ok {
		return known.(gate), true
	}
	rest, ok := c.gates()[name]
	if ok {
		g = must(parseGate(name, rest))
		c.askedGates.Store(name, g)
	}
	return g, ok
}

// spec is what holds of a gate in a server of such effective versions.
func (g gate) spec(at Effective) GateSpec {
	// A gate that comes after the emulated release cannot be set.
	spec := GateSpec{Stage: PreAlpha}
	for _, s := range g.specs {
		if s.since <= at.Emulated.minor && s.compat <= at.Compatible.minor {
			spec = s.GateSpec
		}
	}
	return spec
}

// Needs returns the gates without which kube-apiserver exits when this one is on.
func (c *Catalogue) Needs(name string) []string {
	g, _ := c.gate(name)
	return g.needs
}

// Resources returns all resources that the release can serve, whatever --runtime-config and the gates must be for it,
// in the order of Compare.
func (c *Catalogue) Resources() []Resource { return slices.Clone(c.surface()) }
