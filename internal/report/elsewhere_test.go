package report

import "testing"

// What standard error has said is not said again, and yet an error never looks like success.
func TestTextErrorsElsewhere(t *testing.T) {
	r := finish(CheckReport{Errors: []InputError{{File: "a.yaml", Line: 3, Column: 1, Message: "a tab"}}})
	got := string(writeCalled(t, "text", r, called{ErrorsElsewhere: true}))
	if want := "CANNOT TELL: a.yaml cannot be read.\n"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}

// A cluster that no rule was asked about has no counts to show.
func TestTextNothingAsked(t *testing.T) {
	r := finish(CheckReport{Clusters: []Cluster{{Source: "join.yaml", CannotTell: "no ClusterConfiguration"}}})
	if got, want := string(write(t, "text", r)), "join.yaml: CANNOT TELL: no ClusterConfiguration\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
