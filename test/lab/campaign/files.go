package campaign

// Folders of the nodes. What is below the first is mounted into the pod by kubeadm.
const (
	pki   = "/etc/kubernetes/pki"
	extra = pki + "/campaign/"
)

// hookAddress is where the webhook of the settings' kubeconfig files listens.
const hookAddress = "192.0.2.15:9443"

// Files are those that settings name, beside those of kubeadm.
func Files() map[string][]byte {
	files := map[string][]byte{}
	for name, text := range texts {
		files[extra+name] = []byte(text)
	}
	return files
}

// Paths that any flag for a file may be given.
var oddPaths = []string{
	"", " ", extra + "empty", extra + "garbage", extra + "binary", extra + "list.yaml", extra + "other-kind.yaml", pki + "/no-such-file",
	pki, pki + "/", "/", pki + "/ca.crt ", " " + pki + "/ca.crt", pki + "/ca.crt\n", pki + "/ca.crt", pki + "/ca.key", pki + "/sa.pub",
	pki + "/../pki/ca.crt", "etc/kubernetes/pki/ca.crt", "./ca.crt", "~/ca.crt", "file://" + pki + "/ca.crt",
	pki + "/apiserver.crt", pki + "/apiserver.key", extra + "kubeconfig.yaml", pki + "/ca.crt," + pki + "/ca.crt",
}

const (
	caCrt        = pki + "/ca.crt"
	serverCrt    = pki + "/apiserver.crt"
	serverKey    = pki + "/apiserver.key"
	otherServer  = pki + "/etcd/server"
	clientCrt    = pki + "/apiserver-kubelet-client.crt"
	clientKey    = pki + "/apiserver-kubelet-client.key"
	frontCACrt   = pki + "/front-proxy-ca.crt"
	frontCrt     = pki + "/front-proxy-client.crt"
	frontKey     = pki + "/front-proxy-client.key"
	etcdCACrt    = pki + "/etcd/ca.crt"
	etcdCrt      = pki + "/apiserver-etcd-client.crt"
	etcdKey      = pki + "/apiserver-etcd-client.key"
	saKey, saPub = pki + "/sa.key", pki + "/sa.pub"
)

