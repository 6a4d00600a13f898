package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// TestReadmeCommands runs what the README tells a newcomer to type first. make is looked up only: it would run this test.
func TestReadmeCommands(t *testing.T) {
	makefile, err := os.ReadFile(repo + "Makefile")
	if err != nil {
		t.Fatal(err)
	}
	first := pages(t)[0].blocks(t)[0]
	ran := 0
	for command := range strings.Lines(first.text()) {
		words := strings.Fields(command)
		switch words[0] {
		case "make":
			if !strings.Contains(string(makefile), "\n"+words[1]+": ## ") {
				t.Errorf("%s: no such target", strings.TrimSpace(command))
			}
		case "go":
			ran++
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir = repo
			out, err := cmd.Output()
			var exit *exec.ExitError
			errors.As(err, &exit)
			// go run tells the exit code in words.
			found := exit != nil && strings.HasSuffix(string(exit.Stderr), "exit status 1\n")
			if err != nil && !found || found != (words[3] == "check") || len(out) < 200 {
				t.Errorf("%s: %v\n%s", strings.TrimSpace(command), err, out)
			}
		default:
			t.Errorf("nothing tests %s", strings.TrimSpace(command))
		}
	}
	if ran == 0 {
		t.Error("no command runs mvpcheck")
	}
}

// TestNumbers: numbers in the text are those of the program.
func TestNumbers(t *testing.T) {
	span := fmt.Sprintf("It knows Kubernetes %s to %s", release.Oldest(), release.Newest())
	for _, n := range []struct {
		file string
		says *regexp.Regexp
		want string
	}{
		{"README.md", regexp.MustCompile(`It knows Kubernetes [\d.]+ to 1\.\d+`), span},
		{"docs/guide/limits.md", regexp.MustCompile(`It knows Kubernetes [\d.]+ to 1\.\d+`), span},
		{"docs/guide/limits.md", regexp.MustCompile(`at most \d+ MiB`), fmt.Sprintf("at most %d MiB", config.MaxSize>>20)},
	} {
		text, err := os.ReadFile(repo + n.file)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			text = n.says.ReplaceAll(text, []byte(n.want))
			if err := os.WriteFile(repo+n.file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(string(text), n.want) {
			t.Errorf("%s does not say %q; make update writes it", n.file, n.want)
		}
	}
}
