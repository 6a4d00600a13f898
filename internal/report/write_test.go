package report

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// called is how a report is asked for.
type called struct {
	Program                                string
	Flags                                  []string
	Color, Verbose, Quiet, ErrorsElsewhere bool
}

// documented is what reports are made of.
type documented interface{ Report(Invocation) *Report }

// writeAs writes a document in a format.
func writeAs(format string, out io.Writer, d documented, c called) error {
	c.Program = cmp.Or(c.Program, "mvpcheck")
	f := Formats[slices.IndexFunc(Formats, func(f Format) bool { return f.Name == format })]
	return f.Write(out, d.Report(Invocation{c.Program, c.Flags}), Options{
		Program: c.Program, Color: c.Color, Verbose: c.Verbose, Quiet: c.Quiet, ErrorsElsewhere: c.ErrorsElsewhere, Token: githubToken,
		Rule: func(id string) RuleDoc {
			doc := RuleDoc{
				Name: "gate-off", Severity: SeverityError, Short: "The gate is off.", Full: "The gate is off. Clients get false 404s.",
				Text: "What " + id + " finds.", Markdown: "**What " + id + " finds.**", Tags: []string{"kubernetes"},
			}
			if format == "junit" {
				doc.Name = "name-of-" + strings.ToLower(id)
			}
			return doc
		},
	})
}

// write is a document in a format.
func write(t testing.TB, format string, d documented) []byte {
	return writeCalled(t, format, d, called{})
}

func writeCalled(t testing.TB, format string, d documented, c called) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := writeAs(format, &out, d, c); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Whatever the output takes before it fails, the error comes back.
func TestWriteErrors(t *testing.T) {
	many := fifty()
	for range 6 {
		many.Findings = append(many.Findings, many.Findings...)
	}
	for _, f := range Formats {
		for name, d := range map[string]documented{
			"check": withEdits(), "probe": completeProbe(), "plan": completePlan(), "much": many, "nothing": &CheckReport{},
		} {
			size := len(write(t, f.Name, d))
			for room := 0; room < size; room += 97 + size/50 {
				if err := writeAs(f.Name, &failing{room}, d, called{}); !errors.Is(err, errFull) {
					t.Fatalf("%s as %s with room for %d of %d bytes: error %v", name, f.Name, room, size, err)
				}
			}
		}
	}
}

// A report may know next to nothing: each format says that much.
func TestLittleIsKnown(t *testing.T) {
	for name, d := range map[string]documented{
		"check": &CheckReport{}, "probe": &ProbeReport{}, "plan": &PlanReport{}, "refused": &PlanReport{Patched: &PlanPatched{Refused: "x"}},
		"cluster": finish(CheckReport{Clusters: []Cluster{{}}}), "nodes": &PlanReport{Order: []string{"cp-1"}, Patched: &PlanPatched{}},
	} {
		for _, f := range Formats {
			for _, c := range []called{{}, {Verbose: true}, {Quiet: true}} {
				if len(writeCalled(t, f.Name, d, c)) == 0 {
					t.Errorf("%s as %s is empty", name, f.Name)
				}
			}
		}
	}
}
