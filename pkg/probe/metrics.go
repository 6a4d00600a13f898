package probe

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/mvpcheck/mvpcheck/pkg/evidence"
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
				return evidence.Reading{}, errors.New("more series of the Mixed evidence.Version Proxy than any server has")
			}
			kept.Write(line)
		}
		switch {
		case errors.Is(err, io.EOF):
			if b := kept.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
				kept.WriteByte('\n')
			}
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
			switch name {
			case metricGate:
				if gate := labels["name"]; gate == evidence.Gate || gate == "APIServerIdentity" {
					reading.Gates = put(reading.Gates, gate, value != 0)
				}
			case metricStarted:
				reading.Started = time.UnixMilli(int64(value * 1000)).UTC()
			case metricRerouted:
				reading.Rerouted = append(reading.Rerouted, evidence.Count{
					Code:     labels["code"],
					Resource: evidence.Resource{Group: labels["group"], Version: labels["version"], Resource: labels["resource"]},
					Value:    value,
				})
			case metricProxy:
				reading.ProxyErrors = put(reading.ProxyErrors, labels["type"], reading.ProxyErrors[labels["type"]]+value)
			case metricSync:
				reading.SyncErrors = put(reading.SyncErrors, labels["type"], value)
			}
		}
	}
	slices.SortFunc(reading.Rerouted, func(a, b evidence.Count) int {
		return strings.Compare(a.Code+" "+a.String(), b.Code+" "+b.String())
	})
	return reading, nil
}

func put[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}
