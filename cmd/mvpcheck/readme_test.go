package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/cli"
)

// TestReadme: the transcript in the README is what the command prints.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../testdata/cases")
	var out, errs bytes.Buffer
	code := cli.Main(context.Background(), []string{"mvpcheck", "check", "086-peer-flags-gate-off.yaml"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if code != 1 || errs.Len() > 0 {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	if !strings.Contains(string(readme), "```text\n"+out.String()+"```") {
		t.Errorf("the README does not have this transcript:\n%s", out.String())
	}
}
