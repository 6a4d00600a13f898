package startup

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// admissionChecks follow pkg/kubeapiserver/options/admission.go and plugins.go of k8s.io/kubernetes, and
// pkg/server/options/admission.go of k8s.io/apiserver.
var admissionChecks = slices.Concat(
	each("admission-control enable-admission-plugins disable-admission-plugins", unknownPlugin),
	[]check{
		// Set to nothing counts, too.
		of("admission-control enable-admission-plugins disable-admission-plugins",
			when(func(s *Server, flag string) bool {
				return s.given(flag) && (s.given("enable-admission-plugins") || s.given("disable-admission-plugins"))
			}, "does not go with enable-admission-plugins or disable-admission-plugins")),
		of("disable-admission-plugins enable-admission-plugins", func(s *Server, flag string) string {
			enabled := s.items("enable-admission-plugins")
			return first(s.items(flag), func(name string) string {
				if slices.Contains(enabled, name) {
					return "names " + name + ", which enable-admission-plugins names, too"
				}
				return ""
			})
		}),
		of("enable-admission-plugins admission-control admission-control-config-file", unconfiguredPlugin),
	})

// configuredPlugins are the admission plugins that refuse to do without a configuration.
var configuredPlugins = []string{"EventRateLimit", "ImagePolicyWebhook"}

// plugins are the admission plugins that flags switch on.
func (s *Server) plugins() []string {
	return slices.Concat(s.items("enable-admission-plugins"), s.items("admission-control"))
}

func unconfiguredPlugin(s *Server, _ string) string {
	for _, name := range s.plugins() {
		if slices.Contains(configuredPlugins, name) && s.text("admission-control-config-file") == "" {
			return "names " + name + ", which needs a configuration in admission-control-config-file"
		}
	}
	return ""
}

func unknownPlugin(s *Server, flag string) string {
	for _, name := range s.items(flag) {
		if !s.catalogue.HasAdmissionPlugin(name) {
			c := s.catalogue
			reason := fmt.Sprintf("names %q, an admission plugin that %s does not have", name, c.MinorRelease())
			if near, ok := release.Suggest(name, c.AdmissionPlugins()); ok {
				reason += "; it has " + near
			}
			return reason
		}
	}
	return ""
}

// oidcFlags go together, and not with authentication-config.
const oidcFlags = "oidc-issuer-url oidc-client-id oidc-ca-file oidc-username-claim oidc-username-prefix " +
	"oidc-groups-claim oidc-groups-prefix oidc-signing-algs oidc-required-claim"

func usesOIDCFlags(s *Server) bool { return slices.ContainsFunc(strings.Fields(oidcFlags), s.given) }

// authenticationChecks follow pkg/kubeapiserver/options/authentication.go of k8s.io/kubernetes, and of k8s.io/apiserver
// pkg/server/options/authentication.go, pkg/apis/apiserver/validation and the oidc authenticator.
var authenticationChecks = slices.Concat(
	each("requestheader-username-headers requestheader-group-headers requestheader-extra-headers-prefix "+
		"requestheader-allowed-names", blankItem),
	[]check{
		of("requestheader-uid-headers "+release.FlagFeatureGates,
			only(func(s *Server) bool { return len(s.items("requestheader-uid-headers")) > 0 }, all(
				needsGate("RemoteRequestHeaderUID", (*Server).given),
				when(func(s *Server, flag string) bool { return !slices.ContainsFunc(s.items(flag), isUIDHeader) },
					"lacks X-Remote-Uid"),
				blankItem))),
		of("service-account-issuer", refusedIssuer),
		of("service-account-jwks-uri", text(func(v string) bool { return v != "" && !isHTTPS(v) }, notHTTPS)),
		of(oidcFlags+" authentication-config", only(usesOIDCFlags, func(s *Server, _ string) string {
			switch {
			case s.text("authentication-config") != "":
				return "does not go with authentication-config"
			case s.text("oidc-issuer-url") == "" || s.text("oidc-client-id") == "":
				return "needs both oidc-issuer-url and oidc-client-id"
			}
			return ""
		})),
		of("authentication-token-webhook-version authentication-token-webhook-config-file",
			only(set("authentication-token-webhook-config-file"), reviewVersion)),
		of("authentication-config "+release.FlagFeatureGates,
			needsGate("StructuredAuthenticationConfiguration", isSet)),
		of("oidc-issuer-url oidc-client-id authentication-config service-account-issuer",
			only(usesOIDC, refusedOIDCIssuer)),
		oidc("oidc-username-claim", text(empty, "names no claim")),
		oidc("oidc-required-claim", eachValue(func(value string) string {
			if claim, _, _ := strings.Cut(value, "="); strings.TrimSpace(claim) == "" {
				return "names no claim"
			}
			return ""
		})),
		oidc("oidc-signing-algs", eachItem(func(alg string) string {
			if isSigningAlg(alg) {
				return ""
			}
			return fmt.Sprintf("names %q, which is no algorithm that it takes: RS, ES or PS with 256, 384 or 512", alg)
		})),
	})

