package release

import (
	"net"
	"slices"
	"strings"
)

// Flags of kube-apiserver that mvpcheck reads, without the dashes.
const (
	FlagFeatureGates             = "feature-gates"
	FlagEmulatedVersion          = "emulated-version"
	FlagMinCompatibility         = "min-compatibility-version"
	FlagForwardCompatible        = "emulation-forward-compatible"
	FlagRuntimeForwardCompatible = "runtime-config-emulation-forward-compatible"
	FlagRuntimeConfig            = "runtime-config"
	FlagPeerCAFile               = "peer-ca-file"
	FlagPeerAdvertiseIP          = "peer-advertise-ip"
	FlagPeerAdvertisePort        = "peer-advertise-port"
	FlagAdvertiseAddress         = "advertise-address"
	FlagBindAddress              = "bind-address"
	FlagSecurePort               = "secure-port"
	FlagProxyClientCertFile      = "proxy-client-cert-file"
	FlagProxyClientKeyFile       = "proxy-client-key-file"
	FlagRequestHeaderCAFile      = "requestheader-client-ca-file"
	FlagRequestHeaderNames       = "requestheader-allowed-names"
	FlagClientCAFile             = "client-ca-file"
	FlagTLSCertFile              = "tls-cert-file"
	FlagTLSPrivateKeyFile        = "tls-private-key-file"
	FlagEgressSelectorConfig     = "egress-selector-config-file"
	FlagPriorityAndFairness      = "enable-priority-and-fairness"
)

// NormalizeFlag returns the name that kube-apiserver takes a flag for: underscores are dashes (S8j).
// Dashes in front are dropped. Capitals count, as they do for kube-apiserver.
func NormalizeFlag(name string) string {
	return strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
}

// Accumulates tells whether giving a flag several times adds up (S10, S11); of any other flag the last value wins. The
// name may be written as NormalizeFlag takes it. What holds for a flag holds in every release that has it.
func Accumulates(flag string) bool {
	f, _ := findFlag(flag)
	return f.Again
}

// IsBoolFlag tells whether a flag may stand on a command line without a value; the next word is then not its value.
func IsBoolFlag(flag string) bool {
	f, _ := findFlag(flag)
	return f.Bare
}

// findFlag returns a flag of the newest release that has it.
func findFlag(name string) (f Flag, ok bool) {
	for _, r := range slices.Backward(known()) {
		c, _ := CatalogueOf(r)
		if f, ok = c.Flag(name); ok {
			return f, true
		}
	}
	return Flag{}, false
}

// ParseIPFlag reads the value of a flag that takes an IP address, as kube-apiserver of a release does: with the blanks
// around it. Nothing is the flag's default, and the address nil, where the release takes it.
func ParseIPFlag(value string, binary Release) (ip net.IP, ok bool) {
	if value == "" {
		return nil, binary.Does(EmptyIPIsDefault)
	}
	ip = net.ParseIP(strings.TrimSpace(value))
	return ip, ip != nil
}
