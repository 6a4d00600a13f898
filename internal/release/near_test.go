package release

import "testing"

func TestIsMisspelling(t *testing.T) {
	for name, want := range map[string]bool{
		Gate:                                    false,
		"UnknownVersionInteropabilityProxy":     true, // two letters missing
		"UnknownVersionInterOperabilityProxy":   true, // capitals
		"unknownversioninteroperabilityproxy":   true,
		"UnknownVersionInteroperabiltyProxy":    true,
		"UnkownVersionInteroperabilityProxy":    true,
		"UnknwonVersionInteroperabilityProxy":   true, // swapped
		"UnknownVersionInteroperabilityProxies": true,
		"UnknownVersionsInteroperabilityProxys": true,
		"UnknownVersionInteroperability":        false,
		"MixedVersionProxy":                     false,
		"":                                      false,
		// The nearest real ones among the gates that 1.33 to 1.37 declare; each is more than 20 away.
		Identity:                       false,
		"StorageVersionAPI":            false,
		"StorageVersionMigrator":       false,
		"AllowServiceExternalIPs":      false,
		"DRADeviceCompatibilityGroups": false,
		"DRAOptionalNodeOperations":    false,
		"InOrderInformersBatchProcess": false,
		"ConstrainedImpersonation":     false,
		"CompatibilityVersion":         false,
		"EmulationVersion":             false,
	} {
		if got := IsMisspelling(name); got != want {
			t.Errorf("IsMisspelling(%q) = %v", name, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	fields := []string{"apiServer", "extraArgs", "extraVolumes", "extraEnvs", "certSANs", "dns", "peer-ca-file"}
	for name, want := range map[string]string{
		"extraArg":      "extraArgs",
		"extraargs":     "extraArgs",
		"extra-args":    "extraArgs",
		"apiserver":     "apiServer",
		"apiSrever":     "apiServer",
		"peerCaFile":    "peer-ca-file",
		"peer_ca_file":  "peer-ca-file",
		"peer-ca-fiel":  "peer-ca-file",
		"extraVolume":   "extraVolumes",
		"extraXyz":      "",
		"DNS":           "dns",
		"dn":            "",
		"extraArgs":     "",
		"somethingElse": "",
		"":              "",
	} {
		got, ok := Suggest(name, fields)
		if got != want || ok != (want != "") {
			t.Errorf("Suggest(%q) = %q, %v; want %q", name, got, ok, want)
		}
	}
	if got, _ := Suggest("abcdex", []string{"abcdef", "abcdeg"}); got != "abcdef" {
		t.Errorf("of equally near ones got %q, want the first", got)
	}
}

func TestTypos(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "ABC", 0}, {"abc", "acb", 1}, {"abc", "xabc", 1}, {"abc", "ac", 1},
		{"abc", "xyz", 3}, {"é", "e", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3},
	} {
		if got := typos(tt.a, tt.b, 10); got != tt.want {
			t.Errorf("typos(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := typos(tt.b, tt.a, 10); got != tt.want {
			t.Errorf("typos(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
	if got := typos("a", "abcdefgh", 3); got <= 3 {
		t.Errorf("far words are %d apart", got)
	}
}
