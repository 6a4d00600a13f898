package cli

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// What the formats for CI systems are told of the rules, and of the run.

func sarifOptions(o formatOptions) report.SARIFOptions {
	return report.SARIFOptions{Version: o.version, Rule: sarifRule}
}

func junitOptions() report.JUnitOptions {
	return report.JUnitOptions{RuleName: func(id string) string {
		r, ok := checks.Find(id)
		if !ok {
			return ""
		}
		return r.Name
	}}
}

func githubOptions(o formatOptions) report.GitHubOptions {
	return report.GitHubOptions{Text: o.text, Token: rand.Text()}
}

// sarifRule is the documentation of a rule, from what mvpcheck explain and the pages are made of.
func sarifRule(id string) report.SARIFRule {
	r, ok := checks.Find(id)
	if !ok {
		return report.SARIFRule{}
	}
	var text, page bytes.Buffer
	for i, part := range [][2]string{{"What it finds", r.Doc.What}, {"Why it matters", r.Doc.Why}, {"What to do", r.Doc.Fix}} {
		if part[1] == "" {
			continue
		}
		if i > 0 {
			text.WriteString("\n")
			page.WriteString("\n")
		}
		fmt.Fprintf(&text, "%s: %s\n", part[0], part[1])
		fmt.Fprintf(&page, "**%s:** %s\n", part[0], markdown(part[1]))
	}
	facts := strings.Join(r.Doc.Facts, ", ")
	fmt.Fprintf(&text, "\n%s. Facts: %s. Since %s.\n", capital(fixedBy(r)), facts, r.Doc.Since)
	fmt.Fprintf(&page, "\n%s. Facts: %s. Since %s. [The page of %s](%s)\n",
		capital(codeCommand(fixedBy(r))), facts, r.Doc.Since, r.ID, report.PageURL(rulePage(r)))
	return report.SARIFRule{
		Name: camelCase(r.Name), Severity: report.Severity(r.Severity.String()), Tags: []string{"kubernetes", "kubeadm", "upgrade"},
		Short: firstSentence(r.Doc.What), Full: strings.TrimSuffix(r.Doc.What+" "+r.Doc.Why, " "),
		Text: text.String(), Markdown: page.String(),
	}
}

// camelCase is the name of a rule as one word: GateOffOnRunning.
func camelCase(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		out.WriteString(capital(word))
	}
	return out.String()
}

// haveEdits tells whether one of the outputs has the edits that patch would make.
func (v *outputsValue) haveEdits() bool {
	return slices.ContainsFunc(v.list, func(o output) bool { return o.format == "sarif" })
}