// texts are the contents of files; those that begin like a kind are that kind's, good or bad.
var texts = map[string]string{
	"empty":           "",
	"garbage":         "no such thing\n",
	"binary":          "\x00\x01\xfe\xff\x80PEM",
	"list.yaml":       "- a\n- b\n",
	"other-kind.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n",
	"no-end.crt":      "-----BEGIN CERTIFICATE-----\nMIIB\n",
	"bad-base64.crt":  "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
	"no-der.crt":      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
	"no-der.key":      "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",

	"kubeconfig.yaml": "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {server: \"http://" + hookAddress + "/hook\"}\n" +
		"users:\n- name: a\n  user: {}\ncontexts:\n- name: a\n  context: {cluster: a, user: a}\n",
	"kubeconfig-no-context.yaml": "apiVersion: v1\nkind: Config\nclusters:\n- name: a\n  cluster: {server: \"http://" + hookAddress + "/hook\"}\n",
	"kubeconfig-no-server.yaml":  "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {}\ncontexts:\n- name: a\n  context: {cluster: a}\n",
	"kubeconfig-bad-ca.yaml": "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {server: \"https://" + hookAddress + "\", certificate-authority: /no-such-file}\n" +
		"contexts:\n- name: a\n  context: {cluster: a}\n",

	"audit.yaml":          "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n",
	"audit-levels.yaml":   "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: None\n  users: [\"system:kube-proxy\"]\n- level: Request\n  resources:\n  - group: \"\"\n    resources: [secrets]\n",
	"audit-no-rules.yaml": "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []\n",
	"audit-beta.yaml":     "apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules:\n- level: Metadata\n",
	"audit-level.yaml":    "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: metadata\n",
	"audit-unknown.yaml":  "apiVersion: audit.k8s.io/v1\nkind: Policy\nrule:\n- level: Metadata\nrules:\n- level: Metadata\n",
	"audit-stage.yaml":    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [Never]\nrules:\n- level: Metadata\n",
	"audit.json":          "{\"apiVersion\": \"audit.k8s.io/v1\", \"kind\": \"Policy\", \"rules\": [{\"level\": \"Metadata\"}]}\n",

	"encryption.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers:\n" +
		"  - aescbc:\n      keys:\n      - name: key1\n        secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n  - identity: {}\n",
	"encryption-identity.yaml":    "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets, configmaps]\n  providers:\n  - identity: {}\n",
	"encryption-secretbox.yaml":   "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: ['*.*']\n  providers:\n  - secretbox:\n      keys:\n      - {name: key1, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}\n  - identity: {}\n",
	"encryption-old.yaml":         "apiVersion: v1\nkind: EncryptionConfig\nresources:\n- resources: [secrets]\n  providers:\n  - identity: {}\n",
	"encryption-short-key.yaml":   "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers:\n  - aescbc:\n      keys:\n      - {name: key1, secret: c2hvcnQ=}\n",
	"encryption-no-provider.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers: []\n",
	"encryption-unknown.yaml":     "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resource: [secrets]\n  providers:\n  - identity: {}\n",

	"authentication.yaml":           "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt: []\n",
	"authentication-v1.yaml":        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true}\n",
	"authentication-anonymous.yaml": "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true, conditions: [{path: /livez}, {path: /readyz}]}\n",
	"authentication-alpha.yaml":     "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: AuthenticationConfiguration\njwt: []\n",
	"authentication-jwt.yaml": "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: \"https://issuer.example.com\", audiences: [a]}\n" +
		"  claimMappings: {username: {claim: sub, prefix: \"\"}}\n",
	"authentication-http.yaml":    "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: \"http://issuer.example.com\", audiences: [a]}\n  claimMappings: {username: {claim: sub, prefix: \"\"}}\n",
	"authentication-unknown.yaml": "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwts: []\n",

	"authorization.yaml":      "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n",
	"authorization-beta.yaml": "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: RBAC, name: rbac}\n",
	"authorization-webhook.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n- type: Webhook\n  name: hook\n" +
		"  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n    matchConditionSubjectAccessReviewVersion: v1\n    failurePolicy: NoOpinion\n    connectionInfo: {type: KubeConfigFile, kubeConfigFile: " + extra + "kubeconfig.yaml}\n",
	"authorization-none.yaml":  "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: []\n",
	"authorization-type.yaml":  "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: AlwaysSo, name: so}\n",
	"authorization-twice.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: RBAC, name: rbac}\n- {type: RBAC, name: rbac}\n",

	"admission.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: PodSecurity\n  configuration:\n    apiVersion: pod-security.admission.config.k8s.io/v1\n" +
		"    kind: PodSecurityConfiguration\n    defaults: {enforce: baseline, enforce-version: latest}\n",
	"admission-beta.yaml":    "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AdmissionConfiguration\nplugins: []\n",
	"admission-none.yaml":    "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\n",
	"admission-no-such.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: NoSuchPlugin\n  configuration: {}\n",
	"admission-level.yaml":   "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: PodSecurity\n  configuration:\n    apiVersion: pod-security.admission.config.k8s.io/v1\n    kind: PodSecurityConfiguration\n    defaults: {enforce: strict}\n",
	"admission-events.yaml":  "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: EventRateLimit\n  path: eventconfig.yaml\n",
	"admission-webhook.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: ValidatingAdmissionWebhook\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    kind: WebhookAdmissionConfiguration\n    kubeConfigFile: " + extra + "kubeconfig.yaml\n",
	"admission-unknown.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugin: []\n",
	"eventconfig.yaml":       "apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\nlimits:\n- {type: Namespace, qps: 50, burst: 100, cacheSize: 2000}\n",
	"image-policy.yaml":      "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: ImagePolicyWebhook\n  configuration:\n    imagePolicy: {kubeConfigFile: " + extra + "kubeconfig.yaml, allowTTL: 50, denyTTL: 50, retryBackoff: 500, defaultAllow: true}\n",

	"egress.yaml":         "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n- name: cluster\n  connection: {proxyProtocol: Direct}\n",
	"egress-empty.yaml":   "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections: []\n",
	"egress-uds.yaml":     "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n- name: cluster\n  connection:\n    proxyProtocol: GRPC\n    transport: {uds: {udsName: /etc/kubernetes/konnectivity-server/konnectivity-server.socket}}\n",
	"egress-name.yaml":    "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n- name: nowhere\n  connection: {proxyProtocol: Direct}\n",
	"egress-twice.yaml":   "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n- name: cluster\n  connection: {proxyProtocol: Direct}\n- name: cluster\n  connection: {proxyProtocol: Direct}\n",
	"egress-control.yaml": "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n- name: controlplane\n  connection: {proxyProtocol: Direct}\n",

	"tracing.yaml":          "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nsamplingRatePerMillion: 100\n",
	"tracing-v1.yaml":       "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: 100\n",
	"tracing-alpha.yaml":    "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: TracingConfiguration\nendpoint: localhost:4317\n",
	"tracing-rate.yaml":     "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nsamplingRatePerMillion: -1\n",
	"tracing-endpoint.yaml": "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nendpoint: \"http://localhost:4317\"\n",

	"tokens.csv":       "token1,user1,1\ntoken2,user2,2,\"a,b\"\n",
	"tokens-short.csv": "token1,user1\n",
	"tokens-quote.csv": "token1,\"user1,1\n",

	"policy.jsonl":         "{\"apiVersion\": \"abac.authorization.kubernetes.io/v1beta1\", \"kind\": \"Policy\", \"spec\": {\"user\": \"*\", \"nonResourcePath\": \"*\", \"readonly\": true}}\n",
	"policy-unversioned":   "# who may what\n{\"user\": \"admin\"}\n\n",
	"policy-bad.jsonl":     "{\"apiVersion\": \"abac.authorization.kubernetes.io/v1beta1\", \"kind\": \"Policy\"\n",
	"policy-version.jsonl": "{\"apiVersion\": \"abac.authorization.kubernetes.io/v9\", \"kind\": \"Policy\"}\n",

	"labels.yaml":     "\"apiserver_request_total,code\": \"200,404\"\n",
	"labels-bad.yaml": "allow: [a, b]\n",
}
