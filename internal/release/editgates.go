package release

import (
	"strconv"
	"strings"
)

// SetGate returns value, the text of one --feature-gates flag, with the gate set to on, by the smallest
// edit: an entry that says so already stays, else the first entry of that gate is corrected, and its
// other entries go. A gate that is not named is appended, with prefix kube: where the others have it.
// Blanks, line breaks and a trailing comma stay.
func SetGate(value, name string, on bool) string {
	want := strconv.FormatBool(on)
	entries := ParseFeatureGates([]string{value}).Entries
	keep := -1
	for i, e := range entries {
		if !e.names(name) {
			continue
		}
		if keep < 0 || !entries[keep].says(name, on) && e.says(name, on) {
			keep = i
		}
	}
	if keep < 0 {
		return appendGate(value, entries, name+"="+want)
	}
	if e := entries[keep]; !e.says(name, on) {
		if e.Valid || e.plain(name) && e.Value != "" {
			value = splice(value, e.ValueSpan.Offset, e.ValueSpan.End(), want)
		} else {
			value = splice(value, e.Span.Offset, e.Span.End(), usualPrefix(entries)+name+"="+want)
		}
	}
	return removeEntries(value, func(i int, e GateEntry) bool { return i != keep && e.names(name) })
}

// RemoveGate returns value, the text of one --feature-gates flag, without the entries of the gate. One
// comma goes with each; the rest stays as it is. Of the last entry the blanks around it go too, since
// beside other flags with prefixes a blank value is a mistake.
func RemoveGate(value, name string) string {
	return removeEntries(value, func(_ int, e GateEntry) bool { return e.names(name) })
}

// plain tells whether the entry is written as one of kube-apiserver's gate of that name.
func (e GateEntry) plain(name string) bool {
	return e.Name == name && (e.Prefix == "" || e.Prefix == kubeComponent)
}

// says tells whether the entry sets the gate to on.
func (e GateEntry) says(name string, on bool) bool { return e.Valid && e.Name == name && e.On == on }

// names tells whether the entry is about the gate, be it by mistake: "Gate: true", quotation marks.
func (e GateEntry) names(name string) bool {
	bare := func(s string) string { return strings.Trim(s, quotationMarks+" ") }
	return e.plain(name) ||
		bare(e.Prefix) == name ||
		bare(e.Name) == name && (bare(e.Prefix) == "" || bare(e.Prefix) == kubeComponent)
}

// usualPrefix is the prefix that the entries have, with its colon.
func usualPrefix(entries []GateEntry) string {
	for _, e := range entries {
		if e.Prefix == kubeComponent {
			return kubeComponent + ":"
		}
		if e.Valid {
			return ""
		}
	}
	return ""
}

// appendGate puts entry behind the last one.
func appendGate(value string, entries []GateEntry, entry string) string {
	entry = usualPrefix(entries) + entry
	if len(entries) > 0 {
		end := entries[len(entries)-1].Span.End()
		return splice(value, end, end, ","+entry)
	}
	// Nothing but blanks and commas: put it in front of a comma, else behind the blanks in front.
	_, at := trim(value, 0)
	if strings.TrimSpace(value) == "" {
		at = 0
	}
	return splice(value, at, at, entry)
}

func splice(s string, from, to int, by string) string { return s[:from] + by + s[to:] }

// removeEntries takes entries out, each with the comma behind it, or the one before it if it is last.
func removeEntries(value string, drop func(i int, e GateEntry) bool) string {
	entries := ParseFeatureGates([]string{value}).Entries
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		if !drop(i, e) {
			continue
		}
		before := strings.LastIndexByte(value[:e.Span.Offset], ',')
		after := strings.IndexByte(value[e.Span.End():], ',')
		switch {
		case after >= 0: // with the blanks before it, so that those of the next entry take their place
			value = splice(value, before+1, e.Span.End()+after+1, "")
		case before >= 0:
			value = splice(value, before, e.Span.End(), "")
		default:
			value = ""
		}
	}
	return value
}
