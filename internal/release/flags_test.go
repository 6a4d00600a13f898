package release

import "testing"

func TestNormalizeFlag(t *testing.T) {
	for in, want := range map[string]string{
		"peer-ca-file":       FlagPeerCAFile,
		"peer_ca_file":       FlagPeerCAFile, // S8j
		"--peer-ca_file":     FlagPeerCAFile,
		"Peer-CA-File":       "Peer-CA-File",
		"feature_gates":      FlagFeatureGates,
		"":                   "",
		"--emulated-version": FlagEmulatedVersion,
	} {
		if got := NormalizeFlag(in); got != want {
			t.Errorf("NormalizeFlag(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAccumulates(t *testing.T) {
	for _, flag := range []string{
		FlagFeatureGates,       // S10
		FlagRequestHeaderNames, // S11
		FlagRuntimeConfig, FlagEmulatedVersion, "enable-admission-plugins", "service-account-issuer", "tls-sni-cert-key",
		"service-account-key-file", "oidc-required-claim", "vmodule", "allow-metric-labels", "tls-curve-preferences",
		"feature_gates", "etcd-servers", "authorization-mode", "min-compatibility-version",
	} {
		if !Accumulates(flag) {
			t.Errorf("%s is a list flag", flag)
		}
	}
	for _, flag := range []string{
		FlagPeerCAFile, FlagPeerAdvertiseIP, FlagPeerAdvertisePort, FlagAdvertiseAddress, FlagBindAddress, FlagSecurePort,
		FlagProxyClientCertFile, FlagProxyClientKeyFile, FlagRequestHeaderCAFile, FlagClientCAFile, FlagTLSCertFile,
		FlagTLSPrivateKeyFile, FlagEgressSelectorConfig, "v", "service-node-port-range", "audit-log-path", "no-such-flag", "",
	} {
		if Accumulates(flag) {
			t.Errorf("of %s the last value wins", flag)
		}
	}
}
