package report

import (
	"bytes"
	"testing"
)

// What standard error has said is not said again, and yet an error never looks like success.
func TestTextErrorsElsewhere(t *testing.T) {
	var out bytes.Buffer
	w := NewText(&out, TextOptions{Program: "mvpcheck", ErrorsElsewhere: true})
	err := Write(w, Report{
		Errors:  []InputError{{File: "a.yaml", Line: 3, Column: 1, Message: "a tab"}},
		Summary: Summary{Verdict: VerdictCannotTell},
	})
	if want := "CANNOT TELL: a.yaml cannot be read.\n"; err != nil || out.String() != want {
		t.Errorf("got %q, %v; want %q", out.String(), err, want)
	}
}

// A cluster that no rule was asked about has no counts to show.
func TestTextNothingAsked(t *testing.T) {
	var out bytes.Buffer
	w := NewText(&out, TextOptions{Program: "mvpcheck"})
	if err := w.Cluster(Cluster{Source: "join.yaml", CannotTell: "no ClusterConfiguration"}); err != nil {
		t.Fatal(err)
	}
	if want := "join.yaml: CANNOT TELL: no ClusterConfiguration\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
