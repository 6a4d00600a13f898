package release

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every section of every catalogue can be decoded: where it is asked for, an error would be too late.
func TestCatalogues(t *testing.T) {
	for _, r := range Known() {
		c, ok := CatalogueOf(r)
		if !ok || !c.Release().SameMinor(r) {
			t.Fatalf("%s: %v, %v", r, c, ok)
		}
		if len(c.Flags()) < 150 || len(c.Gates()) < 150 || len(c.versions()) < 50 {
			t.Errorf("%s: %d flags, %d gates, %d versions", r, len(c.Flags()), len(c.Gates()), len(c.versions()))
		}
		for version, state := range c.versions() {
			if state != versionOn && state != versionOff && state != unlisted {
				t.Errorf("%s: version %s: %q", r, version, state)
			}
		}
		for _, resource := range c.Resources() {
			if _, ok := c.versions()[resource.GroupVersion()]; !ok {
				t.Errorf("%s: %s is of no version", r, resource)
			}
			for _, gate := range resource.gates {
				if !slices.Contains(c.Gates(), gate) {
					t.Errorf("%s: %s hangs on the gate %s, which there is not", r, resource, gate)
				}
			}
		}
		for _, name := range c.Gates() {
			for _, need := range c.Needs(name) {
				if !slices.Contains(c.Gates(), need) {
					t.Errorf("%s: %s needs the gate %s, which there is not", r, name, need)
				}
			}
		}
	}
}

// What every release does, and what none does, needs no word.
func TestBehaviours(t *testing.T) {
	for _, b := range behaviours {
		var does []string
		for _, r := range Known() {
			if r.Does(b) {
				does = append(does, r.MinorString())
			}
		}
		if len(does) == 0 || len(does) == len(Known()) {
			t.Errorf("%s: %q, of %d releases", b, does, len(Known()))
		}
	}
	for _, text := range []string{"flies H1", "merges-discovery", "merges-discovery H1\nmerges-discovery H1"} {
		if does, err := parseBehaviours(text); err == nil {
			t.Errorf("%q: %v", text, does)
		}
	}
	if !OfMinor(99).Does(MergesDiscovery) || OfMinor(30).Does(MergesDiscovery) || (Release{}).Does(MergesDiscovery) {
		t.Error("a release without a catalogue is not judged by the nearest")
	}
}

func TestCatalogueFlag(t *testing.T) {
	for _, tt := range []struct {
		minor int
		name  string
		want  Flag
		ok    bool
	}{
		{36, "peer_ca_file", Flag{Name: "peer-ca-file", Type: "string"}, true},
		{36, "Peer-CA-File", Flag{}, false},
		{36, "cloud-provider", Flag{}, false},
		{36, "watch-cache", Flag{Name: "watch-cache", Type: "bool", Bare: true, Default: "true"}, true},
		{36, "kubelet-preferred-address-types", Flag{Name: "kubelet-preferred-address-types", Type: "stringSlice", Again: true, Default: "[Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP]"}, true},
		{36, "feature-gates", Flag{Name: "feature-gates", Type: "colonSeparatedMultimapStringString", Again: true}, true},
		{36, "apiserver-count", Flag{Name: "apiserver-count", Type: "int", Deprecated: true, Default: "1"}, true},
	} {
		c, _ := CatalogueOf(OfMinor(tt.minor))
		got, ok := c.Flag(tt.name)
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("%s at 1.%d: ok %v (-want +got):\n%s", tt.name, tt.minor, ok, diff)
		}
	}
}

func TestParseCatalogueErrors(t *testing.T) {
	for _, text := range []string{
		"", "kube-apiserver\n", "kube-apiserver none\n", "other v1.36.3\n", "kube-apiserver v1.36.3\n\n[flags\n",
	} {
		if c, err := ParseCatalogue(text); err == nil {
			t.Errorf("%q: %v", text, c)
		}
	}
	for _, line := range []string{"x", "x string odd"} {
		name, rest, _ := strings.Cut(line, " ")
		if _, err := parseFlag(name, rest); err == nil {
			t.Errorf("flag %q: no error", line)
		}
	}
	for _, line := range []string{"X 1.36", "X 36=beta,on", "X 1.36=beta,maybe", "X 1.36=beta,on,compat=36"} {
		name, rest, _ := strings.Cut(line, " ")
		if _, err := parseGate(name, rest); err == nil {
			t.Errorf("gate %q: no error", line)
		}
	}
	for _, line := range []string{"apps/v1", "apps/v1 deployments odd", "apps/v1 deployments since=x", "apps/v1 deployments until=1.x", "v1 pods\nv1 nodes"} {
		if _, err := parseResources(line + "\n"); err == nil {
			t.Errorf("resource %q: no error", line)
		}
	}
}

// What a run of check decodes of the two catalogues that it needs: their flags and gates.
func BenchmarkCatalogueFlagsAndGates(b *testing.B) {
	text, err := catalogueFiles.ReadFile("catalogue/1.36.txt")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := ParseCatalogue(string(text))
		if err != nil {
			b.Fatal(err)
		}
		c.Flag(FlagPeerCAFile)
		c.Gate(Gate, EffectiveOf(c.Release()))
	}
}

// What a server serves, with all of a catalogue decoded.
func BenchmarkCatalogueServes(b *testing.B) {
	text, err := catalogueFiles.ReadFile("catalogue/1.36.txt")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := ParseCatalogue(string(text))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Serves(APISettings{RuntimeConfig: []string{"api/beta=true"}}); err != nil {
			b.Fatal(err)
		}
	}
}
