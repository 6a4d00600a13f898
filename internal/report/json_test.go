package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"
)

func TestJSONAndYAML(t *testing.T) {
	golden(t, "complete.json", write(t, "json", complete()))
	golden(t, "complete.yaml", write(t, "yaml", complete()))
	golden(t, "empty.json", write(t, "json", finish(CheckReport{})))
	golden(t, "empty.yaml", write(t, "yaml", finish(CheckReport{})))
}

// What is written can be read again, apart from what is for the text only.
func TestRoundTrip(t *testing.T) {
	want := complete()
	for i := range want.Clusters {
		c := &want.Clusters[i]
		c.Argument = ""
		for k := range c.Findings {
			c.Findings[k].SourceLine = ""
		}
		for k := range c.Silenced {
			c.Silenced[k].Fixable = new(false)
		}
	}
	for _, format := range []string{"json", "yaml"} {
		var got CheckReport
		if err := yaml.UnmarshalStrict(dropVerdicts(t, write(t, format, want)), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, &got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(CheckReport{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// dropVerdicts takes the verdicts on the clusters out, the one field that is
// written but not held.
func dropVerdicts(t *testing.T, b []byte) []byte {
	var doc map[string]any
	if err := yaml.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	for _, c := range doc["clusters"].([]any) {
		verdicts = append(verdicts, c.(map[string]any)["verdict"].(string))
		delete(c.(map[string]any), "verdict")
	}
	if diff := cmp.Diff("not-ready not-ready ready cannot-tell", strings.Join(verdicts, " ")); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestJSONEscapes(t *testing.T) {
	r := finish(CheckReport{Errors: []InputError{{File: "a <b>.yaml", Message: "\x1b\x7f\u009b\u202e\u2028\u00a0\ufeff é 世 😀\xff\U000e0041"}}})
	const want = `"message": "\u001b\u007f\u009b\u202e\u2028\u00a0\ufeff é 世 😀\ufffd\udb40\udc41"`
	got := write(t, "json", r)
	if !bytes.Contains(got, []byte(want)) || !bytes.Contains(got, []byte(`"a <b>.yaml"`)) {
		t.Errorf("no %s in\n%s", want, got)
	}
	var back CheckReport
	asYAML := write(t, "yaml", r)
	checkPrintable(t, asYAML)
	if err := yaml.Unmarshal(asYAML, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("\x1b\x7f\u009b\u202e\u2028\u00a0\ufeff é 世 😀\ufffd\U000e0041", string(back.Errors[0].Message)); diff != "" {
		t.Errorf("through YAML (-want +got):\n%s", diff)
	}
}

// Whatever a string holds, it comes back from YAML, and none is taken for the mark of another.
func TestYAMLStrings(t *testing.T) {
	for _, s := range []string{
		"", "plain", "a\nb", "a\u202eb", "\u202e", "\u0085", "\u2028\n\u2029", `\u202e`, `\\u202e"`, "\\\u202e\"\\", "\U000e0041", "😀\u202e", `\udb40\udc41` + "\u202e",
		"\\\U000e0041", `\udb40` + "\U000e0041", "quoted\u202e", "quoted0", "quotedquoted0 quoted1\u202e", "\U0010ffff\ufffe\ue000", ": #\u200b", "- \ufeff", "12\u202e", "null",
	} {
		want := []string{s, "\u202e", s + "\u202e" + s, "quoted1"}
		var out bytes.Buffer
		if err := appendYAML(&out, want); err != nil {
			t.Fatal(err)
		}
		checkPrintable(t, out.Bytes())
		var got []string
		if err := yaml.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v in\n%s", err, out.Bytes())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
