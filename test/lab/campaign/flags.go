package campaign

// choice are the values that a flag is given: good are what people mean, odd are borders, other spellings and nonsense. What a
// server makes of them is not said here.
type choice struct{ good, odd []string }

// pathsOf are a file flag's values: files of the right kind, and others; see oddPaths.
func pathsOf(good []string, odd ...string) choice { return choice{good, odd} }

func inExtra(names ...string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = extra + name
	}
	return paths
}

var certificateFiles = inExtra("no-end.crt", "bad-base64.crt", "no-der.crt", "text-and-ca.crt", "two.crt", "no-line-break.crt", "cert-and-key.pem")

var caFile = pathsOf([]string{caCrt, caCrt, etcdCACrt, frontCACrt, extra + "two.crt", extra + "text-and-ca.crt"}, certificateFiles...)

func certFile(good string) choice {
	return pathsOf([]string{good}, append([]string{caCrt, etcdCrt, frontCrt, clientCrt, serverCrt}, certificateFiles...)...)
}

func keyFile(good string) choice {
	return pathsOf([]string{good}, etcdKey, frontKey, clientKey, serverKey, saKey, extra+"no-der.key", extra+"cert-and-key.pem", extra+"pkcs8.key")
}

// fileFlags are the flags that name a file.
var fileFlags = map[string]choice{
	"client-ca-file":                           caFile,
	"etcd-cafile":                              caFile,
	"etcd-certfile":                            certFile(etcdCrt),
	"etcd-keyfile":                             keyFile(etcdKey),
	"kubelet-certificate-authority":            caFile,
	"kubelet-client-certificate":               certFile(clientCrt),
	"kubelet-client-key":                       keyFile(clientKey),
	"oidc-ca-file":                             caFile,
	"peer-ca-file":                             caFile,
	"proxy-client-cert-file":                   certFile(frontCrt),
	"proxy-client-key-file":                    keyFile(frontKey),
	"requestheader-client-ca-file":             caFile,
	"tls-cert-file":                            certFile(serverCrt),
	"tls-private-key-file":                     keyFile(serverKey),
	"service-account-key-file":                 pathsOf([]string{saPub, saKey, serverCrt}, saPub, extra+"no-der.key", extra+"keys.pem", extra+"pkcs8.key", extra+"no-end.crt"),
	"service-account-signing-key-file":         pathsOf([]string{saKey}, saPub, serverKey, extra+"no-der.key", extra+"pkcs8.key"),
	"admission-control-config-file":            pathsOf(inExtra("admission.yaml", "admission-none.yaml"), inExtra("admission-beta.yaml", "admission-no-such.yaml", "admission-level.yaml", "admission-events.yaml", "admission-webhook.yaml", "admission-unknown.yaml", "image-policy.yaml")...),
	"allow-metric-labels-manifest":             pathsOf(inExtra("labels.yaml"), inExtra("labels-bad.yaml")...),
	"audit-policy-file":                        pathsOf(inExtra("audit.yaml", "audit-levels.yaml", "audit.json"), inExtra("audit-no-rules.yaml", "audit-beta.yaml", "audit-level.yaml", "audit-unknown.yaml", "audit-stage.yaml")...),
	"audit-webhook-config-file":                kubeconfigFile,
	"authentication-config":                    pathsOf(inExtra("authentication.yaml"), inExtra("authentication-v1.yaml", "authentication-alpha.yaml", "authentication-anonymous.yaml", "authentication-jwt.yaml", "authentication-http.yaml", "authentication-unknown.yaml")...),
	"authentication-token-webhook-config-file": kubeconfigFile,
	"authorization-config":                     pathsOf(inExtra("authorization.yaml", "authorization-beta.yaml"), inExtra("authorization-webhook.yaml", "authorization-none.yaml", "authorization-type.yaml", "authorization-twice.yaml")...),
	"authorization-policy-file":                pathsOf(inExtra("policy.jsonl", "policy-unversioned"), inExtra("policy-bad.jsonl", "policy-version.jsonl")...),
	"authorization-webhook-config-file":        kubeconfigFile,
	"egress-selector-config-file":              pathsOf(inExtra("egress.yaml", "egress-control.yaml"), inExtra("egress-empty.yaml", "egress-uds.yaml", "egress-name.yaml", "egress-twice.yaml")...),
	"encryption-provider-config":               pathsOf(inExtra("encryption.yaml", "encryption-identity.yaml", "encryption-secretbox.yaml"), inExtra("encryption-old.yaml", "encryption-short-key.yaml", "encryption-no-provider.yaml", "encryption-unknown.yaml")...),
	"token-auth-file":                          pathsOf(inExtra("tokens.csv"), inExtra("tokens-short.csv", "tokens-quote.csv")...),
	"tracing-config-file":                      pathsOf(inExtra("tracing.yaml"), inExtra("tracing-v1.yaml", "tracing-alpha.yaml", "tracing-rate.yaml", "tracing-endpoint.yaml")...),
}

