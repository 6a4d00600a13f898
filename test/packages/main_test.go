// Package packages tests what the releases and integrations are made of: the GitHub Action, the problem matcher, the hooks
// for pre-commit, the template for GitLab, the completions in real shells, and with a release in $MVPCHECK_DIST its archives,
// packages and manifest.
//
// A test is skipped where a program that it needs is missing, unless MVPCHECK_REQUIRE is set.
package packages

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// root is the folder of the repository, bin one with mvpcheck in it, alone.
var root, bin string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if root, err = filepath.Abs("../.."); err != nil {
		return 0, err
	}
	if bin, err = os.MkdirTemp("", "mvpcheck-packages"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	if out, err := exec.Command("go", "build", "-o", bin+"/", root+"/cmd/mvpcheck").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building mvpcheck: %w\n%s", err, out)
	}
	if err := os.Setenv("PATH", bin+":"+os.Getenv("PATH")); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// need skips a test without a program, or fails it where all are required.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			missing(t, p)
		}
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("MVPCHECK_REQUIRE") != "" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing", what)
}

// result is what came of a program.
type result struct {
	out, errs string
	code      int
}

// execute runs a program in a folder with nothing of the environment but PATH.
func execute(t *testing.T, dir string, env []string, name string, args ...string) result {
	t.Helper()
	cmd := exec.Command(name, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=dumb"}, env...)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", name, err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// readYAML reads a file of the repository; fields that the type does not have are mistakes.
func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(readFile(t, filepath.Join(root, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func copyCase(t *testing.T, from, to string) {
	t.Helper()
	writeFile(t, to, string(readFile(t, filepath.Join(root, "testdata", from))))
}
