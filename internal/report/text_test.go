package report

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func textOf(t *testing.T, opts TextOptions, r Report) []byte {
	t.Helper()
	if opts.Program == "" {
		opts.Program = "mvpcheck"
	}
	var out bytes.Buffer
	if err := Write(NewText(&out, opts), finish(r)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func with(c Cluster, change func(*Cluster)) Cluster {
	change(&c)
	return c
}

func TestText(t *testing.T) {
	to := []string{"--to", "1.36"}
	directory := Report{
		Clusters:   []Cluster{ready(), notReady(), ready(), template(), warnings()},
		Errors:     []InputError{{File: "tabs.yaml", Line: 14, Column: 1, Message: "a tab is used as indentation"}, {File: "tabs.yaml", Line: 15, Message: "and again"}},
		PassedOver: []PassedOver{{File: "values.yaml", Reason: "no kubeadm document"}, {File: "chart.json", Reason: "no kubeadm document"}},
	}
	many := Report{}
	for i := range 5 {
		many.Clusters = append(many.Clusters, with(notReady(), func(c *Cluster) {
			c.Source = fmt.Sprintf("cluster-%d.yaml", i)
			c.Argument = c.Source
			c.Findings = c.Findings[:1]
		}))
	}
	tests := []struct {
		name   string
		opts   TextOptions
		report Report
	}{
		{"not-ready", TextOptions{Flags: to}, Report{Clusters: []Cluster{notReady()}}},
		{"coloured", TextOptions{Flags: to, Color: true}, Report{Clusters: []Cluster{notReady(), warnings()}}},
		{"verbose", TextOptions{Flags: to, Verbose: true}, Report{Clusters: []Cluster{complete().Clusters[0]}}},
		{"quiet", TextOptions{Quiet: true, Verbose: true}, Report{Clusters: []Cluster{notReady()}}},
		{"plugin", TextOptions{Program: "kubectl mvpcheck", Flags: []string{"--to", "1.36", "--nodes", "cp 1=192.0.2.1"}}, Report{Clusters: []Cluster{
			with(notReady(), func(c *Cluster) { c.Argument = "it's mine.yaml"; c.Silenced = nil })}}},
		{"live", TextOptions{}, Report{Clusters: []Cluster{with(notReady(), func(c *Cluster) {
			c.Source, c.Argument = "context admin@prod", ""
			c.Findings = append([]Finding{{Rule: "MVP510", Severity: SeverityError, Message: "192.0.2.13:6443 cannot be asked."}}, c.Findings...)
			c.CannotTell = "1 of 3 servers cannot be asked"
		})}}},
		{"ready", TextOptions{}, Report{Clusters: []Cluster{ready()}}},
		{"ready-verbose", TextOptions{Verbose: true}, Report{Clusters: []Cluster{
			with(ready(), func(c *Cluster) { c.Silenced = notReady().Silenced; c.Source = "cluster.yaml" })}}},
		{"ready-quiet", TextOptions{Quiet: true}, Report{Clusters: []Cluster{ready()}}},
		{"ready-among-others", TextOptions{}, Report{Clusters: []Cluster{ready()}, PassedOver: directory.PassedOver}},
		{"warnings", TextOptions{}, Report{Clusters: []Cluster{warnings()}}},
		{"warnings-quiet", TextOptions{Quiet: true}, Report{Clusters: []Cluster{warnings()}}},
		{"cannot-tell", TextOptions{}, Report{Clusters: []Cluster{template()}}},
		{"cannot-tell-quiet", TextOptions{Quiet: true}, Report{Clusters: []Cluster{template()}}},
		{"cannot-tell-findings", TextOptions{}, Report{Clusters: []Cluster{
			with(warnings(), func(c *Cluster) { c.CannotTell = "no release of this file is known."; c.From, c.To = "", "" })}}},
		{"directory", TextOptions{Flags: to}, directory},
		{"directory-verbose", TextOptions{Verbose: true}, directory},
		{"directory-quiet", TextOptions{Quiet: true}, directory},
		{"directory-ready", TextOptions{}, Report{Clusters: []Cluster{ready(), ready()}, PassedOver: directory.PassedOver}},
		{"directory-warnings", TextOptions{}, Report{Clusters: []Cluster{ready(), warnings()}}},
		{"directory-cannot-tell", TextOptions{}, Report{Clusters: []Cluster{ready(), template()}}},
		{"directory-many-quiet", TextOptions{Quiet: true}, many},
		{"directory-nothing", TextOptions{}, Report{PassedOver: directory.PassedOver}},
		{"nothing", TextOptions{}, Report{}},
		{"several-pairs", TextOptions{}, Report{Clusters: []Cluster{severalPairs()}}},
		{"several-pairs-all", TextOptions{}, Report{Clusters: []Cluster{with(severalPairs(), func(c *Cluster) { c.Findings[0].Pairs = nil })}}},
		{"several-pairs-quiet", TextOptions{Quiet: true}, Report{Clusters: []Cluster{severalPairs()}}},
		{"several-pairs-ready", TextOptions{}, Report{Clusters: []Cluster{with(severalPairs(), func(c *Cluster) { c.Findings = nil })}}},
		{"input-error", TextOptions{}, Report{Errors: directory.Errors[:1]}},
		{"input-error-coloured-quiet", TextOptions{Color: true, Quiet: true}, Report{Errors: directory.Errors}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name+".txt", textOf(t, test.opts, test.report))
		})
	}
}

