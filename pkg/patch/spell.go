package patch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// spelling is where a string is to be written, and how its neighbours are.
type spelling struct {
	// style is the wanted style: Plain, SingleQuoted or DoubleQuoted. Plain gives way to quotes where the text
	// would not read back as that string.
	style yamldoc.Style
	// flow: the place is within a flow collection.
	flow bool
	// json: only JSON strings will do.
	json bool
	// key: it is a key of a map.
	key bool
}

// spell returns the source text of a string. The text is tried with the YAML library that kubeadm uses.
func (s spelling) spell(text string) (string, error) {
	styles := []yamldoc.Style{s.style, yamldoc.DoubleQuoted}
	if s.json {
		styles = []yamldoc.Style{yamldoc.DoubleQuoted}
	}
	for _, style := range styles {
		spelt := spellAs(text, style)
		if s.reads(spelt, text) {
			return spelt, nil
		}
	}
	return "", fmt.Errorf("%q cannot be written in YAML", text)
}

func spellAs(text string, style yamldoc.Style) string {
	switch style {
	case yamldoc.SingleQuoted:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case yamldoc.DoubleQuoted:
		return jsonString(text)
	}
	return text
}

// jsonString spells a string for JSON, which YAML takes too.
func jsonString(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return ""
	}
	return strings.NewReplacer("\x7f", `\u007f`, "\u0085", `\u0085`, "\ufeff", `\ufeff`).Replace(strings.TrimSuffix(b.String(), "\n"))
}

// reads tells whether the spelt text reads back as exactly the wanted string.
func (s spelling) reads(spelt, want string) bool {
	if strings.ContainsAny(spelt, "\n\r") || strings.HasPrefix(spelt, "---") && s.key {
		return false
	}
	var probe string
	switch {
	case s.key && s.flow:
		probe = "[{" + spelt + ": 0}]"
	case s.key:
		probe = "- " + spelt + ": 0\n"
	case s.flow:
		probe = "[{k: " + spelt + "}]"
	default:
		probe = "- k: " + spelt + "\n"
	}
	converted, err := yaml.YAMLToJSON([]byte(probe))
	var got []map[string]any
	if err != nil || json.Unmarshal(converted, &got) != nil || len(got) != 1 || len(got[0]) != 1 {
		return false
	}
	for key, value := range got[0] {
		if s.key {
			return key == want
		}
		return value == want
	}
	return false
}

// quoteHabit returns the style of scalars: quotes if they all have them, or if most have them that could do
// without. Quotes that a value needs say little.
func quoteHabit(scalars []*yamldoc.Value) yamldoc.Style {
	count := map[yamldoc.Style]int{}
	needed := map[yamldoc.Style]int{}
	for _, v := range scalars {
		if v == nil || v.Kind != yamldoc.String || v.Fixed != "" {
			continue
		}
		switch v.Style {
		case yamldoc.Plain, yamldoc.SingleQuoted, yamldoc.DoubleQuoted:
			if v.Style == yamldoc.Plain || (spelling{flow: inFlow(v)}).reads(v.Text, v.Text) {
				count[v.Style]++
			} else {
				needed[v.Style]++
			}
		}
	}
	if count[yamldoc.Plain] == 0 {
		for style, n := range needed {
			count[style] += n
		}
	}
	switch {
	case count[yamldoc.DoubleQuoted] > count[yamldoc.Plain] && count[yamldoc.DoubleQuoted] >= count[yamldoc.SingleQuoted]:
		return yamldoc.DoubleQuoted
	case count[yamldoc.SingleQuoted] > count[yamldoc.Plain]:
		return yamldoc.SingleQuoted
	}
	return yamldoc.Plain
}

// keyHabit is quoteHabit of the keys of a map.
func keyHabit(l *layout, entries []*yamldoc.Entry) yamldoc.Style {
	count := map[byte]int{}
	for _, e := range entries {
		count[l.src[e.KeyStart]]++
	}
	switch plain := len(entries) - count['"'] - count['\'']; {
	case count['"'] > plain && count['"'] >= count['\'']:
		return yamldoc.DoubleQuoted
	case count['\''] > plain:
		return yamldoc.SingleQuoted
	}
	return yamldoc.Plain
}

// inFlow tells whether a value stands within a flow collection.
func inFlow(v *yamldoc.Value) bool {
	for p := v.Parent(); p != nil; p = p.Parent() {
		if p.Style == yamldoc.Flow {
			return true
		}
	}
	return false
}
