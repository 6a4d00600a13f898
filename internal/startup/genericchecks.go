package startup

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

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// genericChecks follow pkg/server/options/server_run_options.go and feature.go of k8s.io/apiserver.
var genericChecks = slices.Concat(
	each("livez-grace-period max-mutating-requests-inflight max-requests-inflight min-request-timeout request-timeout "+
		"shutdown-delay-duration shutdown-watch-termination-grace-period storage-initialization-timeout", negative),
	each("emulation-forward-compatible runtime-config-emulation-forward-compatible",
		when(func(s *Server, flag string) bool { return s.on(flag) && !s.emulates() },
			"goes only with an emulated-version that is older than the server")),
	[]check{
		// Measured on 1.33, 1.36 and 1.37: up to a millisecond it ends 30 seconds after the start; with 100 ms it is
		// ready.
		of("request-timeout",
			duration(func(d time.Duration) bool { return d >= 0 && d <= time.Millisecond },
				"leaves no request any time: the server cannot write its default roles, and ends after half a minute")),
		of("goaway-chance", number(func(n float64) bool { return n < 0 || n > 0.02 }, "is not between 0 and 0.02")),
		of("max-requests-inflight max-mutating-requests-inflight enable-priority-and-fairness",
			when(func(s *Server, flag string) bool {
				mutating := s.number("max-mutating-requests-inflight")
				return s.on("enable-priority-and-fairness") && s.number(flag) == 0 && mutating == 0
			}, "leaves no request at all, with max-mutating-requests-inflight 0 and enable-priority-and-fairness")),
		of("strict-transport-security-directives",
			eachItem(unless(isTransportDirective, "is not made of max-age=SECONDS, includeSubDomains and preload"))),
		of("cors-allowed-origins", eachItem(refusedOrigin)),
	})

func isTransportDirective(item string) bool {
	name, value, hasValue := strings.Cut(item, "=")
	return item == "includeSubDomains" || item == "preload" ||
		name == "max-age" && hasValue && !strings.Contains(value, "=")
}

func refusedOrigin(origin string) string {
	if _, err := regexp.Compile(origin); err != nil || origin == "" {
		return "has an entry that is not a regular expression"
	}
	if !strings.Contains(origin, "^") && !strings.Contains(origin, "//") || !strings.ContainsAny(origin, "$:") {
		return "has an entry that does not pin start and end of the host: it needs ^ or //, and $ or :"
	}
	return ""
}

