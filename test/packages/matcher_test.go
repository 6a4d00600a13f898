package packages

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// matcher is a problem matcher, by GitHub's documentation.
type matcher struct {
	Owner, Severity string
	Pattern         []struct {
		Regexp                                      string
		File, Line, Column, Severity, Message, Code int
	}
}

// mark is what the runner makes of a line.
type mark struct {
	file         string
	line, column int
	severity     string
	message      string
	code         string
}

// marks reads a log as the runner does: each line belongs to the first matcher that takes it.
func marks(t *testing.T, log string) []mark {
	t.Helper()
	var file struct{ ProblemMatcher []matcher }
	d := json.NewDecoder(strings.NewReader(string(readFile(t, filepath.Join(root, ".github", "mvpcheck-matcher.json")))))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	var all []mark
	for line := range strings.Lines(log) {
		for _, m := range file.ProblemMatcher {
			p := m.Pattern[0]
			g := regexp.MustCompile(p.Regexp).FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if g == nil {
				continue
			}
			g[0] = m.Severity // where the pattern has no group for it
			number := func(i int) int {
				n, err := strconv.Atoi(g[i])
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			one := mark{g[p.File], number(p.Line), number(p.Column), g[p.Severity], g[p.Message], ""}
			if p.Code > 0 {
				one.code = g[p.Code]
			}
			all = append(all, one)
			break
		}
	}
	return all
}

// reportJSON is what these tests read of the report.
type reportJSON struct {
	Clusters []struct {
		Findings []struct {
			Rule, Severity, Message string
			Silenced                *struct{}
			Location                *struct {
				File         string
				Line, Column int
			}
		}
	}
}

// TestMatcher: the runner finds each finding in the text, short or long, and nothing else.
func TestMatcher(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join(root, "testdata", "cases", "*"))
	if err != nil || len(cases) < 40 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	seen := map[string]int{}
	for _, name := range cases {
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "odd: 1:2: name", filepath.Base(name)), string(readFile(t, name)))
			file := filepath.Join("odd: 1:2: name", filepath.Base(name))
			long := execute(t, dir, nil, "mvpcheck", "check", "-o", "text", "-o", "json=report.json", file)
			short := execute(t, dir, nil, "mvpcheck", "check", "-q", file)
			var want []mark
			if data, err := os.ReadFile(filepath.Join(dir, "report.json")); err == nil {
				var r reportJSON
				if err := json.Unmarshal(data, &r); err != nil {
					t.Fatal(err)
				}
				for _, c := range r.Clusters {
					for _, f := range c.Findings {
						if f.Location == nil {
							t.Fatalf("%s without a place", f.Rule)
						}
						severity := strings.Replace(f.Severity, "info", "notice", 1)
						want = append(want, mark{f.Location.File, f.Location.Line, f.Location.Column, severity, f.Message, f.Rule})
						seen[severity]++
					}
				}
			}
			for what, r := range map[string]result{"long": long, "short": short} {
				if d := cmp.Diff(want, marks(t, r.out), cmp.AllowUnexported(mark{})); d != "" {
					t.Errorf("%s, -findings +matched:\n%s\n%s", what, d, r.out)
				}
				// What cannot be read is told of in standard error.
				for line := range strings.Lines(r.errs) {
					text := strings.TrimPrefix(line, "mvpcheck: "+file+":")
					at := regexp.MustCompile(`^(\d+):(\d+): `).FindString(text)
					if at == "" {
						continue
					}
					seen["input"]++
					got := marks(t, line)
					if len(got) != 1 || got[0].file != file || fmt.Sprintf("%d:%d: ", got[0].line, got[0].column) != at || got[0].severity != "error" {
						t.Errorf("%q matched as %+v", line, got)
					}
				}
			}
		})
	}
	for _, kind := range []string{"error", "warning", "notice", "input"} {
		if seen[kind] == 0 {
			t.Errorf("no case with a mark of the kind %s: %v", kind, maps.Collect(maps.All(seen)))
		}
	}
}
