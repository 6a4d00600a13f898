package report

import (
	"cmp"
	"io"
)

// WriteProbeSARIF writes a probe report as a log of SARIF 2.1.0. A live server is no file: what a result is about is its
// logical location. GitHub refuses a whole log for one result without a file, however. Therefore each result also names one:
// the recorded evidence where that was judged, else the server, as scanners of images do with the name of the image.
func WriteProbeSARIF(out io.Writer, r *ProbeReport, opts SARIFOptions) error {
	l := newSARIFLog(out, opts)
	failing := false
	for i := range r.Findings {
		f := &r.Findings[i]
		failing = failing || f.Fails
		if err := l.result(l.probed(r, f)); err != nil {
			return err
		}
	}
	var notifications []sarifNotification
	if r.CannotTell != "" {
		notifications = []sarifNotification{{Level: "error", Message: sarifMessage("cannot tell: " + r.CannotTell)}}
	}
	return l.end(sarifInvocationOf(failing, r.CannotTell != "", notifications))
}

// probed is the result for a finding about servers.
func (l *sarifLog) probed(r *ProbeReport, f *ProbeFinding) sarifResult {
	lines := []string{probeMessage(f)}
	for i := range f.Effects {
		lines = append(lines, effectLine(&f.Effects[i]))
	}
	lines = append(lines, labelledText("why: ", f.Why), labelledText("fix: ", f.Fix))
	// Not by the file: tomorrow's evidence has another name.
	hash := l.fingerprint(append([]string{f.Rule, r.Context}, f.Servers...)...)
	return sarifResult{
		RuleID: f.Rule, RuleIndex: l.rule(f.Rule, f.Help), Level: sarifLevel(f.Severity),
		Message: sarifMessage(lines...), Locations: probeLocations(r, f.Servers),
		// There are no lines from which GitHub could compute its own.
		Fingerprints: map[string]string{fingerprint: hash, "primaryLocationLineHash": hash},
		Properties:   sarifResultBag{Consequence: f.Consequence, Servers: f.Servers, Seen: f.Seen},
	}
}

// probeLocations are the servers, or the control plane as a whole.
func probeLocations(r *ProbeReport, servers []string) []sarifLocation {
	whole := cmp.Or(r.Context, "control-plane")
	var locations []sarifLocation
	for _, name := range servers {
		locations = append(locations, probeLocation(r, name, whole+"/"+name))
	}
	if locations == nil {
		locations = append(locations, probeLocation(r, whole, whole))
	}
	return locations
}

func probeLocation(r *ProbeReport, name, full string) sarifLocation {
	file := sarifAt(&Location{File: cmp.Or(r.Replayed, name)}, "")
	if r.Replayed == "" {
		file.Artifact.URIBase = "" // it is in no repository
	}
	return sarifLocation{
		Physical: file,
		Logical:  []sarifLogical{{Name: Printable(name), FullyQualifiedName: Printable(full), Kind: "resource"}},
	}
}
