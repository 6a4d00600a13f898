package release

import (
	"crypto/tls"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// genericRules follow pkg/server/options/server_run_options.go and feature.go of k8s.io/apiserver.
var genericRules = slices.Concat(
	refuse(negative, "livez-grace-period", "max-mutating-requests-inflight", "max-requests-inflight", "min-request-timeout", "request-timeout",
		"shutdown-delay-duration", "shutdown-watch-termination-grace-period", "storage-initialization-timeout"),
	refuse(onlyEmulating, "emulation-forward-compatible", "runtime-config-emulation-forward-compatible"),
	[]valueRule{
		// Measured on 1.33, 1.36 and 1.37: up to a millisecond it ends 30 seconds after the start; with 100 ms it is ready.
		{flags: []string{"request-timeout"}, refuses: func(s *settings) string {
			if d := s.duration("request-timeout"); d >= 0 && d <= time.Millisecond {
				return "leaves no request any time: the server cannot write its default roles, and ends after half a minute"
			}
			return ""
		}},
		{flags: []string{"goaway-chance"}, refuses: func(s *settings) string {
			if chance := s.float("goaway-chance"); chance < 0 || chance > 0.02 {
				return "is not between 0 and 0.02"
			}
			return ""
		}},
		{flags: []string{"max-requests-inflight", "max-mutating-requests-inflight", "enable-priority-and-fairness"}, refuses: func(s *settings) string {
			if s.on("enable-priority-and-fairness") && s.number("max-requests-inflight") == 0 && s.number("max-mutating-requests-inflight") == 0 {
				return "leaves no request at all, with max-mutating-requests-inflight 0 and enable-priority-and-fairness"
			}
			return ""
		}},
		{flags: []string{"strict-transport-security-directives"}, refuses: func(s *settings) string {
			for _, item := range s.items("strict-transport-security-directives") {
				name, value, _ := strings.Cut(item, "=")
				if item != "includeSubDomains" && item != "preload" && (name != "max-age" || !strings.Contains(item, "=") || strings.Contains(value, "=")) {
					return "is not made of max-age=SECONDS, includeSubDomains and preload"
				}
			}
			return ""
		}},
		{flags: []string{"cors-allowed-origins"}, refuses: func(s *settings) string {
			for _, origin := range s.items("cors-allowed-origins") {
				if _, err := regexp.Compile(origin); err != nil || origin == "" {
					return "has an entry that is not a regular expression"
				}
				if !strings.Contains(origin, "^") && !strings.Contains(origin, "//") || !strings.ContainsAny(origin, "$:") {
					return "has an entry that does not pin start and end of the host: it needs ^ or //, and $ or :"
				}
			}
			return ""
		}},
	})

func onlyEmulating(s *settings, flag string) string {
	if s.on(flag) && s.at.Emulated.SameMinor(s.catalogue.binary) {
		return "goes only with an emulated-version that is older than the server"
	}
	return ""
}

// storageRules follow pkg/server/options/etcd.go of k8s.io/apiserver.
var storageRules = []valueRule{
	{flags: []string{"etcd-servers"}, refuses: func(s *settings) string {
		servers := s.items("etcd-servers")
		switch {
		case len(servers) == 0:
			return "names no server"
		case !slices.ContainsFunc(servers, isEtcdServer):
			return "has nothing that can be the address of an etcd, such as https://192.0.2.11:2379"
		}
		return ""
	}},
	oneOf("storage-backend", "", "etcd3"),
	oneOf("storage-media-type", "", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"),
	{flags: []string{"etcd-servers-overrides"}, refuses: func(s *settings) string {
		for _, override := range s.items("etcd-servers-overrides") {
			what, servers, ok := strings.Cut(override, "#")
			// Where a server's name is missing, 1.33 exits as it finds nobody there.
			unnamed := slices.Contains(strings.Split(servers, ";"), "")
			if !ok || unnamed || strings.Contains(servers, "#") || strings.Count(what, "/") != 1 {
				return "is not of the form group/resource#servers, with the servers separated by semicolons"
			}
			if !slices.ContainsFunc(strings.Split(servers, ";"), isEtcdServer) {
				return fmt.Sprintf("has nothing for %s that can be the address of an etcd, such as https://192.0.2.11:2379", what)
			}
		}
		return ""
	}},
	bothOrNone("etcd-certfile", "etcd-keyfile"),
	bothOrNone("etcd-keyfile", "etcd-certfile"),
	{flags: []string{"encryption-provider-config-automatic-reload", "encryption-provider-config"}, refuses: func(s *settings) string {
		if s.on("encryption-provider-config-automatic-reload") && s.text("encryption-provider-config") == "" {
			return "needs encryption-provider-config"
		}
		return ""
	}},
	{flags: []string{"watch-cache-sizes", "watch-cache"}, refuses: func(s *settings) string {
		if !s.on("watch-cache") {
			return ""
		}
		for _, item := range s.items("watch-cache-sizes") {
			what, size, ok := strings.Cut(item, "#")
			if n, err := strconv.Atoi(size); !ok || err != nil || n < 0 || strings.Contains(what, "#") {
				return "is not of the form resource.group#size, with a size of 0 or more"
			}
		}
		return ""
	}},
}

// bothOrNone returns a rule for a flag that another one needs.
func bothOrNone(flag, other string) valueRule {
	return valueRule{flags: []string{flag, other}, refuses: func(s *settings) string {
		if s.given(flag) && s.text(flag) == "" && s.text(other) != "" {
			return "names no file, and " + other + " does"
		}
		return ""
	}}
}

// isEtcdServer tells whether an etcd can be found at an address. Whether one answers is not asked: where none does, the
// server ends after 20 seconds (measured on 1.33 and 1.37). It may do without a scheme.
func isEtcdServer(address string) bool {
	if !strings.Contains(address, "://") {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && slices.Contains([]string{"http", "https", "unix", "unixs"}, u.Scheme)
}

// servingRules follow pkg/server/options/serving.go of k8s.io/apiserver and cli/flag of k8s.io/component-base.
var servingRules = []valueRule{
	oneOf("tls-min-version", "", "VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"),
	{flags: []string{"tls-cipher-suites"}, refuses: func(s *settings) string {
		for _, name := range s.items("tls-cipher-suites") {
			if !slices.Contains(cipherSuites(), name) {
				return fmt.Sprintf("names %q, which is no cipher suite that it knows", name)
			}
		}
		return ""
	}},
	// ConfigureServer of golang.org/x/net/http2.
	{flags: []string{"tls-cipher-suites", "tls-min-version", "disable-http2-serving"}, refuses: func(s *settings) string {
		suites := s.items("tls-cipher-suites")
		needed := func(name string) bool {
			return name == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" || name == "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
		}
		unknown := slices.ContainsFunc(suites, func(name string) bool { return !slices.Contains(cipherSuites(), name) })
		if len(suites) == 0 || unknown || s.on("disable-http2-serving") || s.text("tls-min-version") == "VersionTLS13" || slices.ContainsFunc(suites, needed) {
			return ""
		}
		return "lacks the cipher suite that HTTP/2 needs: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
	}},
	{flags: []string{"tls-sni-cert-key"}, refuses: func(s *settings) string {
		for _, value := range s.all("tls-sni-cert-key") {
			files, _, _ := strings.Cut(value, ":")
			cert, key, _ := strings.Cut(files, ",")
			if strings.TrimSpace(cert) == "" || strings.TrimSpace(key) == "" {
				return "lacks the name of a file"
			}
		}
		return ""
	}},
	{flags: []string{"tls-curve-preferences"}, refuses: func(s *settings) string {
		seen := map[int64]bool{}
		for _, value := range s.all("tls-curve-preferences") {
			for item := range strings.SplitSeq(value, ",") {
				id, _ := strconv.ParseInt(item, 0, 32)
				if !slices.Contains(curves, id) {
					return fmt.Sprintf("names %s, which is no curve that it knows", item)
				}
				if seen[id] {
					return fmt.Sprintf("names the curve %s twice", item)
				}
				seen[id] = true
			}
		}
		return ""
	}},
}

// curves are the numbers of the key exchanges that Go 1.26, which 1.36 and 1.37 are built with, has a name for.
var curves = []int64{23, 24, 25, 29, 4587, 4588, 4589}

// cipherSuites are the names that Go has for those that it knows, and two older ones that Kubernetes keeps.
func cipherSuites() []string {
	names := []string{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"}
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		names = append(names, suite.Name)
	}
	return names
}

// auditRules follow pkg/server/options/audit.go of k8s.io/apiserver, which judges the options of a backend that is used.
var auditRules = slices.Concat(
	auditBackend("log", "audit-log-path"),
	auditBackend("webhook", "audit-webhook-config-file"),
	auditOption("audit-log-path", "audit-log-format", func(s *settings) string {
		if f := s.text("audit-log-format"); f != "json" && f != "legacy" {
			return "is none of the values that it takes: json, legacy"
		}
		return ""
	}),
	auditOption("audit-log-path", "audit-log-path", func(s *settings) string {
		if strings.HasSuffix(s.text("audit-log-path"), "/") {
			return "is a folder, not a file"
		}
		return ""
	}),
	auditOption("audit-log-path", "audit-log-maxage", func(s *settings) string { return negative(s, "audit-log-maxage") }),
	auditOption("audit-log-path", "audit-log-maxbackup", func(s *settings) string { return negative(s, "audit-log-maxbackup") }),
	auditOption("audit-log-path", "audit-log-maxsize", func(s *settings) string { return negative(s, "audit-log-maxsize") }),
	[]valueRule{
		// Set up whether the webhook is used or not.
		{flags: []string{"audit-webhook-version"}, refuses: func(s *settings) string {
			if strings.Count(s.text("audit-webhook-version"), "/") > 1 {
				return "is not of the form group/version"
			}
			return ""
		}},
	})

// auditOption returns a rule for an option of a backend, which counts where the backend is enabled.
func auditOption(enabled, flag string, refuses func(s *settings) string) []valueRule {
	return []valueRule{{flags: []string{flag, enabled}, refuses: func(s *settings) string {
		if s.text(enabled) == "" {
			return ""
		}
		return refuses(s)
	}}}
}

// auditBackend returns the rules that both backends have.
func auditBackend(name, enabled string) []valueRule {
	flag := func(option string) string { return "audit-" + name + "-" + option }
	batched := func(refuses func(s *settings) string) func(s *settings) string {
		return func(s *settings) string {
			if s.text(enabled) == "" || s.text(flag("mode")) != "batch" {
				return ""
			}
			return refuses(s)
		}
	}
	positive := func(option string) func(s *settings) string {
		return func(s *settings) string {
			if s.float(flag(option)) <= 0 {
				return "is not above 0"
			}
			return ""
		}
	}
	var rules []valueRule
	for _, option := range []string{"batch-buffer-size", "batch-max-size"} {
		rules = append(rules, valueRule{flags: []string{flag(option), flag("mode"), enabled}, refuses: batched(positive(option))})
	}
	throttle := []string{flag("batch-throttle-qps"), flag("batch-throttle-burst"), flag("batch-throttle-enable"), flag("mode"), enabled}
	rules = append(rules, valueRule{flags: throttle, refuses: batched(func(s *settings) string {
		if s.on(flag("batch-throttle-enable")) && (s.float(throttle[0]) <= 0 || s.float(throttle[1]) <= 0) {
			return fmt.Sprintf("does not do: %s needs both %s and %s above 0", throttle[2], throttle[0], throttle[1])
		}
		return ""
	})})
	return slices.Concat(rules,
		auditOption(enabled, flag("mode"), func(s *settings) string {
			if !slices.Contains([]string{"batch", "blocking", "blocking-strict"}, s.text(flag("mode"))) {
				return "is none of the values that it takes: batch, blocking, blocking-strict"
			}
			return ""
		}),
		auditOption(enabled, flag("version"), func(s *settings) string {
			if s.text(flag("version")) != "audit.k8s.io/v1" {
				return "is not audit.k8s.io/v1, the only version that there is"
			}
			return ""
		}),
		auditOption(enabled, flag("truncate-max-event-size"), positive("truncate-max-event-size")),
		[]valueRule{{flags: []string{flag("truncate-max-batch-size"), flag("truncate-max-event-size"), enabled}, refuses: func(s *settings) string {
			if event := s.number(flag("truncate-max-event-size")); s.text(enabled) != "" && event > 0 && s.number(flag("truncate-max-batch-size")) < event {
				return fmt.Sprintf("is below %s, %d", flag("truncate-max-event-size"), event)
			}
			return ""
		}}},
	)
}

// loggingRules follow logs/api/v1/options.go of k8s.io/component-base; up to 1.34 klog panics on the first.
var loggingRules = []valueRule{
	{flags: []string{"log-flush-frequency"}, refuses: func(s *settings) string {
		if s.duration("log-flush-frequency") <= 0 {
			return "is not above 0"
		}
		return ""
	}},
	oneOf("logging-format", "text", "json"),
	{flags: []string{"logging-format", FlagFeatureGates}, refuses: func(s *settings) string {
		return s.needsGate(s.text("logging-format") == "json", "LoggingBetaOptions")
	}},
	{flags: []string{"log-text-split-stream", FlagFeatureGates}, refuses: func(s *settings) string {
		return s.needsGate(s.on("log-text-split-stream"), "LoggingAlphaOptions")
	}},
	{flags: []string{"log-text-info-buffer-size", FlagFeatureGates}, refuses: func(s *settings) string {
		size, err := resource.ParseQuantity(s.text("log-text-info-buffer-size"))
		return s.needsGate(err == nil && size.Value() != 0, "LoggingAlphaOptions")
	}},
	{flags: []string{"vmodule", "logging-format"}, refuses: func(s *settings) string {
		if strings.Trim(s.text("vmodule"), ",") != "" && s.text("logging-format") == "json" {
			return "goes only with logging-format text"
		}
		return ""
	}},
}

// needsGate says that a setting needs a feature gate that is off. One that is locked cannot be: GateProblems has that.
func (s *settings) needsGate(set bool, gate string) string {
	if !set {
		return ""
	}
	spec, known := s.catalogue.Gate(gate, s.at)
	if !known || spec.Locked || s.gateOn(gate) {
		return ""
	}
	return "needs the feature gate " + gate
}

const (
	labelName  = `[a-zA-Z_][a-zA-Z0-9_]*`
	metricName = `[a-zA-Z_:][a-zA-Z0-9_:]*`
)

var (
	isMetric      = regexp.MustCompile(`^` + metricName + `$`).MatchString
	isMetricLabel = regexp.MustCompile(`^` + metricName + `,` + labelName + `$`).MatchString
)

// IsMetricLabel tells whether a key of --allow-metric-labels, or of its manifest, is of the form metric,label.
func IsMetricLabel(key string) bool { return isMetricLabel(key) }

// metricsRules follow metrics/options.go and, from 1.36 on, metrics/api/v1/config.go of k8s.io/component-base.
var metricsRules = []valueRule{
	{flags: []string{"show-hidden-metrics-for-version"}, refuses: func(s *settings) string {
		before := s.catalogue.binary.Prev().MinorString()
		if v := s.text("show-hidden-metrics-for-version"); v != "" && v != before {
			return "is not " + before + ", the release before the server's"
		}
		return ""
	}},
	{flags: []string{"disabled-metrics"}, where: ChecksMetricsOptions, refuses: func(s *settings) string {
		for _, name := range s.items("disabled-metrics") {
			if !isMetric(name) {
				return fmt.Sprintf("has an entry that is not the name of a metric: %q", name)
			}
		}
		return ""
	}},
	{flags: []string{"allow-metric-labels"}, refuses: func(s *settings) string {
		for _, value := range s.all("allow-metric-labels") {
			labels, _ := pairs(value)
			for key := range labels {
				if !isMetricLabel(key) {
					return "has an entry that is not of the form metric,label=values"
				}
			}
		}
		return ""
	}},
	{flags: []string{"allow-metric-labels", "allow-metric-labels-manifest"}, where: ChecksMetricsOptions, refuses: func(s *settings) string {
		if s.given("allow-metric-labels") && s.text("allow-metric-labels-manifest") != "" {
			return "does not go with allow-metric-labels-manifest"
		}
		return ""
	}},
}

// controlPlaneRules follow pkg/controlplane/apiserver/options of k8s.io/kubernetes.
var controlPlaneRules = []valueRule{
	{flags: []string{"service-account-max-token-expiration"}, refuses: func(s *settings) string {
		if d := s.duration("service-account-max-token-expiration"); d != 0 && (d < time.Hour || d > 1<<32*time.Second) {
			return "is not between 1h and 2^32 seconds"
		}
		return ""
	}},
	{flags: []string{"service-account-signing-endpoint", "service-account-signing-key-file", "service-account-key-file", FlagFeatureGates}, refuses: refusedSigner},
	{flags: []string{"service-account-signing-key-file", "service-account-signing-endpoint"}, refuses: func(s *settings) string {
		if s.text("service-account-signing-key-file") == "" && s.text("service-account-signing-endpoint") == "" {
			return "names no file: the server has nothing to sign the tokens of service accounts with"
		}
		return ""
	}},
	{flags: []string{"service-account-key-file"}, refuses: func(s *settings) string {
		if slices.Contains(s.all("service-account-key-file"), "") {
			return "names no file"
		}
		return ""
	}},
	{flags: []string{"coordinated-leadership-lease-duration", "coordinated-leadership-renew-deadline"}, where: ChecksLeaderElection, refuses: func(s *settings) string {
		return notAbove(s, "coordinated-leadership-lease-duration", "coordinated-leadership-renew-deadline")
	}},
	{flags: []string{"coordinated-leadership-renew-deadline", "coordinated-leadership-retry-period"}, where: ChecksLeaderElection, refuses: func(s *settings) string {
		return notAbove(s, "coordinated-leadership-renew-deadline", "coordinated-leadership-retry-period")
	}},
}

var (
	// abstractSocket is a name behind @, socketPath what ChecksSignerPath wants besides.
	abstractSocket = regexp.MustCompile(`^@([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+$`).MatchString
	socketPath     = regexp.MustCompile(`^(/[^/ ]*)+/?$`).MatchString
)

// refusedSigner follows validateServiceAccountTokenSigningConfig and completeServiceAccountOptions. Whether somebody
// answers at the socket is not asked.
func refusedSigner(s *settings) string {
	endpoint := s.text("service-account-signing-endpoint")
	switch {
	case endpoint == "":
		return ""
	case s.text("service-account-signing-key-file") != "":
		return "does not go with service-account-signing-key-file"
	case s.given("service-account-key-file"):
		return "does not go with service-account-key-file"
	case strings.HasPrefix(endpoint, "@") && !abstractSocket(endpoint):
		return "is not the name of an abstract socket"
	case s.catalogue.behaviours()[ChecksSignerPath] && !strings.HasPrefix(endpoint, "@") && !socketPath(endpoint):
		return "is neither a path nor the name of an abstract socket"
	}
	return s.needsGate(true, "ExternalServiceAccountTokenSigner")
}

// notAbove says that one duration must be greater than another, whichever of the two is set.
func notAbove(s *settings, longer, shorter string) string {
	if s.duration(longer) > s.duration(shorter) {
		return ""
	}
	if s.given(longer) {
		return fmt.Sprintf("is not greater than %s, which is %s", shorter, s.text(shorter))
	}
	return fmt.Sprintf("is not less than %s, which is %s", longer, s.text(longer))
}
