package release

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// oidcFlags go together, and not with authentication-config.
var oidcFlags = []string{
	"oidc-issuer-url", "oidc-client-id", "oidc-ca-file", "oidc-username-claim", "oidc-username-prefix", "oidc-groups-claim",
	"oidc-groups-prefix", "oidc-signing-algs", "oidc-required-claim",
}

// oidc tells whether the flags set an issuer up.
func (s *settings) oidc() bool {
	return s.text("authentication-config") == "" && s.text("oidc-issuer-url") != "" && s.text("oidc-client-id") != ""
}

// oidcRule returns a rule about one of the oidc-* flags, which counts where they are used.
func oidcRule(flag string, refuses func(s *settings) string) valueRule {
	return valueRule{flags: []string{flag, "oidc-issuer-url", "oidc-client-id", "authentication-config"}, refuses: func(s *settings) string {
		if !s.oidc() {
			return ""
		}
		return refuses(s)
	}}
}

// authenticationRules follow pkg/kubeapiserver/options/authentication.go of k8s.io/kubernetes, and of k8s.io/apiserver
// pkg/server/options/authentication.go, pkg/apis/apiserver/validation and the oidc authenticator.
var authenticationRules = slices.Concat(
	refuse(blankItem, "requestheader-username-headers", "requestheader-group-headers", "requestheader-extra-headers-prefix", "requestheader-allowed-names"),
	[]valueRule{
		{flags: []string{"requestheader-uid-headers", FlagFeatureGates}, refuses: func(s *settings) string {
			const flag = "requestheader-uid-headers"
			headers := s.items(flag)
			if len(headers) == 0 {
				return ""
			}
			if reason := s.needsGate(true, "RemoteRequestHeaderUID"); reason != "" {
				return reason
			}
			if !slices.ContainsFunc(headers, func(h string) bool { return strings.EqualFold(h, "X-Remote-Uid") }) {
				return "lacks X-Remote-Uid"
			}
			return blankItem(s, flag)
		}},
		{flags: []string{"service-account-issuer"}, refuses: refusedIssuer},
		{flags: []string{"service-account-jwks-uri"}, refuses: func(s *settings) string {
			uri := s.text("service-account-jwks-uri")
			if u, err := url.Parse(uri); uri != "" && (err != nil || u.Scheme != "https") {
				return "is not a URL that begins with https://"
			}
			return ""
		}},
		{flags: append(slices.Clone(oidcFlags), "authentication-config"), refuses: func(s *settings) string {
			switch {
			case !slices.ContainsFunc(oidcFlags, s.given):
			case s.text("authentication-config") != "":
				return "does not go with authentication-config"
			case s.text("oidc-issuer-url") == "" || s.text("oidc-client-id") == "":
				return "needs both oidc-issuer-url and oidc-client-id"
			}
			return ""
		}},
		{flags: []string{"authentication-token-webhook-version", "authentication-token-webhook-config-file"}, refuses: func(s *settings) string {
			if s.text("authentication-token-webhook-config-file") == "" {
				return ""
			}
			return reviewVersion(s.text("authentication-token-webhook-version"))
		}},
		{flags: []string{"authentication-config", FlagFeatureGates}, refuses: func(s *settings) string {
			return s.needsGate(s.text("authentication-config") != "", "StructuredAuthenticationConfiguration")
		}},
		{flags: []string{"oidc-issuer-url", "oidc-client-id", "authentication-config", "service-account-issuer"}, refuses: func(s *settings) string {
			if !s.oidc() {
				return ""
			}
			u, err := url.Parse(s.text("oidc-issuer-url"))
			switch {
			case err != nil || u.Scheme != "https":
				return "is not a URL that begins with https://"
			case u.User != nil || u.RawQuery != "" || u.Fragment != "":
				return "has a user, a query or a fragment"
			case slices.Contains(s.all("service-account-issuer"), s.text("oidc-issuer-url")):
				return "is the service-account-issuer, too"
			}
			return ""
		}},
		oidcRule("oidc-username-claim", func(s *settings) string {
			if s.text("oidc-username-claim") == "" {
				return "names no claim"
			}
			return ""
		}),
		oidcRule("oidc-required-claim", func(s *settings) string {
			for _, value := range s.all("oidc-required-claim") {
				if claim, _, _ := strings.Cut(value, "="); strings.TrimSpace(claim) == "" {
					return "names no claim"
				}
			}
			return ""
		}),
		oidcRule("oidc-signing-algs", func(s *settings) string {
			for _, alg := range s.items("oidc-signing-algs") {
				if !isSigningAlg(alg) {
					return fmt.Sprintf("names %q, which is no algorithm that it takes: RS, ES or PS with 256, 384 or 512", alg)
				}
			}
			return ""
		}),
	})

