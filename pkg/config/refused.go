package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// Refused returns what in the form of the cluster's file makes kubeadm refuse it as a whole. Text and Suggest of each
// problem say what and what to do. It follows kubeadm's SplitConfigDocuments and the YAMLReader of apimachinery, alike
// in 1.34 to 1.37.
func (c *Cluster) Refused() []Problem {
	if c.Doc.Text.Outer() != nil {
		// A ConfigMap's text is not split.
		return nil
	}
	var out []Problem
	for _, chunk := range kubeadmChunks(c.Doc.Text.Data) {
		text := c.Doc.Text.Data[chunk.start:chunk.end]
		add := func(offset int, what, fix string) {
			at := c.Doc.Region(chunk.start+offset, chunk.start+offset)
			out = append(out, Problem{At: at, Text: what, Suggest: fix})
		}
		body := bytes.TrimLeft(text, " \t\r\n")
		switch {
		case onlyComments(text):
			add(0, "a document between two separators has nothing in it", "remove its separator line ---")
		case bytes.HasPrefix(body, []byte("{")) && !json.Valid(text):
			// kubeadm decodes what begins with a brace as JSON.
			add(len(text)-len(body), "the document begins with { and is not JSON",
				"write it in block style, or as JSON with quoted keys")
		}
	}
	for _, d := range c.Input.Docs {
		if d.Root != nil && d.Root.Kind == yamldoc.Map && coreGroup(d.Root) {
			at := d.Region(d.Root.Start, d.Root.Start)
			out = append(out,
				Problem{At: at, Text: fmt.Sprintf("document %d is a %s, which is not of a named API group", d.Index,
					d.Root.Get("kind").Str()), Suggest: "keep it in a file of its own"})
		}
	}
	return out
}

type chunk struct{ start, end int }

// kubeadmChunks cuts a file as kubeadm does. A separator line with nothing before it becomes the first line of the next
// document; any other ends its document and is dropped.
func kubeadmChunks(data []byte) []chunk {
	data = bytes.TrimSuffix(data, []byte("\n"))
	var out []chunk
	start, buffered := 0, false
	for pos := 0; pos <= len(data); {
		next := len(data) + 1
		if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
			next = pos + i + 1
		}
		if bytes.HasPrefix(data[pos:], []byte("---")) && buffered {
			out = append(out, chunk{start, pos})
			start, buffered = next, false
		} else {
			if !buffered {
				start = pos
			}
			buffered = true
		}
		pos = next
	}
	if buffered {
		out = append(out, chunk{start, len(data)})
	}
	return out
}

// onlyComments tells whether a chunk has no value: nothing but its separator, blank lines, comments and a byte-order
// mark.
func onlyComments(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("---")))
		if len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// coreGroup tells whether an object is of the core API group, whose apiVersion has no group: kubeadm wants one.
func coreGroup(v *yamldoc.Value) bool {
	apiVersion := v.Get("apiVersion").Str()
	return apiVersion != "" && !strings.Contains(apiVersion, "/")
}
