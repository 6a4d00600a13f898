package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// writeJSON writes the document of a report, a value of a list at a time: a list may be long.
func writeJSON(out io.Writer, r *Report, _ Options) error {
	w := bufio.NewWriter(out)
	separator := "{\n  "
	value := func(v reflect.Value, prefix string) error {
		b, err := encode(v.Interface(), prefix)
		w.Write(b)
		return err
	}
	for name, v := range fields(r.Document) {
		fmt.Fprintf(w, "%s%q: ", separator, name)
		separator = ",\n  "
		if v.Kind() != reflect.Slice || v.Len() == 0 {
			if err := value(v, "  "); err != nil {
				return err
			}
			continue
		}
		between := "[\n    "
		for i := range v.Len() {
			w.WriteString(between)
			between = ",\n    "
			if err := value(v.Index(i), "    "); err != nil {
				return err
			}
		}
		w.WriteString("\n  ]")
	}
	w.WriteString("\n}\n")
	return w.Flush()
}

// fields are the fields of a document that are written, in their order.
func fields(document any) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		v := reflect.Indirect(reflect.ValueOf(document))
		for _, f := range reflect.VisibleFields(v.Type()) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			value := v.FieldByIndex(f.Index)
			empty := value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0
			if name == "" || name == "-" || options == "omitempty" && empty {
				continue
			}
			if !yield(name, value) {
				return
			}
		}
	}
}

// encode is v as JSON, indented below prefix, without a newline at the end.
func encode(v any, prefix string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeJSON(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// escapeJSON writes what encoding/json leaves as it is, but a terminal must not
// see raw, as \uXXXX: C1 controls, bidi marks and other runes that do not print.
// All of them can stand in strings only.
func escapeJSON(b []byte) []byte {
	var out []byte // nil as long as there is nothing to escape
	done := 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf && b[i] != 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if !strconv.IsPrint(r) {
			out = append(out, b[done:i]...)
			if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
				out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			done = i + size
		}
		i += size
	}
	if out == nil {
		return b
	}
	return append(out, b[done:]...)
}
