package handoff

import "testing"

func TestRoute(t *testing.T) {
	up := func(handed Answer) Holder { return Holder{Handed: handed, Up: true} }
	gone := func(handed Answer) Holder { return Holder{Handed: handed, Remembered: true} }
	for _, tc := range []struct {
		name    string
		inside  bool
		holders []Holder
		want    Outcome
	}{
		{"no server has it", false, nil, Unserved},
		{"handed off (H1)", false, []Holder{up(Yes)}, HandedOff},
		{"a false 404 (H2 to H9)", false, []Holder{up(No)}, NotFound},
		{"one of two takes it", false, []Holder{up(No), up(Yes)}, HandedOff},
		{"one takes it, the other may", false, []Holder{up(Unknown), up(Yes)}, HandedOff},
		{"unknown", false, []Holder{up(Unknown)}, Unsure},
		{"unknown beside a no", false, []Holder{up(No), up(Unknown)}, Unsure},
		{"a peer that was read is gone (H10)", false, []Holder{gone(Yes)}, Unavailable},
		{"a peer that may have been read is gone", false, []Holder{gone(Unknown)}, Unsure},
		{"a peer that was never read is gone (H8)", false, []Holder{gone(No)}, Unserved},
		{"a peer has taken leave", false, []Holder{{Handed: Yes}}, Unserved},
		{"one is gone, the other takes it", false, []Holder{gone(Yes), up(Yes)}, HandedOff},
		{"one that was read is gone, the other was never read", false, []Holder{gone(Yes), up(No)}, Unavailable},
		{"a subresource of what the server has (MVP518)", true, []Holder{up(Yes)}, NotFound},
		{"such a subresource, unknown otherwise", true, []Holder{up(Unknown)}, NotFound},
		{"such a subresource of a peer that is gone", true, []Holder{gone(Yes)}, Unserved},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := OutcomeOf(tc.inside, tc.holders); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
