package release

// Names of the feature gates of kube-apiserver that decide about the hand-off.
const (
	// Gate is the feature gate of the hand-off itself.
	Gate = "UnknownVersionInteroperabilityProxy"
	// Identity is the gate that Gate depends on: without it a server publishes no identity lease.
	Identity = "APIServerIdentity"
	// AllAlpha and AllBeta set all gates of a stage that are not named themselves.
	AllAlpha = "AllAlpha"
	AllBeta  = "AllBeta"
)

// Stage is how mature a feature gate is. AllAlpha and AllBeta go by it.
type Stage string

// The stages that the gates of this package go through in the known releases.
const (
	Alpha Stage = "alpha"
	Beta  Stage = "beta"
)

// GateSpec is what a release makes of a feature gate that nothing sets.
type GateSpec struct {
	Stage   Stage
	Default bool
}

// gateHistory lists for each gate, oldest first, from which minor on a specification holds. Gate: S1,
// S2, S5 and pkg/features/kube_features.go of k8s.io/kubernetes (1.33, 1.34) and of k8s.io/apiserver
// (1.35 and later). Identity: the latter file in 1.33 to 1.37.
var gateHistory = map[string][]struct {
	since int
	spec  GateSpec
}{
	Gate: {
		{28, GateSpec{Stage: Alpha, Default: false}},
		{36, GateSpec{Stage: Beta, Default: true}},
	},
	Identity: {
		{20, GateSpec{Stage: Alpha, Default: false}},
		{26, GateSpec{Stage: Beta, Default: true}},
	},
	// The binary declares them at version 0.0; they are off as long as nobody sets them.
	AllAlpha: {{0, GateSpec{Stage: Alpha, Default: false}}},
	AllBeta:  {{0, GateSpec{Stage: Beta, Default: false}}},
}

// GateAt returns what release r makes of a gate: Gate, Identity, AllAlpha or AllBeta. ok is false for
// any other gate and for a release before the gate existed. Where a server emulates an older release,
// the emulated one counts (S4).
func GateAt(name string, r Release) (spec GateSpec, ok bool) {
	for _, h := range gateHistory[name] {
		if r.minor >= h.since {
			spec, ok = h.spec, true
		}
	}
	return spec, ok
}

// IdentityEnforced tells whether a kube-apiserver binary of release r exits when Gate is on and
// Identity is off (S6). Dependencies between gates are declared from 1.35 on (pkg/features/
// kube_features.go of k8s.io/kubernetes); 1.33 and 1.34 start, but publish no identity lease, by which
// their peers would find them. The binary counts, not the release that it emulates.
func IdentityEnforced(binary Release) bool { return binary.minor >= 35 }
