package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes a report as one JSON document. Clusters are written as they
// come; input errors and files passed over are kept for the end.
type JSON struct {
	out      *bufio.Writer
	version  string
	clusters int
	kept
}

// kept is what stands behind the clusters in a document, wherever it comes in
// the run.
type kept struct {
	errors     []InputError
	passedOver []PassedOver
}

// InputError keeps an input error for the end of the document.
func (k *kept) InputError(e InputError) error {
	k.errors = append(k.errors, e)
	return nil
}

// PassedOver keeps a file that was passed over for the end of the document.
func (k *kept) PassedOver(p PassedOver) error {
	k.passedOver = append(k.passedOver, p)
	return nil
}

// NewJSON returns a writer of one report; version is that of mvpcheck.
func NewJSON(out io.Writer, version string) *JSON {
	return &JSON{out: bufio.NewWriter(out), version: version}
}

// begin writes all that stands before the first cluster.
func (w *JSON) begin() error {
	w.out.WriteString("{")
	for i, field := range [][2]string{{"apiVersion", APIVersion}, {"kind", Kind}, {"version", w.version}} {
		if i > 0 {
			w.out.WriteString(",")
		}
		if err := w.field(field[0], field[1]); err != nil {
			return err
		}
	}
	_, err := w.out.WriteString(",\n  \"clusters\": [")
	return err
}

// Cluster writes one cluster.
func (w *JSON) Cluster(c Cluster) error {
	if w.clusters > 0 {
		w.out.WriteString(",")
	} else if err := w.begin(); err != nil {
		return err
	}
	w.clusters++
	b, err := encode(c, "    ")
	if err != nil {
		return err
	}
	w.out.WriteString("\n    ")
	w.out.Write(b)
	return w.out.Flush()
}

// Close ends the document.
func (w *JSON) Close(s Summary) error {
	if w.clusters > 0 {
		w.out.WriteString("\n  ")
	} else if err := w.begin(); err != nil {
		return err
	}
	w.out.WriteString("]")
	if len(w.errors) > 0 {
		w.out.WriteString(",")
		if err := w.field("errors", w.errors); err != nil {
			return err
		}
	}
	if len(w.passedOver) > 0 {
		w.out.WriteString(",")
		if err := w.field("passedOver", w.passedOver); err != nil {
			return err
		}
	}
	w.out.WriteString(",")
	if err := w.field("summary", s); err != nil {
		return err
	}
	w.out.WriteString("\n}\n")
	return w.out.Flush()
}

func (w *JSON) field(name string, value any) error {
	b, err := encode(value, "  ")
	if err != nil {
		return err
	}
	w.out.WriteString("\n  \"" + name + "\": ")
	w.out.Write(b)
	return nil
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
