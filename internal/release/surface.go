package release

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// APISettings are the values of the flags that decide which resources a kube-apiserver serves, in their order.
type APISettings struct {
	RuntimeConfig, FeatureGates, EmulatedVersion, MinCompatibilityVersion []string
	// Forward tells of --emulation-forward-compatible and --runtime-config-emulation-forward-compatible: one is on.
	Forward bool
}

// ErrForward is why it is not known what a server serves that emulates an older release and keeps newer versions.
var ErrForward = errors.New("which newer versions --emulation-forward-compatible adds is not known")

// Serves returns the built-in resources that a kube-apiserver of the release serves with the settings, in the order of
// Compare. It is an error where the server exits on the settings, and where that cannot be told.
//
// What --runtime-config means follows pkg/server/resourceconfig and pkg/server/storage of k8s.io/apiserver, alike in
// 1.33 to 1.37; which gate a resource hangs on, and from which emulated release on it is there, was measured.
func (c *Catalogue) Serves(s APISettings) ([]Resource, error) {
	at, err := EffectiveVersions(s.EmulatedVersion, s.MinCompatibilityVersion, c.binary)
	if err != nil {
		return nil, err
	}
	if s.Forward && !at.Emulated.SameMinor(c.binary) {
		return nil, ErrForward
	}
	config := ParseRuntimeConfig(s.RuntimeConfig)
	if problems := c.RuntimeConfigProblems(config); len(problems) > 0 {
		return nil, fmt.Errorf("runtime-config: %s", problems[0])
	}
	gates := ParseFeatureGates(s.FeatureGates)
	if len(gates.Problems) > 0 {
		return nil, fmt.Errorf("feature-gates: %q cannot be read", gates.Problems[0].Text)
	}
	if problems := c.GateProblems(gates, at); len(problems) > 0 {
		return nil, fmt.Errorf("feature-gates: %s", problems[0])
	}
	var served []Resource
	for _, r := range c.surface() {
		if r.emulable(at.Emulated) && c.GatesOn(r, gates, at) && c.Enabled(config, r) {
			served = append(served, r)
		}
	}
	return served, nil
}

func (r Resource) emulable(emulated Release) bool {
	return !r.ComesAfter(emulated) && (r.until == 0 || emulated.minor <= r.until)
}

// ComesAfter tells whether a server that emulates a release does not serve the resource yet.
func (r Resource) ComesAfter(emulated Release) bool { return r.since > emulated.minor }

// GatesOn tells whether all gates are on that a resource hangs on.
func (c *Catalogue) GatesOn(r Resource, gates FeatureGates, at Effective) bool {
	return !slices.ContainsFunc(r.gates, func(gate string) bool { return !c.GateOn(gate, gates, at) })
}

// RuntimeConfig is what the values of --runtime-config say: of one key the last value.
type RuntimeConfig struct {
	Entries []RuntimeConfigEntry
}

// RuntimeConfigEntry is one key of --runtime-config.
type RuntimeConfigEntry struct {
	Key, Value string
	// Span is the entry without the blanks around it.
	Span Span
}

// ParseRuntimeConfig reads all values that a command line gives for --runtime-config, in their order. Entries that a
// later one of the same key replaces are left out; a key without a value has an empty one. Nothing is refused while it
// is read (k8s.io/component-base/cli/flag, ConfigurationMap).
func ParseRuntimeConfig(values []string) RuntimeConfig {
	var config RuntimeConfig
	for i, value := range values {
		start := 0
		for segment := range strings.SplitSeq(value, ",") {
			if segment != "" {
				text, at := trim(segment, start)
				key, val, _ := strings.Cut(text, "=")
				e := RuntimeConfigEntry{Key: strings.TrimSpace(key), Value: strings.TrimSpace(val), Span: Span{i, at, len(text)}}
				config.Entries = slices.DeleteFunc(config.Entries, func(old RuntimeConfigEntry) bool { return old.Key == e.Key })
				config.Entries = append(config.Entries, e)
			}
			start += len(segment) + 1
		}
	}
	return config
}

// Entry returns the last entry that kube-apiserver takes for one of a key, nil where there is none.
func (config RuntimeConfig) Entry(key string) *RuntimeConfigEntry {
	for i := range slices.Backward(config.Entries) {
		if config.Entries[i].Canonical() == key {
			return &config.Entries[i]
		}
	}
	return nil
}

// Get returns the value of a key.
func (config RuntimeConfig) Get(key string) (value string, set bool) {
	for _, e := range config.Entries {
		if e.Key == key {
			return e.Value, true
		}
	}
	return "", false
}

