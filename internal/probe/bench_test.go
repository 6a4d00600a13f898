package probe

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// BenchmarkFifty asks control planes of 10, 25 and 50 servers of two releases that are new to it, connections and all.
// Each server has 2,000 resources and 5 MiB of metrics. The servers are part of the process, and of what it takes.
func BenchmarkFifty(b *testing.B) {
	for _, n := range []int{10, 25, 50} {
		b.Run(fmt.Sprintf("servers=%d", n), func(b *testing.B) {
			c := benchCluster(b, n)
			cfg := c.config(c.listed[0])
			var peak int64
			var requests int
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				stop := watchHeap()
				b.StartTimer()
				cp := mustAsk(b, Options{Config: cfg})
				b.StopTimer()
				peak = max(peak, stop())
				requests = len(cp.Requests)
				for _, s := range cp.Servers {
					if !s.Reached.OK() || len(s.Local.Resources) < 2000 || len(s.Objects) != 20 || !s.Metrics.OK() {
						b.Fatalf("%+v", s.Reached)
					}
				}
				if len(cp.Servers) != n {
					b.Fatalf("%d servers", len(cp.Servers))
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(peak)/(1<<20), "peak-heap-MiB")
			b.ReportMetric(float64(requests), "requests/op")
		})
	}
}

// BenchmarkAgain asks a control plane of 50 servers again, as --wait does.
func BenchmarkAgain(b *testing.B) {
	c := benchCluster(b, 50)
	p, err := New(Options{Config: c.config(c.listed[0]), Timeout: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Ask(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseDiscovery(b *testing.B) {
	text := string(discoveryJSON(manyResources(2000)))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseDiscovery(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadMetrics(b *testing.B) {
	text := manyMetrics()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readMetrics(strings.NewReader(text), now); err != nil {
			b.Fatal(err)
		}
	}
}

func manyResources(n int) (out []evidence.Resource) {
	for i := range n {
		out = append(out, resource(fmt.Sprintf("group%02d.example.com/v1 someresources%04d", i/50, i)))
	}
	return out
}

func manyMetrics() string {
	var text strings.Builder
	fmt.Fprintf(&text, "kubernetes_feature_enabled{name=%q,stage=\"BETA\"} 1\nprocess_start_time_seconds 1.7e+09\n", evidence.Gate)
	for i := 0; text.Len() < 5<<20; i++ {
		fmt.Fprintf(&text, "apiserver_request_duration_seconds_bucket{component=\"apiserver\",group=\"\",resource=\"things%d\",scope=\"cluster\",verb=\"LIST\",version=\"v1\",le=\"0.05\"} %d\n", i/20, i)
	}
	return text.String()
}

// benchCluster has n servers, every other one of a release with 20 resources more. They have peers of the other
// release, and hand requests to them.
func benchCluster(b *testing.B, n int) *cluster {
	c := newCluster(b)
	older, newer := manyResources(2000), manyResources(2020)
	metrics := compressed([]byte(manyMetrics()))
	for i := range n {
		name, local := "v1.35.4", older
		if i%2 == 1 {
			name, local = "v1.36.3", newer
		}
		f := c.newFake(fmt.Sprintf("cp-%d", i), name, local, at("/metrics", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(metrics)
		}))
		c.listed = append(c.listed, f)
		c.leases = append(c.leases, lease(f.name, f.address, 0))
	}
	// Servers of a release have the same bytes.
	for i, f := range c.listed {
		f.peers = []*fake{c.listed[1-i%2]}
		f.docs = c.listed[i%2].docs
	}
	return c
}
