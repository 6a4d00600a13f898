package report

import (
	"fmt"
	"testing"
)

func textOf(t *testing.T, c called, r CheckReport) []byte {
	t.Helper()
	return writeCalled(t, "text", finish(r), c)
}

func with(c Cluster, change func(*Cluster)) Cluster {
	change(&c)
	return c
}

func TestText(t *testing.T) {
	to := []string{"--to", "1.36"}
	directory := CheckReport{
		Clusters:   []Cluster{ready(), notReady(), ready(), template(), warnings()},
		Errors:     []InputError{{File: "tabs.yaml", Line: 14, Column: 1, Message: "a tab is used as indentation"}, {File: "tabs.yaml", Line: 15, Message: "and again"}},
		PassedOver: []PassedOver{{File: "values.yaml", Reason: "no kubeadm document"}, {File: "chart.json", Reason: "no kubeadm document"}},
	}
	many := CheckReport{}
	for i := range 5 {
		many.Clusters = append(many.Clusters, with(notReady(), func(c *Cluster) {
			c.Source = Text(fmt.Sprintf("cluster-%d.yaml", i))
			c.Argument = c.Source
			c.Findings = c.Findings[:1]
		}))
	}
	tests := []struct {
		name   string
		opts   called
		report CheckReport
	}{
		{"not-ready", called{Flags: to}, CheckReport{Clusters: []Cluster{notReady()}}},
		{"coloured", called{Flags: to, Color: true}, CheckReport{Clusters: []Cluster{notReady(), warnings()}}},
		{"verbose", called{Flags: to, Verbose: true}, CheckReport{Clusters: []Cluster{complete().Clusters[0]}}},
		{"quiet", called{Quiet: true, Verbose: true}, CheckReport{Clusters: []Cluster{notReady()}}},
		{"plugin", called{Program: "kubectl mvpcheck", Flags: []string{"--to", "1.36", "--nodes", "cp 1=192.0.2.1"}}, CheckReport{Clusters: []Cluster{
			with(notReady(), func(c *Cluster) { c.Argument = "it's mine.yaml"; c.Silenced = nil })}}},
		{"live", called{}, CheckReport{Clusters: []Cluster{with(notReady(), func(c *Cluster) {
			c.Source, c.Argument = "context admin@prod", ""
			c.Findings = append([]Finding{{Rule: "MVP510", Severity: SeverityError, Message: "192.0.2.13:6443 cannot be asked."}}, c.Findings...)
			c.CannotTell = "1 of 3 servers cannot be asked"
		})}}},
		{"ready", called{}, CheckReport{Clusters: []Cluster{ready()}}},
		{"ready-verbose", called{Verbose: true}, CheckReport{Clusters: []Cluster{
			with(ready(), func(c *Cluster) { c.Silenced = notReady().Silenced; c.Source = "cluster.yaml" })}}},
		{"ready-quiet", called{Quiet: true}, CheckReport{Clusters: []Cluster{ready()}}},
		{"ready-among-others", called{}, CheckReport{Clusters: []Cluster{ready()}, PassedOver: directory.PassedOver}},
		{"warnings", called{}, CheckReport{Clusters: []Cluster{warnings()}}},
		{"warnings-quiet", called{Quiet: true}, CheckReport{Clusters: []Cluster{warnings()}}},
		{"cannot-tell", called{}, CheckReport{Clusters: []Cluster{template()}}},
		{"cannot-tell-quiet", called{Quiet: true}, CheckReport{Clusters: []Cluster{template()}}},
		{"cannot-tell-findings", called{}, CheckReport{Clusters: []Cluster{
			with(warnings(), func(c *Cluster) { c.CannotTell = "no release of this file is known."; c.From, c.To = "", "" })}}},
		{"directory", called{Flags: to}, directory},
		{"directory-verbose", called{Verbose: true}, directory},
		{"directory-quiet", called{Quiet: true}, directory},
		{"directory-ready", called{}, CheckReport{Clusters: []Cluster{ready(), ready()}, PassedOver: directory.PassedOver}},
		{"directory-warnings", called{}, CheckReport{Clusters: []Cluster{ready(), warnings()}}},
		{"directory-cannot-tell", called{}, CheckReport{Clusters: []Cluster{ready(), template()}}},
		{"directory-many-quiet", called{Quiet: true}, many},
		{"directory-nothing", called{}, CheckReport{PassedOver: directory.PassedOver}},
		{"nothing", called{}, CheckReport{}},
		{"several-pairs", called{}, CheckReport{Clusters: []Cluster{severalPairs()}}},
		{"several-pairs-all", called{}, CheckReport{Clusters: []Cluster{with(severalPairs(), func(c *Cluster) { c.Findings[0].Pairs = nil })}}},
		{"several-pairs-quiet", called{Quiet: true}, CheckReport{Clusters: []Cluster{severalPairs()}}},
		{"several-pairs-ready", called{}, CheckReport{Clusters: []Cluster{with(severalPairs(), func(c *Cluster) { c.Findings = nil })}}},
		{"input-error", called{}, CheckReport{Errors: directory.Errors[:1]}},
		{"input-error-coloured-quiet", called{Color: true, Quiet: true}, CheckReport{Errors: directory.Errors}},
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
			Why: "a\tb\r", Fix: "\u2066x\u2069\U000e0041", Fixable: new(true),
			Location: in("a\rb.yaml", 3, 1, 7), SourceLine: "\x1b[31m\u200b\u202eabc: \x9b31m",
			Related: []Related{{Location: *in("\x7f.yaml", 1, 1, 2), Message: "\x00"}},
		}},
		Silenced: []Silenced{{Finding: Finding{Rule: "MVP303\n"}, Reason: "\x1b"}, {Finding: Finding{Rule: "MVP304", Location: in("o\nther.yaml", 4, 0, 0)}}},
		Passed:   []string{"MVP\n001"}, Skipped: []Skipped{{"MVP002", "\x1b[1m"}},
	}
	golden(t, "hostile.txt", textOf(t, called{Verbose: true, Flags: []string{"--to", "\x1b"}}, CheckReport{
		Clusters:   []Cluster{c, {Source: "\x1b", CannotTell: "\x1b"}},
		Errors:     []InputError{{File: "\x1b", Message: "\x1b"}},
		PassedOver: []PassedOver{{File: "\x1b", Reason: "\x1b"}},
	}))
}

func BenchmarkText(b *testing.B) {
	r := finish(CheckReport{Clusters: []Cluster{notReady()}})
	b.ReportAllocs()
	for b.Loop() {
		write(b, "text", r)
	}
}
