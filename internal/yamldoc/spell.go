package yamldoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// spelling is where a string is to be written, and how its neighbours are.
type spelling struct {
	// style is the wanted style: Plain, SingleQuoted or DoubleQuoted. Plain gives way to quotes where the text
	// would not read back as that string.
	style Style
	// flow: the place is within a flow collection.
	flow bool
	// json: only JSON strings will do.
	json bool
	// key: it is a key of a map.
	key bool
}

// spell returns the source text of a string. The text is tried with the YAML library that kubeadm uses.
func (s spelling) spell(text string) (string, error) {
	styles := []Style{s.style, DoubleQuoted}
	if s.json {
		styles = []Style{DoubleQuoted}
	}
	for _, style := range styles {
		spelt := spellAs(text, style)
		if s.reads(spelt, text) {
			return spelt, nil
		}
	}
	return "", fmt.Errorf("%q cannot be written in YAML", text)
}

func spellAs(text string, style Style) string {
	switch style {
	case SingleQuoted:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case DoubleQuoted:
		return JSONString(text)
	}
	return text
}

// JSONString spells a string for JSON, which YAML takes too.
func JSONString(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return ""
	}
	spelt := strings.TrimSuffix(b.String(), "\n")
	return strings.NewReplacer("\x7f", `\u007f`, "\u0085", `\u0085`, "\ufeff", `\ufeff`).Replace(spelt)
}

// reads tells whether the spelt text reads back as exactly the wanted string.
func (s spelling) reads(spelt, want string) bool {
	if strings.ContainsAny(spelt, "\n\r") || strings.HasPrefix(spelt, "---") && s.key {
		return false
	}
	if spelt == want && plainWord(want) {
		return true
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
	value, err := decode([]byte(probe))
	list, _ := value.([]any)
	if err != nil || len(list) != 1 {
		return false
	}
	got, _ := list[0].(map[string]any)
	if s.key {
		_, ok := got[want]
		return ok && len(got) == 1
	}
	return len(got) == 1 && got["k"] == any(want)
}

// plainWord tells of the words that are nearly all strings that they need no quotes anywhere.
func plainWord(text string) bool {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=") != "" {
		return false
	}
	if c := firstByte(text) | 0x20; c < 'a' || c > 'z' {
		return firstByte(text) == '/'
	}
	value, ok := resolveScalar(&yamlv3.Node{Value: text})
	return ok && value == any(text)
}

// QuoteHabit returns the style of scalars: quotes if they all have them, or if most have them that could do
// without. Quotes that a value needs say little.
func QuoteHabit(scalars []*Value) Style {
	var free, needed [Block + 1]int // of each style
	for _, v := range scalars {
		switch {
		case v == nil || v.Kind != String || v.Fixed != "":
		case v.Style == Plain || (spelling{flow: inFlow(v)}).reads(v.Text, v.Text):
			free[v.Style]++
		default:
			needed[v.Style]++
		}
	}
	if free[Plain] == 0 {
		free[SingleQuoted] += needed[SingleQuoted]
		free[DoubleQuoted] += needed[DoubleQuoted]
	}
	return habit(free[Plain], free[SingleQuoted], free[DoubleQuoted])
}

// KeyHabit is QuoteHabit of the keys of a map.
func KeyHabit(entries []*Entry) Style {
	count := map[byte]int{}
	for _, e := range entries {
		count[e.Value.doc.Text.Data[e.KeyStart]]++
	}
	return habit(len(entries)-count['"']-count['\''], count['\''], count['"'])
}

func habit(plain, single, double int) Style {
	switch {
	case double > plain && double >= single:
		return DoubleQuoted
	case single > plain:
		return SingleQuoted
	}
	return Plain
}

// inFlow tells whether a value stands within a flow collection.
func inFlow(v *Value) bool {
	for p := v.Parent(); p != nil; p = p.Parent() {
		if p.Style == Flow {
			return true
		}
	}
	return false
}
