package release

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// problems shows them as kind and text in brackets.
func problems(g FeatureGates) []string {
	var all []string
	for _, p := range g.Problems {
		all = append(all, fmt.Sprintf("%s [%s]", p.Kind, p.Text))
	}
	return all
}

func TestParseFeatureGatesProblems(t *testing.T) {
	for _, tt := range []struct {
		fact   string
		values []string
		want   []string // none: kube-apiserver accepts it
	}{
		{"no flag", nil, nil},
		{"empty", []string{""}, nil},
		{"blank", []string{" \n"}, nil},
		{"S8c blanks", []string{" A = true , B=false"}, nil},
		{"S8c line breaks", []string{"A=true,\n  B=true\n"}, nil},
		{"S8c values of ParseBool", []string{"A=True,B=1,C=t,D=FALSE,E=0"}, nil},
		{"S8c trailing comma", []string{"A=true,"}, nil},
		{"S8c commas", []string{",,A=true,,B=true"}, nil},
		{"S8c trailing comma and blank", []string{"A=true, "}, nil},
		{"S8c prefix", []string{"kube:A=true,kube :B=true"}, nil},
		{"empty prefix", []string{":A=true, : B=true,C=true"}, nil},
		{"prefix alone", []string{"kube:,kube:A=true"}, nil},
		{"prefix, trailing comma", []string{"kube:A=true,"}, nil},
		{"S10 two flags", []string{"A=true", "B=true"}, nil},
		{"S8b not a bool", []string{"A=yes"}, []string{"not-bool [A=yes]"}},
		{"S8b odd capitals", []string{"A=tRue"}, []string{"not-bool [A=tRue]"}},
		{"S8b empty value", []string{"A="}, []string{"not-bool [A=]"}},
		{"S8b semicolons", []string{"A=true;B=true"}, []string{"not-bool [A=true;B=true]"}},
		{"S8b blanks between", []string{"A=true B=true"}, []string{"not-bool [A=true B=true]"}},
		{"S8b no value", []string{"A,B=true"}, []string{"missing-value [A]"}},
		{"S8b quotes around value", []string{`A="true"`}, []string{`quoted [A="true"]`}},
		{"S8b quotes around all", []string{`"A=true,B=true"`}, []string{`quoted ["A=true]`, `quoted [B=true"]`}},
		{"S8b typographic quotes", []string{"A=“true”"}, []string{"quoted [A=“true”]"}},
		{"S8b colon", []string{"A: true"}, []string{"colon-separator [A: true]"}},
		{"S8b colon, no blank", []string{"A:true,B=true"}, []string{"colon-separator [A:true]"}},
		{"another component", []string{"wardle:A=true"}, []string{"unknown-component [wardle:A=true]"}},
		{"capitals of the component", []string{"Kube:A=true"}, []string{"unknown-component [Kube:A=true]"}},
		{"no name", []string{"=true"}, []string{"empty-name [=true]"}},
		{"S8d mixed", []string{"A=true, kube:B=true,C=true"}, []string{"mixed-prefix [kube:B=true]"}},
		{"S8d mixed over two flags", []string{"kube:A=true", "B=true"}, []string{"mixed-prefix [B=true]"}},
		{"S8d mixed with empty prefix", []string{"kube:A=true,:B=true"}, []string{"mixed-prefix [:B=true]"}},
		{"S8d a blank counts as unprefixed", []string{"kube:A=true, "}, []string{"mixed-prefix []"}},
		{"S8d a prefix alone counts", []string{"A=true,kube:"}, []string{"mixed-prefix [kube:]"}},
		{"goes on", []string{"A,B=no,C: true,D=true"}, []string{"missing-value [A]", "not-bool [B=no]", "colon-separator [C: true]"}},
	} {
		g := ParseFeatureGates(tt.values)
		if diff := cmp.Diff(tt.want, problems(g)); diff != "" {
			t.Errorf("%s, %q (-want +got):\n%s", tt.fact, tt.values, diff)
		}
		checkSpans(t, tt.values, g)
	}
}

// checkSpans makes sure that each span covers the text that it is said to.
func checkSpans(t *testing.T, values []string, g FeatureGates) {
	t.Helper()
	at := func(s Span) string { return values[s.Value][s.Offset:s.End()] }
	for _, e := range g.Entries {
		if at(e.NameSpan) != e.Name || at(e.ValueSpan) != e.Value || !strings.HasPrefix(at(e.Span), e.Prefix) {
			t.Errorf("%q: spans of %+v cover %q, %q and %q", values, e, at(e.Span), at(e.NameSpan), at(e.ValueSpan))
		}
		if e.NameSpan.Offset < e.Span.Offset || e.NameSpan.End() > e.ValueSpan.Offset || e.ValueSpan.End() > e.Span.End() {
			t.Errorf("%q: spans of %+v are not in order", values, e)
		}
		if e.Span.Length == 0 || strings.TrimSpace(at(e.Span)) != at(e.Span) {
			t.Errorf("%q: entry %q is blank or has blanks around it", values, at(e.Span))
		}
	}
	for _, p := range g.Problems {
		if at(p.Span) != p.Text {
			t.Errorf("%q: span of %+v covers %q", values, p, at(p.Span))
		}
	}
}

