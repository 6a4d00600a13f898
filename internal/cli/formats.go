package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvpcheck/mvpcheck/pkg/report"
)

// formatOptions are what a format may want to know.
type formatOptions struct {
	version string
	// text has what the text looks like; its Program and Flags are for all formats that suggest commands.
	text report.TextOptions
}

// format is one that reports can be had in; a command that has no function here does not have it.
type format struct {
	name  string
	check func(io.Writer, formatOptions) report.Writer
	probe func(io.Writer, *report.ProbeReport, formatOptions) error
	plan  func(io.Writer, *report.PlanReport, formatOptions) error
}

// formats are those of reports, in the order of the help.
var formats = []format{
	{
		name:  "text",
		check: func(w io.Writer, o formatOptions) report.Writer { return report.NewText(w, o.text) },
		probe: func(w io.Writer, r *report.ProbeReport, o formatOptions) error {
			return report.WriteProbeText(w, r, o.text)
		},
		plan: func(w io.Writer, r *report.PlanReport, o formatOptions) error {
			return report.WritePlanText(w, r, o.text)
		},
	},
	{
		name:  "json",
		check: func(w io.Writer, o formatOptions) report.Writer { return report.NewJSON(w, o.version) },
		probe: func(w io.Writer, r *report.ProbeReport, _ formatOptions) error { return report.WriteProbeJSON(w, r) },
		plan:  func(w io.Writer, r *report.PlanReport, _ formatOptions) error { return report.WritePlanJSON(w, r) },
	},
	{
		name:  "yaml",
		check: func(w io.Writer, o formatOptions) report.Writer { return report.NewYAML(w, o.version) },
		probe: func(w io.Writer, r *report.ProbeReport, _ formatOptions) error { return report.WriteProbeYAML(w, r) },
		plan:  func(w io.Writer, r *report.PlanReport, _ formatOptions) error { return report.WritePlanYAML(w, r) },
	},
	{
		name: "markdown",
		plan: func(w io.Writer, r *report.PlanReport, o formatOptions) error {
			return report.WritePlanMarkdown(w, r, o.text.Program)
		},
	},
}

func (f *format) forCheck() bool { return f.check != nil }
func (f *format) forProbe() bool { return f.probe != nil }
func (f *format) forPlan() bool  { return f.plan != nil }

// formatNames returns the formats of a command.
func formatNames(has func(*format) bool) []string {
	var names []string
	for i := range formats {
		if has(&formats[i]) {
			names = append(names, formats[i].name)
		}
	}
	return names
}

// formatOf returns the format of an output.
func formatOf(out output) *format {
	return &formats[slices.IndexFunc(formats, func(f format) bool { return f.name == out.format })]
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
	last := len(formats) - 1
	f.VarP(v, "output", "o", strings.Join(formats[:last], ", ")+" or "+formats[last]+
		"; with =FILE into a file. May be given several times, once for standard output (default: text)")
	complete(cmd, "output", completeFormats(formats))
}

// completeFormats completes formats; what stands behind = is a file.
func completeFormats(formats []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(toComplete, "=") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return formats, cobra.ShellCompDirectiveNoFileComp
	}
}
