package release

import (
	"encoding/csv"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// VersionError says why kube-apiserver exits on --emulated-version or --min-compatibility-version.
type VersionError struct {
	// Flag is the flag at fault, Value the index of its value, and Text the part of it.
	Flag  string
	Value int
	Text  string
	// Reason is a clause for people: "is above 1.36, the release of the server".
	Reason string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: %q %s", e.Flag, e.Text, e.Reason)
}

// Effective are the versions that a kube-apiserver acts by besides its own: the release that it emulates, and the
// oldest one that it stays compatible with.
type Effective struct {
	Emulated, Compatible Release
}

// EffectiveOf is what a server of a release, or one that emulates it, has by default.
func EffectiveOf(emulated Release) Effective {
	return Effective{Emulated: OfMinor(emulated.minor), Compatible: emulated.Prev()}
}

// EmulatedVersion returns the minor that a kube-apiserver binary emulates with the values of its
// --emulated-version flags, in their order: the binary's own if they are none or empty. An error is
// always a *VersionError: the server exits on it (S8k), and the Release returned is the binary's.
//
// It follows toVersionMap, Set and Validate of k8s.io/component-base/compatibility, alike in 1.33 to
// 1.37: entries of one list (the flag is one, S10), each a version or kube=VERSION, patch 0 or none,
// only once, and within three minors below the binary, yet not below 1.31.
func EmulatedVersion(values []string, binary Release) (Release, error) {
	v, given, err := componentVersion(FlagEmulatedVersion, values)
	if err != nil {
		return OfMinor(binary.minor), err
	}
	return v.within(given, versionFloor(binary), binary, "the oldest release that "+binary.MinorString()+" can emulate", "the release of the server")
}

// EffectiveVersions returns the versions that a kube-apiserver binary acts by, by the values of --emulated-version and
// --min-compatibility-version. An error is always a *VersionError, as that of EmulatedVersion; the minimum
// compatibility version must not be above the emulated one.
func EffectiveVersions(emulated, compatible []string, binary Release) (Effective, error) {
	e, err := EmulatedVersion(emulated, binary)
	at := EffectiveOf(e)
	if err != nil {
		return at, err
	}
	v, given, err := componentVersion(FlagMinCompatibility, compatible)
	if err != nil || !given {
		return at, err
	}
	c, err := v.within(given, versionFloor(binary), e, "the oldest release that "+binary.MinorString()+" can be compatible with", "the release that the server emulates")
	if err == nil {
		at.Compatible = c
	}
	return at, err
}

// entryVersion is the version that a list of COMPONENT=VERSION has for kube-apiserver, with where it stands.
type entryVersion struct {
	VersionError // without a reason
	version      *version.Version
}

func (v entryVersion) fail(format string, args ...any) error {
	err := v.VersionError
	err.Reason = fmt.Sprintf(format, args...)
	return &err
}

// within returns the version as a release if it is in bounds, which the two texts explain; without one, the upper.
func (v entryVersion) within(given bool, floor *version.Version, upper Release, floorIs, upperIs string) (Release, error) {
	own := OfMinor(upper.minor)
	switch {
	case !given:
		return own, nil
	case v.version.LessThan(floor):
		return own, v.fail("is below %s, %s", floor, floorIs)
	case v.version.GreaterThan(version.MajorMinor(1, uint(upper.minor))):
		return own, v.fail("is above %s, %s", upper.MinorString(), upperIs)
	}
	return OfMinor(int(v.version.Minor())), nil
}

// componentVersion reads the values of a flag such as --emulated-version.
func componentVersion(flag string, values []string) (v entryVersion, given bool, err error) {
	for i, value := range values {
		here := entryVersion{VersionError: VersionError{Flag: flag, Value: i, Text: value}}
		entries, err := SplitList(value)
		if err != nil {
			return here, false, here.fail("is not a comma-separated list")
		}
		for _, entry := range entries {
			here.Text = entry
			component, text := kubeComponent, entry
			if before, after, equals := strings.Cut(entry, "="); equals {
				component, text = strings.TrimSpace(before), strings.TrimSpace(after)
			}
			parsed, err := version.Parse(text)
			switch {
			case err != nil:
				return here, false, here.fail("is not a version: expected MAJOR.MINOR, for example 1.35")
			case parsed.Patch() != 0:
				return here, false, here.fail("has a patch version, which is not allowed here: expected MAJOR.MINOR")
			case component != kubeComponent:
				return here, false, here.fail("is for component %q, which kube-apiserver does not have: expected %s", component, kubeComponent)
			case given:
				return here, false, here.fail("comes after %q: the version can be given only once", v.Text)
			}
			here.version = version.MajorMinor(parsed.Major(), parsed.Minor())
			v, given = here, true
		}
	}
	return v, given, nil
}

// versionFloor is the oldest release that a binary can emulate, or be compatible with (k8s.io/apiserver/pkg/util/
// compatibility/version.go).
func versionFloor(binary Release) *version.Version {
	return version.MajorMinor(1, uint(max(binary.minor-3, 31)))
}

// SplitList splits the value of a list flag as pflag's StringSlice does.
func SplitList(value string) ([]string, error) {
	if value == "" {
		return nil, nil
	}
	if !strings.ContainsAny(value, "\"\r\n") {
		return strings.Split(value, ","), nil // what the reader makes of it, without its buffer
	}
	return csv.NewReader(strings.NewReader(value)).Read()
}
