package demo

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// The counters of the hand-off.
const (
	rerouted   = "apiserver_rerouted_request_total"
	syncErrors = "apiserver_peer_discovery_sync_errors_total"
)

// rerouted counts a request that was handed to a peer.
func (p *process) rerouted(code int, of schema.GroupVersionResource) {
	p.count(rerouted, map[string]any{
		"code": strconv.Itoa(code), "group": of.Group, "version": of.Version, "resource": of.Resource,
	})
}

// count counts one more in a family, with those of the labels that the release has; older ones lack whole families.
func (p *process) count(family string, labels map[string]any) {
	for _, line := range p.recorded.Metrics {
		if strings.HasPrefix(line, family+"{") {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.counters[fill(line, labels)]++
		}
	}
}

// serveMetrics answers /metrics with the few families that tell of the hand-off. There are none without series.
func (p *process) serveMetrics(w http.ResponseWriter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	values := map[string]any{"started": fmt.Sprintf("%.2f", float64(p.started.UnixMilli())/1000)}
	for _, gate := range []string{release.Identity, release.Gate} {
		values[gate] = 0
		if p.on(gate) {
			values[gate] = 1
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
	var head string
	for _, line := range p.recorded.Metrics {
		family, _, _ := strings.Cut(line, "{")
		switch {
		case strings.HasPrefix(line, "#"):
			head += line + "\n"
			continue
		case family == rerouted, family == syncErrors:
			for _, series := range slices.Sorted(maps.Keys(p.counters)) {
				if strings.HasPrefix(series, family) {
					fmt.Fprintf(w, "%s%s %d\n", head, series, p.counters[series])
					head = ""
				}
			}
		default:
			fmt.Fprintf(w, "%s%s\n", head, fill(line, values))
		}
		head = ""
	}
}
