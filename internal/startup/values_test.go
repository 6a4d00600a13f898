package startup

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// TestValueProblems shows the reasons; that they are right, testdata/settings.txt shows with the real servers.
func TestValueProblems(t *testing.T) {
	for _, tc := range []struct {
		release string
		line    string // flag=value, separated by blanks
		at      release.Effective
		want    []string // index of the setting and reason
	}{
		{release: "1.36", line: "event-ttl=5m profiling=false goaway-chance=0.02"},
		{release: "1.36", line: "event-ttl=2 profiling=external", want: []string{
			"event-ttl is not a duration with a unit, such as 30s or 1h30m", "profiling is neither true nor false"}},
		{release: "1.36", line: "event_ttl=2", want: []string{"event_ttl is not a duration with a unit, such as 30s or 1h30m"}},
		// Each value is read, and the last one counts.
		{release: "1.36", line: "goaway-chance=1 goaway-chance=0.01"},
		{release: "1.36", line: "goaway-chance=x goaway-chance=0.01", want: []string{"goaway-chance is not a number"}},
		{release: "1.36", line: "no-such-flag=x"},
		{release: "1.34", line: "request-timeout=1ms", want: []string{"request-timeout leaves no request any time: the server cannot write its default roles, and ends after half a minute"}},
		{release: "1.34", line: "request-timeout=0", want: []string{"request-timeout leaves no request any time: the server cannot write its default roles, and ends after half a minute"}},
		{release: "1.34", line: "request-timeout=100ms"},
		{release: "1.34", line: "version=true version=false"},
		{release: "1.34", line: "etcd-servers=http://[::1", want: []string{"etcd-servers has nothing that can be the address of an etcd, such as https://192.0.2.11:2379"}},
		{release: "1.34", line: "etcd-servers=ftp://etcd.example:2379,http://[::1", want: []string{"etcd-servers has nothing that can be the address of an etcd, such as https://192.0.2.11:2379"}},
		{release: "1.34", line: "etcd-servers=http://[::1,https://[::1]:2379"},
		{release: "1.34", line: "etcd-servers=etcd.example:2379"},
		{release: "1.33", line: "bind-address=", want: []string{"bind-address is not an IP address"}},
		{release: "1.34", line: "bind-address="},
		{release: "1.36", line: "help=true", want: []string{"help has it print its usage and end"}},
		{release: "1.36", line: "disabled-metrics=a-b", want: []string{`disabled-metrics has an entry that is not the name of a metric: "a-b"`}},
		{release: "1.35", line: "disabled-metrics=a-b"},
		// Rules over several flags say nothing where one of them is not known, or cannot be read.
		{release: "1.36", line: "oidc-issuer-url=https://a", want: []string{"oidc-issuer-url needs both oidc-issuer-url and oidc-client-id"}},
		{release: "1.36", line: "oidc-issuer-url=https://a oidc-client-id=?"},
		{release: "1.36", line: "coordinated-leadership-lease-duration=5 coordinated-leadership-renew-deadline=9s", want: []string{
			"coordinated-leadership-lease-duration is not a duration with a unit, such as 30s or 1h30m"}},
		{release: "1.36", line: "coordinated-leadership-renew-deadline=20s", want: []string{
			"coordinated-leadership-renew-deadline is not less than coordinated-leadership-lease-duration, which is 15s"}},
		{release: "1.36", line: "log-text-split-stream=true", want: []string{"log-text-split-stream needs the feature gate LoggingAlphaOptions"}},
		{release: "1.36", line: "log-text-split-stream=true feature-gates=LoggingAlphaOptions=true"},
		{release: "1.36", line: "emulation-forward-compatible=true", want: []string{
			"emulation-forward-compatible goes only with an emulated-version that is older than the server"}},
		{release: "1.36", line: "emulation-forward-compatible=true", at: release.EffectiveOf(release.OfMinor(35))},
		{release: "1.36", line: "enable-admission-plugins=NodeRestricton", want: []string{
			`enable-admission-plugins names "NodeRestricton", an admission plugin that 1.36 does not have; it has NodeRestriction`}},
		{release: "1.36", line: "enable-admission-plugins=JobValidation"},
		{release: "1.37", line: "enable-admission-plugins=JobValidation", want: []string{
			`enable-admission-plugins names "JobValidation", an admission plugin that 1.37 does not have`}},
		{release: "1.36", line: "service-cluster-ip-range=10.0.0.0/8"},
		{release: "1.33", line: "service-cluster-ip-range=10.0.0.0/8", want: []string{
			"service-cluster-ip-range has a range that is too large: of addresses of 32 bits, at least 12 must be given"}},
	} {
		t.Run(tc.release+" "+tc.line, func(t *testing.T) {
			r, err := release.Parse(tc.release)
			if err != nil {
				t.Fatal(err)
			}
			c, _ := release.CatalogueOf(r)
			if tc.at == (release.Effective{}) {
				tc.at = release.EffectiveOf(r)
			}
			var line []Setting
			for word := range strings.FieldsSeq(tc.line) {
				flag, value, _ := strings.Cut(word, "=")
				line = append(line, Setting{Flag: flag, Value: value, Unknown: value == "?"})
			}
			var got []string
			for _, p := range ValueProblems(c, line, tc.at) {
				got = append(got, line[p.Setting].Flag+" "+p.Reason)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestChecks finds checks about flags that no release has, and defaults that no check can read.
func TestChecks(t *testing.T) {
	for _, check := range checks() {
		for _, flag := range check.flags {
			if !slices.ContainsFunc(release.Known(), func(r release.Release) bool { return hasFlag(r, flag) }) {
				t.Errorf("no release has the flag %s", flag)
			}
		}
	}
	for _, r := range release.Known() {
		c, _ := release.CatalogueOf(r)
		for _, f := range c.Flags() {
			if _, ok := valueTypes[f.Type]; !ok && f.Type != "string" && f.Type != "stringArray" && f.Type != "mapStringString" && f.Type != "colonSeparatedMultimapStringString" {
				t.Errorf("%s: what the type %s of %s refuses is not known", r, f.Type, f.Name)
			}
			// A list's default is in brackets, which no check reads.
			if reason := refusedByType(f, f.Default, c.Release()); f.Default != "" && f.Default[0] != '[' && reason != "" {
				t.Errorf("%s: %s: the default %q %s", r, f.Name, f.Default, reason)
			}
		}
	}
}

func hasFlag(r release.Release, flag string) bool {
	c, _ := release.CatalogueOf(r)
	_, ok := c.Flag(flag)
	return ok
}

func TestRuntimeConfigNeeds(t *testing.T) {
	for _, tc := range []struct {
		config string
		fair   bool
		minor  int // 33 or a later one
		gates  string
		want   []string
	}{
		{config: "", fair: true},
		{config: "apps/v1=false", fair: true},
		{config: "networking.k8s.io/v1/servicecidrs=false", minor: 36, want: []string{"networking.k8s.io/v1/servicecidrs"}},
		{config: "networking.k8s.io/v1/ipaddresses=false", want: []string{"networking.k8s.io/v1/ipaddresses"}},
		{config: "networking.k8s.io/v1=false", minor: 37, want: []string{"networking.k8s.io/v1"}},
		{config: "networking.k8s.io/v1=false", gates: "MultiCIDRServiceAllocator=false"},
		{config: "networking.k8s.io/v1/ingresses=false"},
		{config: "rbac.authorization.k8s.io/v1/roles=false", want: []string{"rbac.authorization.k8s.io/v1/roles"}},
		{config: "rbac.authorization.k8s.io/v1=false,rbac.authorization.k8s.io/v1/clusterroles=true", want: []string{"rbac.authorization.k8s.io/v1"}},
		{config: "rbac.authorization.k8s.io/v1=false"},
		{config: "flowcontrol.apiserver.k8s.io/v1=false", want: nil},
		{config: "flowcontrol.apiserver.k8s.io/v1=false", fair: true, want: []string{"flowcontrol.apiserver.k8s.io/v1"}},
		{config: "flowcontrol.apiserver.k8s.io/v1=true,api/ga=false,v1=true,apiregistration.k8s.io/v1=true,networking.k8s.io/v1=true", fair: true},
		{config: "api/all=false,v1=true", want: []string{"api/all"}},
		{config: "api/v1=false", want: []string{"api/v1"}},
		{config: "v1/pods=false", want: []string{"v1/pods"}},
		{config: "apiregistration.k8s.io/v1/apiservices=false", want: []string{"apiregistration.k8s.io/v1/apiservices"}},
	} {
		r := release.OfMinor(max(tc.minor, 33))
		c, _ := release.CatalogueOf(r)
		line := []Setting{{Flag: release.FlagFeatureGates, Value: tc.gates}, {Flag: release.FlagPriorityAndFairness, Value: strconv.FormatBool(tc.fair)}}
		var got []string
		for _, p := range NewServer(c, line, release.EffectiveOf(r)).RuntimeConfigProblems(release.ParseRuntimeConfig([]string{tc.config})) {
			got = append(got, p.Key)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s, priority and fairness %t (-want +got):\n%s", tc.config, tc.fair, diff)
		}
	}
}

func TestRuntimeConfigFuture(t *testing.T) {
	for _, tc := range []struct {
		binary, emulated int
		config           string
		want             []string
	}{
		{34, 31, "resource.k8s.io/v1alpha3=true", []string{"resource.k8s.io/v1alpha3"}},
		{34, 31, "resource.k8s.io/v1alpha3=false", nil},
		{34, 33, "resource.k8s.io/v1alpha3=true", nil},
		{34, 34, "resource.k8s.io/v1alpha3=true", nil},
		{34, 31, "api/alpha=true", nil},
		{33, 32, "networking.k8s.io/v1/servicecidrs=true", []string{"networking.k8s.io/v1/servicecidrs"}},
		{37, 36, "storagemigration.k8s.io/v1=true", nil}, // its gate is off, so it is not there at all
	} {
		c, _ := release.CatalogueOf(release.OfMinor(tc.binary))
		var got []string
		for _, p := range NewServer(c, nil, release.EffectiveOf(release.OfMinor(tc.emulated))).RuntimeConfigProblems(release.ParseRuntimeConfig([]string{tc.config})) {
			got = append(got, p.Key)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("1.%d emulates 1.%d, %s (-want +got):\n%s", tc.binary, tc.emulated, tc.config, diff)
		}
	}
}
