package release

import (
	"errors"
	"strings"
	"testing"
)

func TestEmulatedVersion(t *testing.T) {
	for _, tt := range []struct {
		fact   string
		values string // several flags are separated by |; "-" is none
		binary int
		want   string // a release, or part of the error
	}{
		{"no flag", "-", 36, "1.36"},
		{"empty", "", 36, "1.36"},
		{"S4", "1.35", 36, "1.35"},
		{"S8k", "1.33", 36, "1.33"},
		{"S8k", "1.36", 36, "1.36"},
		{"S8k", "kube=1.35", 36, "1.35"},
		{"blanks", " kube = 1.35 ", 36, "1.35"},
		{"with v", "v1.35", 36, "1.35"},
		{"patch 0", "1.35.0", 36, "1.35"},
		{"text behind it", "1.35foo", 36, "1.35"},
		{"line break", "1.35\n", 36, "1.35"},
		{"quoted, as CSV", `"1.35"`, 36, "1.35"},
		{"floor of 1.33", "1.31", 33, "1.31"},
		{"floor of 1.37", "1.34", 37, "1.34"},
		{"S8k above", "1.37", 36, `"1.37" is above 1.36, the release of the server`},
		{"S8k colon", "kube:1.35", 36, `"kube:1.35" is not a version: expected MAJOR.MINOR, for example 1.35`},
		{"below", "1.32", 36, `"1.32" is below 1.33, the oldest release that 1.36 can emulate`},
		{"below the floor of 1.33", "1.30", 33, `"1.30" is below 1.31`},
		{"another major", "2.0", 36, "is above 1.36"},
		{"patch", "1.35.2", 36, `"1.35.2" has a patch version`},
		{"twice in one flag", "1.35,1.36", 36, `"1.36" comes after "1.35"`},
		{"twice over flags", "1.35|kube=1.35", 36, `"kube=1.35" comes after "1.35"`},
		{"another component", "wardle=1.35", 36, `is for component "wardle"`},
		{"no component", "=1.35", 36, `is for component ""`},
		{"nothing between commas", ",1.35", 36, `"" is not a version`},
		{"minor only", "35", 36, "is not a version"},
		{"open quote", `"1.35`, 36, "is not a comma-separated list"},
		{"no line", "\n", 36, "is not a comma-separated list"},
	} {
		values := strings.Split(tt.values, "|")
		if tt.values == "-" {
			values = nil
		}
		binary := Release{minor: tt.binary, patch: 3, hasPatch: true}
		got, err := EmulatedVersion(values, binary)
		var problem *VersionError
		switch {
		case err == nil && got.String() != tt.want:
			t.Errorf("%s: %q on 1.%d gives %s, want %s", tt.fact, tt.values, tt.binary, got, tt.want)
		case err == nil:
		case !errors.As(err, &problem) || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %q on 1.%d: error %v, want %s", tt.fact, tt.values, tt.binary, err, tt.want)
		case got != OfMinor(tt.binary):
			t.Errorf("%s: %q on 1.%d: %s beside an error", tt.fact, tt.values, tt.binary, got)
		case !strings.Contains(values[problem.Value], problem.Text):
			t.Errorf("%s: %q does not have %q in value %d", tt.fact, values, problem.Text, problem.Value)
		}
	}
}

func FuzzEmulatedVersion(f *testing.F) {
	for _, s := range []string{"", "1.35", "kube=1.35.0", "1.35|1.34", `"1.35,kube=x"`, " = v2.0\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values := strings.Split(s, "|")
		for _, binary := range Known() {
			got, err := EmulatedVersion(values, binary)
			var problem *VersionError
			if err != nil && (!errors.As(err, &problem) || got != binary || problem.Value >= len(values)) {
				t.Errorf("%q on %s: %s, %v", values, binary, got, err)
			}
			if binary.Before(got) || got.Minor() < binary.Minor()-3 {
				t.Errorf("%q on %s gives %s", values, binary, got)
			}
		}
	})
}
