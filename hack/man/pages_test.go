package main

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
	"github.com/spf13/pflag"

	"github.com/mvpcheck/mvpcheck/internal/cli"
)

var manDate = time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)

func pagesOf(t *testing.T, cmd *cobra.Command) map[string][]byte {
	t.Helper()
	pages := map[string][]byte{}
	if err := manPages(pages, cmd, "v1.2.3", manDate); err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestManPages: each command has a page, with each of its flags.
func TestManPages(t *testing.T) {
	root := cli.Commands()
	pages := pagesOf(t, root)
	for _, cmd := range root.Commands() {
		if !cmd.IsAvailableCommand() {
			continue
		}
		page := string(pages["mvpcheck-"+cmd.Name()+".1"])
		title := `.TH "MVPCHECK-` + strings.ToUpper(cmd.Name()) + `" "1" "2026-11-30" "mvpcheck v1.2.3" "mvpcheck Manual"`
		if !strings.Contains(page, title) {
			t.Errorf("%s: no title in\n%s", cmd.Name(), page)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, `\fB--`+f.Name+`\fP`) {
				t.Errorf("%s: no --%s", cmd.Name(), f.Name)
			}
		})
		if strings.Contains(cmd.Long, "EXIT STATUS") != strings.Contains(page, ".SH EXIT STATUS\nExit codes: 0") {
			t.Errorf("%s: no exit status in\n%s", cmd.Name(), page)
		}
	}
	if main := string(pages["mvpcheck.1"]); !strings.Contains(main, `\fBmvpcheck-plan\fP(1)`) || !strings.Contains(main, ".SH EXIT STATUS") {
		t.Errorf("mvpcheck.1:\n%s", main)
	}
}

// TestOptions: an option says what it says in the help, with the word for its value.
func TestOptions(t *testing.T) {
	cmd := &cobra.Command{Use: "tool", DisableAutoGenTag: true, Run: func(*cobra.Command, []string) {}}
	cmd.Flags().StringP("file", "f", "a", "which `FILE`")
	cmd.Flags().Int("n", 0, "how many")
	cmd.Flags().Bool("quiet", false, "say less")
	page := string(pagesOf(t, cmd)["tool.1"])
	_, options, _ := strings.Cut(page, ".SH OPTIONS\n")
	want := `.TP
\fB-f\fP, \fB--file\fP="FILE"
which FILE (default "a")

.TP
\fB-h\fP, \fB--help\fP
help for tool

.TP
\fB--n\fP=int
how many

.TP
\fB--quiet\fP
say less
`
	if d := cmp.Diff(want, options); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestManPagesRender: the formatters of man have nothing to complain of, and show what the help says.
func TestManPagesRender(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, pagesOf(t, cli.Commands()), false); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
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
				t.Errorf("%s: %s: %v\n%s", file, check[0], err, &errs)
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
		"mvpcheck check PATH... [flags]", "# mvpcheck:ignore MVP303 kept for 1.39", "-o, --output=FORMAT[=FILE] text, json",
		"kubectl -n kube-system get configmap kubeadm-config -o yaml | mvpcheck check --to 1.36 -",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("not %q in\n%s", want, text)
		}
	}
}

// TestCompressed: neither name nor time of a file gets into it.
func TestCompressed(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := write(dir, map[string][]byte{"a.1": []byte("text")}, true); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "a.1.gz"))
	if want := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0}; err != nil || !bytes.HasPrefix(data, want) {
		t.Errorf("% x, %v", data, err)
	}
}