var kubeconfigFile = pathsOf(inExtra("kubeconfig.yaml"), inExtra("kubeconfig-no-context.yaml", "kubeconfig-no-server.yaml", "kubeconfig-bad-ca.yaml")...)

// valueFlags are flags whose values have a meaning of their own beyond their type.
var valueFlags = map[string]choice{
	"admission-control":         {[]string{"NamespaceLifecycle,ServiceAccount,NodeRestriction"}, []string{"", "AlwaysDeny", "NoSuchPlugin", "namespacelifecycle", "PodSecurityPolicy"}},
	"enable-admission-plugins":  {[]string{"NodeRestriction", "NodeRestriction,AlwaysPullImages", "PodNodeSelector,NodeRestriction", "EventRateLimit", "ExtendedResourceToleration"}, []string{"", "noderestriction", "PodSecurityPolicy", "NodeRestriction,", " NodeRestriction", "NodeRestriction NamespaceLifecycle", "NodeRestriction,NodeRestriction", "AlwaysDeny", "ImagePolicyWebhook", "SecurityContextDeny", "\"NodeRestriction\"", "\"NodeRestriction", "DenyServiceExternalIPs"}},
	"disable-admission-plugins": {[]string{"DefaultStorageClass", "PodSecurity", "AlwaysAdmit", "NamespaceLifecycle"}, []string{"", "NodeRestriction", "NoSuch", "podsecurity", "ServiceAccount,Priority", "RuntimeClass,", "PodSecurityPolicy", "MutatingAdmissionPolicy"}},

	"advertise-address":               {[]string{nodeMark, nodeMark}, []string{"", "127.0.0.1", "0.0.0.0", "::", "::1", "cp-1", "192.0.2.300", "192.0.2.11:6443", "192.0.2.100", "192.168.1.010", "fe80::1", "2001:db8::1", "224.0.0.1", " @node", "@node ", "169.254.1.1", "255.255.255.255", "::ffff:192.0.2.11"}},
	"bind-address":                    {[]string{nodeMark, "0.0.0.0", "::"}, []string{"", "127.0.0.1", "::1", "192.0.2.99", "localhost", "0.0.0.0:6443", "256.0.0.1", "192.0.2.100", "[::]", "0"}},
	"secure-port":                     {[]string{"6443", "8443", "16443"}, []string{"0", "-1", "65535", "65536", "", "6443/tcp", "0x192b", "06443", "6_443", "6443.0", " 6443", "1e4", "443"}},
	"external-hostname":               {[]string{"api.example.com", "cp-1", ""}, []string{"api example", "https://api.example.com", "[::1]", "api.example.com:6443", "ümlaut.example"}},
	"permit-address-sharing":          booleans,
	"kubernetes-service-node-port":    {[]string{"0", "30443"}, []string{"443", "-1", "65536", "32767", "32768", "29999", "1"}},
	"service-node-port-range":         {[]string{"30000-32767", "30000-32000", "20000-40000"}, []string{"", "30000", "0-0", "32767-30000", "1-65535", "0-65535", "30000+2767", "30000-", "-30000", "30000-70000", "30000 - 32767", "30000–32767", "6443-6443", "30000-30000", "30000:32767", "+100"}},
	"service-cluster-ip-range":        {[]string{"10.96.0.0/12", "10.96.0.0/16", "172.20.0.0/20", "10.0.0.0/24"}, []string{"", "10.96.0.0", "10.96.0.1/12", "10.96.0.0/31", "10.96.0.0/29", "10.96.0.0/28", "10.0.0.0/8", "10.96.0.0/12,fd00::/108", "10.96.0.0/12,10.112.0.0/12", "fd00::/108", "fd00::/64", "10.96.0.0/12,fd00::/64", "10.96.0.0/12,", "10.96.0.0/12,fd00::/112,fd01::/112", "10.96.0.0/33", "fd00::/108,10.96.0.0/12", " 10.96.0.0/12", "10.96.0.0/12, fd00::/112"}},
	"endpoint-reconciler-type":        {[]string{"lease", "none", "master-count"}, []string{"", "Lease", "endpointslice", "lease "}},
	"apiserver-count":                 {[]string{"1", "3"}, []string{"0", "-1", "2147483648", "1.0", ""}},
	"peer-advertise-ip":               {[]string{nodeMark, "192.0.2.100"}, []string{"", "foo", "::1"}},
	"peer-advertise-port":             {[]string{"6443"}, []string{"", "bar", "0", "70000"}},
	"kubelet-preferred-address-types": {[]string{"InternalIP,ExternalIP,Hostname", "InternalIP"}, []string{"", "IP", "internalip", "Hostname,"}},

	"authorization-mode":                   {[]string{"Node,RBAC", "RBAC", "Node,RBAC,AlwaysAllow", "AlwaysAllow"}, []string{"", "rbac", "RBAC,RBAC", "Node RBAC", "Node, RBAC", "Webhook", "ABAC", "Node,RBAC,AlwaysDeny", "AlwaysDeny", "Node,RBAC,", ",", "None", "\"Node\",\"RBAC\""}},
	"authorization-webhook-version":        {[]string{"v1", "v1beta1"}, []string{"", "v2", "V1"}},
	"authentication-token-webhook-version": {[]string{"v1", "v1beta1"}, []string{"", "v2", "v1alpha1"}},
	"api-audiences":                        {[]string{"https://kubernetes.default.svc", "api,vault"}, []string{"", ",", "a b"}},
	"service-account-issuer":               {[]string{"https://kubernetes.default.svc.cluster.local", "https://issuer.example.com", "kubernetes/serviceaccount"}, []string{"", "http://issuer.example.com", "issuer:8443", "https://a b", "https://", "urn:a", "https://[::1", "%zz:1"}},
	"service-account-jwks-uri":             {[]string{"https://issuer.example.com/openid/v1/jwks", ""}, []string{"http://issuer.example.com/jwks", "issuer", "https://a b", ":"}},
	"service-account-max-token-expiration": {[]string{"24h", "1h", "8760h"}, []string{"0", "59m59s", "-1h", "1", "1193046h28m15s", "1193047h", "1h0m0.5s"}},
	"service-account-signing-endpoint":     {[]string{""}, []string{"/var/run/signer.sock", "@signer", "@", "@a b", "signer.sock", "unix:///var/run/signer.sock"}},
	"service-account-lookup":               booleans,
	"oidc-issuer-url":                      {[]string{"https://issuer.example.com", "https://issuer.example.com/realms/one"}, []string{"", "http://issuer.example.com", "issuer.example.com", "https://issuer.example.com?x=1", "https://issuer.example.com#x", "https://u:p@issuer.example.com", "https://kubernetes.default.svc.cluster.local"}},
	"oidc-client-id":                       {[]string{"kubernetes"}, []string{"", " ", "a,b"}},
	"oidc-required-claim":                  {[]string{"aud=kubernetes", "a=b,c=d"}, []string{"", "a", "=b", "a=b=c", "a=", "a=b,a=c"}},
	"oidc-signing-algs":                    {[]string{"RS256", "RS256,ES256"}, []string{"", "HS256", "rs256", "none", "RS256,RS256", "PS512", "EdDSA"}},
	"oidc-username-claim":                  {[]string{"sub", "email"}, []string{"", "a.b", "naïve"}},
	"oidc-groups-claim":                    {[]string{"groups", ""}, []string{"a.b", "a b"}},
	"oidc-username-prefix":                 {[]string{"oidc:", "-"}, []string{"", " "}},
	"oidc-groups-prefix":                   {[]string{"oidc:", ""}, []string{"-"}},
	"requestheader-allowed-names":          {[]string{"front-proxy-client", "front-proxy-client,other", ""}, []string{"\"a", "a\"b", "*", " front-proxy-client"}},
	"requestheader-extra-headers-prefix":   {[]string{"X-Remote-Extra-", "X-Other-"}, []string{"", " ", ",", "X-Remote-Extra-,"}},
	"requestheader-group-headers":          {[]string{"X-Remote-Group"}, []string{"", " ", "X-Remote-Group,X-Remote-Group"}},
	"requestheader-username-headers":       {[]string{"X-Remote-User"}, []string{"", "x-remote-user", "X-Remote-User, "}},
	"requestheader-uid-headers":            {[]string{"X-Remote-Uid"}, []string{"", "X-Other-Uid", "x-remote-uid"}},

	"audit-log-path":                        {[]string{"-", "/var/log/kubernetes/audit.log", "/var/log/audit.log"}, []string{"", "/var/log/", "/proc/audit.log", "audit.log", "/etc/kubernetes/pki/ca.crt/audit.log", " "}},
	"audit-log-format":                      {[]string{"json", "legacy"}, []string{"", "JSON", "text"}},
	"audit-log-mode":                        {[]string{"blocking", "batch", "blocking-strict"}, []string{"", "Batch", "async"}},
	"audit-webhook-mode":                    {[]string{"batch", "blocking", "blocking-strict"}, []string{"", "Blocking", "async"}},
	"audit-log-version":                     {[]string{"audit.k8s.io/v1"}, []string{"", "v1", "audit.k8s.io/v1beta1", "audit.k8s.io/v1alpha1"}},
	"audit-webhook-version":                 {[]string{"audit.k8s.io/v1"}, []string{"", "v1", "audit.k8s.io/v1beta1"}},
	"audit-log-truncate-max-batch-size":     sizes,
	"audit-log-truncate-max-event-size":     sizes,
	"audit-webhook-truncate-max-batch-size": sizes,
	"audit-webhook-truncate-max-event-size": sizes,

	"etcd-servers":                                {[]string{"http://" + etcdMark, etcdMark, "http://" + etcdMark + ",http://" + etcdMark}, []string{"", "http://" + etcdMark + ",", "ftp://" + etcdMark, "http://[::1", "http://[::1,http://" + etcdMark}},
	"etcd-servers-overrides":                      {[]string{"/events#http://" + etcdMark, "/events#" + etcdMark + ";http://" + etcdMark, ""}, []string{"events#http://" + etcdMark, "/events", "/events#", "/events#http://" + etcdMark + ",/pods#http://" + etcdMark, "apps/deployments#http://" + etcdMark, "/no-such#http://" + etcdMark, "/events#" + etcdMark, "/events#http://[::1", "#"}},
	"etcd-prefix":                                 {[]string{"/registry-@index", "registry-@index", "/other/@index"}, []string{"", "/", "/a b", "//", "/ü"}},
	"etcd-compaction-interval":                    durations,
	"etcd-count-metric-poll-period":               durations,
	"storage-backend":                             {[]string{"etcd3", ""}, []string{"etcd2", "etcd", "ETCD3", "etcd3 "}},
	"storage-media-type":                          {[]string{"application/vnd.kubernetes.protobuf", "application/json"}, []string{"", "application/yaml", "application/cbor", "json", "application/JSON"}},
	"watch-cache-sizes":                           {[]string{"pods#100", "deployments.apps#50,pods#0", ""}, []string{"pods", "pods#-1", "pods#a", "pods#1#2", "#1", "pods#1,", "Pods#1", "pods#9223372036854775808"}},
	"default-watch-cache-size":                    {[]string{"100", "0"}, []string{"-1", "9223372036854775808"}},
	"encryption-provider-config-automatic-reload": booleans,

	"max-requests-inflight":                   {[]string{"400", "800"}, []string{"0", "-1"}},
	"max-mutating-requests-inflight":          {[]string{"200", "400"}, []string{"0", "-1"}},
	"goaway-chance":                           {[]string{"0", "0.001", "0.02"}, []string{"0.0200001", "-0.001", "1", "NaN", "Inf", "1e-3", "0,01", ".01", "0x1p-7"}},
	"min-request-timeout":                     {[]string{"1800", "300"}, []string{"0", "-1", "30m", "2147483648"}},
	"request-timeout":                         {[]string{"1m", "90s", "5m0s"}, []string{"0", "-1s", "60", "1ms", "1m 30s", "1d"}},
	"livez-grace-period":                      {[]string{"0s", "30s"}, []string{"-1s", "1000h", "30"}},
	"shutdown-delay-duration":                 {[]string{"0s", "20s", "70s"}, []string{"-1s", "20"}},
	"shutdown-watch-termination-grace-period": {[]string{"0s", "15s"}, []string{"-1s", "15"}},
	"storage-initialization-timeout":          {[]string{"1m", "2m"}, []string{"0s", "-1s", "1ms", "60"}},
	"event-ttl":                               {[]string{"1h", "24h", "30m"}, []string{"0s", "2", "-1h", "1ns", "292y", "2562048h"}},
	"lease-reuse-duration-seconds":            {[]string{"60", "30"}, []string{"0", "-1", "9223372036854775807"}},
	"cors-allowed-origins":                    {[]string{"^https://example\\.com$", "//example\\.com(:|$)"}, []string{"", "*", "example.com", "^(", "https://example.com", "^a$,", "[::1]", "//a"}},
	"strict-transport-security-directives":    {[]string{"max-age=31536000,includeSubDomains,preload", "max-age=0"}, []string{"", "max-age", "MAX-AGE=1", "max-age=1;preload", "preload", "max-age=-1", "includeSubdomains"}},
	"http2-max-streams-per-connection":        {[]string{"100", "0", "250"}, []string{"-1", "4294967296", "2147483648"}},
	"max-connection-bytes-per-sec":            {[]string{"0", "1000000"}, []string{"-1"}},
	"delete-collection-workers":               {[]string{"1", "5"}, []string{"0", "-1"}},
	"default-not-ready-toleration-seconds":    {[]string{"300", "0"}, []string{"-1"}},
	"default-unreachable-toleration-seconds":  {[]string{"300", "30"}, []string{"-1", "5m"}},
	"coordinated-leadership-lease-duration":   {[]string{"15s", "30s"}, []string{"10s", "5s", "0s", "-1s"}},
	"coordinated-leadership-renew-deadline":   {[]string{"10s", "8s"}, []string{"15s", "2s", "0s"}},
	"coordinated-leadership-retry-period":     {[]string{"2s", "3s"}, []string{"10s", "0s", "-1s"}},
	"debug-socket-path":                       {[]string{"/tmp/debug.sock", ""}, []string{"/no-such-folder/debug.sock", "/tmp", "debug.sock", "@debug", "/tmp/" + long}},
	"kubelet-port":                            {[]string{"10250"}, []string{"0", "-1", "65536", "4294967296"}},
	"kubelet-read-only-port":                  {[]string{"10255", "0"}, []string{"-1"}},
	"kubelet-timeout":                         {[]string{"5s", "30s"}, []string{"0s", "-1s", "5"}},

	"tls-min-version":       {[]string{"VersionTLS12", "VersionTLS13", ""}, []string{"VersionTLS10", "VersionTLS11", "TLS12", "1.2", "versiontls12", "VersionTLS14"}},
	"tls-cipher-suites":     {[]string{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", ""}, []string{"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "tls_ecdhe_rsa_with_aes_128_gcm_sha256", "TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,", "TLS_CHACHA20_POLY1305_SHA256, TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_RC4_128_SHA"}},
	"tls-curve-preferences": {[]string{"29", "23,24", "4588,29"}, []string{"", "X25519", "1", "0", "-1", "29,29", "25", "2147483648", "29,"}},
	"tls-sni-cert-key":      {[]string{serverCrt + "," + serverKey, serverCrt + "," + serverKey + ":*.example.com,api.example.com", otherServer + ".crt," + otherServer + ".key:etcd"}, []string{"", serverCrt, serverCrt + "," + serverKey + ":", serverKey + "," + serverCrt, serverCrt + "," + saKey, serverCrt + "," + serverKey + ":a b", serverCrt + ",/no-such", serverCrt + "," + serverKey + ",third", serverCrt + " , " + serverKey, serverCrt + "," + frontKey, ",", ":"}},
	"cert-dir":              {[]string{"/var/run/kubernetes", "/tmp/certs"}, []string{"", "/no/such", pki, "certs"}},

	"logging-format":                  {[]string{"text", "json"}, []string{"", "JSON", "klog", "yaml"}},
	"v":                               {[]string{"2", "4", "0"}, []string{"-1", "10", "2.5", "", "debug", "1000", "2147483648", "+3"}},
	"vmodule":                         {[]string{"httplog=3", "a=1,b*=2", ""}, []string{"httplog", "httplog=x", "=3", "a=b=3", "a=-1", "a=1,", "[=1", "httplog=0"}},
	"log-flush-frequency":             {[]string{"5s", "1m"}, []string{"0s", "-1s", "5", ""}},
	"log-text-info-buffer-size":       {[]string{"0"}, []string{"1Mi", "1024", "-1", "a", "", "1.5Ki", "0.1", "1e3"}},
	"log-text-split-stream":           {[]string{"false"}, []string{"true", ""}},
	"version":                         {[]string{"false"}, []string{"true", "raw", "v1.36.0", "v1.36", "1.36.0", "", "0", "v1.36.3+a", "vX"}},
	"help":                            {[]string{"false"}, []string{"true", "", "yes"}},
	"show-hidden-metrics-for-version": {[]string{"", "@previous"}, []string{"1.36", "1.35", "v1.35", "1.20", "1", "latest"}},
	"disabled-metrics":                {[]string{"apiserver_request_total", "a,b", ""}, []string{"a b", ","}},
	"allow-metric-labels":             {[]string{"apiserver_request_total,code='200,404'", "a,b=c", ""}, []string{"a", "a,b", "a,b=c=d", "=", "a=b", "A,B='x'", "a,b='c"}},
	"profiling":                       booleans,
	"contention-profiling":            booleans,
	"anonymous-auth":                  booleans,
	"enable-priority-and-fairness":    booleans,
	"enable-logs-handler":             booleans,
	"watch-cache":                     booleans,
	"enable-garbage-collector":        booleans,
}

// long is longer than the path of a socket can be.
const long = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
