package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// TestBashCommas: after each line of cobra's script that quotes answers, commas are as the user types them.
func TestBashCommas(t *testing.T) {
	for _, args := range [][]string{{"completion", "bash"}, {"completion", "bash", "--no-descriptions"}} {
		var out, errs bytes.Buffer
		code := Main(context.Background(), append([]string{"mvpcheck"}, args...), Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		if code != 0 || errs.Len() > 0 {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		lines := strings.Split(out.String(), "\n")
		quoting := 0
		for i, line := range lines {
			if strings.Contains(line, `"%q`) {
				quoting++
				if !strings.Contains(lines[i+1], `//\\,/,}`) {
					t.Errorf("line %d: %s\n%s", i+1, line, lines[i+1])
				}
			}
		}
		if quoting < 6 {
			t.Errorf("%d lines quote", quoting)
		}
		if want := map[bool]string{true: "__complete ", false: "__completeNoDesc "}[len(args) == 2]; !strings.Contains(out.String(), want) {
			t.Errorf("%v: no %s", args, want)
		}
	}
}
