package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestSource(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	tests := []struct {
		name string
		line string
		loc  Location // File is added, EndLine too unless it is given
	}{
		{"the start only", "  name: a", Location{Line: 7, Column: 3}},
		{"one rune", "  name: a", Location{Line: 7, Column: 9, EndColumn: 10}},
		{"behind the end", "  name:", Location{Line: 7, Column: 8, EndColumn: 9}},
		{"far behind the end", "  name:", Location{Line: 7, Column: 80, EndColumn: 90}},
		{"end before start", "  name: a", Location{Line: 7, Column: 5, EndColumn: 2}},
		{"several lines", "  name: |-  \t", Location{Line: 7, Column: 3, EndLine: 9, EndColumn: 2}},
		{"several lines from a blank", "name:   ", Location{Line: 7, Column: 7, EndLine: 9, EndColumn: 2}},
		{"carriage return", "  name: a\r\n", Location{Line: 7, Column: 9, EndLine: 8, EndColumn: 1}},
		{"large number", "a: b", Location{Line: 1234567, Column: 4, EndColumn: 5}},
		{"tabs", "\tname:\ta\tb", Location{Line: 7, Column: 8, EndColumn: 11}},
		{"tab as region", "\t\tname: a", Location{Line: 7, Column: 1, EndColumn: 3}},
		{"wide before", "  名前: bad", Location{Line: 7, Column: 7, EndColumn: 10}},
		{"wide region", "  名前: 値", Location{Line: 7, Column: 3, EndColumn: 5}},
		{"combining", "  e\u0301te\u0301: bad", Location{Line: 7, Column: 9, EndColumn: 12}},
		{"combining alone", "a: \u0301", Location{Line: 7, Column: 4, EndColumn: 5}},
		{"emoji", "  🚀: 🚀🚀", Location{Line: 7, Column: 6, EndColumn: 8}},
		{"escape sequence", "  \x1b[31mname: bad", Location{Line: 7, Column: 14, EndColumn: 17}},
		{"bidi and no-break", "a:\u00a0\u202eb", Location{Line: 7, Column: 3, EndColumn: 4}},
		{"not UTF-8", "a: \xff\xfe bad", Location{Line: 7, Column: 7, EndColumn: 10}},
		{"just fits", long[:72], Location{Line: 7, Column: 72, EndColumn: 73}},
		{"just too long", long[:73], Location{Line: 7, Column: 1, EndColumn: 3}},
		{"long, at the start", long, Location{Line: 7, Column: 3, EndColumn: 6}},
		{"long, early", long, Location{Line: 7, Column: 25, EndColumn: 26}},
		{"long, early but cut", long, Location{Line: 7, Column: 26, EndColumn: 27}},
		{"long, in the middle", long, Location{Line: 7, Column: 101, EndColumn: 111}},
		{"long, at the end", long, Location{Line: 7, Column: 191, EndColumn: 201}},
		{"long, behind the end", long, Location{Line: 7, Column: 201, EndColumn: 202}},
		{"long region", long, Location{Line: 7, Column: 51, EndColumn: 190}},
		{"long, wide", strings.Repeat("世", 100), Location{Line: 7, Column: 51, EndColumn: 53}},
		{"long, tabs", strings.Repeat("\t", 100) + "bad" + strings.Repeat("\t", 100), Location{Line: 7, Column: 101, EndColumn: 104}},
		{"long, hostile", strings.Repeat("\x1b", 100), Location{Line: 7, Column: 51, EndColumn: 52}},
		{"long, combining", "a" + strings.Repeat("\u0301", 1000) + "b", Location{Line: 7, Column: 502, EndColumn: 503}},
		{"long, combining near the end", strings.Repeat("x\u0301", 200), Location{Line: 1 << 40, Column: 397, EndColumn: 398}},
		{"long, many marks at the end", strings.Repeat("x", 200) + strings.Repeat("\u0301", 100), Location{Line: 7, Column: 199, EndColumn: 200}},
		{"empty", "", Location{Line: 7, Column: 1, EndColumn: 2}},
		{"no column", "a: b", Location{Line: 7}},
	}
	var all bytes.Buffer
	for _, test := range tests {
		if test.loc.EndLine == 0 {
			test.loc.EndLine = test.loc.Line
		}
		got := appendSource(nil, &Finding{Location: &test.loc, SourceLine: Text(test.line)}, paint{})
		all.WriteString(test.name + ":\n")
		all.Write(got)
		checkColumns(t, got)
	}
	golden(t, "source.txt", all.Bytes())
}

// checkColumns checks that a source line and its caret fit the terminal.
func checkColumns(t *testing.T, source []byte) {
	t.Helper()
	for line := range strings.Lines(string(source)) {
		if n := textColumns(strings.TrimSuffix(line, "\n")); n > lineColumns {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// However long the line, little of it is shown and little memory is used.
func TestSourceOfHugeLine(t *testing.T) {
	const size = 4 << 20
	for _, fill := range []string{"a", "世", "\u0301", "\t", "\x1b", "\xff"} {
		line := strings.Repeat(fill, size/len(fill))
		for _, column := range []int{1, size / len(fill) / 2, size} {
			f := &Finding{Location: &Location{Line: 1, Column: column, EndLine: 2}, SourceLine: Text(line)}
			var got []byte
			allocated := testing.AllocsPerRun(1, func() { got = appendSource(nil, f, paint{}) })
			if len(got) > 2000 || allocated > 20 {
				t.Errorf("%q at %d: %d bytes in %.0f allocations", fill, column, len(got), allocated)
			}
		}
	}
}

func TestReleases(t *testing.T) {
	for release, want := range map[Text][2]Text{
		"v1.35.4":        {"1.35.4", "1.35"},
		"v1.36.0":        {"1.36", "1.36"},
		"1.36":           {"1.36", "1.36"},
		"v1.40.10":       {"1.40.10", "1.40"},
		"v1.38.0-beta.0": {"1.38.0-beta.0", "1.38"},
		"":               {"", ""},
		"stable":         {"stable", "stable"},
	} {
		if got := [2]Text{shortRelease(release), minorRelease(release)}; got != want {
			t.Errorf("%q: got %q, want %q", release, got, want)
		}
	}
	for _, test := range []struct {
		cluster Cluster
		want    Text
	}{
		{Cluster{From: "v1.35.4", To: "v1.36.0"}, "READY for 1.35 -> 1.36"},
		{Cluster{From: "v1.36.0", To: "v1.36.3"}, "READY for 1.36 -> 1.36.3"},
		{Cluster{To: "v1.36.3"}, "READY for unknown -> 1.36.3"},
		{Cluster{Pairs: []Upgrade{{"v1.35.0", "v1.36.0"}}}, "READY for 1.35 -> 1.36"},
		{Cluster{Pairs: []Upgrade{{"v1.33.0", "v1.34.0"}, {"v1.34.0", "v1.35.0"}, {"v1.35.0", "v1.36.0"}, {"v1.38.0", "v1.39.0"}}},
			"READY for 1.33 -> 1.34, 1.34 -> 1.35, 1.35 -> 1.36, 1.38 -> 1.39 (all 4 pairs)"},
		{Cluster{}, "READY"},
	} {
		if got := test.cluster.says(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	odd := Cluster{Pairs: []Upgrade{{"v1.35.0", "v1.36.0"}, {"v1.36.0", "v1.37.0"}}, Findings: []Finding{{Pairs: []string{"1.20 -> 1.21"}}}}
	if got, want := odd.says(), Text("NOT READY for 1.35 -> 1.36, 1.36 -> 1.37 (all 2 pairs)"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
