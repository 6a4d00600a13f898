package release

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"
)

// Release is a Kubernetes release: 1.35, 1.35.4 or 1.36.0-rc.1. The minor is always known, the patch
// may not be. Build metadata is dropped. Releases can be compared with == and used as map keys; for
// order use Compare or Before. The zero value is no release.
type Release struct {
	minor, patch int
	hasPatch     bool
	pre          string
}

// maxMinor keeps arithmetic on minors far from overflow.
const maxMinor = 9999

// OfMinor is the release 1.minor with its patch unknown.
func OfMinor(minor int) Release { return Release{minor: minor} }

// Parse reads a release as people write it: 1.35, v1.35, 1.35.4, v1.36.0-rc.1, 1.35.4+build, and the
// form that image tags have, v1.35.4_build. Blanks around it are ignored. Anything else is an error
// that says what is expected; labels such as "stable" are for ParseKubernetesVersion.
func Parse(s string) (Release, error) {
	text := strings.Replace(strings.TrimSpace(s), "_", "+", 1)
	fail := fmt.Errorf("%q is not a Kubernetes release: expected a form such as 1.35 or v1.35.4", s)
	v, err := version.ParseSemantic(text)
	if err != nil {
		// ParseGeneric takes any text behind the numbers and zeros before them: ask for what it read.
		v, err = version.ParseGeneric(text)
		if err != nil || len(v.Components()) != 2 || strings.TrimPrefix(text, "v") != v.String() {
			return Release{}, fail
		}
	}
	if v.Major() != 1 || v.Minor() == 0 || v.Minor() > maxMinor || v.Patch() > maxMinor {
		return Release{}, fail
	}
	return Release{
		minor:    int(v.Minor()),
		patch:    int(v.Patch()),
		hasPatch: len(v.Components()) > 2,
		pre:      v.PreRelease(),
	}, nil
}

// kubeadm's own patterns (cmd/kubeadm/app/util/version.go, the same in 1.33 to 1.37).
var (
	labelPattern  = regexp.MustCompile(`^(?:latest|stable)+(?:-[1-9](?:\.([1-9]\d?))?)?$`)
	bucketPattern = regexp.MustCompile(`^(?:(?:release|ci)/)?([-\w.+]+)$`)
)

// IsLabel tells whether s is one of the labels that kubeadm resolves over the network: stable,
// latest, stable-1, stable-1.35, ci/latest and the like.
func IsLabel(s string) bool {
	_, ok := label(s)
	return ok
}

// label returns the minor that a label names, or 0 where it names none.
func label(s string) (minor int, ok bool) {
	b := bucketPattern.FindStringSubmatch(s)
	if b == nil {
		return 0, false
	}
	m := labelPattern.FindStringSubmatch(b[1])
	if m == nil {
		return 0, false
	}
	minor, _ = strconv.Atoi(m[1]) // "" where there is none: 0
	return minor, true
}

// ParseKubernetesVersion reads the field kubernetesVersion of a ClusterConfiguration. known is false
// with no error where the text names no release: it is empty (kubeadm then takes stable-1) or a label
// without a minor. stable-1.35 gives 1.35. A text that is neither release nor label is an error.
func ParseKubernetesVersion(s string) (r Release, known bool, err error) {
	text := strings.TrimSpace(s)
	if text == "" {
		return Release{}, false, nil
	}
	if minor, ok := label(text); ok {
		if minor == 0 {
			return Release{}, false, nil
		}
		return OfMinor(minor), true, nil
	}
	if b := bucketPattern.FindStringSubmatch(text); b != nil {
		text = b[1] // ci/v1.36.0-alpha.1+hash
	}
	r, err = Parse(text)
	if err != nil {
		return Release{}, false, fmt.Errorf("%q is neither a Kubernetes release such as v1.35.4 nor a label such as stable-1.35", s)
	}
	return r, true, nil
}

// Minor is the 35 of 1.35.4.
func (r Release) Minor() int { return r.minor }

// IsZero tells whether r is the zero value, hence no release.
func (r Release) IsZero() bool { return r == Release{} }

// MinorString is "1.35" for any release of that minor.
func (r Release) MinorString() string { return "1." + strconv.Itoa(r.minor) }

// String is the form for people: 1.35.4, 1.36.0-rc.1, or 1.35 where the patch is not known.
func (r Release) String() string {
	if !r.hasPatch {
		return r.MinorString()
	}
	return strings.TrimPrefix(r.Full(), "v")
}

// Full is the form for machines: v1.35.4, and v1.35.0 where the patch is not known.
func (r Release) Full() string {
	s := "v" + r.MinorString() + "." + strconv.Itoa(r.patch)
	if r.pre != "" {
		s += "-" + r.pre
	}
	return s
}

// Next is the minor after r, patch unknown.
func (r Release) Next() Release { return OfMinor(r.minor + 1) }

// Prev is the minor before r, patch unknown.
func (r Release) Prev() Release { return OfMinor(r.minor - 1) }

// SameMinor tells whether both are of one minor.
func (r Release) SameMinor(o Release) bool { return r.minor == o.minor }

// Compare orders by minor, then, where both patches are known, by patch and prerelease: negative if r
// is older, 0 if equal or not to be told apart (1.35 and 1.35.4), positive if newer.
func (r Release) Compare(o Release) int {
	if c := cmp.Compare(r.minor, o.minor); c != 0 || !r.hasPatch || !o.hasPatch {
		return c
	}
	if c := cmp.Compare(r.patch, o.patch); c != 0 || r.pre == o.pre {
		return c
	}
	if version.MustParseSemantic(r.Full()).LessThan(version.MustParseSemantic(o.Full())) {
		return -1
	}
	return 1
}

// Before tells whether r is older than o; see Compare.
func (r Release) Before(o Release) bool { return r.Compare(o) < 0 }

// IsKnown tells whether mvpcheck has facts for the minor of r.
func (r Release) IsKnown() bool { return catalogues()[r.minor] != nil }

// Oldest is the oldest minor that mvpcheck has facts for. Before 1.33 the feature worked on the StorageVersion API and
// is out of scope (facts, "Gate by release").
func Oldest() Release { return known()[0] }

// Newest is the newest minor that mvpcheck has facts for.
func Newest() Release {
	known := known()
	return known[len(known)-1]
}

// Known lists the minors that mvpcheck has facts for, oldest first: those that have a catalogue.
func Known() []Release { return slices.Clone(known()) }

var known = sync.OnceValue(func() []Release {
	var all []Release
	for minor := range catalogues() {
		all = append(all, OfMinor(minor))
	}
	slices.SortFunc(all, Release.Compare)
	return all
})
