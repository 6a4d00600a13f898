package demo

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// serveMetrics answers /metrics with the few series that tell of the hand-off.
func (p *process) serveMetrics(w http.ResponseWriter) {
	var text strings.Builder
	family := func(name, kind, help string) {
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	// Before 1.36 errors were not counted.
	if p.minor() >= 36 && len(p.counters.syncErrors) > 0 {
		const name = "apiserver_peer_discovery_sync_errors_total"
		family(name, "counter", "[ALPHA] Total number of errors encountered while syncing discovery information from a peer kube-apiserver")
		for _, kind := range slices.Sorted(maps.Keys(p.counters.syncErrors)) {
			fmt.Fprintf(&text, "%s{type=%q} %d\n", name, kind, p.counters.syncErrors[kind])
		}
	}
	p.writeRerouted(&text, family)
	family("kubernetes_feature_enabled", "gauge", "[BETA] This metric records the data about the stage and enablement of a k8s feature.")
	for _, gate := range []string{release.Identity, release.Gate} {
		spec, _ := p.release.Gate(gate, release.EffectiveOf(p.release.Release()))
		on := 0
		if p.on(gate) {
			on = 1
		}
		fmt.Fprintf(&text, "kubernetes_feature_enabled{name=%q,stage=%q} %d\n", gate, strings.ToUpper(string(spec.Stage)), on)
	}
	family("process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.")
	fmt.Fprintf(&text, "process_start_time_seconds %.2f\n", float64(p.started.UnixMilli())/1000)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
	fmt.Fprint(w, text.String())
}

// writeRerouted writes how often requests were handed to peers. Before 1.36 it is not told for what.
func (p *process) writeRerouted(text *strings.Builder, family func(name, kind, help string)) {
	sums := map[reroutedKey]int{}
	for key, n := range p.counters.byCode {
		if p.minor() < 36 {
			key.groupResource = groupResource{}
		}
		sums[key] += n
	}
	if len(sums) == 0 {
		return
	}
	const name = "apiserver_rerouted_request_total"
	help := "[ALPHA] Total number of requests that were proxied to a peer kube apiserver because the local apiserver was not capable of serving it"
	if p.minor() >= 36 {
		help = "[ALPHA] Total number of requests that were proxied to a peer kube-apiserver because the local apiserver was not capable of serving it, " +
			"broken down by 'group', 'version', and 'resource' indicating the GVR of the request. If all three are empty (\"\"), the request is a discovery request."
	}
	family(name, "counter", help)
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b reroutedKey) int {
		return cmp.Or(strings.Compare(a.code, b.code), strings.Compare(a.group, b.group), strings.Compare(a.resource, b.resource), strings.Compare(a.version, b.version))
	})
	for _, key := range keys {
		labels := fmt.Sprintf("code=%q", key.code)
		if p.minor() >= 36 {
			labels += fmt.Sprintf(",group=%q,resource=%q,version=%q", key.group, key.resource, key.version)
		}
		fmt.Fprintf(text, "%s{%s} %d\n", name, labels, sums[key])
	}
}
