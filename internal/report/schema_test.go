package report

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

func readSchema(t *testing.T, name string) map[string]any {
	t.Helper()
	b, err := os.ReadFile("../../docs/schema/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, b).(map[string]any)
}

func compileSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", readSchema(t, name)); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func parse(t *testing.T, b []byte) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestReportsAreValid(t *testing.T) {
	schema := compileSchema(t, "check-report")
	for name, r := range map[string]*CheckReport{
		"complete": complete(),
		"empty":    finish(CheckReport{}),
		"ready":    finish(CheckReport{Clusters: []Cluster{ready(), warnings()}}),
		"bare":     finish(CheckReport{Clusters: []Cluster{{Source: "a.yaml"}}}),
		"error":    finish(CheckReport{Errors: []InputError{{File: "a.yaml", Message: "is a directory"}}}),
	} {
		asJSON := write(t, "json", r)
		fromYAML, err := yaml.YAMLToJSONStrict(write(t, "yaml", r))
		if err != nil {
			t.Fatal(err)
		}
		for format, b := range map[string][]byte{"json": asJSON, "yaml": fromYAML} {
			if err := schema.Validate(parse(t, b)); err != nil {
				t.Errorf("%s as %s: %v", name, format, err)
			}
		}
	}
}

// The schema refuses what no report may hold, each time one change to a
// report that is valid.
func TestSchemaIsStrict(t *testing.T) {
	schema := compileSchema(t, "check-report")
	checkRefused(t, schema, write(t, "json", complete()), [][2]string{
		{`"kind": "CheckReport"`, `"kind": "ProbeReport"`},
		{`"kind": "CheckReport"`, `"kind": "CheckReport", "extra": 1`},
		{`"source": "cluster.yaml"`, `"source": "cluster.yaml", "extra": 1`},
		{`"rule": "MVP101"`, `"rule": "MVP101", "extra": 1`},
		{`"reason": "kept for 1.39"`, `"reason": "kept for 1.39", "extra": 1`},
		{`"reason": "kept for 1.39",`, ``},
		{`"document": 2`, `"document": 2, "extra": 1`},
		{`"fixable": 5`, `"fixable": 5, "extra": 1`},
		{`"rule": "MVP101"`, `"rule": "MVP1"`},
		{`"severity": "error"`, `"severity": "fatal"`},
		{`"consequence": "false-404"`, `"consequence": ""`},
		{`"running"`, `"now"`},
		{`"from": "v1.35.4"`, `"from": "1.35"`},
		{`"from": ""`, `"from": "v1.35.4"`},
		{`"1.34 -> 1.35"`, `"1.34"`},
		{`"line": 21`, `"line": 0`},
		{`"commentLine": 33`, `"commentLine": 0`},
		{`"verdict": "cannot-tell"`, `"verdict": "unknown"`},
	})
	// Neither an input error nor an error may pass for success.
	failed := finish(CheckReport{Errors: []InputError{{File: "a.yaml", Message: "is a directory"}}})
	if schema.Validate(parse(t, passedOff(t, failed))) == nil {
		t.Error("ready in spite of an input error")
	}
	bad := finish(CheckReport{Clusters: []Cluster{notReady()}})
	if schema.Validate(parse(t, passedOff(t, bad))) == nil {
		t.Error("ready in spite of errors")
	}
}

// passedOff is a report that says at its end that all is ready.
func passedOff(t *testing.T, r *CheckReport) []byte {
	t.Helper()
	before, after, ok := bytes.Cut(write(t, "json", r), []byte(`"summary": `))
	if !ok {
		t.Fatal("no summary")
	}
	for _, verdict := range []string{"not-ready", "cannot-tell"} {
		after = bytes.ReplaceAll(after, []byte(verdict), []byte("ready"))
	}
	return slices.Concat(before, []byte(`"summary": `), after)
}

// checkRefused makes one change after the other to a document that is valid.
func checkRefused(t *testing.T, schema *jsonschema.Schema, valid []byte, changes [][2]string) {
	t.Helper()
	for _, change := range changes {
		if !bytes.Contains(valid, []byte(change[0])) {
			t.Errorf("the document holds no %s", change[0])
		}
		if schema.Validate(parse(t, bytes.Replace(valid, []byte(change[0]), []byte(change[1]), 1))) == nil {
			t.Errorf("valid with %s instead of %s", change[1], change[0])
		}
	}
}

// Every object of the schema is closed, and the complete report of the tests
// has all the properties that the schema knows and no other.
func TestSchemaIsClosedAndUsed(t *testing.T) {
	checkClosedAndUsed(t, readSchema(t, "check-report"), write(t, "json", complete()))
}

func checkClosedAndUsed(t *testing.T, schema map[string]any, written []byte) {
	t.Helper()
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if others, ok := v["additionalProperties"]; v["type"] == "object" && (!ok || others == true) && path != "/$defs/findingFields" {
				t.Errorf("%s takes any property", path)
			}
			if properties, ok := v["properties"].(map[string]any); ok {
				for name := range properties {
					if !bytes.Contains(written, []byte(`"`+name+`": `)) {
						t.Errorf("no document of the tests has the property %s of %s", name, path)
					}
				}
			}
			for key, value := range v {
				walk(path+"/"+key, value)
			}
		case []any:
			for _, value := range v {
				walk(path, value)
			}
		}
	}
	walk("", schema)
}
