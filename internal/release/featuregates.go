package release

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// kubeComponent is the only component that kube-apiserver registers. It is the prefix of its gates,
// which may be left out.
const kubeComponent = "kube"

// GateProblemKind is why kube-apiserver exits on a part of --feature-gates.
type GateProblemKind string

// The problems that the text alone shows. That a gate is unknown to a release (S8) or locked by it
// (S8f) needs the catalogue of the release.
const (
	Quoted           GateProblemKind = "quoted"            // quotation marks inside the value (S8b)
	ColonSeparator   GateProblemKind = "colon-separator"   // "Gate: true", read as component "Gate" (S8b)
	UnknownComponent GateProblemKind = "unknown-component" // "wardle:Gate=true": not registered (S8b)
	MissingValue     GateProblemKind = "missing-value"     // "Gate": missing bool value (S8b)
	EmptyName        GateProblemKind = "empty-name"        // "=true": unrecognized feature gate (S8)
	NotBool          GateProblemKind = "not-bool"          // "Gate=yes": refused by strconv.ParseBool (S8b)
	MixedPrefix      GateProblemKind = "mixed-prefix"      // entries with and without kube: (S8d)
)

// Span is a place in a list of flag values: Offset and Length in bytes within the value at index Value.
type Span struct {
	Value, Offset, Length int
}

// End is the offset of the first byte behind the span.
func (s Span) End() int { return s.Offset + s.Length }

// GateProblem is one thing that makes kube-apiserver exit, and the part of the values that does.
type GateProblem struct {
	Kind GateProblemKind
	Span Span
	// Text is what stands at Span. It is blank for MixedPrefix by a blank entry: with prefixes
	// elsewhere, even the blank behind a trailing comma counts as an entry without one.
	Text string
}

// GateEntry is one comma-separated entry of --feature-gates that is not blank.
type GateEntry struct {
	// Span is the entry without the blanks around it; NameSpan and ValueSpan are the parts before and
	// after the first "=". They are empty where the part is missing.
	Span, NameSpan, ValueSpan Span
	// Prefix is the component before the first colon, "" without one.
	Prefix string
	// Name and Value are as kube-apiserver reads them: without blanks, with quotation marks.
	Name, Value string
	// Valid tells whether the entry by itself sets a gate of kube-apiserver, and On what to.
	Valid, On bool
}

// FeatureGates is what the values of --feature-gates say. The zero value is that of no such flag.
type FeatureGates struct {
	Entries []GateEntry
	// Problems is empty if and only if kube-apiserver accepts the values, provided that its release
	// knows the gates by name and locks none of them to another value.
	Problems []GateProblem
}

// ParseFeatureGates reads all values that a command line gives for --feature-gates, in their order.
// They are merged, and of one gate the last entry wins (S8e, S10). Blanks, line breaks and empty
// entries do no harm (S8c). It goes on after a problem, where kube-apiserver exits.
//
// It follows ColonSeparatedMultimapStringString of k8s.io/component-base/cli/flag and Set in
// compatibility/registry.go and featuregate/feature_gate.go there, which read the text alike in 1.33
// to 1.37.
func ParseFeatureGates(values []string) FeatureGates {
	var p gateParser
	for i, value := range values {
		start := 0
		for segment := range strings.SplitSeq(value, ",") {
			if segment != "" {
				p.entry(i, segment, start)
			}
			start += len(segment) + 1
		}
	}
	return p.gates
}

type gateParser struct {
	gates FeatureGates
	// bare and prefixed tell which ways of writing a gate of kube-apiserver were seen.
	bare, prefixed, mixed bool
}

func (p *gateParser) problem(kind GateProblemKind, span Span, text string) {
	p.gates.Problems = append(p.gates.Problems, GateProblem{Kind: kind, Span: span, Text: text})
}

// quotationMarks are refused wherever they stand: no component, gate or bool has one.
const quotationMarks = "\"'`“”‘’"

