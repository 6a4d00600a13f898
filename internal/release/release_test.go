package release

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustParse(t *testing.T, s string) Release {
	t.Helper()
	r, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, short, full string }{
		{"1.35", "1.35", "v1.35.0"},
		{"v1.35", "1.35", "v1.35.0"},
		{"1.35.4", "1.35.4", "v1.35.4"},
		{"v1.35.0", "1.35.0", "v1.35.0"},
		{" v1.35.4\n", "1.35.4", "v1.35.4"},
		{"v1.36.0-rc.1", "1.36.0-rc.1", "v1.36.0-rc.1"},
		{"1.35.4+build", "1.35.4", "v1.35.4"},
		{"v1.35.4_vendor.1", "1.35.4", "v1.35.4"},
		{"v1.38.0-beta.0.12+abc", "1.38.0-beta.0.12", "v1.38.0-beta.0.12"},
		{"1.9", "1.9", "v1.9.0"},
	} {
		r, err := Parse(tt.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.in, err)
			continue
		}
		if r.String() != tt.short || r.Full() != tt.full {
			t.Errorf("Parse(%q) = %s, %s; want %s, %s", tt.in, r, r.Full(), tt.short, tt.full)
		}
	}
	for _, in := range []string{
		"", "1", "v1", "35", "1.0", "1.0.3", "2.0", "0.35.1", "1.35.", "1.35.4.1", "1.35x", "1.35-rc.1", "01.35", "1.035", "1.35.04",
		"V1.35", "vv1.35", "1,35", "stable", "stable-1.35", "latest", "${K8S}", "{{ v }}", "1.99999", "1.35.99999999999999999999", "release 1.35",
	} {
		if r, err := Parse(in); err == nil || !r.IsZero() {
			t.Errorf("Parse(%q) = %v, want an error", in, r)
		}
	}
	_, err := Parse("foo")
	want := `"foo" is not a Kubernetes release: expected a form such as 1.35 or v1.35.4`
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestParseKubernetesVersion(t *testing.T) {
	type result struct {
		R           string
		Known, Fail bool
	}
	for in, want := range map[string]result{
		"v1.35.4":                   {R: "1.35.4", Known: true},
		"1.35.0":                    {R: "1.35.0", Known: true},
		"stable-1.35":               {R: "1.35", Known: true},
		"latest-1.36":               {R: "1.36", Known: true},
		"ci/latest-1.36":            {R: "1.36", Known: true},
		"release/stable-1.35":       {R: "1.35", Known: true},
		"ci/v1.37.0-alpha.1.2+hash": {R: "1.37.0-alpha.1.2", Known: true},
		"":                          {},
		"stable":                    {},
		"latest":                    {},
		"stable-1":                  {},
		"ci/latest":                 {},
		"stable-1.350":              {Fail: true},
		"other/stable":              {Fail: true},
		"${VERSION}":                {Fail: true},
		"<version>":                 {Fail: true},
	} {
		r, known, err := ParseKubernetesVersion(in)
		got := result{Known: known, Fail: err != nil}
		if known {
			got.R = r.String()
		} else if !r.IsZero() {
			t.Errorf("%q: got release %s that is not known", in, r)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}

func TestIsLabel(t *testing.T) {
	for in, want := range map[string]bool{
		"stable": true, "latest": true, "stable-1": true, "stable-1.35": true, "ci/latest": true, "ci/latest-1": true,
		"": false, "v1.35.4": false, "1.35": false, "Stable": false, "stable-x": false, "stable\n": false, "stable-1.": false,
	} {
		if got := IsLabel(in); got != want {
			t.Errorf("IsLabel(%q) = %v", in, got)
		}
	}
}

func TestCompare(t *testing.T) {
	sorted := []string{"1.34.9", "1.35.0-alpha.3", "1.35.0-beta.2", "1.35.0-beta.10", "1.35.0-rc.1", "1.35.0", "1.35.4", "1.35.10", "1.36.0-rc.1", "1.36.3", "1.100.0"}
	for i, a := range sorted {
		for j, b := range sorted {
			ra, rb := mustParse(t, a), mustParse(t, b)
			if got := ra.Compare(rb); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s.Compare(%s) = %d", a, b, got)
			}
			if ra.Before(rb) != (i < j) {
				t.Errorf("%s.Before(%s) = %v", a, b, ra.Before(rb))
			}
		}
	}
	minor := OfMinor(35)
	if minor.Compare(mustParse(t, "1.35.4")) != 0 || minor.Compare(mustParse(t, "1.35.0-rc.1")) != 0 {
		t.Error("with a patch unknown only the minor counts")
	}
	if minor == mustParse(t, "1.35.0") || mustParse(t, "v1.35.4") != mustParse(t, "1.35.4+x") {
		t.Error("== tells a known patch from an unknown one, and nothing by build metadata")
	}
}

func TestKnown(t *testing.T) {
	var known []string
	for _, r := range Known() {
		known = append(known, r.String())
		if !r.IsKnown() {
			t.Errorf("%s is in the list but not known", r)
		}
	}
	if diff := cmp.Diff([]string{"1.33", "1.34", "1.35", "1.36", "1.37"}, known[:min(5, len(known))]); diff != "" {
		t.Error(diff)
	}
	if Oldest().Prev().IsKnown() || Newest().Next().IsKnown() || (Release{}).IsKnown() {
		t.Error("a release outside of the list is known")
	}
	r := mustParse(t, "v1.35.4")
	if r.Minor() != 35 || r.MinorString() != "1.35" || r.Next() != OfMinor(36) || r.Prev() != OfMinor(34) ||
		!r.SameMinor(OfMinor(35)) || r.SameMinor(OfMinor(36)) {
		t.Errorf("parts of %s are wrong", r)
	}
	if !slices.IsSortedFunc(Known(), Release.Compare) {
		t.Error("Known is not sorted")
	}
}

func FuzzParseRelease(f *testing.F) {
	for _, s := range []string{"1.35", "v1.35.4", "v1.36.0-rc.1", "1.35.4+build", "stable-1.35", "ci/latest"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s)
		if (err != nil) != r.IsZero() {
			t.Fatalf("Parse(%q) = %v, %v", s, r, err)
		}
		if err == nil {
			if again, err := Parse(r.String()); err != nil || again != r {
				t.Errorf("Parse(%q) gives %s, which gives %s, %v", s, r, again, err)
			}
			if full, err := Parse(r.Full()); err != nil || full.Compare(r) != 0 {
				t.Errorf("Parse(%q) gives %s, which gives %s, %v", s, r.Full(), full, err)
			}
		}
		if _, known, err := ParseKubernetesVersion(s); known && err != nil {
			t.Errorf("ParseKubernetesVersion(%q) is both known and an error", s)
		}
	})
}
