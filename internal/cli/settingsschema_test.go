package cli

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// The schema of .mvpcheck.yaml takes what the program takes, and nothing else. Where it cannot, that is said.
func TestSettingsSchema(t *testing.T) {
	schema := compileSchema(t, "config.schema.json")
	const (
		both    = iota // both take it
		neither        // neither does
		lenient        // the schema takes what the program refuses: JSON has lost the difference, or no schema could tell
		strict         // the schema refuses what the program takes: an editor shows another spelling than that of the documentation
	)
	tests := []struct {
		text string
		want int
	}{
		{"from: 1.35\nto: v1.36.0-rc.1\nnodes: 3\nfail-on: never\nonly: [MVP101]\nskip: MVP302,MVP303\ncert-days: 0\n", both},
		{"# yaml-language-server: $schema=x\nto: 1.36\n", both},
		{"{}\n", both},
		{"# nothing\n", both},
		{"null\n", both},
		{"output: json\n", neither},
		{"To: 1.36\n", neither},
		{"fail_on: error\n", neither},
		{"- to: 1.36\n", neither},
		{"to\n", neither},

		{"to: \"1.36\"\n", both},
		{"to: \" v1.36.3 \"\n", both},
		{"to: 1.36.3+build.5\n", both},
		{"to: 1.36.3_build\n", both},
		{"from: v1.9\n", both},
		{"to: 1.0\n", neither},
		{"to: 1\n", neither},
		{"to: 2.1\n", neither},
		{"to: latest\n", neither},
		{"to: stable-1.36\n", neither},
		{"to: 1.36.x\n", neither},
		{"to: v1.36.\n", neither},
		{"to: 1.036\n", lenient}, // the number 1.036
		{"to: \"1.036\"\n", neither},
		{"to: [1.36]\n", neither},
		{"to: true\n", neither},
		{"to:\n", neither},
		{"to: {}\n", neither},

		{"nodes: 1\n", both},
		{"nodes: 99\n", both},
		{"nodes: \"3\"\n", both},
		{"nodes: cp-1=192.0.2.1\n", both},
		{"nodes: a=192.0.2.1,b=192.0.2.2:6443, c=[2001:db8::1]:6443\n", both},
		{"nodes: 0\n", neither},
		{"nodes: 100\n", neither},
		{"nodes: \"100\"\n", neither},
		{"nodes: -1\n", neither},
		{"nodes: 1.5\n", neither},
		{"nodes: 3.0\n", lenient}, // JSON has one kind of number
		{"nodes: [a]\n", neither},
		{"nodes: cp-1\n", neither},
		{"nodes: cp-1=\n", neither},
		{"nodes: =192.0.2.1\n", neither},
		{"nodes: a=192.0.2.1,\n", neither},
		{"nodes: a=192.0.2.1,b\n", neither},
		{"nodes: \"\"\n", neither},
		{"nodes: true\n", neither},

		{"fail-on: error\n", both},
		{"fail-on: warning\n", both},
		{"fail-on: info\n", both},
		{"fail-on: fatal\n", neither},
		{"fail-on: Error\n", neither},
		{"fail-on: [error]\n", neither},

		{"only: MVP101\n", both},
		{"only: gate-off-on-running, MVP201\n", both},
		{"only: \",MVP101,,MVP102,\"\n", both},
		{"skip: [gate-off-on-running]\n", both},
		{"skip: [\"MVP101,MVP102\", MVP103]\n", both},
		{"skip: [MVP501]\n", both},
		{"only: [mvp101]\n", strict},
		{"only: Gate-Off-On-Running\n", strict},
		{"only: []\n", neither},
		{"only: \"\"\n", neither},
		{"only: \",\"\n", neither},
		{"only: MVP101 MVP102\n", neither},
		{"only: [MVP999]\n", neither},
		{"only: [gate-of-on-running]\n", neither},
		{"skip: [[MVP101]]\n", neither},
		{"skip: [101]\n", neither},
		{"skip: [null]\n", neither},
		{"skip: {MVP101: x}\n", neither},

		{"cert-days: 36500\n", both},
		{"cert-days: \"30\"\n", both},
		{"cert-days: \"036500\"\n", both},
		{"cert-days: 36501\n", neither},
		{"cert-days: \"36501\"\n", neither},
		{"cert-days: -1\n", neither},
		{"cert-days: \"-1\"\n", neither},
		{"cert-days: soon\n", neither},
		{"cert-days: 30d\n", neither},
		{"cert-days: 1.5\n", neither},
	}
	for _, tt := range tests {
		_, err := parseSettings(yamldoc.NewFile("f", []byte(tt.text)))
		if want := tt.want == both || tt.want == strict; (err == nil) != want {
			t.Errorf("%q: the program says %v", tt.text, err)
		}
		jsonText, err := yaml.YAMLToJSON([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		err = validate(schema, jsonText)
		if want := tt.want == both || tt.want == lenient; (err == nil) != want {
			t.Errorf("%q: the schema says %v", tt.text, err)
		}
	}
}

// The schema knows each rule by its ID and its name, alone and in a list.
func TestSettingsSchemaRules(t *testing.T) {
	schema := compileSchema(t, "config.schema.json")
	var all []string
	for _, r := range checks.All() {
		all = append(all, r.ID, r.Name)
		for _, word := range []string{r.ID, r.Name} {
			if err := validate(schema, []byte(`{"only": "`+word+`", "skip": ["`+word+`"]}`)); err != nil {
				t.Errorf("%s: %v", word, err)
			}
		}
	}
	if err := validate(schema, []byte(`{"only": "`+strings.Join(all, ", ")+`"}`)); err != nil {
		t.Error(err)
	}
}
