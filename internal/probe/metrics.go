package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// The metrics that are read, all counters or gauges.
const (
	metricGate     = "kubernetes_feature_enabled"
	metricStarted  = "process_start_time_seconds"
	metricRerouted = "apiserver_rerouted_request_total"
	metricProxy    = "apiserver_peer_proxy_errors_total"
	metricSync     = "apiserver_peer_discovery_sync_errors_total"
)

var metricNames = []string{metricGate, metricStarted, metricRerouted, metricProxy, metricSync}

// maxKept bounds what is kept of /metrics, whose few series that matter have some kilobytes.
const maxKept = 1 << 20

// maxValue bounds counters, and the seconds since 1970 when a server started: a time that can be written.
const maxValue = 1e11

// readMetrics reads /metrics in the Prometheus text format. It holds the lines of our series only: a busy server has a
// hundred thousand others.
func readMetrics(r io.Reader, now time.Time) (evidence.Reading, error) {
	var kept bytes.Buffer
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			// No line of ours is as long.
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = lines.ReadSlice('\n')
			}
			line = nil
		}
		if isOurs(line) {
			if kept.Len()+len(line) > maxKept {
				return evidence.Reading{}, errors.New("more series of the Mixed Version Proxy than any server has")
			}
			kept.Write(line)
		}
		switch {
		case errors.Is(err, io.EOF):
			if kept.Len() == 0 {
				return evidence.Reading{}, errors.New("none of the metrics of an API server")
			}
			kept.WriteByte('\n') // the last line may lack it
			return parseMetrics(&kept, now)
		case err != nil:
			return evidence.Reading{}, err
		}
	}
}

// isOurs tells whether a line is a sample of one of our metrics, or says its type.
func isOurs(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("# TYPE "))
	return slices.ContainsFunc(metricNames, func(name string) bool {
		rest, ok := bytes.CutPrefix(line, []byte(name))
		return ok && len(rest) > 0 && (rest[0] == '{' || rest[0] == ' ')
	})
}

func parseMetrics(r io.Reader, now time.Time) (evidence.Reading, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return evidence.Reading{}, errors.New("not in the Prometheus text format")
	}
	reading := evidence.Reading{Time: now}
	for name, family := range families {
		for _, m := range family.Metric {
			labels := map[string]string{}
			for _, l := range m.Label {
				labels[l.GetName()] = l.GetValue()
			}
			// One of the three is there; the others are zero.
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
			if !(value >= 0 && value <= maxValue) {
				return evidence.Reading{}, errors.New("a counter that is no count")
			}
			switch name {
			case metricGate:
				if gate := labels["name"]; gate == evidence.Gate || gate == "APIServerIdentity" {
					reading.Gates = put(reading.Gates, gate, value != 0)
				}
			case metricStarted:
				reading.Started = time.UnixMilli(int64(value * 1000)).UTC()
			case metricRerouted:
				reading.Rerouted = append(reading.Rerouted, evidence.Count{
					Code: labels["code"],
					Resource: evidence.Resource{Group: labels["group"], Version: labels["version"],
						Resource: labels["resource"]},
					Value: value,
				})
			case metricProxy:
				reading.ProxyErrors = put(reading.ProxyErrors, labels["type"],
					reading.ProxyErrors[labels["type"]]+value)
			case metricSync:
				reading.SyncErrors = put(reading.SyncErrors, labels["type"], value)
			}
		}
	}
	slices.SortStableFunc(reading.Rerouted, func(a, b evidence.Count) int {
		return cmp.Or(strings.Compare(a.Code, b.Code), evidence.CompareResources(a.Resource, b.Resource))
	})
	return reading, nil
}

func put[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}