// The names, values and lines here try to do harm to the terminal or to the
// form of the report.
func TestTextHostile(t *testing.T) {
	c := Cluster{
		Source: "a\x1b[2J\n.yaml", Argument: "-a\x1b[2J\n'.yaml", Documents: "Cluster\u202eConfiguration",
		From: "v1.35.4\x07", To: "v1.36.0",
		Notes: []Note{{Text: "one\nready for everything"}},
		Findings: []Finding{{
			Rule: "MVP\x1b[0m", Severity: "err\u0085or", Message: "value \"\x1b]8;;x\x07\" \xff\u2028 \u00a0 é 世\n",
			Why: "a\tb\r", Fix: "\u2066x\u2069\U000e0041", Fixable: true,
			Location: in("a\rb.yaml", 3, 1, 7), SourceLine: "\x1b[31m\u200b\u202eabc: \x9b31m",
			Related: []Related{{Location: *in("\x7f.yaml", 1, 1, 2), Message: "\x00"}},
		}},
		Silenced: []Silenced{{Finding: Finding{Rule: "MVP303\n"}, Reason: "\x1b"}, {Finding: Finding{Rule: "MVP304", Location: in("o\nther.yaml", 4, 0, 0)}}},
		Passed:   []string{"MVP\n001"}, Skipped: []Skipped{{"MVP002", "\x1b[1m"}},
	}
	golden(t, "hostile.txt", textOf(t, TextOptions{Verbose: true, Flags: []string{"--to", "\x1b"}}, Report{
		Clusters:   []Cluster{c, {Source: "\x1b", CannotTell: "\x1b"}},
		Errors:     []InputError{{File: "\x1b", Message: "\x1b"}},
		PassedOver: []PassedOver{{File: "\x1b", Reason: "\x1b"}},
	}))
}

// A directory of ten thousand files must fit into little memory.
func TestTextKeepsNothing(t *testing.T) {
	c := notReady()
	w := NewText(io.Discard, TextOptions{Program: "mvpcheck", Verbose: true})
	if n := testing.AllocsPerRun(100, func() { _ = w.Cluster(c) }); n > 40 {
		t.Errorf("%.0f allocations for a cluster with %d findings", n, len(c.Findings))
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range 10_000 {
		c := with(c, func(c *Cluster) { c.Source = strings.Repeat("x", 1000) + fmt.Sprint(i) })
		_ = w.Cluster(c)
		_ = w.InputError(InputError{File: c.Source})
	}
	if after := heap(); after > before+100_000 {
		t.Errorf("the writer kept %d bytes", after-before)
	}
	runtime.KeepAlive(w)
}

func BenchmarkText(b *testing.B) {
	c := notReady()
	w := NewText(io.Discard, TextOptions{Program: "mvpcheck"})
	b.ReportAllocs()
	for b.Loop() {
		_ = w.Cluster(c)
	}
}
