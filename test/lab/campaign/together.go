package campaign

import (
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// groups are flags that say something only together, or that exclude or need each other. A name with a value stands for it, one
// without for any value of it.
var groups = [][]string{
	{"peer-ca-file", "peer-advertise-ip", "peer-advertise-port"},
	{"authorization-mode=Node,RBAC,Webhook", "authorization-webhook-config-file", "authorization-webhook-version", "authorization-webhook-cache-authorized-ttl"},
	{"authorization-mode=RBAC,ABAC", "authorization-policy-file"},
	{"authorization-mode", "authorization-webhook-config-file", "authorization-policy-file"},
	{"authorization-config", "authorization-mode", "authorization-webhook-version"},
	{"oidc-issuer-url", "oidc-client-id", "oidc-username-claim", "oidc-ca-file", "oidc-required-claim", "oidc-signing-algs", "oidc-groups-prefix"},
	{"authentication-config", "oidc-issuer-url", "oidc-client-id"},
	{"authentication-config", "anonymous-auth"},
	{"authentication-token-webhook-config-file", "authentication-token-webhook-version", "authentication-token-webhook-cache-ttl"},
	{"anonymous-auth", "authorization-mode"},
	{"service-account-issuer", "service-account-jwks-uri", "service-account-signing-key-file", "api-audiences"},
	{"service-account-issuer", "service-account-issuer", "service-account-max-token-expiration", "service-account-extend-token-expiration"},
	{"service-account-key-file", "service-account-key-file", "service-account-lookup"},
	{"service-account-signing-endpoint", "service-account-signing-key-file=", "service-account-key-file="},
	{"tls-cert-file", "tls-private-key-file", "cert-dir", "tls-sni-cert-key"},
	{"tls-min-version", "tls-cipher-suites", "tls-curve-preferences"},
	{"proxy-client-cert-file", "proxy-client-key-file", "peer-ca-file"},
	{"kubelet-client-certificate", "kubelet-client-key", "kubelet-certificate-authority"},
	{"etcd-cafile", "etcd-certfile", "etcd-keyfile"},
	{"client-ca-file", "requestheader-client-ca-file", "requestheader-allowed-names"},
	{"requestheader-username-headers", "requestheader-group-headers", "requestheader-uid-headers", "requestheader-extra-headers-prefix"},
	{"audit-log-path", "audit-policy-file", "audit-log-format", "audit-log-mode", "audit-log-maxage", "audit-log-maxsize"},
	{"audit-log-path", "audit-policy-file=" + extra + "audit.yaml", "audit-log-mode=batch", "audit-log-batch-buffer-size", "audit-log-batch-max-size", "audit-log-batch-throttle-qps"},
	{"audit-log-path", "audit-log-truncate-enabled=true", "audit-log-truncate-max-batch-size", "audit-log-truncate-max-event-size", "audit-log-version"},
	{"audit-webhook-config-file", "audit-policy-file", "audit-webhook-mode", "audit-webhook-batch-max-size", "audit-webhook-version"},
	{"audit-webhook-config-file", "audit-webhook-batch-throttle-burst", "audit-webhook-truncate-enabled=true", "audit-webhook-truncate-max-event-size"},
	{"runtime-config", "enable-priority-and-fairness=true"},
	{"runtime-config=flowcontrol.apiserver.k8s.io/v1=false", "enable-priority-and-fairness"},
	{"max-requests-inflight", "max-mutating-requests-inflight", "enable-priority-and-fairness"},
	{"emulated-version", "min-compatibility-version", "emulation-forward-compatible", "runtime-config-emulation-forward-compatible"},
	{"feature-gates=LoggingAlphaOptions=true", "logging-format", "log-text-split-stream", "log-text-info-buffer-size=1Mi"},
	{"logging-format=json", "log-text-split-stream", "vmodule"},
	{"vmodule", "v", "log-flush-frequency"},
	{"enable-admission-plugins", "disable-admission-plugins", "admission-control-config-file"},
	{"admission-control", "enable-admission-plugins"},
	{"request-timeout", "livez-grace-period", "shutdown-delay-duration", "shutdown-send-retry-after"},
	{"service-cluster-ip-range", "service-node-port-range", "kubernetes-service-node-port"},
	{"endpoint-reconciler-type", "apiserver-count"},
	{"bind-address", "advertise-address", "secure-port", "external-hostname"},
	{"advertise-address", "service-cluster-ip-range"},
	{"egress-selector-config-file", "enable-aggregator-routing"},
	{"tracing-config-file", "feature-gates=APIServerTracing=false"},
	{"tracing-config-file", "feature-gates"},
	{"contention-profiling", "profiling", "debug-socket-path"},
	{"coordinated-leadership-lease-duration", "coordinated-leadership-renew-deadline", "coordinated-leadership-retry-period"},
	{"feature-gates=CoordinatedLeaderElection=true", "runtime-config=coordination.k8s.io/v1beta1=true,coordination.k8s.io/v1alpha2=true", "coordinated-leadership-lease-duration"},
	{"storage-backend", "storage-media-type", "feature-gates=CBORServingAndStorage=true"},
	{"storage-media-type=application/cbor", "feature-gates"},
	{"watch-cache", "watch-cache-sizes", "default-watch-cache-size"},
	{"etcd-servers", "etcd-servers-overrides", "etcd-prefix", "etcd-compaction-interval"},
	{"etcd-healthcheck-timeout", "etcd-readycheck-timeout", "storage-initialization-timeout"},
	{"encryption-provider-config", "encryption-provider-config-automatic-reload"},
	{"feature-gates=DynamicResourceAllocation=true", "runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true"},
	{"feature-gates=MutatingAdmissionPolicy=true", "runtime-config=admissionregistration.k8s.io/v1beta1=true", "disable-admission-plugins"},
	{"feature-gates=StorageVersionMigrator=true", "runtime-config=storagemigration.k8s.io/v1beta1=true"},
	{"feature-gates=ClusterTrustBundle=true", "runtime-config=certificates.k8s.io/v1beta1/clustertrustbundles=true"},
	{"feature-gates=StorageVersionAPI=true", "runtime-config=internal.apiserver.k8s.io/v1alpha1=true", "feature-gates"},
	{"feature-gates=AnonymousAuthConfigurableEndpoints=false", "authentication-config"},
	{"feature-gates=StructuredAuthenticationConfiguration=false", "authentication-config"},
	{"feature-gates=RemoteRequestHeaderUID=true", "requestheader-uid-headers"},
	{"feature-gates=MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false", "service-cluster-ip-range"},
	{"feature-gates=AllAlpha=true"},
	{"feature-gates=AllAlpha=true", "runtime-config=api/all=true"},
	{"feature-gates=AllBeta=true", "runtime-config=api/beta=true"},
	{"feature-gates=AllBeta=false", "feature-gates=APIServerIdentity=true", "peer-ca-file"},
	{"token-auth-file", "enable-bootstrap-token-auth", "anonymous-auth"},
	{"strict-transport-security-directives", "cors-allowed-origins", "goaway-chance"},
	{"allow-metric-labels", "allow-metric-labels-manifest", "disabled-metrics", "show-hidden-metrics-for-version"},
}

// together draws some flags of a group.
func (d *draw) together() []Arg {
	group := one(d, groups)
	var args []Arg
	for i, text := range group {
		if i > 1 && d.chance(35) {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		switch {
		case ok && d.chance(85):
			args = append(args, Arg{name, value})
		default:
			args = append(args, d.arg(name))
		}
	}
	if group[0] == release.FlagPeerCAFile && d.chance(70) {
		args = append(args, Arg{release.FlagFeatureGates, release.Gate + "=true"})
	}
	d.Shuffle(len(args), func(i, j int) { args[i], args[j] = args[j], args[i] })
	return args
}