// usesOIDC tells whether the flags set an issuer up.
func usesOIDC(s *Server) bool {
	return s.text("authentication-config") == "" && s.text("oidc-issuer-url") != "" && s.text("oidc-client-id") != ""
}

// oidc returns a check of one of the oidc-* flags, which counts where they are used.
func oidc(flag string, refuses predicate) check {
	return of(flag+" oidc-issuer-url oidc-client-id authentication-config", only(usesOIDC, refuses))
}

var isSigningAlg = regexp.MustCompile(`^[REP]S(256|384|512)$`).MatchString

func isUIDHeader(name string) bool { return strings.EqualFold(name, "X-Remote-Uid") }

const notHTTPS = "is not a URL that begins with https://"

func isHTTPS(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https"
}

func refusedOIDCIssuer(s *Server, flag string) string {
	u, err := url.Parse(s.text(flag))
	switch {
	case err != nil || u.Scheme != "https":
		return notHTTPS
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "has a user, a query or a fragment"
	case slices.Contains(s.all("service-account-issuer"), s.text(flag)):
		return "is the service-account-issuer, too"
	}
	return ""
}

var blankItem = eachItem(unless(func(item string) bool { return strings.TrimSpace(item) != "" }, "has an empty entry"))

func refusedIssuer(s *Server, flag string) string {
	seen := map[string]bool{}
	for _, issuer := range s.all(flag) {
		_, err := url.Parse(issuer)
		switch {
		case issuer == "":
			return "is empty"
		case strings.Contains(issuer, ":") && err != nil:
			return "has a colon and is not a URL"
		case seen[issuer]:
			return "is given twice"
		}
		seen[issuer] = true
	}
	return ""
}

var authorizationModes = []string{"AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"}

// authorizationChecks follow pkg/kubeapiserver/options/authorization.go of k8s.io/kubernetes.
var authorizationChecks = []check{
	of("authorization-mode authorization-config", only(usesModes, func(s *Server, flag string) string {
		modes := s.items(flag)
		for i, mode := range modes {
			if !slices.Contains(authorizationModes, mode) {
				known := strings.Join(authorizationModes, ", ")
				return fmt.Sprintf("names %q, which is none of the modes %s", mode, known)
			}
			if slices.Contains(modes[:i], mode) {
				return "names " + mode + " twice"
			}
		}
		return ""
	})),
	of("authorization-webhook-version authorization-mode authorization-config",
		only(func(s *Server) bool { return usesModes(s) && s.mode("Webhook") }, reviewVersion)),
	modeNeedsFile("ABAC", "authorization-policy-file"),
	modeNeedsFile("Webhook", "authorization-webhook-config-file"),
	fileNeedsMode("authorization-policy-file", "ABAC"),
	fileNeedsMode("authorization-webhook-config-file", "Webhook"),
	of("authorization-config authorization-mode authorization-webhook-config-file authorization-webhook-version "+
		"authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl",
		only(set("authorization-config"), all(
			without("authorization-mode"),
			without("authorization-webhook-config-file"),
			without("authorization-webhook-version"),
			without("authorization-webhook-cache-authorized-ttl"),
			without("authorization-webhook-cache-unauthorized-ttl")))),
	of("authorization-config "+release.FlagFeatureGates, needsGate("StructuredAuthorizationConfiguration", isSet)),
}