// entry reads the text between two commas, which begins at start of the value at index i.
func (p *gateParser) entry(i int, segment string, start int) {
	text, at := trim(segment, start)
	e := GateEntry{Span: Span{i, at, len(text)}}

	prefix, rest, colon := strings.Cut(text, ":")
	restAt := at + len(prefix) + 1
	if !colon {
		prefix, rest, restAt = "", text, at
	}
	e.Prefix = strings.TrimSpace(prefix)
	name, value, equals := strings.Cut(rest, "=")
	var nameAt, valueAt int
	e.Name, nameAt = trim(name, restAt)
	e.Value, valueAt = trim(value, min(restAt+len(name)+1, e.Span.End()))
	e.NameSpan = Span{i, nameAt, len(e.Name)}
	e.ValueSpan = Span{i, valueAt, len(e.Value)}

	ours := e.Prefix == "" || e.Prefix == kubeComponent
	on, err := strconv.ParseBool(e.Value)
	blank := strings.TrimSpace(rest) == ""
	switch {
	case strings.ContainsAny(text, quotationMarks):
		p.problem(Quoted, e.Span, text)
		ours = false
	case !ours && !equals:
		p.problem(ColonSeparator, e.Span, text)
	case !ours:
		p.problem(UnknownComponent, e.Span, text)
	case blank:
	case !equals:
		p.problem(MissingValue, e.Span, text)
	case e.Name == "":
		p.problem(EmptyName, e.Span, text)
	case err != nil:
		p.problem(NotBool, e.Span, text)
	default:
		e.Valid, e.On = true, on
	}
	if text != "" {
		p.gates.Entries = append(p.gates.Entries, e)
	}
	if ours {
		p.style(e.Prefix == kubeComponent, e.Span, text)
	}
}

// style notes how an entry is written, and reports the first one that is not written as those before.
func (p *gateParser) style(prefixed bool, span Span, text string) {
	p.prefixed = p.prefixed || prefixed
	p.bare = p.bare || !prefixed
	if p.prefixed && p.bare && !p.mixed {
		p.mixed = true
		p.problem(MixedPrefix, span, text)
	}
}

// trim returns s, which stands at offset, without the blanks around it, and where the rest stands.
func trim(s string, offset int) (string, int) {
	left := strings.TrimLeftFunc(s, unicode.IsSpace)
	return strings.TrimSpace(left), offset + len(s) - len(left)
}

// Explicit tells whether a gate is named in the values, and what it is set to: the last entry wins
// (S8e). Entries that are not valid set nothing.
func (g FeatureGates) Explicit(name string) (on, set bool) {
	for _, e := range g.Entries {
		if e.Valid && e.Name == name {
			on, set = e.On, true
		}
	}
	return on, set
}

// overridden tells whether a later entry names the gate of the entry at index i again.
func (g FeatureGates) overridden(i int) bool {
	for _, later := range g.Entries[i+1:] {
		if later.Valid && later.Name == g.Entries[i].Name {
			return true
		}
	}
	return false
}

// entry returns the last entry that sets a gate, nil where none does.
func (g FeatureGates) entry(name string) *GateEntry {
	for i := range slices.Backward(g.Entries) {
		if e := &g.Entries[i]; e.Valid && e.Name == name {
			return e
		}
	}
	return nil
}

// Gate tells whether a gate that GateAt knows is on, and whether that is because the values name it. If they don't,
// AllAlpha or AllBeta decides where the gate is of that stage, wherever they stand (S3, S5, S8e), else the default of
// the release. at is the release that the server emulates, which is its own unless --emulated-version says otherwise
// (S4).
//
// That a server exits on the gates is not told here: see [Catalogue.GateProblems].
func (g FeatureGates) Gate(name string, at Release) (on, explicit bool) {
	spec, _ := GateAt(name, at)
	return g.state(name, spec)
}

func (g FeatureGates) state(name string, spec GateSpec) (on, explicit bool) {
	if on, set := g.Explicit(name); set {
		return on, true
	}
	if name == AllAlpha || name == AllBeta {
		return spec.Default, false
	}
	group := ""
	switch spec.Stage {
	case Alpha:
		group = AllAlpha
	case Beta:
		group = AllBeta
	}
	if on, set := g.Explicit(group); set {
		return on, false
	}
	return spec.Default, false
}
