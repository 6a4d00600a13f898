package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mvpcheck":         main,
		"kubectl-mvpcheck": main,
	})
}

// TestScripts runs the program as people do. Each script starts in a folder with the files of testdata/scripts/files.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/scripts",
		Setup: func(env *testscript.Env) error {
			// The root of a repository: no settings are looked for above it.
			if err := os.Mkdir(filepath.Join(env.WorkDir, ".git"), 0o755); err != nil {
				return err
			}
			env.Setenv("TERM", "xterm")
			evidence, err := filepath.Abs("../../testdata/evidence")
			if err != nil {
				return err
			}
			env.Setenv("EVIDENCE", evidence)
			env.Setenv("NEWEST", release.Newest().MinorString())
			return os.CopyFS(env.WorkDir, os.DirFS("../../testdata/scripts/files"))
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command that must end with an exit code: exits CODE COMMAND [ARG...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