// The keys of --runtime-config that stand for many group versions, in the order in which they are applied.
var runtimeClasses = []struct {
	key     string
	matches func(version string) bool
}{
	{"api/all", func(string) bool { return true }},
	{"api/ga", regexp.MustCompile(`^v\d+$`).MatchString},
	{"api/beta", regexp.MustCompile(`^v\d+beta\d+$`).MatchString},
	{"api/alpha", regexp.MustCompile(`^v\d+alpha\d+$`).MatchString},
}

func isRuntimeClass(key string) bool {
	for _, class := range runtimeClasses {
		if class.key == key {
			return true
		}
	}
	return false
}

// Canonical returns the key that kube-apiserver takes a key for: all that it writes of the core group is /v1, even a
// resource of it; "" is the key that it drops.
func (e RuntimeConfigEntry) Canonical() string {
	switch {
	case e.Key == "v1", e.Key == "api/v1", strings.HasPrefix(e.Key, "v1/"), strings.HasPrefix(e.Key, "api/v1/"):
		return "/v1"
	case e.Key == "api/legacy":
		return ""
	}
	return e.Key
}

// RuntimeConfigProblem is one thing in --runtime-config that makes kube-apiserver exit.
type RuntimeConfigProblem struct {
	RuntimeConfigEntry
	// Reason is a clause for people: "1.36 has no API group apps2".
	Reason string
}

func (p RuntimeConfigProblem) String() string { return fmt.Sprintf("%q: %s", p.entry(), p.Reason) }

func (p RuntimeConfigProblem) entry() string {
	if p.Value == "" {
		return p.Key
	}
	return p.Key + "=" + p.Value
}

// RuntimeConfigProblems returns what makes kube-apiserver of the release exit on a --runtime-config (S8k).
func (c *Catalogue) RuntimeConfigProblems(config RuntimeConfig) []RuntimeConfigProblem {
	if len(config.Entries) == 1 && config.Entries[0].Key == "api/all" && config.Entries[0].Value == "false" {
		return []RuntimeConfigProblem{{config.Entries[0], "with nothing else it leaves no API at all"}}
	}
	var problems []RuntimeConfigProblem
	for _, e := range config.Entries {
		if reason := c.runtimeProblem(e); reason != "" {
			problems = append(problems, RuntimeConfigProblem{e, reason})
		}
	}
	return problems
}

func (c *Catalogue) runtimeProblem(e RuntimeConfigEntry) string {
	key := e.Canonical()
	if key == "" && e.Key != "" {
		return ""
	}
	if isRuntimeClass(key) {
		if e.Value != "true" && e.Value != "false" {
			return "the value is neither true nor false"
		}
		return ""
	}
	tokens := strings.Split(key, "/")
	if len(tokens) != 2 && len(tokens) != 3 {
		return "it is not of the form group/version or group/version/resource"
	}
	group, gv := tokens[0], tokens[0]+"/"+tokens[1]
	if group == "" {
		gv = tokens[1]
	}
	if _, ok := c.versions()[gv]; !ok {
		for known := range c.versions() {
			if g, _, ok := strings.Cut(known, "/"); ok && g == group || !ok && group == "" {
				return fmt.Sprintf("%s has no version %s of the API group %s", c.binary.MinorString(), tokens[1], cmp.Or(group, "core"))
			}
		}
		return fmt.Sprintf("%s has no API group %s", c.binary.MinorString(), group)
	}
	if e.Value != "" {
		if _, err := strconv.ParseBool(e.Value); err != nil {
			return "the value is neither true nor false"
		}
	}
	if len(tokens) == 3 && strings.ToLower(tokens[2]) != tokens[2] {
		return "a resource is written in small letters"
	}
	return ""
}

// What a catalogue says of a group version: what the release makes of it by default. One that is unlisted has no
// default, and the keys of classes do not reach it.
const (
	versionOn  = "on"
	versionOff = "off"
	unlisted   = "unlisted"
)

// Enabled tells whether --runtime-config leaves a resource on. A key of a class reaches the group versions that the
// release lists; one of a group version, and then one of a resource, wins over it. What switches a resource switches
// its subresources.
func (c *Catalogue) Enabled(config RuntimeConfig, r Resource) bool {
	gv := r.GroupVersion()
	state := c.versions()[gv]
	listed, on := state != unlisted, state == versionOn
	if len(config.Entries) == 0 {
		return on
	}
	for _, class := range runtimeClasses {
		if value, set := config.Get(class.key); set && listed && class.matches(r.Version) {
			on = value == "true"
		}
	}
	name, _, _ := strings.Cut(r.Name, "/")
	key := r.Group + "/" + r.Version
	for _, want := range []string{key, key + "/" + name} {
		for _, e := range config.Entries {
			if e.Canonical() == want {
				on, _ = strconv.ParseBool(cmp.Or(e.Value, "true"))
			}
		}
	}
	return on
}
