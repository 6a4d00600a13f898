package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// The linker sets these for a release; without it the build information of Go tells them.
var version, commit, date string

// Version is what mvpcheck version prints.
type Version struct {
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Date      string `json:"date,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	// Releases are the Kubernetes releases that this version has facts for.
	Releases []string `json:"kubernetesReleases"`
}

func versionInfo() Version {
	v := Version{Version: version, Commit: commit, Date: date, GoVersion: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	for _, r := range release.Known() {
		v.Releases = append(v.Releases, r.String())
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.fill(info)
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "devel"
	}
	return v
}

// fill takes from the build information what the linker was not told.
func (v *Version) fill(info *debug.BuildInfo) {
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && v.Commit == "":
			v.Commit = s.Value
		case s.Key == "vcs.time" && v.Date == "":
			v.Date = s.Value
		}
	}
}

func (a *app) versionCommand() *cobra.Command {
	format := wordValue{"text", []string{"text", "json", "yaml"}}
	cmd := &cobra.Command{
		Use:     "version [flags]",
		Short:   "Print the version, and the Kubernetes releases that it knows",
		Long:    "Print the version of mvpcheck, and the Kubernetes releases that it has facts for.",
		Example: "  mvpcheck version\n  mvpcheck version -o json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return failure(a.printVersion(versionInfo(), format.word))
		},
	}
	cmd.Flags().VarP(&format, "output", "o", "the format")
	complete(cmd, "output", cobra.FixedCompletions(format.allowed, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) printVersion(v Version, format string) error {
	var text []byte
	var err error
	switch format {
	case "json":
		if text, err = json.MarshalIndent(v, "", "  "); err == nil {
			text = append(text, '\n')
		}
	case "yaml":
		text, err = yaml.Marshal(v)
	default:
		text = v.text()
	}
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}

func (v *Version) text() []byte {
	out := fmt.Appendf(nil, "mvpcheck %s\n", v.Version)
	for _, line := range [][2]string{{"commit", v.Commit}, {"date", v.Date}, {"go", v.GoVersion},
		{"platform", v.Platform}} {
		if line[1] != "" {
			out = fmt.Appendf(out, "%-12s%s\n", line[0]+":", line[1])
		}
	}
	return fmt.Appendf(out, "%-12s%s to %s\n", "kubernetes:", v.Releases[0], v.Releases[len(v.Releases)-1])
}
