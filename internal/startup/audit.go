package startup

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
)

var (
	auditLevels = []string{"None", "Metadata", "Request", "RequestResponse"}
	auditStages = []string{"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"}
)

// audit judges an audit policy: ValidatePolicy in pkg/apis/audit/validation of k8s.io/apiserver. Fields that it does
// not know are passed over.
func audit(c content) string {
	var policy struct {
		OmitStages []string
		Rules      []struct {
			Level           string
			OmitStages      []string
			NonResourceURLs []string `json:"nonResourceURLs"`
			Namespaces      []string
			Resources       []struct {
				Group         string
				Resources     []string
				ResourceNames []string
			}
		}
	}
	if problem := c.decode(&policy); problem != "" {
		return problem
	}
	if problem := badStage(policy.OmitStages, "omitStages"); problem != "" {
		return problem
	}
	for i, rule := range policy.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		if !slices.Contains(auditLevels, rule.Level) {
			return has(at, "with the level %q, which is none of %s", rule.Level, strings.Join(auditLevels, ", "))
		}
		if problem := badStage(rule.OmitStages, at+".omitStages"); problem != "" {
			return problem
		}
		for _, url := range rule.NonResourceURLs {
			if url != "*" && (!strings.HasPrefix(url, "/") || strings.Contains(url[:len(url)-1], "*")) {
				return has(at, "with the path %q: one begins with / and has * only at its end", url)
			}
		}
		for _, r := range rule.Resources {
			if r.Group != "" && r.Group != "*" && len(validation.NameIsDNSSubdomain(r.Group, false)) > 0 {
				return has(at, "with the API group %q, which is no name of one", r.Group)
			}
			if len(r.ResourceNames) > 0 && len(r.Resources) == 0 {
				return has(at, "with resourceNames and no resources")
			}
		}
		if len(rule.NonResourceURLs) > 0 && len(rule.Resources)+len(rule.Namespaces) > 0 {
			return has(at, "with both nonResourceURLs and resources or namespaces")
		}
	}
	return ""
}

func badStage(stages []string, at string) string {
	for _, stage := range stages {
		if !slices.Contains(auditStages, stage) {
			return fmt.Sprintf("has %q in %s, which is none of %s", stage, at, strings.Join(auditStages, ", "))
		}
	}
	return ""
}
