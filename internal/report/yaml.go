package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"unicode/utf16"

	"sigs.k8s.io/yaml"
)

// writeYAML writes the document of a report as YAML: the fields at the top in the order of the JSON, below them in
// alphabetical order, as kubectl -o yaml does.
func writeYAML(out io.Writer, r *Report, _ Options) error {
	w := bufio.NewWriter(out)
	for name, v := range fields(r.Document) {
		if v.Kind() != reflect.Slice || v.Len() == 0 {
			if err := appendYAML(w, map[string]any{name: v.Interface()}); err != nil {
				return err
			}
			continue
		}
		w.WriteString(name + ":\n")
		for i := range v.Len() {
			// A list at the top level stands where the list below its name does.
			if err := appendYAML(w, []any{v.Index(i).Interface()}); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// appendYAML writes v as YAML by way of its JSON. The YAML library would write
// many runes raw that do not print. Strings with such runes therefore keep the
// form that they have in JSON, which is also one of YAML's.
func appendYAML(out io.Writer, v any) error {
	b, err := encode(v, "")
	if err != nil {
		return err
	}
	b, mark, aside := setAside(b)
	if b, err = yaml.JSONToYAML(b); err != nil {
		return err
	}
	_, err = out.Write(putBack(b, mark, aside))
	return err
}

// setAside puts a mark and a number in the place of each string with a \u in
// some JSON, and returns these strings. The mark is nowhere else.
func setAside(b []byte) (rest []byte, mark string, aside [][]byte) {
	if !bytes.Contains(b, []byte(`\u`)) {
		return b, "", nil
	}
	for mark = "quoted"; bytes.Contains(b, []byte(mark)); {
		mark += mark
	}
	for {
		start := bytes.IndexByte(b, '"')
		if start < 0 {
			return append(rest, b...), mark, aside
		}
		end, escapes := start+1, false
		for ; b[end] != '"'; end++ {
			if b[end] == '\\' {
				end++
				escapes = escapes || b[end] == 'u'
			}
		}
		end++
		if escapes {
			rest = fmt.Appendf(append(rest, b[:start]...), `"%s%d"`, mark, len(aside))
			aside = append(aside, b[start:end])
		} else {
			rest = append(rest, b[:end]...)
		}
		b = b[end:]
	}
}

// surrogates is a rune above U+FFFF in JSON. YAML has another escape for it.
var surrogates = regexp.MustCompile(`\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})`)

// putBack undoes setAside in what has become YAML.
func putBack(b []byte, mark string, aside [][]byte) []byte {
	if len(aside) == 0 {
		return b
	}
	var out []byte
	for {
		before, after, found := bytes.Cut(b, []byte(mark))
		out = append(out, before...)
		if !found {
			return out
		}
		digits := len(after) - len(bytes.TrimLeft(after, "0123456789"))
		number, _ := strconv.Atoi(string(after[:digits]))
		out = append(out, surrogates.ReplaceAllFunc(aside[number], func(pair []byte) []byte {
			high, _ := strconv.ParseUint(string(pair[2:6]), 16, 16)
			low, _ := strconv.ParseUint(string(pair[8:12]), 16, 16)
			return fmt.Appendf(nil, `\U%08x`, utf16.DecodeRune(rune(high), rune(low)))
		})...)
		b = after[digits:]
	}
}
