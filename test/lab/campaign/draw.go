package campaign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// Draw returns the setting of an index. The same seed and index give the same setting.
func Draw(seed uint64, index int) Setting {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, uint64(index))), index: index}
	d.release = one(d, release.Known())
	d.catalogue, _ = release.CatalogueOf(d.release)
	s := Setting{Seed: seed, Index: index, Release: d.release.MinorString(), APIVersion: "v1beta4"}
	s.Args = d.args()
	for i := range s.Args {
		s.Args[i].Name = d.spelt(s.Args[i].Name)
	}
	if d.release.Minor() < 37 && d.chance(10) && !repeated(s.Args) {
		s.APIVersion = "v1beta3"
		// The order of a map is not that of the file.
		slices.SortFunc(s.Args, func(a, b Arg) int { return strings.Compare(a.Name, b.Name) })
	}
	return s
}

func repeated(args []Arg) bool {
	seen := map[string]bool{}
	for _, a := range args {
		if seen[a.Name] {
			return true
		}
		seen[a.Name] = true
	}
	return false
}

// draw draws one setting.
type draw struct {
	*rand.Rand
	index     int
	release   release.Release
	catalogue *release.Catalogue
}

// chance is true in so many of a hundred cases.
func (d *draw) chance(percent int) bool { return d.IntN(100) < percent }

func one[T any](d *draw, of []T) T { return of[d.IntN(len(of))] }

// args draws what a setting is made of: flags on their own, the gates, the versions of APIs, or flags that belong together.
func (d *draw) args() []Arg {
	switch n := d.IntN(100); {
	case n < 50:
		return d.flags(1 + d.IntN(4))
	case n < 68:
		return append(d.gateArgs(), d.flags(d.IntN(2))...)
	case n < 78:
		return append(d.versionArgs(), d.flags(d.IntN(2))...)
	case n < 86:
		args := append(d.gateArgs(), d.versionArgs()...)
		d.Shuffle(len(args), func(i, j int) { args[i], args[j] = args[j], args[i] })
		return args
	default:
		return append(d.together(), d.flags(d.IntN(2))...)
	}
}

// flags draws any flags.
func (d *draw) flags(n int) []Arg {
	var args []Arg
	for range n {
		name := one(d, d.catalogue.Flags()).Name
		if d.chance(3) {
			// Of another release.
			other, _ := release.CatalogueOf(one(d, release.Known()))
			name = one(d, other.Flags()).Name
		}
		if d.chance(2) {
			name = one(d, strangers)
		}
		args = append(args, d.arg(name))
		if f, ok := d.catalogue.Flag(name); d.chance(4) || ok && f.Again && d.chance(15) {
			args = append(args, d.arg(name))
		}
	}
	return args
}

// strangers are flags that no release of the lab has, or none of kube-apiserver.
var strangers = []string{
	"cloud-provider", "cloud-config", "insecure-port", "address", "port", "kubelet-https", "target-ram-mb", "log-dir", "logtostderr", "alsologtostderr",
	"experimental-encryption-provider-config", "basic-auth-file", "repair-malformed-updates", "kubeconfig", "node-ip", "audit-dynamic-configuration",
	"storage-version", "master-service-namespace", "service-account-api-audiences", "tls-ca-file", "enable-swagger-ui", "feature-gate", "runtime-configs", "one_output",
	"json-log-info-buffer-size", "log-json-split-stream", "h", "",
}

// arg draws a value for a flag.
func (d *draw) arg(name string) Arg {
	switch name {
	case release.FlagFeatureGates:
		return Arg{name, d.gates()}
	case release.FlagRuntimeConfig:
		return Arg{name, d.runtimeConfig()}
	case release.FlagEmulatedVersion, release.FlagMinCompatibility:
		return Arg{name, d.version()}
	}
	return Arg{name, d.value(name)}
}

func (d *draw) value(name string) string {
	c, ok := fileFlags[name]
	if ok {
		// Most paths are odd ones to every flag.
		if d.chance(20) {
			return d.mark(one(d, oddPaths))
		}
		return d.mark(d.of(c))
	}
	if c, ok = valueFlags[name]; !ok {
		f, _ := d.catalogue.Flag(name)
		if c, ok = typeValues[f.Type]; !ok {
			c = anyText
		}
	}
	return d.mark(d.of(c))
}

// of draws a good value, or now and then an odd one.
func (d *draw) of(c choice) string {
	if d.chance(20) {
		return one(d, c.odd)
	}
	return one(d, c.good)
}

// mark fills in what depends on the setting.
func (d *draw) mark(value string) string {
	return strings.NewReplacer("@previous", d.release.Prev().MinorString(), "@index", strconv.Itoa(d.index)).Replace(value)
}

// spelt draws how a name is written.
func (d *draw) spelt(name string) string {
	switch n := d.IntN(1000); {
	case n < 50:
		return strings.ReplaceAll(name, "-", "_")
	case n < 60:
		return strings.Replace(name, "-", "_", 1)
	case n < 68:
		return camelCase(name)
	case n < 74:
		return strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]
	case n < 78:
		return strings.ToUpper(name)
	case n < 90:
		return d.misspelt(name)
	case n < 93:
		return one(d, []string{"-", "--", " "}) + name
	case n < 96:
		return name + one(d, []string{" ", "-", "s", "\n", "ü"})
	}
	return name
}

func camelCase(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = string(unicode.ToUpper(rune(w[0]))) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// misspelt leaves a letter out, doubles one or swaps two.
func (d *draw) misspelt(name string) string {
	if len(name) < 2 {
		return name
	}
	i := d.IntN(len(name) - 1)
	switch d.IntN(3) {
	case 0:
		return name[:i] + name[i+1:]
	case 1:
		return name[:i] + name[i:i+1] + name[i:]
	default:
		return name[:i] + name[i+1:i+2] + name[i:i+1] + name[i+2:]
	}
}

// String says what the setting is.
func (s Setting) String() string {
	return fmt.Sprintf("seed %d, setting %d: kube-apiserver %s", s.Seed, s.Index, s.Release)
}
