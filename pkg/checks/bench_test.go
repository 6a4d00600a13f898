package checks

import (
	"runtime"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// plainFile is a configuration as most are, the one of hack/bench/check.sh.
const plainFile = `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint:
  advertiseAddress: 192.0.2.11
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.1
controlPlaneEndpoint: api.example.com:6443
networking:
  podSubnet: 10.244.0.0/16
apiServer:
  certSANs:
  - api.example.com
  extraArgs:
  - name: audit-log-path
    value: "-"
  - name: peer-ca-file
    value: /etc/kubernetes/pki/ca.crt
`

func readPlain(tb testing.TB) *config.Input {
	tb.Helper()
	in, err := config.Read("cluster.yaml", []byte(plainFile))
	if err != nil {
		tb.Fatal(err)
	}
	return in
}

func judgePlain(tb testing.TB, in *config.Input, rules []*Rule) {
	tb.Helper()
	pairs, _, err := Pairs(in.Clusters[0], release.Release{}, release.Release{})
	if err != nil {
		tb.Fatal(err)
	}
	for _, pair := range pairs {
		Run(Input{Cluster: in.Clusters[0], Pair: pair, Now: testTime, CertDays: 30}, rules)
	}
}

// BenchmarkCheck reads and judges one configuration, as a directory check does for each file.
func BenchmarkCheck(b *testing.B) {
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			readPlain(b)
		}
	})
	in, rules := readPlain(b), All()
	b.Run("judge", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			judgePlain(b, in, rules)
		}
	})
}

// TestCostOfAFile bounds what each further file of a run allocates, which does not depend on how busy the machine is. What
// a release has is decoded once a process: before that was so, a file took 2,870 allocations and 490 KiB.
func TestCostOfAFile(t *testing.T) {
	const (
		maxAllocations = 710
		maxBytes       = 88 << 10
	)
	rules := All()
	check := func() { judgePlain(t, readPlain(t), rules) }
	check() // what the first file decodes

	const runs = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		check()
	}
	runtime.ReadMemStats(&after)
	if n := (after.Mallocs - before.Mallocs) / runs; n > maxAllocations {
		t.Errorf("a file takes %d allocations, more than %d", n, maxAllocations)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) / runs; n > maxBytes {
		t.Errorf("a file takes %d bytes, more than %d", n, maxBytes)
	}
	t.Logf("%d allocations, %d bytes", (after.Mallocs-before.Mallocs)/runs, (after.TotalAlloc-before.TotalAlloc)/runs)
}
