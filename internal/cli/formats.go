package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/text"
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
		name:  "sarif",
		check: func(w io.Writer, o formatOptions) report.Writer { return report.NewSARIF(w, sarifOptions(o)) },
		probe: func(w io.Writer, r *report.ProbeReport, o formatOptions) error {
			return report.WriteProbeSARIF(w, r, sarifOptions(o))
		},
	},
	{
		name:  "junit",
		check: func(w io.Writer, _ formatOptions) report.Writer { return report.NewJUnit(w, junitOptions()) },
		probe: func(w io.Writer, r *report.ProbeReport, _ formatOptions) error {
			return report.WriteProbeJUnit(w, r, junitOptions())
		},
	},
	{
		name:  "github",
		check: func(w io.Writer, o formatOptions) report.Writer { return report.NewGitHub(w, githubOptions(o)) },
		probe: func(w io.Writer, r *report.ProbeReport, o formatOptions) error {
			return report.WriteProbeGitHub(w, r, githubOptions(o))
		},
	},
	{
		name:  "markdown",
		check: func(w io.Writer, o formatOptions) report.Writer { return report.NewMarkdown(w, o.text) },
		probe: func(w io.Writer, r *report.ProbeReport, o formatOptions) error {
			return report.WriteProbeMarkdown(w, r, o.text)
		},
		plan: func(w io.Writer, r *report.PlanReport, o formatOptions) error {
			return report.WritePlanMarkdown(w, r, o.text)
		},
	},
	{
		name:  "html",
		check: func(w io.Writer, o formatOptions) report.Writer { return report.NewHTML(w, o.version, o.text) },
		probe: func(w io.Writer, r *report.ProbeReport, o formatOptions) error {
			return report.WriteProbeHTML(w, r, o.text)
		},
		plan: func(w io.Writer, r *report.PlanReport, o formatOptions) error {
			return report.WritePlanHTML(w, r, o.text)
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
	f.VarP(v, "output", "o", text.Or(formats)+
		"; with =FILE into a file. May be given several times, once for standard output (default: text)")
	complete(cmd, "output", completeFormats(formats))
}
