package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mvpcheck/mvpcheck/internal/files"
)

// maxRecording bounds what is read of a recording.
const maxRecording = 256 << 20

// Write writes the evidence as JSON. Documents that are the same as an earlier one are written once.
func (c *ControlPlane) Write(w io.Writer) error {
	recorded := *c
	recorded.Servers, recorded.Requests = append([]Server{}, c.Servers...), append([]Request{}, c.Requests...)
	for i := range recorded.Servers {
		if s := &recorded.Servers[i]; s.FoundBy == nil {
			s.FoundBy = []string{}
		}
	}
	var seen []struct {
		name string
		doc  Document
	}
	recorded.eachDocument(func(name string, d *Document) {
		if !d.OK() || len(d.Resources) == 0 {
			return
		}
		for _, s := range seen {
			if slices.Equal(s.doc.Resources, d.Resources) && slices.Equal(s.doc.Stale, d.Stale) {
				*d = Document{Told: d.Told, Same: s.name}
				return
			}
		}
		seen = append(seen, struct {
			name string
			doc  Document
		}{name, *d})
	})
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(&recorded); err != nil {
		return err
	}
	_, err := w.Write(escape(text.Bytes()))
	return err
}

// escape writes as \uXXXX what encoding/json leaves as it is and a terminal must not see: C1 controls, bidi marks and
// other characters that do not print. All of them can stand in strings only.
func escape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		high, low := utf16.EncodeRune(r)
		switch {
		case r == '\n' || strconv.IsPrint(r):
			out = utf8.AppendRune(out, r)
		case high != utf8.RuneError:
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// eachDocument visits the documents in their order, each with the name that Document.Same refers to it by.
func (c *ControlPlane) eachDocument(visit func(name string, d *Document)) {
	for i := range c.Servers {
		s := &c.Servers[i]
		visit(s.Address+" core", &s.Core)
		visit(s.Address+" local", &s.Local)
		visit(s.Address+" merged", &s.Merged)
	}
}

// Read reads evidence that was recorded with Write. Errors are one line.
func Read(r io.Reader) (*ControlPlane, error) { return read(r, maxRecording) }

func read(r io.Reader, limit int64) (*ControlPlane, error) {
	text, err := files.ReadAll(r, limit)
	switch {
	case errors.Is(err, files.ErrTooLarge):
		return nil, fmt.Errorf("longer than %d MiB", limit>>20)
	case err != nil:
		return nil, err
	}
	var head struct{ APIVersion, Kind, Version string }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, syntaxError(text, err)
	}
	if head.Kind != Kind || head.APIVersion != APIVersion {
		return nil, fmt.Errorf("not evidence that mvpcheck probe --record wrote "+
			"(apiVersion %q, kind %q; wanted %s, %s)", head.APIVersion, head.Kind, APIVersion, Kind)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	c := &ControlPlane{}
	if err := dec.Decode(c); err != nil {
		if strings.Contains(err.Error(), "unknown field") {
			return nil, fmt.Errorf("%w; it was recorded by mvpcheck %q", err, head.Version)
		}
		return nil, syntaxError(text, err)
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	return c, nil
}

// complete fills the documents in that were written once, and checks what the rules rely on.
func (c *ControlPlane) complete() (err error) {
	known := map[string]Document{}
	c.eachDocument(func(name string, d *Document) {
		if d.Same != "" {
			same, ok := known[d.Same]
			if !ok {
				err = cmp.Or(err, fmt.Errorf("document %q refers to %q, which is not before it", name, d.Same))
				return
			}
			d.Resources, d.Stale, d.Same = same.Resources, same.Stale, ""
		}
		if !slices.IsSortedFunc(d.Resources, CompareResources) {
			slices.SortFunc(d.Resources, CompareResources)
		}
		known[name] = *d
	})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range c.Servers {
		address := c.Servers[i].Address
		if address == "" || seen[address] {
			return fmt.Errorf("server %d has no address of its own", i+1)
		}
		seen[address] = true
	}
	return nil
}

// syntaxError says at which line of a text a mistake in its JSON is.
func syntaxError(text []byte, err error) error {
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &wrongType):
		offset = wrongType.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = int64(len(text))
	}
	if offset < 0 {
		return err
	}
	line := 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}
