package campaign

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// TestReproducible draws the same setting from the same seed and index, and others from others.
func TestReproducible(t *testing.T) {
	if diff := cmp.Diff(Draw(7, 123), Draw(7, 123)); diff != "" {
		t.Errorf("two draws of one setting differ:\n%s", diff)
	}
	seen := map[string]string{}
	for seed := range uint64(3) {
		for index := range 50 {
			s := Draw(seed, index)
			text := s.Release + s.Config()
			if other, ok := seen[text]; ok {
				t.Errorf("%s is the same as %s:\n%s", s, other, text)
			}
			seen[text] = s.String()
		}
	}
}

// TestConfig compares the arguments of settings with those that are read from their configurations.
func TestConfig(t *testing.T) {
	for index := range 1000 {
		s := Draw(1, index).At(Site{Etcd: "127.0.0.1:2379", Address: "192.0.2.11"})
		in, err := config.Read("setting.yaml", []byte(s.Config()))
		if err != nil {
			t.Fatalf("%s: %v\n%s", s, err, s.Config())
		}
		var got []Arg
		for _, a := range in.Clusters[0].APIServer.Args {
			got = append(got, Arg{a.Name, a.Value})
		}
		if diff := cmp.Diff(s.Args, got); diff != "" {
			t.Errorf("%s (-drawn +read):\n%s%s", s, diff, s.Config())
		}
	}
}

// TestAllFlags makes sure that every flag of every release is drawn, and that values are kept only for flags that there are.
func TestAllFlags(t *testing.T) {
	drawn := map[string]map[string]bool{}
	for index := range 10000 {
		s := Draw(1, index)
		if drawn[s.Release] == nil {
			drawn[s.Release] = map[string]bool{}
		}
		for _, name := range s.Names() {
			drawn[s.Release][name] = true
		}
	}
	known := map[string]bool{}
	for _, r := range release.Known() {
		c, ok := release.CatalogueOf(r)
		if !ok {
			t.Fatalf("%s has no catalogue", r)
		}
		for _, f := range c.Flags() {
			known[f.Name] = true
			if !drawn[r.MinorString()][f.Name] {
				t.Errorf("%s: --%s is never drawn", r, f.Name)
			}
			if _, ok := typeValues[f.Type]; !ok {
				t.Errorf("%s: --%s: no values of type %s", r, f.Name, f.Type)
			}
		}
	}
	names := slices.Concat(slices.Collect(maps.Keys(fileFlags)), slices.Collect(maps.Keys(valueFlags)))
	for _, group := range groups {
		for _, text := range group {
			name, _, _ := strings.Cut(text, "=")
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("no release has --%s", name)
		}
	}
}
