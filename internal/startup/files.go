package startup

import (
	"bytes"
	"crypto/x509"
	"encoding/csv"
	"encoding/pem"
	"errors"
	"io"
	"path"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
)

// File is a flag whose file kube-apiserver reads at start. What each makes of a file that is missing, empty, a folder
// or something else was measured; it exits on the first and the third in any case.
type File struct {
	Flag string
	// What is to stand in the file.
	What string
	// EmptyStarts: on an empty file the server starts.
	EmptyStarts bool
	// Secret: a copy of a node's files may well lack it.
	Secret bool
	// Written: the server writes the file, so that only a folder in its place matters.
	Written bool

	// holds says what the server exits on in a file that can be read and is not empty; nil: it can hold anything.
	holds func(c content) string
	// where is what a release must do to exit; "" is each release.
	where release.Behaviour
	// with are flags that must be set, too, for the file to be read; gate is one without which the server takes no
	// notice of it.
	with []string
	gate string
}

// files are the flags but those whose files are for the hand-off and for serving.
var files = []File{
	{Flag: release.FlagClientCAFile, What: "the CA that signs the certificates of clients", holds: certificates},
	{
		Flag: "service-account-key-file", What: "a public key that verifies the tokens of service accounts",
		holds: tokenKeys(false),
	},
	{
		Flag: "service-account-signing-key-file", What: "the private key that signs the tokens of service accounts",
		Secret: true, holds: tokenKeys(true),
	},
	{
		Flag: "kubelet-client-certificate", What: "the certificate that kube-apiserver shows to kubelets",
		EmptyStarts: true,
	},
	{Flag: "kubelet-client-key", What: "the key of kubelet-client-certificate", Secret: true, EmptyStarts: true},
	{
		Flag: "kubelet-certificate-authority", What: "the CA of the kubelets' certificates",
		EmptyStarts: true, holds: certificates,
	},
	{Flag: "etcd-cafile", What: "the CA of etcd", EmptyStarts: true, holds: nothingButCertificates},
	{Flag: "etcd-certfile", What: "the certificate that kube-apiserver shows to etcd", holds: leaf},
	{Flag: "etcd-keyfile", What: "the key of etcd-certfile", Secret: true, holds: keyOf("etcd-certfile")},
	{
		Flag: "oidc-ca-file", What: "the CA of the issuer",
		EmptyStarts: true, holds: certificates, with: []string{"oidc-issuer-url", "oidc-client-id"},
	},
	{
		Flag: "token-auth-file", What: "lines of token, user name and user ID",
		EmptyStarts: true, Secret: true, holds: tokenLines,
	},
	{
		Flag: "authorization-policy-file", What: "a policy in each line",
		EmptyStarts: true, holds: policyLines, with: []string{"authorization-mode"},
	},
	{
		Flag: "allow-metric-labels-manifest", What: "a mapping of metric,label to values",
		EmptyStarts: true, holds: labelMapping, where: release.ChecksMetricsOptions,
	},
	{Flag: "audit-log-path", Written: true},

	{Flag: "audit-policy-file", What: "an audit policy", holds: auditPolicy.refused},
	{Flag: "encryption-provider-config", What: "an EncryptionConfiguration", Secret: true, holds: encryption.refused},
	{Flag: "authentication-config", What: "an AuthenticationConfiguration", holds: authentication.refused},
	{Flag: "authorization-config", What: "an AuthorizationConfiguration", holds: authorization.refused},
	{Flag: "admission-control-config-file", What: "an AdmissionConfiguration", holds: admission.refused},
	{Flag: release.FlagEgressSelectorConfig, What: "an EgressSelectorConfiguration", holds: egressSelectors.refused},
	{
		Flag: "tracing-config-file", What: "a TracingConfiguration",
		EmptyStarts: true, holds: tracing.refused, gate: "APIServerTracing",
	},
	{
		Flag: "authorization-webhook-config-file", What: "a kubeconfig",
		holds: kubeconfig, with: []string{"authorization-mode"},
	},
	{Flag: "authentication-token-webhook-config-file", What: "a kubeconfig", holds: kubeconfig},
	{Flag: "audit-webhook-config-file", What: "a kubeconfig", holds: kubeconfig, with: []string{"audit-policy-file"}},
}

// Files are the flags whose files are judged, in the order of the findings.
func Files() []File { return files }

// IsRead tells whether the server reads the file where the flag names one.
func (file *File) IsRead(s *Server) bool {
	return (file.where == "" || s.catalogue.Does(file.where)) && (file.gate == "" || s.allows(file.gate)) &&
		!slices.ContainsFunc(file.with, func(flag string) bool { return s.text(flag) == "" })
}

