package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

// conclude writes to standard error what was changed, what is left and what to do now, and returns what the exit code
// says of the result.
func (p *patcher) conclude(r *patch.Result) error {
	clusters := make([]*checks.Judgement, len(r.Input.Clusters))
	var unknown []string
	for i, c := range r.Input.Clusters {
		d, err := checks.Judge(c, p.judge.by(p.job.choices))
		if err != nil {
			return failure(err)
		}
		clusters[i] = d
		if reason := d.CannotTell(); reason != "" {
			unknown = append(unknown, reason)
		}
	}
	var notes bytes.Buffer
	p.noteChanges(&notes, r, clusters)
	failing := p.noteLeft(&notes, r.Left)
	for _, reason := range unknown {
		fmt.Fprintf(&notes, "Not everything could be judged: %s\n", text.Printable(reason))
	}
	p.noteNext(&notes, r, clusters)
	if _, err := p.Err.Write(notes.Bytes()); err != nil {
		return failure(err)
	}
	switch {
	case failing, p.o.diff && r.Changed():
		return &exitError{code: exitFindings}
	case len(unknown) > 0:
		return &exitError{code: exitFailed}
	}
	return nil
}

// noteChanges writes a line for each change.
func (p *patcher) noteChanges(out *bytes.Buffer, r *patch.Result, clusters []*checks.Judgement) {
	for _, c := range r.Applied {
		ids := make([]string, len(c.Rules))
		for i, rule := range c.Rules {
			ids[i] = rule.ID
		}
		fmt.Fprintf(out, "%s %s\n", strings.Join(ids, ", "), text.Printable(c.Summary))
	}
	if !r.Changed() {
		fmt.Fprintf(out, "%s: nothing to change%s.\n", text.Printable(r.Name), forPairs(clusters))
	}
}

// forPairs says for which upgrade the clusters were judged, where that is the same for all.
func forPairs(clusters []*checks.Judgement) string {
	text := ""
	for i, d := range clusters {
		if len(d.Pairs) != 1 || i > 0 && d.Pairs[0].String() != text {
			return ""
		}
		text = d.Pairs[0].String()
	}
	return " for " + text
}

// noteLeft writes what no change fixes and tells whether that is at or above the level of --fail-on. What is worth
// knowing, but nothing to do, is left to check.
func (p *patcher) noteLeft(out *bytes.Buffer, left []checks.Finding) (failing bool) {
	first := true
	for i := range left {
		f := &left[i]
		failing = failing || p.job.choices.failOn.reached(f.Severity)
		if f.Severity == checks.Info {
			continue
		}
		if first {
			out.WriteString("Left to do by hand (lines of the patched file):\n")
			first = false
		}
		place := ""
		if l := report.LocationOf(f.At); l != nil {
			place = fmt.Sprintf("%s:%d:%d: ", l.File, l.Line, l.Column)
		}
		fmt.Fprintf(out, "  %s%s: %s [%s]\n", place, f.Severity, text.Printable(f.Message), f.Rule.ID)
		if f.Fix != "" {
			fmt.Fprintf(out, "     fix: %s\n", text.Printable(f.Fix))
		}
	}
	return failing
}

// noteNext says where the result is, and the steps to take with it.
func (p *patcher) noteNext(out *bytes.Buffer, r *patch.Result, clusters []*checks.Judgement) {
	if !r.Changed() {
		return
	}
	file := ""
	switch {
	case p.o.diff:
		out.WriteString("Nothing was written.")
		if p.job.argument != "-" {
			command := p.program + " patch"
			for _, flag := range p.o.repeated() {
				command += " " + text.ShellWord(flag)
			}
			fmt.Fprintf(out, " Write with --in-place, or: %s %s > patched.yaml", command, text.ShellFile(p.job.argument))
		}
		out.WriteString("\n")
	case p.o.inPlace:
		file = p.job.name
		fmt.Fprintf(out, "%s: written.\n", text.Printable(p.job.name))
	case p.o.nodePatches != "":
		fmt.Fprintf(out, "%s: written; give it to kubeadm upgrade with --patches on every control-plane node.\n",
			text.Printable(p.o.nodePatches))
		return
	case p.o.format.word != "":
		return
	}
	for _, d := range clusters {
		if slices.ContainsFunc(d.Findings, func(f checks.Finding) bool { return f.Rule.ID == skewRule }) {
			// No steps lead to where one cannot go.
			continue
		}
		p.noteSteps(out, r, d, file)
	}
}

// skewRule reports upgrades that are not possible as such.
const skewRule = "MVP007"

// noteSteps writes the steps for a cluster, each as a command to type with what it is for.
func (p *patcher) noteSteps(out *bytes.Buffer, r *patch.Result, d *checks.Judgement, file string) {
	pair := d.Pairs[len(d.Pairs)-1]
	steps := patch.Steps(r, d.Cluster, pair, patch.StepOptions{File: file, Program: p.program})
	if len(steps) == 0 {
		return
	}
	if len(r.Input.Clusters) > 1 {
		fmt.Fprintf(out, "For %s: ", text.Printable(d.Cluster.Name()))
	}
	if d.Cluster.Form == config.FormKubeadm {
		out.WriteString("kubeadm upgrade does not read this file. ")
	}
	if len(d.Pairs) > 1 {
		fmt.Fprintf(out, "No version is known: these steps are for %s (--from and --to name others). ", pair)
	}
	out.WriteString("In this order:\n")
	for i, s := range steps {
		fmt.Fprintf(out, "%3d. %s\n", i+1, text.Printable(s.Command))
		comment := s.Text
		if s.Comment != "" {
			comment += ": " + s.Comment
		}
		out.WriteString(text.Wrap("     # ", "     # ", text.Printable(comment), explainWidth))
	}
}