func TestParseFeatureGatesEntries(t *testing.T) {
	got := ParseFeatureGates([]string{"A=1", "é=x,\n kube : B = false ,C"}).Entries
	want := []GateEntry{
		{Span: Span{0, 0, 3}, NameSpan: Span{0, 0, 1}, ValueSpan: Span{0, 2, 1}, Name: "A", Value: "1", Valid: true, On: true},
		{Span: Span{1, 0, 4}, NameSpan: Span{1, 0, 2}, ValueSpan: Span{1, 3, 1}, Name: "é", Value: "x"},
		{Span: Span{1, 7, 16}, NameSpan: Span{1, 14, 1}, ValueSpan: Span{1, 18, 5}, Prefix: "kube", Name: "B", Value: "false", Valid: true},
		{Span: Span{1, 25, 1}, NameSpan: Span{1, 25, 1}, ValueSpan: Span{1, 26, 0}, Name: "C"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFeatureGatesGate(t *testing.T) {
	for _, tt := range []struct {
		fact         string
		values       string // several flags are separated by |
		gate         string
		at           int
		on, explicit bool
	}{
		{"default, alpha", "", Gate, 35, false, false},
		{"default, beta", "", Gate, 36, true, false},
		{"set", Gate + "=true", Gate, 34, true, true},
		{"S2", Gate + "=false", Gate, 36, false, true},
		{"S3", "AllBeta=false", Gate, 36, false, false},
		{"AllBeta leaves alpha alone", "AllBeta=true", Gate, 35, false, false},
		{"S4, 1.36 emulates 1.35", "WatchList=true", Gate, 35, false, false},
		{"S5", "AllAlpha=true", Gate, 35, true, false},
		{"S5, oldest", "AllAlpha=true", Gate, 33, true, false},
		{"AllAlpha leaves beta alone", "AllAlpha=false", Gate, 36, true, false},
		{"S8e, group behind", Gate + "=true,AllAlpha=false", Gate, 35, true, true},
		{"S8e, group before", "AllBeta=false," + Gate + "=true", Gate, 36, true, true},
		{"S8e, last wins", Gate + "=true," + Gate + "=false", Gate, 35, false, true},
		{"S8e, last wins over flags", Gate + "=true|" + Gate + "=false|" + Gate + "=true", Gate, 35, true, true},
		{"last group wins", "AllAlpha=true,AllAlpha=false", Gate, 35, false, false},
		{"S10", "WatchList=true|" + Gate + "=true", Gate, 35, true, true},
		{"S8c, prefix", "kube:" + Gate + "=true", Gate, 35, true, true},
		{"not valid", Gate + "=yes", Gate, 35, false, false},
		{"another component", "wardle:" + Gate + "=true", Gate, 35, false, false},
		{"identity, default", "", Identity, 33, true, false},
		{"S6", Identity + "=false", Identity, 36, false, true},
		{"identity is beta", "AllBeta=false", Identity, 35, false, false},
		{"identity, AllAlpha", "AllAlpha=true", Identity, 35, true, false},
		{"a group itself", "AllBeta=true,AllAlpha=true", AllBeta, 35, true, true},
		{"one group is no part of another", "AllBeta=true", AllAlpha, 35, false, false},
	} {
		on, explicit := ParseFeatureGates(strings.Split(tt.values, "|")).Gate(tt.gate, OfMinor(tt.at))
		if on != tt.on || explicit != tt.explicit {
			t.Errorf("%s: %s with %q at 1.%d: got on %v, explicit %v", tt.fact, tt.gate, tt.values, tt.at, on, explicit)
		}
	}
}

// canonical writes what the values say in the plainest way: no blanks, one flag, the empty prefix, so
// that even a name with a colon in it stays one.
func canonical(g FeatureGates) string {
	var parts []string
	for _, e := range g.Entries {
		if e.Valid {
			parts = append(parts, fmt.Sprintf(":%s=%t", e.Name, e.On))
		}
	}
	return strings.Join(parts, ",")
}

func FuzzParseFeatureGates(f *testing.F) {
	for _, s := range []string{"", "A=true,", Gate + "=true|AllAlpha=false", "kube:A=1, ", `"A=true,B: true"`, " : A = t|=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values := strings.Split(s, "|")
		g := ParseFeatureGates(values)
		checkSpans(t, values, g)
		mixed := 0
		for _, p := range g.Problems {
			if p.Kind == MixedPrefix {
				mixed++
			}
		}
		if mixed > 1 {
			t.Errorf("%q: mixed prefixes are reported %d times", values, mixed)
		}
		plain := canonical(g)
		again := ParseFeatureGates([]string{plain})
		if len(again.Problems) > 0 || canonical(again) != plain {
			t.Errorf("%q: the plain form %q reads as %q with problems %v", values, plain, canonical(again), again.Problems)
		}
		for _, r := range Known() {
			for _, name := range []string{Gate, Identity, AllAlpha, AllBeta} {
				on, explicit := g.Gate(name, r)
				on2, explicit2 := again.Gate(name, r)
				if on != on2 || explicit != explicit2 {
					t.Errorf("%q: %s at %s differs from the plain form", values, name, r)
				}
			}
		}
	})
}