// allows tells whether the server does what a gate is for: it is on, or the release no longer has it, as what it was
// for stays.
func (s *Server) allows(gate string) bool {
	_, known := s.catalogue.Gate(gate, s.at)
	return !known || s.gateOn(gate)
}

// Node has the files of a node as the server sees them in its pod.
type Node struct {
	Store *certs.Store
	// Host returns where a path of the pod is on the node; ok is false where that is not known.
	Host func(name string) (host string, ok bool)
	// Mounted tells whether a volume is mounted at a path of the pod.
	Mounted func(name string) bool
}

// content is what a file holds that the server can read.
type content struct {
	*Server
	node Node
	// name is the path in the pod, host the one on the node.
	name, host string
	text       []byte
	// json is the text of a YAML document, once that has been decoded.
	json []byte
}

// Refused says what the server exits on in a file that stands at a path of the pod and can be read, and "" where it
// takes it. Secrets are never quoted.
func (file *File) Refused(s *Server, node Node, name string) string {
	host, ok := node.Host(name)
	if !ok || file.holds == nil {
		return ""
	}
	text, problem := node.Store.Text(host)
	defer clear(text)
	if problem != certs.OK {
		return ""
	}
	return file.holds(content{Server: s, node: node, name: name, host: host, text: text})
}

// sees tells whether there is a file at a path of the pod: there is none where nothing is mounted, and what stands in a
// volume that is no folder of the node cannot be told and is taken to be there.
func (c content) sees(name string) bool {
	host, ok := c.node.Host(name)
	if !ok {
		return c.node.Mounted(name)
	}
	text, problem := c.node.Store.Text(host)
	clear(text)
	return problem != certs.Missing && problem != certs.Directory
}

// beside returns a path that begins where the file stands unless it is a whole one.
func (c content) beside(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(path.Dir(c.name), name)
}

func certificates(c content) string {
	if b := c.node.Store.Bundle(c.host); len(b.Certs) == 0 {
		return b.Problem.Says()
	}
	return ""
}

func leaf(c content) string {
	if b := c.node.Store.Bundle(c.host); b.Leaf == nil {
		return b.Problem.Says()
	}
	return ""
}

// nothingButCertificates follows NewCertPool in client/pkg/v3/tlsutil of etcd: text without PEM blocks is as good as
// none.
func nothingButCertificates(c content) string {
	for block, rest := pem.Decode(c.text); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return "has a PEM block that is no certificate"
		}
	}
	return ""
}

// keyOf judges a key, and whether it is that of the certificate which a flag names.
func keyOf(flag string) func(c content) string {
	return func(c content) string {
		if problem := c.node.Store.Key(c.host); problem != certs.OK {
			return problem.Says()
		}
		name := c.Server.text(flag)
		cert, ok := c.node.Host(name)
		if ok && name != "" && !c.unreadable(flag) && c.node.Store.Pair(cert, c.host).Mismatch {
			return "is not the key of " + flag + " " + quoted(name)
		}
		return ""
	}
}

func tokenKeys(private bool) func(c content) string {
	return func(c content) string {
		problem := c.node.Store.TokenKeys(c.host, private)
		if problem == certs.NoKey && !private {
			return "holds no RSA or ECDSA key to verify with (of private keys in PKCS#8, only RSA ones count)"
		}
		return problem.Says()
	}
}

// tokenLines follows NewCSV in pkg/authentication/token/tokenfile of k8s.io/apiserver.
func tokenLines(c content) string {
	lines := csv.NewReader(bytes.NewReader(c.text))
	lines.FieldsPerRecord = -1
	for {
		line, err := lines.Read()
		switch {
		case errors.Is(err, io.EOF):
			return ""
		case err != nil:
			return "is not a file of values separated by commas"
		case len(line) < 3:
			return "has a line with fewer than three columns: token, user name and user ID"
		}
	}
}

// policyLines follows NewFromFile in pkg/auth/authorizer/abac of k8s.io/kubernetes.
func policyLines(c content) string {
	policy := typeMeta{"abac.authorization.kubernetes.io/v1beta1", "Policy"}
	for line := range bytes.Lines(c.text) {
		line = bytes.TrimSpace(line)
		var meta typeMeta
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		err := yaml.Unmarshal(line, &meta)
		// Without apiVersion or kind, a line is a policy of the version that had neither.
		if err != nil || meta.Kind != "" && meta.APIVersion != "" && meta != policy {
			return "has a line that is not a policy"
		}
	}
	return ""
}

// labelMapping follows metrics/api/v1/config.go of k8s.io/component-base.
func labelMapping(c content) string {
	labels := map[string]string{}
	if yaml.Unmarshal(c.text, &labels) != nil {
		return "is not a mapping of metric,label to values"
	}
	for key := range labels {
		if !isMetricLabel(key) {
			return "has a key that is not of the form metric,label"
		}
	}
	return ""
}