// usesModes tells whether --authorization-mode counts, and no file in its place.
func usesModes(s *Server) bool { return s.text("authorization-config") == "" }

func (s *Server) mode(name string) bool { return slices.Contains(s.items("authorization-mode"), name) }

// reviewVersion judges the version of the reviews that webhooks get.
func reviewVersion(s *Server, flag string) string {
	if version := s.text(flag); version == "v1" || version == "v1beta1" {
		return ""
	}
	return "is none of the versions that there are: v1, v1beta1"
}

func modeNeedsFile(mode, file string) check {
	return of("authorization-mode "+file+" authorization-config", when(func(s *Server, _ string) bool {
		return usesModes(s) && s.mode(mode) && s.text(file) == ""
	}, "names "+mode+", which needs "+file))
}

func fileNeedsMode(file, mode string) check {
	return of(file+" authorization-mode authorization-config", when(func(s *Server, _ string) bool {
		return usesModes(s) && s.text(file) != "" && !s.mode(mode)
	}, "needs "+mode+" in authorization-mode"))
}

// controlPlaneChecks follow pkg/controlplane/apiserver/options of k8s.io/kubernetes.
var controlPlaneChecks = []check{
	of("service-account-max-token-expiration", duration(func(d time.Duration) bool {
		return d != 0 && (d < time.Hour || d > 1<<32*time.Second)
	}, "is not between 1h and 2^32 seconds")),
	of("service-account-signing-endpoint service-account-signing-key-file service-account-key-file "+
		release.FlagFeatureGates, only(set("service-account-signing-endpoint"), refusedSigner)),
	of("service-account-signing-key-file service-account-signing-endpoint", when(func(s *Server, flag string) bool {
		return s.text(flag) == "" && s.text("service-account-signing-endpoint") == ""
	}, "names no file: the server has nothing to sign the tokens of service accounts with")),
	of("service-account-key-file", eachValue(unless(func(v string) bool { return v != "" }, "names no file"))),
	longer("coordinated-leadership-lease-duration", "coordinated-leadership-renew-deadline"),
	longer("coordinated-leadership-renew-deadline", "coordinated-leadership-retry-period"),
}

var (
	// abstractSocket is a name behind @, socketPath what ChecksSignerPath wants besides.
	abstractSocket = regexp.MustCompile(`^@([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+$`).MatchString
	socketPath     = regexp.MustCompile(`^(/[^/ ]*)+/?$`).MatchString
)

// refusedSigner follows validateServiceAccountTokenSigningConfig and completeServiceAccountOptions. Whether somebody
// answers at the socket is not asked.
func refusedSigner(s *Server, flag string) string {
	endpoint := s.text(flag)
	abstract := strings.HasPrefix(endpoint, "@")
	switch {
	case s.text("service-account-signing-key-file") != "":
		return "does not go with service-account-signing-key-file"
	case s.given("service-account-key-file"):
		return "does not go with service-account-key-file"
	case abstract && !abstractSocket(endpoint):
		return "is not the name of an abstract socket"
	case !abstract && s.catalogue.Does(release.ChecksSignerPath) && !socketPath(endpoint):
		return "is neither a path nor the name of an abstract socket"
	}
	return needsGate("ExternalServiceAccountTokenSigner", isSet)(s, flag)
}

