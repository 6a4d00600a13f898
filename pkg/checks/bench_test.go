package checks

import (
	"os"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// BenchmarkCheck reads and judges one configuration, as a directory check does for each file.
func BenchmarkCheck(b *testing.B) {
	data, err := os.ReadFile("../../testdata/cases/006-v1beta4-list-comment-between-items.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := config.Read("x.yaml", data); err != nil {
				b.Fatal(err)
			}
		}
	})
	in, err := config.Read("x.yaml", data)
	if err != nil {
		b.Fatal(err)
	}
	rules := All()
	b.Run("judge", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pairs, _, err := Pairs(in.Clusters[0], release.Release{}, release.Release{})
			if err != nil {
				b.Fatal(err)
			}
			Run(Input{Cluster: in.Clusters[0], Pair: pairs[0], Now: testTime, CertDays: 30}, rules)
		}
	})
}
