package startup

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

var authorizationShape = shape{"authorizers": {
	"type": nil, "name": nil,
	"webhook": {
		"authorizedTTL": nil, "unauthorizedTTL": nil, "timeout": nil,
		"cacheAuthorizedRequests": nil, "cacheUnauthorizedRequests": nil,
		"subjectAccessReviewVersion": nil, "matchConditionSubjectAccessReviewVersion": nil, "failurePolicy": nil,
		"connectionInfo": fields("type", "kubeConfigFile"), "matchConditions": fields("expression"),
	},
}}.object()

var authorizerTypes = []string{"ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"}

type authorizationWebhook struct {
	AuthorizedTTL, UnauthorizedTTL, Timeout string
	Version                                 string `json:"subjectAccessReviewVersion"`
	MatchVersion                            string `json:"matchConditionSubjectAccessReviewVersion"`
	FailurePolicy                           string
	ConnectionInfo                          struct {
		Type           string
		KubeConfigFile *string
	}
	MatchConditions []struct{ Expression string }
}

// authorizers judges an AuthorizationConfiguration: ValidateAuthorizationConfiguration in pkg/apis/apiserver/validation
// of k8s.io/apiserver.
func authorizers(c content) string {
	var config struct {
		Authorizers []struct {
			Type, Name string
			Webhook    *authorizationWebhook
		}
	}
	if problem := c.decode(&config); problem != "" {
		return problem
	}
	types, names := map[string]bool{}, map[string]bool{}
	for i, a := range config.Authorizers {
		at := fmt.Sprintf("authorizers[%d]", i)
		switch {
		case !slices.Contains(authorizerTypes, a.Type):
			return has(at, "with the type %q, which is none of %s", a.Type, strings.Join(authorizerTypes, ", "))
		case types[a.Type] && a.Type != "Webhook":
			return has(at, "with the type %s of another one", a.Type)
		case names[a.Name] || len(validation.IsDNS1123Subdomain(a.Name)) > 0:
			return has(at, "with the name %q, which is no DNS name or another one's", a.Name)
		case (a.Type == "Webhook") != (a.Webhook != nil):
			return has(at, "with the type %s: a webhook has a section webhook, and nothing else has", a.Type)
		}
		types[a.Type], names[a.Name] = true, true
		if a.Webhook != nil {
			if problem := a.Webhook.refused(at+".webhook", c.sees); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func (w authorizationWebhook) refused(at string, exists func(string) bool) string {
	for _, ttl := range []struct{ name, text string }{
		{"authorizedTTL", w.AuthorizedTTL}, {"unauthorizedTTL", w.UnauthorizedTTL},
	} {
		// An empty one has a default.
		if d, err := time.ParseDuration(ttl.text); ttl.text != "" && (err != nil || d < 0) {
			return has(at, "with the %s %q", ttl.name, ttl.text)
		}
	}
	timeout, err := time.ParseDuration(w.Timeout)
	if err != nil || timeout <= 0 || timeout > 30*time.Second {
		return has(at, "with the timeout %q: it must be above 0 and up to 30s", w.Timeout)
	}
	if w.Version != "v1" && w.Version != "v1beta1" {
		return has(at, "with the subjectAccessReviewVersion %q: it takes v1 and v1beta1", w.Version)
	}
	if w.MatchVersion != "v1" && (w.MatchVersion != "" || len(w.MatchConditions) > 0) {
		return has(at, "with the matchConditionSubjectAccessReviewVersion %q: it takes v1", w.MatchVersion)
	}
	if w.FailurePolicy != "NoOpinion" && w.FailurePolicy != "Deny" {
		return has(at, "with the failurePolicy %q: it takes NoOpinion and Deny", w.FailurePolicy)
	}
	seen := map[string]bool{}
	for _, c := range w.MatchConditions {
		if strings.TrimSpace(c.Expression) == "" || seen[c.Expression] {
			return has(at, "with a match condition that is empty or there twice")
		}
		seen[c.Expression] = true
	}
	file := w.ConnectionInfo.KubeConfigFile
	switch w.ConnectionInfo.Type {
	case "InClusterConfig":
		if file != nil {
			return has(at, "with kubeConfigFile and the type InClusterConfig")
		}
	case "KubeConfigFile":
		if file == nil || !path.IsAbs(*file) || !exists(*file) {
			return has(at, "with a kubeConfigFile that is not the whole path of a file that is there")
		}
	default:
		return has(at, "with the type %q of connectionInfo: it takes KubeConfigFile and InClusterConfig",
			w.ConnectionInfo.Type)
	}
	return ""
}
