package checks

import (
	"bytes"
	"crypto/x509"
	"encoding/csv"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
)

// What files must hold, as [startFile] asks for it.

func certificates(store *certs.Store, host string, _ release.Release) string {
	if b := store.Bundle(host); len(b.Certs) == 0 {
		return problems[b.Problem]
	}
	return ""
}

func leaf(store *certs.Store, host string, _ release.Release) string {
	if b := store.Bundle(host); b.Leaf == nil {
		return problems[b.Problem]
	}
	return ""
}

// nothingButCertificates follows NewCertPool in client/pkg/v3/tlsutil of etcd: text without PEM blocks is as good as none.
func nothingButCertificates(store *certs.Store, host string, _ release.Release) string {
	rest, problem := store.Text(host)
	defer clear(rest)
	for problem == certs.OK {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return "has a PEM block that is no certificate"
		}
	}
	return ""
}

func tlsKey(store *certs.Store, host string, _ release.Release) string {
	return problems[store.Key(host)]
}

func tokenKeys(private bool) func(*certs.Store, string, release.Release) string {
	return func(store *certs.Store, host string, _ release.Release) string {
		problem := store.TokenKeys(host, private)
		if problem == certs.NoKey && !private {
			return "holds no RSA or ECDSA key to verify with (of private keys in PKCS#8, only RSA ones count)"
		}
		return problems[problem]
	}
}

// tokenLines follows NewCSV in pkg/authentication/token/tokenfile of k8s.io/apiserver.
func tokenLines(store *certs.Store, host string, _ release.Release) string {
	text, problem := store.Text(host)
	defer clear(text)
	if problem != certs.OK {
		return ""
	}
	lines := csv.NewReader(bytes.NewReader(text))
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
func policyLines(store *certs.Store, host string, _ release.Release) string {
	text, problem := store.Text(host)
	if problem != certs.OK {
		return ""
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		var meta typeMeta
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		err := yaml.Unmarshal(line, &meta)
		// Without apiVersion or kind, a line is a policy of the version that had neither.
		if err != nil || meta.Kind != "" && meta.APIVersion != "" && meta != (typeMeta{"abac.authorization.kubernetes.io/v1beta1", "Policy"}) {
			return "has a line that is not a policy"
		}
	}
	return ""
}

// labelMapping follows metrics/api/v1/config.go of k8s.io/component-base.
func labelMapping(store *certs.Store, host string, _ release.Release) string {
	labels := map[string]string{}
	if decode(store, host, &labels) != nil {
		return "is not a mapping of metric,label to values"
	}
	for key := range labels {
		if !release.IsMetricLabel(key) {
			return "has a key that is not of the form metric,label"
		}
	}
	return ""
}

// typeMeta is how a configuration file names what it is.
type typeMeta struct {
	APIVersion, Kind string
}

// configKind is what a configuration file is to be.
type configKind struct {
	kind string
	// versions are the apiVersions that are read; later is one that not all releases read (ReadsV1Configuration).
	versions []string
	later    string
	// fields are those of the top; nil: others are passed over, as the server does, or package serverfiles judges all fields.
	fields []string
	// needs is a list that must not be empty, "" is none.
	needs string
}

var (
	auditPolicy     = configKind{kind: "Policy", versions: []string{"audit.k8s.io/v1"}, needs: "rules"}
	encryption      = configKind{kind: "EncryptionConfiguration", versions: configVersions("v1"), needs: "resources"}
	authentication  = configKind{kind: "AuthenticationConfiguration", versions: configVersions("v1alpha1", "v1beta1"), later: laterVersion}
	authorization   = configKind{kind: "AuthorizationConfiguration", versions: configVersions("v1alpha1", "v1beta1", "v1"), needs: "authorizers"}
	admission       = configKind{kind: "AdmissionConfiguration", versions: append(configVersions("v1"), "apiserver.k8s.io/v1alpha1"), fields: []string{"plugins"}}
	egressSelectors = configKind{kind: "EgressSelectorConfiguration", versions: []string{"apiserver.k8s.io/v1alpha1", "apiserver.k8s.io/v1beta1"}, fields: []string{"egressSelections"}}
	tracing         = configKind{kind: "TracingConfiguration", versions: configVersions("v1alpha1", "v1beta1"), later: laterVersion, fields: []string{"endpoint", "samplingRatePerMillion"}}
)

const laterVersion = "apiserver.config.k8s.io/v1"

// configVersions are versions of the API group of most configuration files.
func configVersions(versions ...string) []string {
	var all []string
	for _, v := range versions {
		all = append(all, "apiserver.config.k8s.io/"+v)
	}
	return all
}

// refused says what is wrong with a file: its syntax, its kind, a field of the top, or that it is empty where it must not.
func (k configKind) refused(store *certs.Store, host string, r release.Release) string {
	var meta typeMeta
	top := map[string]any{}
	if decode(store, host, &meta) != nil || decode(store, host, &top) != nil {
		return "is not YAML, or its apiVersion or kind is not text"
	}
	// The names that these had before they were kinds of a group are still read.
	switch {
	case k.kind == encryption.kind && meta == typeMeta{"v1", "EncryptionConfig"}:
		return ""
	case k.kind == admission.kind && (top["imagePolicy"] != nil || top["podNodeSelectorPluginConfig"] != nil):
		return ""
	}
	known := k.versions
	if k.later != "" && r.Does(release.ReadsV1Configuration) {
		known = append(slices.Clone(known), k.later)
	}
	if meta.Kind != k.kind || !slices.Contains(known, meta.APIVersion) {
		return fmt.Sprintf("holds kind %s of apiVersion %s; %s reads %s of %s",
			quoted(meta.Kind), quoted(meta.APIVersion), r.MinorString(), k.kind, strings.Join(known, ", "))
	}
	for _, field := range slices.Sorted(maps.Keys(top)) {
		if k.fields != nil && field != "apiVersion" && field != "kind" && field != "metadata" && !slices.Contains(k.fields, field) {
			return fmt.Sprintf("has a field %s, which a %s does not have", quoted(field), k.kind)
		}
	}
	if list, _ := top[k.needs].([]any); k.needs != "" && len(list) == 0 {
		return "has no " + k.needs
	}
	return ""
}

// kubeconfig follows clientcmd of k8s.io/client-go, for which apiVersion and kind may be missing.
func kubeconfig(store *certs.Store, host string, _ release.Release) string {
	var meta struct {
		typeMeta
		Clusters []struct {
			Cluster struct{ Server string }
		}
	}
	switch err := decode(store, host, &meta); {
	case err != nil:
		return "is not a kubeconfig"
	case meta.Kind != "" && meta.Kind != "Config" || meta.APIVersion != "" && meta.APIVersion != "v1":
		return fmt.Sprintf("holds kind %s of apiVersion %s in place of a kubeconfig", quoted(meta.Kind), quoted(meta.APIVersion))
	}
	for _, c := range meta.Clusters {
		if c.Cluster.Server != "" {
			return ""
		}
	}
	return "is a kubeconfig that names no server"
}

// decode reads a YAML file of the node. The error can quote the file, which may hold secrets; it only matters that there is
// one.
func decode(store *certs.Store, host string, into any) error {
	text, problem := store.Text(host)
	defer clear(text)
	if problem != certs.OK {
		return nil // not asked for what cannot be read
	}
	return yaml.Unmarshal(text, into)
}
