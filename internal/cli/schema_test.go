package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// repo is the root of the repository.
const repo = "../../"

func compileSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(repo + "docs/schema/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(s *jsonschema.Schema, jsonText []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(jsonText))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// Flags, keys, messages, help and schema name the same settings.
func TestSettingsAreFlags(t *testing.T) {
	a := &app{program: "mvpcheck"}
	check := a.checkCommand()
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	data, err := os.ReadFile(repo + "docs/schema/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	keys := 0
	(&choices{}).settings().VisitAll(func(f *pflag.Flag) {
		keys++
		switch {
		case check.Flags().Lookup(f.Name) == nil:
			t.Errorf("no flag --%s", f.Name)
		case schema.Properties[f.Name] == nil:
			t.Errorf("the schema lacks %s", f.Name)
		case !strings.Contains(checkLong, f.Name):
			t.Errorf("the help lacks %s", f.Name)
		}
	})
	if keys != len(schema.Properties) {
		t.Errorf("%d keys, %d in the schema", keys, len(schema.Properties))
	}
}

// What check writes for every input that we have is what the published schema says.
func TestReportsMatchSchema(t *testing.T) {
	schema := compileSchema(t, "check-report.schema.json")
	var files []string
	for _, dir := range []string{"testdata/cases", "testdata/scripts/files"} {
		names, err := filepath.Glob(repo + dir + "/*")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", dir, names, err)
		}
		files = append(files, names...)
	}
	for _, args := range [][]string{nil, {"--to", "1.36"}, {"--nodes", "1", "--to", "1.37"}} {
		for _, file := range append(files, repo+"testdata/cases") {
			r := runMain(t, append(append([]string{"check", "-o", "json"}, args...), file)...)
			if r.code == exitUsage {
				t.Errorf("%s: %s", file, r.err)
				continue
			}
			if err := validate(schema, []byte(r.out)); err != nil {
				t.Errorf("%s %v: %v", file, args, err)
			}
			if strings.Contains(r.err, "internal error") {
				t.Errorf("%s: %s", file, r.err)
			}
		}
	}
}

// YAML is the same document.
func TestYAMLIsTheSame(t *testing.T) {
	file := repo + "testdata/scripts/files/off.yaml"
	j, y := runMain(t, "check", "-o", "json", file), runMain(t, "check", "-o", "yaml", file)
	var a, b any
	if err := yaml.Unmarshal([]byte(j.out), &a); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(y.out), &b); err != nil {
		t.Fatal(err)
	}
	left, _ := json.Marshal(a)
	right, _ := json.Marshal(b)
	if !bytes.Equal(left, right) || len(left) < 100 {
		t.Errorf("json: %s\nyaml: %s", left, right)
	}
}
