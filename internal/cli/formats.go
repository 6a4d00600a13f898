package cli

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// formatNames returns the names of the formats, with or without those that have findings only.
func formatNames(findingsOnly bool) []string {
	var names []string
	for _, f := range report.Formats {
		if findingsOnly || !f.FindingsOnly {
			names = append(names, f.Name)
		}
	}
	return names
}

// outputsValue are the values of -o.
type outputsValue struct {
	list []output
	// formats are those that the command has.
	formats []string
}

// addTo adds the flag -o to a command that has these formats.
func (v *outputsValue) addTo(cmd *cobra.Command, f *pflag.FlagSet, formats []string) {
	v.formats = formats
	f.VarP(v, "output", "o", text.Or(formats)+
		"; with =FILE into a file. May be given several times, once for standard output (default: text)")
	complete(cmd, "output", completeFormats(formats))
}

// haveEdits tells whether one of the outputs has the edits that patch would make.
func (v *outputsValue) haveEdits() bool {
	return slices.ContainsFunc(v.list, func(o output) bool { return o.format == "sarif" })
}

// writeReport writes a report in every format that was asked for, behind what else is to be written.
func (a *app) writeReport(
	r *report.Report, outputs *outputsValue, o report.Options, color colorValue, others ...piece,
) error {
	o.Program, o.Token, o.Rule = a.program, rand.Text(), ruleDoc
	pieces := others
	for _, out := range outputs.withText() {
		o := o // each output has its own
		o.Color = a.useColor(out, color)
		o.ErrorsElsewhere = out.file == "" // standard error has said it
		format := report.Formats[slices.IndexFunc(report.Formats, func(f report.Format) bool { return f.Name == out.format })]
		pieces = append(pieces, piece{out.file, func(w io.Writer) error { return format.Write(w, r, o) }})
	}
	return a.writePieces(pieces)
}

// ruleDoc is the documentation of a rule, from what mvpcheck explain and the pages are made of.
func ruleDoc(id string) report.RuleDoc {
	r, ok := checks.Find(id)
	if !ok {
		return report.RuleDoc{}
	}
	var plain, page bytes.Buffer
	parts := [][2]string{{"What it finds", r.Doc.What}, {"Why it matters", r.Doc.Why}, {"What to do", r.Doc.Fix}}
	for i, part := range parts {
		if part[1] == "" {
			continue
		}
		if i > 0 {
			plain.WriteString("\n")
			page.WriteString("\n")
		}
		fmt.Fprintf(&plain, "%s: %s\n", part[0], part[1])
		fmt.Fprintf(&page, "**%s:** %s\n", part[0], markdown(part[1]))
	}
	facts := strings.Join(r.Doc.Facts, ", ")
	fmt.Fprintf(&plain, "\n%s. Facts: %s. Since %s.\n", capital(fixedBy(r)), facts, r.Doc.Since)
	fmt.Fprintf(&page, "\n%s. Facts: %s. Since %s. [The page of %s](%s)\n",
		capital(codeCommand(fixedBy(r))), facts, r.Doc.Since, r.ID, report.PageURL(report.PageOf(r)))
	return report.RuleDoc{
		Name: r.Name, Severity: report.Severity(r.Severity.String()), Tags: []string{"kubernetes", "kubeadm", "upgrade"},
		Short: firstSentence(r.Doc.What), Full: strings.TrimSuffix(r.Doc.What+" "+r.Doc.Why, " "),
		Text: plain.String(), Markdown: page.String(),
	}
}
