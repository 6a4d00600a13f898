package release

import (
	"encoding/csv"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// EmulationError says why kube-apiserver exits on --emulated-version.
type EmulationError struct {
	// Value is the index of the flag value at fault, and Text the part of it.
	Value int
	Text  string
	// Reason is a clause for people: "is above 1.36, the release of the server".
	Reason string
}

func (e *EmulationError) Error() string {
	return fmt.Sprintf("emulated-version: %q %s", e.Text, e.Reason)
}

// EmulatedVersion returns the minor that a kube-apiserver binary emulates with the values of its
// --emulated-version flags, in their order: the binary's own if they are none or empty. An error is
// always an *EmulationError: the server exits on it (S8k), and the Release returned is the binary's.
//
// It follows toVersionMap, Set and Validate of k8s.io/component-base/compatibility, alike in 1.33 to
// 1.37: entries of one list (the flag is one, S10), each a version or kube=VERSION, patch 0 or none,
// only once, and within three minors below the binary, yet not below 1.31.
func EmulatedVersion(values []string, binary Release) (Release, error) {
	own := OfMinor(binary.minor)
	result, given := own, ""
	for i, value := range values {
		entries, err := csvList(value)
		if err != nil {
			return own, &EmulationError{i, value, "is not a comma-separated list"}
		}
		for _, entry := range entries {
			fail := func(format string, args ...any) (Release, error) {
				return own, &EmulationError{i, entry, fmt.Sprintf(format, args...)}
			}
			component, text := kubeComponent, entry
			if before, after, equals := strings.Cut(entry, "="); equals {
				component, text = strings.TrimSpace(before), strings.TrimSpace(after)
			}
			v, err := version.Parse(text)
			switch {
			case err != nil:
				return fail("is not a version: expected MAJOR.MINOR, for example 1.35")
			case v.Patch() != 0:
				return fail("has a patch version, which is not allowed here: expected MAJOR.MINOR")
			case component != kubeComponent:
				return fail("is for component %q, which kube-apiserver does not have: expected %s", component, kubeComponent)
			case given != "":
				return fail("comes after %q: the version can be given only once", given)
			}
			given = entry
			floor, wanted := emulationFloor(binary), version.MajorMinor(v.Major(), v.Minor())
			if wanted.LessThan(floor) {
				return fail("is below %s, the oldest release that %s can emulate", floor, binary.MinorString())
			}
			if wanted.GreaterThan(version.MajorMinor(1, uint(binary.minor))) {
				return fail("is above %s, the release of the server", binary.MinorString())
			}
			result = OfMinor(int(v.Minor()))
		}
	}
	return result, nil
}

// emulationFloor is the oldest release that a binary can emulate (k8s.io/apiserver/pkg/util/
// compatibility/version.go).
func emulationFloor(binary Release) *version.Version {
	return version.MajorMinor(1, uint(max(binary.minor-3, 31)))
}

// csvList splits a list flag as pflag's StringSlice does.
func csvList(value string) ([]string, error) {
	if value == "" {
		return nil, nil
	}
	return csv.NewReader(strings.NewReader(value)).Read()
}
