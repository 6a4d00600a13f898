package report

import (
	"bufio"
	"io"

	"sigs.k8s.io/yaml"
)

// YAML writes the document of JSON as YAML: the same fields at the top in the
// same order, below them in alphabetical order, as kubectl -o yaml does.
type YAML struct {
	out      *bufio.Writer
	version  string
	clusters int
	kept
}

// NewYAML returns a writer of one report; version is that of mvpcheck.
func NewYAML(out io.Writer, version string) *YAML {
	return &YAML{out: bufio.NewWriter(out), version: version}
}

// begin writes all that stands before the clusters.
func (w *YAML) begin() error {
	for _, field := range [][2]string{{"apiVersion", APIVersion}, {"kind", Kind}, {"version", w.version}} {
		if err := w.block(map[string]string{field[0]: field[1]}); err != nil {
			return err
		}
	}
	return nil
}

// Cluster writes one cluster.
func (w *YAML) Cluster(c Cluster) error {
	if w.clusters == 0 {
		if err := w.begin(); err != nil {
			return err
		}
		w.out.WriteString("clusters:\n")
	}
	w.clusters++
	// A list at the top level stands where the list below "clusters:" does.
	if err := w.block([]Cluster{c}); err != nil {
		return err
	}
	return w.out.Flush()
}

// Close ends the document.
func (w *YAML) Close(s Summary) error {
	if w.clusters == 0 {
		if err := w.begin(); err != nil {
			return err
		}
		w.out.WriteString("clusters: []\n")
	}
	if len(w.errors) > 0 {
		if err := w.block(map[string][]InputError{"errors": w.errors}); err != nil {
			return err
		}
	}
	if len(w.passedOver) > 0 {
		if err := w.block(map[string][]PassedOver{"passedOver": w.passedOver}); err != nil {
			return err
		}
	}
	if err := w.block(map[string]Summary{"summary": s}); err != nil {
		return err
	}
	return w.out.Flush()
}

func (w *YAML) block(v any) error {
	b, err := encode(v, "")
	if err != nil {
		return err
	}
	if b, err = yaml.JSONToYAML(b); err != nil {
		return err
	}
	_, err = w.out.Write(b)
	return err
}
