package report

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

func TestProbeJSONAndYAML(t *testing.T) {
	for name, r := range map[string]*ProbeReport{"complete": completeProbe(), "nil": {}, "hostile": spoilt("\x1b[2J\u202e\n世\xff", false)} {
		golden(t, "probe-"+name+".json", write(t, "json", r))
		golden(t, "probe-"+name+".yaml", write(t, "yaml", r))
	}
}

// What is written can be read again.
func TestProbeRoundTrip(t *testing.T) {
	for _, want := range []*ProbeReport{handedOff(), completeProbe(), unreachable(), oneRelease(), fifty(), spoilt("\x1b\u202e\n世\u2028: #", true)} {
		want.APIVersion, want.Kind = APIVersion, KindProbe
		want.CannotTell = "" // it is not written
		for _, format := range []string{"json", "yaml"} {
			var got ProbeReport
			if err := yaml.UnmarshalStrict(write(t, format, want), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, &got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", format, diff)
			}
		}
	}
}

// A list is never null, in whatever depth and however the document is encoded.
func TestProbeNilLists(t *testing.T) {
	r := &ProbeReport{
		Servers: make([]Server, 1), Pairs: make([]Pair, 1), FalseNotFound: make([]Route, 1), HandedOff: make([]Route, 1),
		Findings: []Finding{{}, {Effects: make([]Effect, 1)}}, Evidence: make([]evidence.Request, 1),
	}
	plain, err := json.Marshal(r.document())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{plain, write(t, "json", r), write(t, "yaml", r), write(t, "json", &ProbeReport{})} {
		if bytes.Contains(b, []byte("null")) {
			t.Errorf("null in\n%s", b)
		}
	}
	if r.Findings[0].Seen != nil || r.Pairs[0].Reasons != nil || r.Kind != "" {
		t.Error("writing changed the report")
	}
}

func TestProbeJSONIsSafe(t *testing.T) {
	r := spoilt("\x1b\x7f\u009b\u202e\u2028\u00a0\ufeff é 世 😀\xff<>", true)
	for _, format := range []string{"json", "yaml"} {
		checkPrintable(t, write(t, format, r))
	}
	if got := write(t, "json", r); !bytes.Contains(got, []byte(`"admin@prod\u001b\u007f\u009b\u202e\u2028\u00a0\ufeff é 世 😀\ufffd<>"`)) {
		t.Errorf("not escaped as it should be:\n%s", got)
	}
}

// At the top, YAML has the fields in the order of the JSON.
func TestProbeYAMLOrder(t *testing.T) {
	var fields []string
	for line := range strings.Lines(string(write(t, "yaml", completeProbe()))) {
		if name, _, ok := strings.Cut(line, ":"); ok && line[0] != ' ' && line[0] != '-' {
			fields = append(fields, name)
		}
	}
	want := rules("apiVersion kind version context found time replayed servers pairs falseNotFound handedOff refused leftOut notes findings passed skipped evidence summary")
	if !slices.Equal(fields, want) {
		t.Errorf("got %q, want %q", fields, want)
	}
}

func TestProbeTimes(t *testing.T) {
	r := handedOff()
	r.Time = r.Time.In(time.FixedZone("", 5*60*60))
	if got := write(t, "json", r); !bytes.Contains(got, []byte(`"time": "2026-11-30T10:00:00Z"`)) {
		t.Errorf("the time is not in UTC:\n%s", got)
	}
	r.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, format := range []string{"json", "yaml"} {
		if err := writeAs(format, io.Discard, r, called{}); err == nil {
			t.Errorf("%s has a time that JSON does not know", format)
		}
	}
}

// FuzzProbeWriters is FuzzWriters for probe reports.
func FuzzProbeWriters(f *testing.F) {
	f.Add("", 0, uint8(0))
	f.Add("\x1b[2J\u202e\r\n\x9b\u0085\u2028世\u0301\xff", -1, uint8(3))
	f.Add("\U000e0041\ufffe😀, ; : -> \U0010ffff", 1<<40, uint8(7))
	f.Fuzz(func(t *testing.T, text string, number int, options uint8) {
		r := spoilt(text, options&8 != 0)
		r.Servers[0].Local, r.Evidence[0].Status, r.Evidence[0].Bytes, r.Summary.Servers = number, number, int64(number), number
		if options&16 != 0 {
			r.Servers = r.Servers[:1] // findings, pairs and routes now name servers that are not there
		}
		opts := called{Program: "mvpcheck", Color: options&1 != 0, Verbose: options&2 != 0, Quiet: options&4 != 0}
		written := writeCalled(t, "text", r, opts)
		if opts.Color {
			written = colours.ReplaceAll(written, nil)
		}
		checkPrintable(t, written)
		sameInYAML(t, write(t, "json", r), write(t, "yaml", r))
	})
}
