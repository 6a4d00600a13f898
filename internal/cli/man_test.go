package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var manDate = time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)

// TestManPages: one page for each command that has a page in docs/cli, with all that its help says.
func TestManPages(t *testing.T) {
	pages := ManPages("v1.2.3", manDate)
	a := &app{program: "mvpcheck"}
	root := a.rootCommand()
	want := 1
	for _, cmd := range root.Commands() {
		if !documented(cmd) {
			continue
		}
		want++
		page := string(pages["mvpcheck-"+cmd.Name()+".1"])
		if page == "" {
			t.Errorf("no page for %s", cmd.Name())
			continue
		}
		if !strings.Contains(page, `.TH MVPCHECK\-`+strings.ToUpper(cmd.Name())+` 1 2026-11-30 "mvpcheck v1.2.3"`) {
			t.Errorf("%s: no title in\n%s", cmd.Name(), page)
		}
		cmd.InitDefaultHelpFlag()
		for _, f := range splitUsages(cmd.LocalFlags()) {
			if !strings.HasPrefix(f.names, "-") || f.usage == "" {
				t.Errorf("%s: the help of a flag came apart as %q", cmd.Name(), f)
			}
			if first, _, _ := strings.Cut(f.names, ", "); !strings.Contains(page, `\fB`+roff(first)) {
				t.Errorf("%s: no %s", cmd.Name(), f.names)
			}
		}
	}
	if len(pages) != want {
		t.Errorf("%d pages, want %d", len(pages), want)
	}
	if main := string(pages["mvpcheck.1"]); !strings.Contains(main, `\fBmvpcheck\-plan\fR(1)`) || !strings.Contains(main, ".SH EXIT STATUS") {
		t.Errorf("mvpcheck.1:\n%s", main)
	}
}

// TestManPage: what each kind of text becomes.
func TestManPage(t *testing.T) {
	root := &cobra.Command{Use: "tool"}
	cmd := &cobra.Command{Use: "do PATH [flags]", Short: "Do it", Long: "One\nline.\n\n    # as 'it' is\n      deeper\n\nExit codes: 0 fine.",
		Example: "  # Do\n  tool do -x", RunE: func(*cobra.Command, []string) error { return nil }}
	cmd.DisableFlagsInUseLine = true
	cmd.Flags().StringP("file", "f", "a", "which `FILE`; "+strings.Repeat("more ", 16)+".dot")
	root.AddCommand(cmd)
	p := &manPage{cmd: cmd, version: "v1", date: manDate}
	p.write([]*cobra.Command{root, cmd})
	want := `.\" Written from the commands of mvpcheck.
.TH TOOL\-DO 1 2026-11-30 "mvpcheck v1" "mvpcheck Manual"
.SH NAME
tool\-do \- Do it
.SH SYNOPSIS
\fBtool do\fR PATH [flags]
.SH DESCRIPTION
One line.
.PP
.RS 4
.nf
# as \(aqit\(aq is
  deeper
.fi
.RE
.SH EXIT STATUS
Exit codes: 0 fine.
.SH OPTIONS
.TP
\fB\-f\fR, \fB\-\-file\fR \fIFILE\fR
which FILE; more more more more more more more more more more more more more
more more more .dot (default "a")
.TP
\fB\-h\fR, \fB\-\-help\fR
help for do
.SH EXAMPLES
.RS 4
.nf
# Do
tool do \-x
.fi
.RE
.SH SEE ALSO
\fBtool\fR(1)
`
	want = strings.ReplaceAll(want, `"a"`, `\(dqa\(dq`)
	if d := cmp.Diff(want, p.out.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		".SH not a macro": `\&.SH not a macro`,
		"'br nor this":    `\(aqbr nor this`,
		`a\nb`:            `a\enb`,
		"--x ~/`y` ^z":    `\-\-x \(ti/\(gay\(ga \(haz`,
	} {
		if got := roff(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestManPagesRender: the formatters of man have nothing to complain of, and show what the help says.
func TestManPagesRender(t *testing.T) {
	dir := t.TempDir()
	for name, text := range ManPages("v1.2.3", manDate) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, check := range [][]string{
			{"mandoc", "-T", "lint", "-W", "warning", file},
			{"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", file},
		} {
			if _, err := exec.LookPath(check[0]); err != nil {
				continue
			}
			var errs bytes.Buffer
			cmd := exec.Command(check[0], check[1:]...)
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if check[0] == "mandoc" {
				errs.Write(out)
			}
			if err != nil || errs.Len() > 0 {
				t.Errorf("%s: %s: %v\n%s", name, check[0], err, &errs)
			}
		}
	}
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("no mandoc to render with")
	}
	out, err := exec.Command("mandoc", "-T", "utf8", "-O", "width=200", filepath.Join(dir, "mvpcheck-check.1")).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(".\b").ReplaceAllString(string(out), "") // bold and underlined are typed over
	words := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"mvpcheck check PATH... [flags]", "# mvpcheck:ignore MVP303 kept for 1.39", "-o, --output FORMAT[=FILE] text, json",
		"kubectl -n kube-system get configmap kubeadm-config -o yaml | mvpcheck check --to 1.36 -",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("not %q in\n%s", want, text)
		}
	}
}