var isSigningAlg = regexp.MustCompile(`^[REP]S(256|384|512)$`).MatchString

func blankItem(s *settings, flag string) string {
	if slices.ContainsFunc(s.items(flag), func(item string) bool { return strings.TrimSpace(item) == "" }) {
		return "has an empty entry"
	}
	return ""
}

func refusedIssuer(s *settings) string {
	seen := map[string]bool{}
	for _, issuer := range s.all("service-account-issuer") {
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

// authorizationRules follow pkg/kubeapiserver/options/authorization.go of k8s.io/kubernetes.
var authorizationRules = []valueRule{
	{flags: []string{"authorization-mode", "authorization-config"}, refuses: func(s *settings) string {
		modes := s.items("authorization-mode")
		if s.text("authorization-config") != "" {
			return ""
		}
		for i, mode := range modes {
			if !slices.Contains(authorizationModes, mode) {
				return fmt.Sprintf("names %q, which is none of the modes %s", mode, strings.Join(authorizationModes, ", "))
			}
			if slices.Contains(modes[:i], mode) {
				return "names " + mode + " twice"
			}
		}
		return ""
	}},
	{flags: []string{"authorization-webhook-version", "authorization-mode", "authorization-config"}, refuses: func(s *settings) string {
		if s.text("authorization-config") != "" || !slices.Contains(s.items("authorization-mode"), "Webhook") {
			return ""
		}
		return reviewVersion(s.text("authorization-webhook-version"))
	}},
	modeNeedsFile("ABAC", "authorization-policy-file"),
	modeNeedsFile("Webhook", "authorization-webhook-config-file"),
	fileNeedsMode("authorization-policy-file", "ABAC"),
	fileNeedsMode("authorization-webhook-config-file", "Webhook"),
	{flags: []string{"authorization-config", "authorization-mode", "authorization-webhook-config-file", "authorization-webhook-version",
		"authorization-webhook-cache-authorized-ttl", "authorization-webhook-cache-unauthorized-ttl"}, refuses: func(s *settings) string {
		if s.text("authorization-config") == "" {
			return ""
		}
		for _, flag := range []string{"authorization-mode", "authorization-webhook-config-file", "authorization-webhook-version",
			"authorization-webhook-cache-authorized-ttl", "authorization-webhook-cache-unauthorized-ttl"} {
			if s.given(flag) {
				return "does not go with " + flag
			}
		}
		return ""
	}},
	{flags: []string{"authorization-config", FlagFeatureGates}, refuses: func(s *settings) string {
		return s.needsGate(s.text("authorization-config") != "", "StructuredAuthorizationConfiguration")
	}},
}

// reviewVersion judges the version of the reviews that webhooks get.
func reviewVersion(version string) string {
	if version == "v1" || version == "v1beta1" {
		return ""
	}
	return "is none of the versions that there are: v1, v1beta1"
}

func modeNeedsFile(mode, file string) valueRule {
	return valueRule{flags: []string{"authorization-mode", file, "authorization-config"}, refuses: func(s *settings) string {
		if s.text("authorization-config") == "" && slices.Contains(s.items("authorization-mode"), mode) && s.text(file) == "" {
			return "names " + mode + ", which needs " + file
		}
		return ""
	}}
}

func fileNeedsMode(file, mode string) valueRule {
	return valueRule{flags: []string{file, "authorization-mode", "authorization-config"}, refuses: func(s *settings) string {
		if s.text("authorization-config") == "" && s.text(file) != "" && !slices.Contains(s.items("authorization-mode"), mode) {
			return "needs " + mode + " in authorization-mode"
		}
		return ""
	}}
}
