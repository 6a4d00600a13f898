package checks

import (
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// What is wrong with an item decides, and not the words in its name.
func TestShapeByKind(t *testing.T) {
	for _, tc := range []struct {
		item        string
		severity    Severity
		consequence Consequence
	}{
		{`{name: --v, value: "4"}`, Error, WillNotStart},
		{`{name: "v=4", value: "4"}`, Error, None},
		{`{name: v}`, Warning, None},
		{`{name: leading dashes}`, Warning, None},
		{`{name: "leading dashes=", value: "4"}`, Error, None},
		{`v`, Error, RefusedByKubeadm},
		{`{value: "4"}`, Error, RefusedByKubeadm},
	} {
		in, err := config.Read("x.yaml", []byte("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.3\napiServer:\n  extraArgs:\n  - "+tc.item+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		pairs, _, err := Pairs(in.Clusters[0], release.Release{}, release.Release{})
		if err != nil {
			t.Fatal(err)
		}
		r := Run(Input{Cluster: in.Clusters[0], Pair: pairs[0]}, []*Rule{wrongExtraArgsShape})
		if len(r.Findings) != 1 {
			t.Errorf("%s: %d findings", tc.item, len(r.Findings))
			continue
		}
		if f := r.Findings[0]; f.Severity != tc.severity || f.Consequence != tc.consequence {
			t.Errorf("%s: %s, %s: %s", tc.item, f.Severity, f.Consequence, f.Message)
		}
	}
}
