package report

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var colours = regexp.MustCompile("\x1b\\[[0-9;]+m")

// No content of a report reaches the terminal as anything but printable text,
// no source line is too wide for it, and JSON and YAML stay what they are.
func FuzzWriters(f *testing.F) {
	f.Add("cluster.yaml", "message", "  extraArgs:", 21, 3, 21, 12, uint8(0))
	f.Add("\x1b[2J.yaml", "\u202e\r\n", "\tvalue:\t世\u0301\xff", 1, 2, 3, 1, uint8(1))
	f.Add("a\nb", "\x9b\u0085\u2028", string(bytes.Repeat([]byte("x\u0301"), 200)), 1<<40, 150, 1<<40, 160, uint8(2))
	f.Add("-", "\U000e0041\ufffe😀", "\U0010ffff", -1, -2, -3, -4, uint8(7))
	f.Fuzz(func(t *testing.T, n, v, source string, line, column, endLine, endColumn int, options uint8) {
		name, value := Text(n), Text(v)
		loc := Location{File: name, Document: 1, Line: line, Column: column, EndLine: endLine, EndColumn: endColumn, Path: value}
		finding := Finding{
			Rule: v, Name: n, Severity: SeverityError, Message: value, Why: name, Fix: value, Fixable: new(options&8 != 0), Help: n,
			Consequence: v, At: []string{n}, Pairs: []string{v}, Location: &loc, SourceLine: Text(source),
			Related: []Related{{loc, value}},
		}
		c := Cluster{
			Source: name, Argument: name, Documents: value, From: value, To: name, Why: value,
			Notes: []Note{{value, &loc}}, Findings: []Finding{finding, {Severity: Severity(v)}},
			Silenced: []Silenced{{finding, value, line}}, Passed: []string{v, n}, Skipped: []Skipped{{n, value}}, CannotTell: value,
		}
		several := c
		several.From, several.To, several.Pairs = "", "", []Upgrade{{value, name}, {name, value}}
		quietly := c
		quietly.Findings = nil
		r := finish(CheckReport{
			Clusters:   []Cluster{c, several, quietly},
			Errors:     []InputError{{name, line, column, value}},
			PassedOver: []PassedOver{{name, value}},
		})

		opts := called{Program: "mvpcheck", Flags: []string{v}, Color: options&1 != 0, Verbose: options&2 != 0, Quiet: options&4 != 0}
		text := writeCalled(t, "text", r, opts)
		if opts.Color {
			text = colours.ReplaceAll(text, nil)
		}
		checkPrintable(t, text)
		checkColumns(t, appendSource(nil, &finding, paint{}))

		sameInYAML(t, write(t, "json", r), write(t, "yaml", r))
	})
}

// sameInYAML checks that a report is the same in both formats, and printable.
func sameInYAML(t *testing.T, asJSON, asYAML []byte) {
	t.Helper()
	checkPrintable(t, asJSON)
	checkPrintable(t, asYAML)
	var fromJSON, fromYAML any
	if err := json.Unmarshal(asJSON, &fromJSON); err != nil {
		t.Fatalf("%v in\n%s", err, asJSON)
	}
	if err := yaml.Unmarshal(asYAML, &fromYAML); err != nil {
		t.Fatalf("%v in\n%s", err, asYAML)
	}
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
		t.Errorf("JSON and YAML differ (-json +yaml):\n%s", diff)
	}
}

func checkPrintable(t *testing.T, text []byte) {
	t.Helper()
	if !utf8.Valid(text) {
		t.Errorf("not UTF-8: %q", text)
	}
	for _, r := range string(text) {
		if r != '\n' && !strconv.IsPrint(r) {
			t.Errorf("%U in %q", r, text)
			return
		}
	}
}
