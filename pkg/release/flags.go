package release

import "strings"

// Flags of kube-apiserver that mvpcheck reads, without the dashes.
const (
	FlagFeatureGates         = "feature-gates"
	FlagEmulatedVersion      = "emulated-version"
	FlagRuntimeConfig        = "runtime-config"
	FlagPeerCAFile           = "peer-ca-file"
	FlagPeerAdvertiseIP      = "peer-advertise-ip"
	FlagPeerAdvertisePort    = "peer-advertise-port"
	FlagAdvertiseAddress     = "advertise-address"
	FlagBindAddress          = "bind-address"
	FlagSecurePort           = "secure-port"
	FlagProxyClientCertFile  = "proxy-client-cert-file"
	FlagProxyClientKeyFile   = "proxy-client-key-file"
	FlagRequestHeaderCAFile  = "requestheader-client-ca-file"
	FlagRequestHeaderNames   = "requestheader-allowed-names"
	FlagClientCAFile         = "client-ca-file"
	FlagTLSCertFile          = "tls-cert-file"
	FlagTLSPrivateKeyFile    = "tls-private-key-file"
	FlagEgressSelectorConfig = "egress-selector-config-file"
)

// NormalizeFlag returns the name that kube-apiserver takes a flag for: underscores are dashes (S8j).
// Dashes in front are dropped. Capitals count, as they do for kube-apiserver.
func NormalizeFlag(name string) string {
	return strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
}

// accumulating are the flags of kube-apiserver 1.33 to 1.37 that keep what was given before. Each flag
// of 1.37.2 was set twice by way of cmd/kube-apiserver/app/options and its value compared; 1.33.13,
// 1.34.4, 1.35.4 and 1.36.3 declare no other list or map flags in their sources.
var accumulating = map[string]bool{
	"admission-control":                    true,
	"allow-metric-labels":                  true,
	"api-audiences":                        true,
	"authorization-mode":                   true,
	"cors-allowed-origins":                 true,
	"disable-admission-plugins":            true,
	"disabled-metrics":                     true,
	"emulated-version":                     true,
	"enable-admission-plugins":             true,
	"etcd-servers":                         true,
	"etcd-servers-overrides":               true,
	"feature-gates":                        true,
	"kubelet-preferred-address-types":      true,
	"min-compatibility-version":            true,
	"oidc-required-claim":                  true,
	"oidc-signing-algs":                    true,
	"requestheader-allowed-names":          true,
	"requestheader-extra-headers-prefix":   true,
	"requestheader-group-headers":          true,
	"requestheader-uid-headers":            true,
	"requestheader-username-headers":       true,
	"runtime-config":                       true,
	"service-account-issuer":               true,
	"service-account-key-file":             true,
	"strict-transport-security-directives": true,
	"tls-cipher-suites":                    true,
	"tls-curve-preferences":                true,
	"tls-sni-cert-key":                     true,
	"vmodule":                              true,
	"watch-cache-sizes":                    true,
}

// Accumulates tells whether giving a flag several times adds up (S10, S11); of any other flag the last
// value wins. The name may be written as NormalizeFlag takes it.
func Accumulates(flag string) bool { return accumulating[NormalizeFlag(flag)] }
