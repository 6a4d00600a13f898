package release

import (
	"strings"
	"testing"
)

func TestSetGate(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		on       bool
		want     string
	}{
		{"empty", "", true, "G=true"},
		{"blank", "\n", true, "G=true\n"},
		{"only a comma", " ,", true, " G=true,"},
		{"append", "A=true", true, "A=true,G=true"},
		{"append false", "A=true", false, "A=true,G=false"},
		{"append, trailing comma", "A=true,", true, "A=true,G=true,"},
		{"append, trailing line break", "A=true,\n  B=true\n", true, "A=true,\n  B=true,G=true\n"},
		{"append, prefix", "kube:A=true", true, "kube:A=true,kube:G=true"},
		{"append, empty prefix", ":A=true", true, ":A=true,G=true"},
		{"append, the name is another one's", "GG=true,wardle:G=true", true, "GG=true,wardle:G=true,G=true"},
		{"as it is", "A=true,G=T,B=true", true, "A=true,G=T,B=true"},
		{"replace", "A=true,G=false,B=true", true, "A=true,G=true,B=true"},
		{"replace, blanks", "A=true, G = false , B=true", true, "A=true, G = true , B=true"},
		{"replace, prefix", "kube:G=0", true, "kube:G=true"},
		{"replace true", "G=1", false, "G=false"},
		{"duplicates, first is right", "G=true,A=true,G=false", true, "G=true,A=true"},
		{"duplicates, last is right", "G=false, A=true, G=true", true, " A=true, G=true"},
		{"duplicates, none is right", "A=true,G=false,G=no,B=true", true, "A=true,G=true,B=true"},
		{"duplicates of the same", "G=true,G=true", true, "G=true"},
		{"missing value", "A=true,G", true, "A=true,G=true"},
		{"empty value", "G=", true, "G=true"},
		{"not a bool", "G=yes", true, "G=true"},
		{"colon", "G: true", true, "G=true"},
		{"quoted value", `G="true",A=true`, true, "G=true,A=true"},
		{"quoted", `"G=true"`, true, "G=true"},
		{"quoted name", `kube:A=true,kube:"G"=false`, true, "kube:A=true,kube:G=true"},
	} {
		if got := SetGate(tt.in, "G", tt.on); got != tt.want {
			t.Errorf("%s: SetGate(%q, %v) = %q, want %q", tt.name, tt.in, tt.on, got, tt.want)
		}
	}
}

func TestRemoveGate(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to do", " A=true, ", " A=true, "},
		{"only", "G=true", ""},
		{"only, trailing comma", "G=true,", ""},
		{"only, line break", "G=true\n", ""},
		{"first", "G=true, A=true", " A=true"},
		{"middle", "A=true, G=true, B=true", "A=true, B=true"},
		{"last", "A=true, G=true", "A=true"},
		{"last, line break", "A=true,\n  G=true\n", "A=true\n"},
		{"last, trailing comma", "A=true,G=true,", "A=true,"},
		{"all", "G=true,A=true,kube:G=no,G", "A=true"},
		{"neighbours", "G=1,G=0,A=true", "A=true"},
		{"another component's", "wardle:G=true", "wardle:G=true"},
		{"colon", "A=true,G: true", "A=true"},
	} {
		if got := RemoveGate(tt.in, "G"); got != tt.want {
			t.Errorf("%s: RemoveGate(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func FuzzSetGate(f *testing.F) {
	for _, s := range []string{"", "A=true, ", Gate + "=false," + Gate + ": true", "kube:A=1,\n", `"` + Gate + `=true"`} {
		f.Add(s, true)
		f.Add(s, false)
	}
	others := func(value string) string {
		var parts []string
		for _, e := range ParseFeatureGates([]string{value}).Entries {
			if !e.names(Gate) {
				parts = append(parts, value[e.Span.Offset:e.Span.End()])
			}
		}
		return strings.Join(parts, ",")
	}
	f.Fuzz(func(t *testing.T, value string, on bool) {
		set := SetGate(value, Gate, on)
		if got, explicit := ParseFeatureGates([]string{set}).Explicit(Gate); !explicit || got != on {
			t.Errorf("SetGate(%q, %v) = %q, which sets it to %v (%v)", value, on, set, got, explicit)
		}
		if again := SetGate(set, Gate, on); again != set {
			t.Errorf("SetGate(%q, %v) = %q, and again %q", value, on, set, again)
		}
		if others(set) != others(value) {
			t.Errorf("SetGate(%q, %v) = %q changes other entries", value, on, set)
		}
		if len(ParseFeatureGates([]string{value}).Problems) == 0 && len(ParseFeatureGates([]string{set}).Problems) > 0 {
			t.Errorf("SetGate(%q, %v) = %q brings in a problem", value, on, set)
		}
		gone := RemoveGate(value, Gate)
		if _, explicit := ParseFeatureGates([]string{gone}).Explicit(Gate); explicit || others(gone) != others(value) {
			t.Errorf("RemoveGate(%q) = %q", value, gone)
		}
		if len(ParseFeatureGates([]string{value}).Problems) == 0 && len(ParseFeatureGates([]string{gone}).Problems) > 0 {
			t.Errorf("RemoveGate(%q) = %q brings in a problem", value, gone)
		}
	})
}
