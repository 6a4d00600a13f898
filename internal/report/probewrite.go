package report

import (
	"bytes"
	"encoding/json"
	"io"
)

// WriteProbeJSON writes a probe report as one JSON document.
func WriteProbeJSON(out io.Writer, r *ProbeReport) error {
	b, err := encode(r, "")
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// WriteProbeYAML writes the document of WriteProbeJSON as YAML: the same fields at the top in the same order, below
// them in alphabetical order, as YAML does for check reports.
func WriteProbeYAML(out io.Writer, r *ProbeReport) error { return writeTopYAML(out, r) }

// writeTopYAML writes what v is as JSON with the fields at the top in their order.
func writeTopYAML(out io.Writer, v any) error {
	b, err := marshal(v)
	if err != nil {
		return err
	}
	var whole bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(b))
	if _, err := dec.Token(); err != nil { // the brace
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := writeYAML(&whole, map[string]json.RawMessage{name.(string): value}); err != nil {
			return err
		}
	}
	_, err = out.Write(whole.Bytes())
	return err
}

// MarshalJSON writes a list that is nil as [], because readers of the report index these lists without asking, and the
// time in UTC.
func (r ProbeReport) MarshalJSON() ([]byte, error) {
	type plain ProbeReport
	r.APIVersion, r.Kind = APIVersion, KindProbe
	r.Time = r.Time.UTC()
	r.Servers = orEmpty(r.Servers)
	r.Pairs = changed(r.Pairs, func(p *ProbePair) { p.Reasons = orEmpty(p.Reasons) })
	r.FalseNotFound = changed(r.FalseNotFound, func(p *ProbeRoute) { p.ServedBy = orEmpty(p.ServedBy) })
	r.Refused = changed(r.Refused, func(p *ProbeRoute) { p.ServedBy = orEmpty(p.ServedBy) })
	r.HandedOff = changed(r.HandedOff, func(p *ProbeRoute) { p.ServedBy = orEmpty(p.ServedBy) })
	r.Findings = changed(r.Findings, func(f *ProbeFinding) {
		f.Servers = orEmpty(f.Servers)
		f.Effects = changed(f.Effects, func(e *ProbeEffect) { e.Rules = orEmpty(e.Rules) })
		f.Seen = orEmpty(f.Seen)
	})
	r.Passed = orEmpty(r.Passed)
	r.Skipped = orEmpty(r.Skipped)
	r.Evidence = orEmpty(r.Evidence)
	return marshal(plain(r))
}
