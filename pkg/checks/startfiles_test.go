package checks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// TestUnreadableFile judges files as the real kube-apiserver did: each of the refused ones makes it exit, with each of
// the others it starts.
func TestUnreadableFile(t *testing.T) {
	const file = pki + "/file"
	otherBlock := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("none")}))
	to137, in133 := upgrade(36, 37), Pair{From: release.OfMinor(33), To: release.OfMinor(33)}
	says := func(flag, text string) []string { return []string{flag + ` "` + file + `" ` + text} }
	kubeconfig := "apiVersion: v1\nkind: Config\nclusters:\n- name: a\n  cluster: {server: https://127.0.0.1}\n" +
		"contexts:\n- name: a\n  context: {cluster: a, user: a}\ncurrent-context: a\n"
	for _, tc := range []struct {
		name  string
		flags string   // flag=value, separated by blanks
		text  string   // what the file holds
		none  bool     // there is no file
		pair  Pair     // 1.36 to 1.37 if it is zero
		want  []string // the messages without their full stops
	}{
		{name: "missing CA", flags: "client-ca-file=" + file, none: true, want: says("client-ca-file", "does not exist below --root")},
		{name: "empty CA", flags: "client-ca-file=" + file, want: says("client-ca-file", "is an empty file")},
		{name: "no CA", flags: "client-ca-file=" + file, text: "none\n", want: says("client-ca-file", "is not PEM text")},
		{name: "folder", flags: "client-ca-file=" + pki, want: []string{`client-ca-file "` + pki + `" is a folder`}},
		{name: "no value", flags: "client-ca-file="},
		{name: "a pair for etcd", flags: "etcd-certfile=" + pki + "/front-proxy-client.crt etcd-keyfile=" + pki + "/front-proxy-client.key", none: true},
		{name: "no pair for etcd", flags: "etcd-certfile=" + pki + "/apiserver.crt etcd-keyfile=" + pki + "/front-proxy-client.key", none: true,
			want: []string{`etcd-keyfile "` + pki + `/front-proxy-client.key" is not the key of etcd-certfile "` + pki + `/apiserver.crt"`}},
		{name: "text for kubelets", flags: "kubelet-client-certificate=" + file, text: "none\n"},
		{name: "missing for kubelets", flags: "kubelet-client-certificate=" + file, none: true, want: says("kubelet-client-certificate", "does not exist below --root")},
		{name: "empty etcd CA", flags: "etcd-cafile=" + file},
		{name: "text etcd CA", flags: "etcd-cafile=" + file, text: "none\n"},
		{name: "no key", flags: "service-account-signing-key-file=" + file, text: "none\n", want: says("service-account-signing-key-file", "is not PEM text")},
		{name: "etcd CA with another PEM block", flags: "etcd-cafile=" + file, text: otherBlock, want: says("etcd-cafile", "has a PEM block that is no certificate")},
		{name: "ECDSA key in PKCS#8 to sign with", flags: "service-account-signing-key-file=" + file, text: pkcs8Key(t)},
		{name: "ECDSA key in PKCS#8 to verify with", flags: "service-account-key-file=" + file, text: pkcs8Key(t), want: says("service-account-key-file", "holds no RSA or ECDSA key to verify with (of private keys in PKCS#8, only RSA ones count)")},
		{name: "no public key", flags: "service-account-key-file=" + file, text: "none\n", want: says("service-account-key-file", "is not PEM text")},
		{name: "two public keys, one missing", flags: "service-account-key-file=" + pki + "/apiserver.crt service-account-key-file=" + file, none: true,
			want: says("service-account-key-file", "does not exist below --root")},

		{name: "no policy", flags: "audit-policy-file=" + file, text: "none\n", want: says("audit-policy-file", "is not YAML, or its apiVersion or kind is not text")},
		{name: "old policy", flags: "audit-policy-file=" + file, text: "apiVersion: audit.k8s.io/v1beta1\nkind: Policy\n",
			want: says("audit-policy-file", `holds kind "Policy" of apiVersion "audit.k8s.io/v1beta1"; 1.36 reads Policy of audit.k8s.io/v1`)},
		{name: "policy", flags: "audit-policy-file=" + file, text: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: None\n"},
		{name: "empty tracing", flags: "tracing-config-file=" + file},
		{name: "no tracing", flags: "tracing-config-file=" + file, none: true, want: says("tracing-config-file", "does not exist below --root")},
		{name: "no tracing in 1.33", flags: "tracing-config-file=" + file, none: true, pair: in133, want: says("tracing-config-file", "does not exist below --root")},
		{name: "no tracing, with its gate off", flags: "feature-gates=APIServerTracing=false tracing-config-file=" + file, none: true, pair: in133},
		{name: "another kind, with its gate off", flags: "feature-gates=APIServerTracing=false tracing-config-file=" + file, text: "kind: Policy\n", pair: in133},
		{name: "authentication v1", flags: "authentication-config=" + file, text: "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"},
		{name: "authentication v1 in 1.33", flags: "authentication-config=" + file, text: "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n", pair: in133,
			want: says("authentication-config", `holds kind "AuthenticationConfiguration" of apiVersion "apiserver.config.k8s.io/v1"; `+
				`1.33 reads AuthenticationConfiguration of apiserver.config.k8s.io/v1alpha1, apiserver.config.k8s.io/v1beta1`)},
		{name: "admission without the plugin that needs it", flags: "enable-admission-plugins=NodeRestriction,EventRateLimit admission-control-config-file=" + file,
			text: "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\n",
			want: says("admission-control-config-file", "has no configuration for EventRateLimit, which is switched on and needs one")},
		{name: "admission of a plugin", flags: "admission-control-config-file=" + file, text: "podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: a=b\n"},

		{name: "kubeconfig", flags: "authentication-token-webhook-config-file=" + file, text: kubeconfig},
		{name: "kubeconfig without a context", flags: "authentication-token-webhook-config-file=" + file, text: strings.ReplaceAll(kubeconfig, "current-context: a", ""),
			want: says("authentication-token-webhook-config-file", "is a kubeconfig whose current-context leads to no server")},
		{name: "audit level", flags: "audit-policy-file=" + file, text: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: metadata\n",
			want: says("audit-policy-file", `has rules[0] with the level "metadata", which is none of None, Metadata, Request, RequestResponse`)},
		{name: "ABAC policy of another version", flags: "authorization-mode=ABAC authorization-policy-file=" + file,
			text: "{\"apiVersion\": \"abac.authorization.kubernetes.io/v9\", \"kind\": \"Policy\"}\n", want: says("authorization-policy-file", "has a line that is not a policy")},
		{name: "issuer of service accounts", flags: "authentication-config=" + file,
			text: "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: https://kubernetes.default.svc.cluster.local, audiences: [a]}\n",
			want: says("authentication-config", "has jwt[0] with the issuer of service accounts")},
		{name: "empty kubeconfig", flags: "authentication-token-webhook-config-file=" + file, want: says("authentication-token-webhook-config-file", "is an empty file")},
		{name: "a pod for a kubeconfig", flags: "authentication-token-webhook-config-file=" + file, text: "apiVersion: v1\nkind: Pod\n",
			want: says("authentication-token-webhook-config-file", `holds kind "Pod" of apiVersion "v1" in place of a kubeconfig`)},
		{name: "audit webhook without policy", flags: "audit-webhook-config-file=" + file, none: true},

		{name: "tokens", flags: "token-auth-file=" + file, text: "t,user,1\n"},
		{name: "two columns", flags: "token-auth-file=" + file, text: "t,user\n", want: says("token-auth-file", "has a line with fewer than three columns: token, user name and user ID")},
		{name: "no ABAC policy", flags: "authorization-mode=ABAC authorization-policy-file=" + file, text: "none\n", want: says("authorization-policy-file", "has a line that is not a policy")},
		{name: "labels in 1.37", flags: "allow-metric-labels-manifest=" + file, text: "a: b\n", want: says("allow-metric-labels-manifest", "has a key that is not of the form metric,label")},
		{name: "labels before 1.36", flags: "allow-metric-labels-manifest=" + file, text: "a: b\n", pair: in133},
		{name: "log to a folder", flags: "audit-log-path=" + pki, want: []string{`audit-log-path "` + pki + `" is a folder`}},
		{name: "log below a file", flags: "audit-log-path=" + file + "/new/audit.log", text: "a", want: []string{`audit-log-path "` + file + `/new/audit.log" lies below a file`}},
		{name: "log to a file", flags: "audit-log-path=" + file, none: true},
		{name: "log among the processes", flags: "audit-log-path=/proc/audit.log", want: []string{
			"unknown: whether there is a file /proc/audit.log in the container, where none can be made and kube-apiserver exits without it"}},
		{name: "log to the standard output", flags: "audit-log-path=/proc/1/fd/1"},
		{name: "log that is not mounted", flags: "audit-log-path=/var/log/audit.log"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := certstest.NewNode(t).Files(t)
			if !tc.none {
				files[file] = []byte(tc.text)
			}
			if tc.pair.From.IsZero() {
				tc.pair = to137
			}
			var b strings.Builder
			b.WriteString("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n")
			for flag := range strings.FieldsSeq(tc.flags) {
				name, value, _ := strings.Cut(flag, "=")
				b.WriteString("  - name: " + name + "\n    value: \"" + value + "\"\n")
			}
			in, err := config.Read("cluster.yaml", []byte(b.String()))
			if err != nil {
				t.Fatal(err)
			}
			res := Run(Input{Cluster: in.Clusters[0], Pair: tc.pair, Root: files.Write(t)}, []*Rule{unreadableFile})
			var got []string
			for _, f := range res.Findings {
				if f.Consequence != WillNotStart {
					t.Errorf("consequence %s: %s", f.Consequence, f.Message)
				}
				got = append(got, strings.TrimSuffix(f.Message, "."))
			}
			for _, n := range res.Unknown {
				got = append(got, "unknown: "+n.Reason)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// pkcs8Key is an ECDSA key as openssl and others write it.
func pkcs8Key(t *testing.T) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