// storageChecks follow pkg/server/options/etcd.go of k8s.io/apiserver.
var storageChecks = []check{
	of("etcd-servers", all(
		when(func(s *Server, flag string) bool { return len(s.items(flag)) == 0 }, "names no server"),
		when(func(s *Server, flag string) bool { return !slices.ContainsFunc(s.items(flag), isEtcdServer) },
			"has nothing"+noAddress))),
	of("storage-backend", oneOf("", "etcd3")),
	of("storage-media-type", oneOf("", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf")),
	of("etcd-servers-overrides", eachItem(refusedOverride)),
	of("etcd-certfile etcd-keyfile", emptyBeside("etcd-keyfile")),
	of("etcd-keyfile etcd-certfile", emptyBeside("etcd-certfile")),
	of("encryption-provider-config-automatic-reload encryption-provider-config",
		only(func(s *Server) bool { return !set("encryption-provider-config")(s) },
			when(isOn, "needs encryption-provider-config"))),
	of("watch-cache-sizes watch-cache", only(func(s *Server) bool { return s.on("watch-cache") },
		eachItem(unless(isCacheSize, "is not of the form resource.group#size, with a size of 0 or more")))),
}

const noAddress = " that can be the address of an etcd, such as https://192.0.2.11:2379"

// emptyBeside refuses a flag that is set to nothing where another one names a file.
func emptyBeside(other string) predicate {
	return when(func(s *Server, flag string) bool { return s.given(flag) && s.text(flag) == "" && s.text(other) != "" },
		"names no file, and "+other+" does")
}

func refusedOverride(override string) string {
	what, servers, ok := strings.Cut(override, "#")
	each := strings.Split(servers, ";")
	switch {
	// Where a server's name is missing, 1.33 exits as it finds nobody there.
	case !ok || slices.Contains(each, "") || strings.Contains(servers, "#") || strings.Count(what, "/") != 1:
		return "is not of the form group/resource#servers, with the servers separated by semicolons"
	case !slices.ContainsFunc(each, isEtcdServer):
		return "has nothing for " + what + noAddress
	}
	return ""
}

func isCacheSize(item string) bool {
	what, size, ok := strings.Cut(item, "#")
	n, err := strconv.Atoi(size)
	return ok && err == nil && n >= 0 && !strings.Contains(what, "#")
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

// servingChecks follow pkg/server/options/serving.go of k8s.io/apiserver and cli/flag of k8s.io/component-base.
var servingChecks = []check{
	of("tls-min-version", oneOf("", "VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13")),
	of("tls-cipher-suites", eachItem(func(name string) string {
		if isCipherSuite(name) {
			return ""
		}
		return fmt.Sprintf("names %q, which is no cipher suite that it knows", name)
	})),
	// ConfigureServer of golang.org/x/net/http2.
	of("tls-cipher-suites tls-min-version disable-http2-serving",
		when(lacksHTTP2Suite, "lacks the cipher suite that HTTP/2 needs: "+strings.Join(http2Suites, " or "))),
	of("tls-sni-cert-key", eachValue(func(value string) string {
		files, _, _ := strings.Cut(value, ":")
		if cert, key, _ := strings.Cut(files, ","); strings.TrimSpace(cert) == "" || strings.TrimSpace(key) == "" {
			return "lacks the name of a file"
		}
		return ""
	})),
	of("tls-curve-preferences", refusedCurve),
}

var http2Suites = []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}

func lacksHTTP2Suite(s *Server, flag string) bool {
	suites := s.items(flag)
	if len(suites) == 0 || s.on("disable-http2-serving") || s.text("tls-min-version") == "VersionTLS13" {
		return false
	}
	return !slices.ContainsFunc(suites, func(name string) bool {
		return !isCipherSuite(name) || slices.Contains(http2Suites, name)
	})
}

func refusedCurve(s *Server, flag string) string {
	seen := map[int64]bool{}
	for _, value := range s.all(flag) {
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
}

// curves are the numbers of the key exchanges that Go 1.26, which 1.36 and 1.37 are built with, has a name for.
var curves = []int64{23, 24, 25, 29, 4587, 4588, 4589}

// isCipherSuite knows the names that Go has for those that it knows, and two older ones that Kubernetes keeps.
func isCipherSuite(name string) bool {
	known := slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites())
	return name == "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305" || name == "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305" ||
		slices.ContainsFunc(known, func(suite *tls.CipherSuite) bool { return suite.Name == name })
}

// auditChecks follow pkg/server/options/audit.go of k8s.io/apiserver, which judges the options of a backend that is
// used: that its file is named.
func auditChecks() []check {
	const log, webhook = "audit-log-path", "audit-webhook-config-file"
	return slices.Concat(
		auditBackend("audit-log-", log),
		auditBackend("audit-webhook-", webhook),
		[]check{
			used(log, "audit-log-format", oneOf("json", "legacy")),
			used(log, log, text(func(v string) bool { return strings.HasSuffix(v, "/") }, "is a folder, not a file")),
			used(log, "audit-log-maxage", negative),
			used(log, "audit-log-maxbackup", negative),
			used(log, "audit-log-maxsize", negative),
			// Set up whether the webhook is used or not.
			of("audit-webhook-version",
				text(func(v string) bool { return strings.Count(v, "/") > 1 }, "is not of the form group/version")),
		})
}

// used returns a check that counts where a backend is used; flags are as of takes them.
func used(backend, flags string, refuses predicate) check {
	return of(flags+" "+backend, only(set(backend), refuses))
}

// auditBackend returns the checks that both backends have.
func auditBackend(prefix, backend string) []check {
	mode, event := prefix+"mode", prefix+"truncate-max-event-size"
	qps, burst, throttle := prefix+"batch-throttle-qps", prefix+"batch-throttle-burst", prefix+"batch-throttle-enable"
	batched := func(flags string, refuses predicate) check {
		return used(backend, flags+" "+mode, only(func(s *Server) bool { return s.text(mode) == "batch" }, refuses))
	}
	return []check{
		batched(prefix+"batch-buffer-size", positive),
		batched(prefix+"batch-max-size", positive),
		batched(qps+" "+burst+" "+throttle, when(
			func(s *Server, _ string) bool { return s.on(throttle) && (s.float(qps) <= 0 || s.float(burst) <= 0) },
			fmt.Sprintf("does not do: %s needs both %s and %s above 0", throttle, qps, burst))),
		used(backend, mode, oneOf("batch", "blocking", "blocking-strict")),
		used(backend, prefix+"version", text(func(v string) bool { return v != "audit.k8s.io/v1" },
			"is not audit.k8s.io/v1, the only version that there is")),
		used(backend, event, positive),
		used(backend, prefix+"truncate-max-batch-size "+event, func(s *Server, flag string) string {
			if n := s.number(event); n > 0 && s.number(flag) < n {
				return fmt.Sprintf("is below %s, %d", event, n)
			}
			return ""
		}),
	}
}

// loggingChecks follow logs/api/v1/options.go of k8s.io/component-base; up to 1.34 klog panics on the first.
var loggingChecks = []check{
	of("log-flush-frequency", duration(func(d time.Duration) bool { return d <= 0 }, "is not above 0")),
	of("logging-format", oneOf("text", "json")),
	of("logging-format "+release.FlagFeatureGates,
		needsGate("LoggingBetaOptions", func(s *Server, flag string) bool { return s.text(flag) == "json" })),
	of("log-text-split-stream "+release.FlagFeatureGates, needsGate("LoggingAlphaOptions", isOn)),
	of("log-text-info-buffer-size "+release.FlagFeatureGates,
		needsGate("LoggingAlphaOptions", func(s *Server, flag string) bool {
			size, err := resource.ParseQuantity(s.text(flag))
			return err == nil && size.Value() != 0
		})),
	of("vmodule logging-format", when(func(s *Server, flag string) bool {
		return strings.Trim(s.text(flag), ",") != "" && s.text("logging-format") == "json"
	}, "goes only with logging-format text")),
}

const (
	labelName  = `[a-zA-Z_][a-zA-Z0-9_]*`
	metricName = `[a-zA-Z_:][a-zA-Z0-9_:]*`
)

var (
	isMetric      = regexp.MustCompile(`^` + metricName + `$`).MatchString
	isMetricLabel = regexp.MustCompile(`^` + metricName + `,` + labelName + `$`).MatchString
)

// metricsChecks follow metrics/options.go and metrics/api/v1/config.go of k8s.io/component-base.
var metricsChecks = []check{
	of("show-hidden-metrics-for-version", func(s *Server, flag string) string {
		before := s.catalogue.MinorRelease().Prev().MinorString()
		if v := s.text(flag); v != "" && v != before {
			return "is not " + before + ", the release before the server's"
		}
		return ""
	}),
	of("disabled-metrics", eachItem(func(name string) string {
		if isMetric(name) {
			return ""
		}
		return fmt.Sprintf("has an entry that is not the name of a metric: %q", name)
	})).in(release.ChecksMetricsOptions),
	of("allow-metric-labels", eachValue(func(value string) string {
		labels, _ := pairs(value)
		for key := range labels {
			if !isMetricLabel(key) {
				return "has an entry that is not of the form metric,label=values"
			}
		}
		return ""
	})),
	of("allow-metric-labels allow-metric-labels-manifest", when(func(s *Server, flag string) bool {
		return s.given(flag) && s.text("allow-metric-labels-manifest") != ""
	}, "does not go with allow-metric-labels-manifest")).in(release.ChecksMetricsOptions),
}
