package cli

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// settingsSchemaName is where the JSON Schema of .mvpcheck.yaml is; editors read it.
const settingsSchemaName = "docs/schema/config.schema.json"

// settingsSchema returns the JSON Schema of .mvpcheck.yaml. It takes what parseSettings takes, as far as a schema can tell;
// IDs and names of rules stand in it, so that editors complete them.
func settingsSchema() []byte {
	var words, patterns []string
	rules := checks.All()
	for _, r := range rules {
		words = append(words, quoteJSON(r.ID))
	}
	for _, r := range rules {
		words = append(words, quoteJSON(r.Name))
	}
	for _, r := range rules {
		patterns = append(patterns, regexp.QuoteMeta(r.ID), regexp.QuoteMeta(r.Name))
	}
	one := "(?:" + strings.Join(patterns, "|") + ")"
	// What stands between commas may be nothing.
	list := `^[\s,]*` + one + `(?:\s*,[\s,]*` + one + `)*[\s,]*$`
	return []byte(strings.NewReplacer("RULES", strings.Join(words, ",\n        "), `"LIST"`, quoteJSON(list)).Replace(settingsSchemaText))
}

func quoteJSON(s string) string {
	out, _ := json.Marshal(s) // a string can always be written
	return string(out)
}

const settingsSchemaText = `{
  "$comment": "Written by hack/update-docs.sh. Do not edit.",
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:mvpcheck:schema:v1alpha1:config",
  "title": ".mvpcheck.yaml",
  "description": "What mvpcheck check, patch and plan are told about the configurations of a folder and those below it. Each key says what the flag of its name does; flags win. The nearest file up to the root of the repository holds alone.",
  "type": ["object", "null"],
  "additionalProperties": false,
  "properties": {
    "from": {"$ref": "#/$defs/release", "description": "The release that the servers run now."},
    "to": {"$ref": "#/$defs/release", "description": "The release to upgrade to."},
    "nodes": {
      "description": "The control-plane nodes: how many, or name=ADDRESS for each, separated by commas.",
      "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": 99},
        {"type": "string", "pattern": "^(?:\\+?0*[1-9][0-9]?|\\s*[^=,\\s][^=,]*=[^,]*[^,\\s][^,]*(?:,\\s*[^=,\\s][^=,]*=[^,]*[^,\\s][^,]*)*)$"}
      ]
    },
    "fail-on": {
      "description": "The least severity that ends in exit code 1.",
      "enum": ["error", "warning", "info", "never"]
    },
    "only": {"$ref": "#/$defs/rules", "description": "Judge by these rules only."},
    "skip": {"$ref": "#/$defs/rules", "description": "Do not judge by these rules."},
    "cert-days": {
      "description": "Report certificates that end within this many days.",
      "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 36500},
        {"type": "string", "pattern": "^[+-]?0*(?:[0-9]{1,4}|[12][0-9]{4}|3[0-5][0-9]{3}|36[0-4][0-9]{2}|36500)$", "not": {"pattern": "^-0*[1-9]"}}
      ]
    }
  },
  "$defs": {
    "release": {
      "description": "A Kubernetes release such as 1.35, \"1.35\" or v1.35.4.",
      "anyOf": [
        {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        {
          "type": "string",
          "pattern": "^\\s*v?1\\.(?:[1-9][0-9]{0,3}|[1-9][0-9]{0,3}\\.(?:0|[1-9][0-9]{0,3})(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?(?:[+_][0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?)\\s*$"
        }
      ]
    },
    "rules": {
      "description": "IDs or names of rules, as a list or separated by commas.",
      "anyOf": [
        {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/rule"}},
        {"$ref": "#/$defs/rule"}
      ]
    },
    "rule": {
      "description": "The ID or the name of a rule, in the spelling of docs/rules; several are separated by commas.",
      "anyOf": [
        {"enum": [
        RULES
        ]},
        {"type": "string", "pattern": "LIST"}
      ]
    }
  }
}
`
