package main

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// settingsSchemaName is where the JSON Schema of .mvpcheck.yaml is; editors read it.
const settingsSchemaName = "docs/schema/config.schema.json"

//go:embed config.schema.json
var settingsSchemaText string

// settingsSchema returns the JSON Schema of .mvpcheck.yaml. It takes what the program takes, as far as a schema can
// tell; IDs and names of rules stand in it, so that editors complete them.
func settingsSchema() []byte {
	var ids, names, patterns []string
	for _, r := range checks.All() {
		ids = append(ids, quoteJSON(r.ID))
		names = append(names, quoteJSON(r.Name))
		patterns = append(patterns, regexp.QuoteMeta(r.ID), regexp.QuoteMeta(r.Name))
	}
	one := "(?:" + strings.Join(patterns, "|") + ")"
	// What stands between commas may be nothing.
	list := `^[\s,]*` + one + `(?:\s*,[\s,]*` + one + `)*[\s,]*$`
	words := strings.Join(append(ids, names...), ",\n        ")
	return []byte(strings.NewReplacer("RULES", words, `"LIST"`, quoteJSON(list)).Replace(settingsSchemaText))
}

func quoteJSON(s string) string {
	out, _ := json.Marshal(s) // a string can always be written
	return string(out)
}
