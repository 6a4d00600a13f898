//go:build lab && linux

package catalogue

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/test/lab"
	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

var (
	update = flag.Bool("update", false, "make the catalogues anew")
	minors = flag.String("release", "", "only these releases, such as 1.36,1.37")
)

func TestMain(m *testing.M) { controlplane.Main(m) }

// catalogueFile is where a release's catalogue stands.
func catalogueFile(r lab.Release) string {
	return filepath.Join("..", "..", "..", "internal", "release", "catalogue", r.Minor+".txt")
}

// beginBehaviour copies the newest file of measured behaviour for a release that has none yet.
func beginBehaviour(r lab.Release) error {
	of := func(minor string) string {
		return filepath.Join("..", "..", "..", "internal", "release", "behaviour", minor+".txt")
	}
	if _, err := os.Stat(of(r.Minor)); err == nil {
		return nil
	}
	newest := release.Newest().MinorString()
	text, err := os.ReadFile(of(newest))
	if err != nil {
		return err
	}
	return os.WriteFile(of(r.Minor), bytes.Replace(text, []byte("of "+newest), []byte("of "+r.Minor), 1), 0o644)
}

// TestCatalogue compares the catalogues with the releases; with -update it makes them anew.
func TestCatalogue(t *testing.T) {
	cp := controlplane.New(t, controlplane.Options{})
	for _, r := range lab.Releases(t) {
		if *minors != "" && !slices.Contains(strings.Split(*minors, ","), r.Minor) {
			continue
		}
		t.Run(r.Minor, func(t *testing.T) {
			d, err := describe(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := d.text()
			if err != nil {
				t.Fatal(err)
			}
			ask := newAsker(t, cp, r, d)
			if *update {
				resources := measure(t, ask, text)
				if err := os.WriteFile(catalogueFile(r), []byte(text+resources), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := beginBehaviour(r); err != nil {
					t.Fatal(err)
				}
			}
			saved, err := os.ReadFile(catalogueFile(r))
			if err != nil {
				t.Fatalf("%v; make update-catalogue makes it", err)
			}
			head, _, _ := strings.Cut(string(saved), resourcesSection)
			if diff := cmp.Diff(head, text); diff != "" {
				t.Errorf("make update-catalogue brings this up to date (-saved +now):\n%s", diff)
			}
			c, err := release.ParseCatalogue(string(saved))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, ask, c)
		})
	}
}

// measure returns the section of the resources.
func measure(t *testing.T, ask asker, text string) string {
	c, err := release.ParseCatalogue(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := findGates(ask, gateSets{c, release.EffectiveOf(c.Release())})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range d.exits {
		t.Logf("%s: whether a resource hangs on it cannot be told: the server exits", name)
	}
	bounds, err := d.findBounds(ask, c)
	if err != nil {
		t.Fatal(err)
	}
	return d.text(bounds)
}

// newAsker returns an asker of the release with two servers, which take turns.
func newAsker(t *testing.T, cp *controlplane.ControlPlane, r lab.Release, d *description) asker {
	var versions []string
	for _, v := range d.Versions {
		versions = append(versions, v.GroupVersion)
	}
	type node struct {
		server *controlplane.Server
		args   []string
	}
	free := make(chan node, 2)
	for range cap(free) {
		// Each has an etcd of its own, as far as it knows: what another one has written does not matter.
		server := cp.Add(t, controlplane.Node{Release: r.Minor})
		args := controlplane.Set("etcd-prefix", fmt.Sprintf("/%s-%s", server.Name, r.Minor))(server.Args)
		free <- node{server, args}
	}
	return func(s settings) (served, error) {
		n := <-free
		defer func() { free <- n }()
		all, err := ask(t.Context(), n.server, n.args, versions, s)
		if err != nil {
			t.Logf("%.300s: %.300s", s, err)
		}
		return all, err
	}
}

// compare holds what the catalogue says of settings against what servers with them serve.
func compare(t *testing.T, ask asker, c *release.Catalogue) {
	all := []settings{
		{}, {runtimeConfig: "api/beta=true"}, {runtimeConfig: "api/alpha=true"}, {runtimeConfig: everything},
		{runtimeConfig: "api/beta=true,resource.k8s.io/v1beta1=false,apps/v1/deployments=false,storage.k8s.io/v1alpha1/volumeattributesclasses=true,batch/v1=false,api/v1=true"},
	}
	// All gates that resources hang on are switched.
	at := release.EffectiveOf(c.Release())
	sets := gateSets{c, at}
	for _, on := range []bool{true, false} {
		var names []string
		for _, name := range c.ResourceGates() {
			if spec, _ := c.Gate(name, at); !spec.Locked && spec.Default != on {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			all = append(all, settings{runtimeConfig: everything, gates: sets.with(names, on)})
		}
	}
	for emulated := c.Release().Prev(); ; emulated = emulated.Prev() {
		if _, err := release.EmulatedVersion([]string{emulated.MinorString()}, c.Release()); err != nil {
			break
		}
		all = append(all, settings{emulated: emulated.MinorString()}, settings{emulated: emulated.MinorString(), runtimeConfig: everything})
	}
	for _, s := range all {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			got, err := ask(s)
			if exit := (*controlplane.ExitError)(nil); errors.As(err, &exit) {
				t.Fatalf("the server exits: %v", exit)
			} else if err != nil {
				t.Fatal(err)
			}
			want, err := c.Serves(release.APISettings{
				RuntimeConfig: []string{s.runtimeConfig}, FeatureGates: []string{s.featureGates()}, EmulatedVersion: nonEmpty(s.emulated),
			})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, r := range want {
				names = append(names, r.String())
			}
			slices.Sort(names)
			if diff := cmp.Diff(names, slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("resources (-catalogue +server):\n%s", diff)
			}
		})
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
