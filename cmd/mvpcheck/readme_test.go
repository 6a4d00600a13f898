package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/cli"
)

// TestReadme: the transcripts in the README are what the commands print.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		dir  string
		args []string
	}{
		{"../../testdata/cases", []string{"check", "086-peer-flags-gate-off.yaml"}},
		{"../../testdata/plan", []string{"plan", "plain.yaml"}},
		{"../../testdata/evidence", []string{"probe", "--replay", "H3.json"}},
	} {
		t.Run(tc.args[0], func(t *testing.T) {
			t.Chdir(tc.dir)
			var out, errs bytes.Buffer
			code := cli.Main(context.Background(), append([]string{"mvpcheck"}, tc.args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			if code != 1 || errs.Len() > 0 {
				t.Errorf("exit code %d, %s", code, errs.String())
			}
			if !strings.Contains(string(readme), "```text\n"+out.String()+"```") {
				t.Errorf("the README does not have this transcript:\n%s", out.String())
			}
		})
	}
}
