//go:build lab && linux

package demo

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counted are the values that depend on how often something was asked.
var counted = regexp.MustCompile(` [0-9.e+]+$`)

// compareMetrics compares the series that the embedded servers have, with their help and types. Counters are compared by
// their labels; the gauges of gates with their values.
func (p *pair) compareMetrics(t *testing.T) {
	for i, c := range p.admins(t) {
		got := series(ask(t, c.embedded, "/metrics").body, nil)
		var names []string
		for _, line := range got {
			name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE "), " ")
			name, _, _ = strings.Cut(name, "{")
			names = append(names, name)
		}
		want := series(ask(t, c.real, "/metrics").body, names)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s %s (-real +embedded):\n%s", p.real[i].Name, p.real[i].Release.Version, d)
		}
	}
}

func series(text string, names []string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		name, _, _ = strings.Cut(name, " ")
		name, labels, _ := strings.Cut(name, "{")
		switch {
		case names != nil && !slices.Contains(names, name):
			continue
		case name == "kubernetes_feature_enabled" && labels != "" && !strings.Contains(labels, `"APIServerIdentity"`) && !strings.Contains(labels, `"UnknownVersionInteroperabilityProxy"`):
			continue // the embedded servers tell of two gates
		case strings.HasPrefix(line, "kubernetes_feature_enabled"), strings.HasPrefix(line, "#"):
		default:
			line = counted.ReplaceAllString(line, "")
		}
		out = append(out, line)
	}
	return out
}
