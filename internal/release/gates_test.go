package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGateAt(t *testing.T) {
	off, on := GateSpec{Alpha, false, false}, GateSpec{Beta, true, false}
	for _, tt := range []struct {
		name  string
		minor int
		want  GateSpec
		ok    bool
	}{
		{Gate, 27, GateSpec{Stage: PreAlpha}, false},
		{Gate, 28, off, true},
		{Gate, 33, off, true},
		{Gate, 34, off, true},
		{Gate, 35, off, true},
		{Gate, 36, on, true},
		{Gate, 37, on, true},
		{Gate, 38, on, true},
		{Identity, 19, GateSpec{Stage: PreAlpha}, false},
		{Identity, 25, off, true},
		{Identity, 33, on, true},
		{Identity, 37, on, true},
		{AllAlpha, 35, off, true},
		{AllBeta, 35, GateSpec{Beta, false, false}, true},
		{"WatchList", 35, on, true},
		{"ConsistentListFromCache", 35, GateSpec{GA, true, true}, true},
		{"NoSuchGate", 35, GateSpec{}, false},
	} {
		got, ok := GateAt(tt.name, OfMinor(tt.minor))
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("%s at 1.%d: ok %v (-want +got):\n%s", tt.name, tt.minor, ok, diff)
		}
	}
}

func TestIdentityEnforced(t *testing.T) {
	for minor, want := range map[int]bool{33: false, 34: false, 35: true, 36: true, 37: true} {
		if got := IdentityEnforced(OfMinor(minor)); got != want {
			t.Errorf("1.%d: got %v", minor, got)
		}
	}
}
