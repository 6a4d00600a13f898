package pages

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mvpcheck is the program, root the folder of the repository.
var mvpcheck, root string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mvpcheck-pages")
	if err == nil {
		defer os.RemoveAll(dir)
		root, err = filepath.Abs("../..")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	mvpcheck = filepath.Join(dir, "mvpcheck")
	build := exec.Command("go", "build", "-o", mvpcheck, "./cmd/mvpcheck")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building mvpcheck: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// report runs a command line in a folder and returns what it writes in a format.
func report(t *testing.T, c reportCase, format string) string {
	t.Helper()
	dir := filepath.Join(root, "testdata", filepath.FromSlash(c.dir))
	if c.make != nil {
		dir = t.TempDir()
		c.make(t, dir)
	}
	args := append(strings.Fields(c.args), "-o", format)
	cmd := exec.Command(mvpcheck, append(args, c.paths...)...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2 || exit.ExitCode() < 0) {
		t.Fatalf("mvpcheck %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	if stdout.Len() == 0 {
		t.Fatalf("mvpcheck %s wrote nothing: %s", strings.Join(args, " "), stderr.String())
	}
	return stdout.String()
}

// reportCase is a command line and where it runs: in a folder of testdata, or in one that is made for it.
type reportCase struct {
	name  string
	dir   string
	make  func(t *testing.T, dir string)
	args  string
	paths []string
	// says is what stands in the report, whatever the format.
	says []string
}

// cases are the reports that are looked at in every theme and width.
var cases = []reportCase{
	{name: "check-bad", dir: "scripts/files", args: "check", paths: []string{"off.yaml"}, says: []string{"NOT READY for 1.35 -> 1.36", "MVP103"}},
	{name: "check-ready", dir: "scripts/files", args: "check", paths: []string{"ready.yaml"}, says: []string{"READY for 1.35 -> 1.36"}},
	{name: "check-pairs", dir: "scripts/files", args: "check", paths: []string{"unversioned.yaml"}, says: []string{"NOT READY", "1.33 -> 1.34, 1.35 -> 1.36"}},
	{name: "check-folder", dir: "scripts/files", args: "check", paths: []string{"."}, says: []string{"NOT READY", "tab.yaml", "a tab is used"}},
	{name: "check-nothing", make: func(*testing.T, string) {}, args: "check", paths: []string{"."}, says: []string{"CANNOT TELL"}},
	{name: "check-many", make: many, args: "check", paths: []string{"."}, says: []string{"NOT READY", "200 errors", "cluster-099.yaml"}},
	{name: "check-odd-names", make: oddNames, args: "check", paths: []string{"."}, says: []string{"NOT READY"}},
	{name: "probe-false-404", dir: "evidence", args: "probe --replay H5.json", says: []string{"NOT READY", "Do not go on", "MVP505", "2026-11-30 09:50"}},
	{name: "probe-proved", dir: "evidence", args: "probe --replay H11.json", says: []string{"READY", "The hand-off is proved."}},
	{name: "probe-cannot-tell", dir: "evidence", args: "probe --replay Unreachable.json", says: []string{"CANNOT TELL", "connection refused"}},
	{name: "plan-bad", dir: "plan", args: "plan", paths: []string{"plain.yaml"}, says: []string{"NOT READY for 1.35 -> 1.36", "roll out on cp-1"}},
	{name: "plan-stops", dir: "plan", args: "plan", paths: []string{"target-will-not-start.yaml"}, says: []string{"NOT READY", "does not start"}},
	{name: "plan-ready", dir: "plan", args: "plan", paths: []string{"patched.yaml"}, says: []string{"READY for 1.35 -> 1.36"}},
	{name: "plan-unknown", dir: "plan", args: "plan", paths: []string{"unknown.yaml"}, says: []string{"CANNOT TELL"}},
	{name: "plan-seven", dir: "plan", args: "plan --nodes 7", paths: []string{"plain.yaml"}, says: []string{"NOT READY", "cp-7"}},
	{name: "plan-odd-names", make: oddNodes, args: "plan --nodes ip-10-0-12-13.eu-west-1.compute.internal=192.0.2.1,a.very-long.name.example.test=192.0.2.2,x=192.0.2.3", paths: []string{"a b.yaml"}, says: []string{"NOT READY"}},
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// many makes a folder in which there are 200 findings.
func many(t *testing.T, dir string) {
	off, err := os.ReadFile(filepath.Join(root, "testdata", "scripts", "files", "off.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		write(t, dir, fmt.Sprintf("cluster-%03d.yaml", i), string(off))
	}
}

// hostile is what a name or a value may hold; on a file system a slash, on a command line a comma would end it.
var hostile = []string{
	"<script>alert(1)", "]]>", "a|b", `c\|d`, "`tick`", "``", "<!--", "@octocat", "x@y.example", "#123", "GH-12", "owner repo#4",
	"www.example.com", "deadbeefcafe", ":smile:", "$x^2$", "\u202eabc", "\x1b[31mred", "line\nbreak", "tab\tbed", "世界", "😀", "\xff\xfe",
	"[link](javascript:x)", "![i](x)", "- item", "1. one", "> quote", "***", "__b__", "~~s~~", "&lt;", "\"'", "%0A::error::", "{{.}}", " ",
}

// oddNames makes a folder with configurations whose names and values are odd.
func oddNames(t *testing.T, dir string) {
	for i, name := range hostile {
		value, _ := fmt.Sprintf("%q", strings.ToValidUTF8(name, "?")), 0
		write(t, dir, fmt.Sprintf("%02d %s.yaml", i, name), "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n"+
			"apiServer:\n  extraArgs:\n  - {name: feature-gates, value: "+value+"}\n  - {name: "+value+", value: "+value+"}\n")
	}
}

func oddNodes(t *testing.T, dir string) {
	write(t, dir, "a b.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\ncontrolPlaneEndpoint: a.example:6443\n")
}
