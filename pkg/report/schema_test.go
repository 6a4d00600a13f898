package report

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

const schemaFile = "../../docs/schema/check-report.schema.json"

func readSchema(t *testing.T) any {
	t.Helper()
	b, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("check-report.json", readSchema(t)); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("check-report.json")
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
	schema := compileSchema(t)
	for name, r := range map[string]Report{
		"complete": complete(),
		"empty":    finish(Report{}),
		"ready":    finish(Report{Clusters: []Cluster{ready(), warnings()}}),
		"bare":     finish(Report{Clusters: []Cluster{{Source: "a.yaml"}}}),
		"error":    finish(Report{Errors: []InputError{{File: "a.yaml", Message: "is a directory"}}}),
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
	schema := compileSchema(t)
	valid := write(t, "json", complete())
	for _, change := range [][2]string{
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
	} {
		if !bytes.Contains(valid, []byte(change[0])) {
			t.Errorf("the report holds no %s", change[0])
		}
		if schema.Validate(parse(t, bytes.Replace(valid, []byte(change[0]), []byte(change[1]), 1))) == nil {
			t.Errorf("valid with %s instead of %s", change[1], change[0])
		}
	}
	// Neither an input error nor an error may pass for success.
	failed := finish(Report{Errors: []InputError{{File: "a.yaml", Message: "is a directory"}}})
	failed.Summary.Verdict = VerdictReady
	if schema.Validate(parse(t, write(t, "json", failed))) == nil {
		t.Error("ready in spite of an input error")
	}
	bad := finish(Report{Clusters: []Cluster{notReady()}})
	bad.Summary.Verdict = VerdictReady
	if schema.Validate(parse(t, write(t, "json", bad))) == nil {
		t.Error("ready in spite of errors")
	}
}

// Every object of the schema is closed, and the complete report of the tests
// has all the properties that the schema knows and no other.
func TestSchemaIsClosedAndUsed(t *testing.T) {
	written := string(write(t, "json", complete()))
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["type"] == "object" && v["additionalProperties"] != false && path != "/$defs/findingFields" {
				t.Errorf("%s takes any property", path)
			}
			if properties, ok := v["properties"].(map[string]any); ok {
				for name := range properties {
					if !strings.Contains(written, `"`+name+`": `) {
						t.Errorf("no report of the tests has the property %s of %s", name, path)
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
	b, err := json.Marshal(readSchema(t))
	if err != nil {
		t.Fatal(err)
	}
	walk("", parse(t, b))
}
