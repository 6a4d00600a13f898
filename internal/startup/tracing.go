package startup

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// traced judges a TracingConfiguration: tracing/api/v1/config.go of k8s.io/component-base.
func traced(c content) string {
	var config struct {
		Endpoint               *string
		SamplingRatePerMillion *int32
	}
	if problem := c.decode(&config); problem != "" {
		return problem
	}
	if rate := config.SamplingRatePerMillion; rate != nil && (*rate < 0 || *rate > 1_000_000) {
		return fmt.Sprintf("has the samplingRatePerMillion %d, which is not between 0 and 1000000", *rate)
	}
	if config.Endpoint == nil {
		return ""
	}
	endpoint := *config.Endpoint
	if !strings.Contains(endpoint, "//") {
		endpoint = "dns://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || !slices.Contains([]string{"dns", "unix", "unix-abstract"}, u.Scheme) {
		const reason = "has the endpoint %q: it takes HOST:PORT, dns://, unix:// and unix-abstract://"
		return fmt.Sprintf(reason, *config.Endpoint)
	}
	return ""
}
