package release

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// admissionRules follow pkg/kubeapiserver/options/admission.go and plugins.go of k8s.io/kubernetes, and
// pkg/server/options/admission.go of k8s.io/apiserver.
var admissionRules = slices.Concat(
	refuse(unknownPlugin, "admission-control", "enable-admission-plugins", "disable-admission-plugins"),
	[]valueRule{
		{flags: []string{"admission-control", "enable-admission-plugins", "disable-admission-plugins"}, refuses: func(s *settings) string {
			// Set to nothing counts, too.
			if s.given("admission-control") && (s.given("enable-admission-plugins") || s.given("disable-admission-plugins")) {
				return "does not go with enable-admission-plugins or disable-admission-plugins"
			}
			return ""
		}},
		{flags: []string{"disable-admission-plugins", "enable-admission-plugins"}, refuses: func(s *settings) string {
			for _, name := range s.items("disable-admission-plugins") {
				if slices.Contains(s.items("enable-admission-plugins"), name) {
					return "names " + name + ", which enable-admission-plugins names, too"
				}
			}
			return ""
		}},
		{flags: []string{"enable-admission-plugins", "admission-control", "admission-control-config-file"}, refuses: func(s *settings) string {
			for _, name := range slices.Concat(s.items("enable-admission-plugins"), s.items("admission-control")) {
				if slices.Contains(ConfiguredPlugins(), name) && s.text("admission-control-config-file") == "" {
					return "names " + name + ", which needs a configuration in admission-control-config-file"
				}
			}
			return ""
		}},
	})

// ConfiguredPlugins are the admission plugins that refuse to do without a configuration.
func ConfiguredPlugins() []string { return []string{"EventRateLimit", "ImagePolicyWebhook"} }

func unknownPlugin(s *settings, flag string) string {
	for _, name := range s.items(flag) {
		if _, ok := s.catalogue.plugins()[name]; !ok {
			reason := fmt.Sprintf("names %q, an admission plugin that %s does not have", name, s.catalogue.binary.MinorString())
			if near, ok := Suggest(name, s.catalogue.AdmissionPlugins()); ok {
				reason += "; it has " + near
			}
			return reason
		}
	}
	return ""
}

// AdmissionPlugins returns the names of the admission plugins that the release has, sorted.
func (c *Catalogue) AdmissionPlugins() []string { return slices.Sorted(maps.Keys(c.plugins())) }

// serviceRules follow cmd/kube-apiserver/app/options of k8s.io/kubernetes and pkg/controlplane/instance.go there.
var serviceRules = []valueRule{
	{flags: []string{"help"}, refuses: func(s *settings) string {
		if s.on("help") {
			return "has it print its usage and end"
		}
		return ""
	}},
	{flags: []string{"version"}, refuses: func(s *settings) string {
		value := s.text("version")
		if on, _ := strconv.ParseBool(value); on || value == "raw" {
			return "has it print its version and end"
		}
		return ""
	}},
	oneOf("endpoint-reconciler-type", "", "lease", "master-count", "none"),
	{flags: []string{"apiserver-count"}, refuses: func(s *settings) string {
		if s.number("apiserver-count") <= 0 {
			return "is not above 0"
		}
		return ""
	}},
	{flags: []string{"kubernetes-service-node-port", "service-node-port-range"}, refuses: func(s *settings) string {
		port := s.number("kubernetes-service-node-port")
		low, high, _ := portRange(s.text("service-node-port-range"))
		switch {
		case port < 0 || port > 65535:
			return "is not between 0 and 65535"
		case port > 0 && s.given("kubernetes-service-node-port") && (int(port) < low || int(port) > high):
			return "is not within service-node-port-range, " + s.text("service-node-port-range")
		}
		return ""
	}},
	{flags: []string{"service-cluster-ip-range", FlagFeatureGates}, refuses: refusedServiceRange},
	{flags: []string{"service-cluster-ip-range", "advertise-address", "bind-address", "endpoint-reconciler-type"}, refuses: func(s *settings) string {
		first, _, _ := strings.Cut(s.text("service-cluster-ip-range"), ",")
		network := parseNetwork(first)
		address := net.ParseIP(strings.TrimSpace(s.text("advertise-address")))
		if s.text("endpoint-reconciler-type") == "none" || network == nil && first != "" || address == nil || address.IsUnspecified() {
			return ""
		}
		if (network == nil || network.IP.To4() != nil) != (address.To4() != nil) {
			return "begins with another family of addresses than that of advertise-address, " + address.String()
		}
		return ""
	}},
}

// leadingZeros are those that Kubernetes still takes in an IPv4 address.
var leadingZeros = regexp.MustCompile(`(^|\.)0+(\d)`)

// parseNetwork follows ParseCIDRSloppy of k8s.io/utils/net.
func parseNetwork(text string) *net.IPNet {
	address, bits, ok := strings.Cut(text, "/")
	if !ok || net.ParseIP(leadingZeros.ReplaceAllString(address, "$1$2")) == nil {
		return nil
	}
	_, network, err := net.ParseCIDR(leadingZeros.ReplaceAllString(address, "$1$2") + "/" + bits)
	if err != nil {
		return nil
	}
	return network
}

func refusedServiceRange(s *settings) string {
	text := s.text("service-cluster-ip-range")
	if text == "" {
		return ""
	}
	ranges := strings.Split(text, ",")
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
		case bits-ones > 20 && !(s.gateOn("MultiCIDRServiceAllocator") && s.gateOn("DisableAllocatorDualWrite")):
			return fmt.Sprintf("has a range that is too large: of addresses of %d bits, at least %d must be given", bits, bits-20)
		case i == 1 && (network.IP.To4() == nil) == (networks[0].IP.To4() == nil):
			return "has two ranges of one family of addresses"
		}
	}
	return ""
}
