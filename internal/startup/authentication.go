package startup

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

var authenticationShape = shape{
	"jwt": {
		"issuer": fields("url", "discoveryURL", "certificateAuthority", "audiences", "audienceMatchPolicy",
			"egressSelectorType"),
		"claimValidationRules": fields("claim", "requiredValue", "expression", "message"),
		"claimMappings": {
			"username": fields("claim", "prefix", "expression"), "groups": fields("claim", "prefix", "expression"),
			"uid": fields("claim", "expression"), "extra": fields("key", "valueExpression"),
		},
		"userValidationRules": fields("expression", "message"),
	},
	"anonymous": {"enabled": nil, "conditions": fields("path")},
}.object()

type jwtAuthenticator struct {
	Issuer struct {
		URL          string `json:"url"`
		DiscoveryURL string `json:"discoveryURL"`
		Audiences    []string
		Policy       string `json:"audienceMatchPolicy"`
		Egress       string `json:"egressSelectorType"`
	}
	ClaimValidationRules []struct{ Claim, RequiredValue, Expression, Message string }
	ClaimMappings        struct {
		Username, Groups claimMapping
		UID              claimMapping `json:"uid"`
	}
}

type claimMapping struct {
	Claim, Expression string
	Prefix            *string
}

// authenticators judges an AuthenticationConfiguration: ValidateAuthenticationConfiguration in
// pkg/apis/apiserver/validation of k8s.io/apiserver, and pkg/kubeapiserver/options/authentication.go of
// k8s.io/kubernetes.
func authenticators(c content) string {
	var config struct {
		JWT       []jwtAuthenticator `json:"jwt"`
		Anonymous *struct {
			Enabled    bool
			Conditions []struct{ Path string }
		}
	}
	if problem := c.decode(&config); problem != "" {
		return problem
	}
	issuers, seen := c.all("service-account-issuer"), map[string]bool{}
	for i, a := range config.JWT {
		at := fmt.Sprintf("jwt[%d]", i)
		switch u := a.Issuer.URL; {
		case slices.Contains(issuers, u):
			return has(at, "with the issuer of service accounts")
		case seen[u]:
			return has(at, "with the issuer of another one")
		}
		seen[a.Issuer.URL] = true
		if d := a.Issuer.DiscoveryURL; d != "" && seen["discovery "+d] {
			return has(at, "with the discoveryURL of another one")
		}
		seen["discovery "+a.Issuer.DiscoveryURL] = true
		if problem := a.refused(at); problem != "" {
			return problem
		}
	}
	switch a := config.Anonymous; {
	case a == nil:
	case !a.Enabled && len(a.Conditions) > 0:
		return "has conditions for anonymous requests, which are not enabled"
	case c.given("anonymous-auth"):
		return "configures anonymous requests, as the flag anonymous-auth does"
	case !c.allows("AnonymousAuthConfigurableEndpoints"):
		return "configures anonymous requests, for which the gate AnonymousAuthConfigurableEndpoints must be on"
	}
	return ""
}

func (a jwtAuthenticator) refused(at string) string {
	issuer := a.Issuer
	if !plainHTTPS(issuer.URL) {
		return has(at, "with the issuer %q, which is not of the form https://HOST/PATH", issuer.URL)
	}
	d := issuer.DiscoveryURL
	if d != "" && (!plainHTTPS(d) || strings.TrimRight(d, "/") == strings.TrimRight(issuer.URL, "/")) {
		return has(at, "with the discoveryURL %q, "+
			"which is not of the form https://HOST/PATH or is the issuer itself", d)
	}
	distinct := map[string]bool{}
	for _, audience := range issuer.Audiences {
		distinct[audience] = true
	}
	if len(distinct) == 0 || len(distinct) < len(issuer.Audiences) || distinct[""] {
		return has(at, "without audiences, or with one that is empty or there twice")
	}
	if issuer.Policy != "MatchAny" && (issuer.Policy != "" || len(issuer.Audiences) > 1) {
		return has(at, "with the audienceMatchPolicy %q in place of MatchAny", issuer.Policy)
	}
	if !slices.Contains([]string{"", "controlplane", "cluster"}, issuer.Egress) {
		return has(at, "with the egressSelectorType %q", issuer.Egress)
	}
	for i, rule := range a.ClaimValidationRules {
		if (rule.Claim == "") == (rule.Expression == "") ||
			rule.Claim != "" && rule.Message != "" || rule.Expression != "" && rule.RequiredValue != "" {
			return fmt.Sprintf("has %s.claimValidationRules[%d], "+
				"which is neither a claim with its value nor an expression with its message", at, i)
		}
	}
	m := a.ClaimMappings
	switch {
	case m.Username == claimMapping{}:
		return has(at, "without a claim for the user name")
	case m.UID.Claim != "" && m.UID.Expression != "":
		return has(at, "with both claim and expression for uid")
	}
	for _, named := range []struct {
		name string
		claimMapping
	}{{"username", m.Username}, {"groups", m.Groups}} {
		mapping := named.claimMapping
		if mapping.Expression != "" && (mapping.Claim != "" || mapping.Prefix != nil) ||
			mapping.Expression == "" && mapping.Claim != "" && mapping.Prefix == nil ||
			mapping.Claim == "" && mapping.Prefix != nil {
			return has(at, "with a mapping for %s that is neither a claim with its prefix nor an expression",
				named.name)
		}
	}
	return ""
}

func plainHTTPS(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