// longer says that one duration must be greater than another, whichever of the two is set.
func longer(longer, shorter string) check {
	return of(longer+" "+shorter, func(s *Server, _ string) string {
		switch {
		case s.duration(longer) > s.duration(shorter):
			return ""
		case s.given(longer):
			return fmt.Sprintf("is not greater than %s, which is %s", shorter, s.text(shorter))
		}
		return fmt.Sprintf("is not less than %s, which is %s", longer, s.text(longer))
	}).in(release.ChecksLeaderElection)
}

// serviceChecks follow cmd/kube-apiserver/app/options of k8s.io/kubernetes and pkg/controlplane/instance.go there.
var serviceChecks = []check{
	of("help", when(isOn, "has it print its usage and end")),
	of("version", text(func(v string) bool {
		on, _ := strconv.ParseBool(v)
		return on || v == "raw"
	}, "has it print its version and end")),
	of("endpoint-reconciler-type", oneOf("", "lease", "master-count", "none")),
	of("apiserver-count", positive),
	of("kubernetes-service-node-port service-node-port-range", func(s *Server, flag string) string {
		port := s.number(flag)
		low, high, _ := portRange(s.text("service-node-port-range"))
		switch {
		case port < 0 || port > 65535:
			return "is not between 0 and 65535"
		case port > 0 && s.given(flag) && (int(port) < low || int(port) > high):
			return "is not within service-node-port-range, " + s.text("service-node-port-range")
		}
		return ""
	}),
	of("service-cluster-ip-range "+release.FlagFeatureGates,
		only(set("service-cluster-ip-range"), refusedServiceRange)),
	of("service-cluster-ip-range advertise-address bind-address endpoint-reconciler-type", refusedFamily),
}

func refusedFamily(s *Server, flag string) string {
	first, _, _ := strings.Cut(s.text(flag), ",")
	network := parseNetwork(first)
	address := net.ParseIP(strings.TrimSpace(s.text("advertise-address")))
	switch {
	case s.text("endpoint-reconciler-type") == "none", network == nil && first != "":
	case address == nil, address.IsUnspecified():
	case (network == nil || network.IP.To4() != nil) != (address.To4() != nil):
		return "begins with another family of addresses than that of advertise-address, " + address.String()
	}
	return ""
}

// leadingZeros are those that Kubernetes still takes in an IPv4 address.
var leadingZeros = regexp.MustCompile(`(^|\.)0+(\d)`)

// parseNetwork follows ParseCIDRSloppy of k8s.io/utils/net.
func parseNetwork(text string) *net.IPNet {
	address, bits, ok := strings.Cut(text, "/")
	if address = leadingZeros.ReplaceAllString(address, "$1$2"); !ok || net.ParseIP(address) == nil {
		return nil
	}
	_, network, err := net.ParseCIDR(address + "/" + bits)
	if err != nil {
		return nil
	}
	return network
}

func refusedServiceRange(s *Server, flag string) string {
	ranges := strings.Split(s.text(flag), ",")
	if len(ranges) > 2 {
		return "has more than two ranges"
	}
	var networks []*net.IPNet
	for _, r := range ranges {
		network := parseNetwork(r)
		if network == nil {
			return fmt.Sprintf("has an entry that is not an IP range such as 10.96.0.0/12: %q", r)
		}
		networks = append(networks, network)
	}
	for i, network := range networks {
		ones, bits := network.Mask.Size()
		switch {
		case i == 0 && bits-ones < 3:
			return "begins with a range of fewer than 8 addresses"
		// Where the allocators still keep their map of addresses in etcd.
		case bits-ones > 20 && !(s.gateOn(multiCIDR) && s.gateOn("DisableAllocatorDualWrite")):
			const reason = "has a range that is too large: of addresses of %d bits, at least %d must be given"
			return fmt.Sprintf(reason, bits, bits-20)
		case i == 1 && (network.IP.To4() == nil) == (networks[0].IP.To4() == nil):
			return "has two ranges of one family of addresses"
		}
	}
	return ""
}
