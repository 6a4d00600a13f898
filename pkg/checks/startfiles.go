package checks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// unreadableFile is MVP127.
var unreadableFile = &Rule{
	ID: "MVP127", Name: "unreadable-file", Severity: Error,
	Doc: Doc{
		What: "With --root: a file that a flag of kube-apiserver names and that the server reads at start is missing, a folder, empty, or not of its kind: " +
			"CA bundles, keys of service accounts and certificates for etcd and kubelets, and the files that configure audit, admission, authentication, authorization, encryption, tracing and egress. " +
			"Of what such a file holds, CEL expressions, KMS plugins and the configuration of admission plugins but PodSecurity are not judged. MVP208 has the files of the hand-off.",
		Why:   "kube-apiserver exits at start on such a file.",
		Fix:   "Put the right file there; on a kubeadm node kubeadm init phase certs writes certificates and keys that are missing.",
		Facts: []string{"S7"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		store := p.openRoot()
		if store == nil {
			p.skipWithoutFiles()
			return
		}
		keys := keysAtHand(store, p.pairs())
		for i := range startFiles {
			file := &startFiles[i]
			for _, g := range p.flagsWhere(func(v View, f *config.Flag) bool { return f.Name == file.flag && file.isRead(v, f) }) {
				p.fileUnreadable(store, file, g, keys)
			}
		}
	},
}

// startFile is a flag whose file kube-apiserver reads at start. What each makes of a file that is missing, empty, a folder
// or something else was measured; it exits on the first and the third in any case.
type startFile struct {
	flag string
	// what is to stand in the file.
	what string
	// emptyStarts: on an empty file the server starts.
	emptyStarts bool
	// secret: a copy of a node's files may well lack it.
	secret bool
	// folderOnly: the server writes the file, so that only a folder in its place matters.
	folderOnly bool
	// holds tells what is wrong with a file that can be read and is not empty; nil: nothing that it holds matters at start.
	holds func(store *certs.Store, host string, r release.Release) (problem string)
	// where is what a release must do to exit; "" is each release.
	where release.Behaviour
	// with are flags that must be set, too, for the file to be read.
	with []string
	// gate is one without which the server takes no notice of the file.
	gate string
}

// startFiles are the flags but those whose files MVP208 judges.
var startFiles = []startFile{
	{flag: release.FlagClientCAFile, what: "the CA that signs the certificates of clients", holds: certificates},
	{flag: "service-account-key-file", what: "a public key that verifies the tokens of service accounts", holds: tokenKeys(false)},
	{flag: "service-account-signing-key-file", what: "the private key that signs the tokens of service accounts", secret: true, holds: tokenKeys(true)},
	{flag: "kubelet-client-certificate", what: "the certificate that kube-apiserver shows to kubelets", emptyStarts: true},
	{flag: "kubelet-client-key", what: "the key of kubelet-client-certificate", secret: true, emptyStarts: true},
	{flag: "kubelet-certificate-authority", what: "the CA of the kubelets' certificates", emptyStarts: true, holds: certificates},
	{flag: "etcd-cafile", what: "the CA of etcd", emptyStarts: true, holds: nothingButCertificates},
	{flag: "etcd-certfile", what: "the certificate that kube-apiserver shows to etcd", holds: leaf},
	{flag: "etcd-keyfile", what: "the key of etcd-certfile", secret: true, holds: tlsKey},
	{flag: "oidc-ca-file", what: "the CA of the issuer", emptyStarts: true, holds: certificates, with: []string{"oidc-issuer-url", "oidc-client-id"}},
	{flag: "token-auth-file", what: "lines of token, user name and user ID", emptyStarts: true, secret: true, holds: tokenLines},
	{flag: "authorization-policy-file", what: "a policy in each line", emptyStarts: true, holds: policyLines, with: []string{"authorization-mode"}},
	{flag: "allow-metric-labels-manifest", what: "a mapping of metric,label to values", emptyStarts: true, holds: labelMapping, where: release.ChecksMetricsOptions},
	{flag: "audit-log-path", folderOnly: true},

	{flag: "audit-policy-file", what: "an audit policy", holds: auditPolicy.refused},
	{flag: "encryption-provider-config", what: "an EncryptionConfiguration", secret: true, holds: encryption.refused},
	{flag: "authentication-config", what: "an AuthenticationConfiguration", holds: authentication.refused},
	{flag: "authorization-config", what: "an AuthorizationConfiguration", holds: authorization.refused},
	{flag: "admission-control-config-file", what: "an AdmissionConfiguration", holds: admission.refused},
	{flag: release.FlagEgressSelectorConfig, what: "an EgressSelectorConfiguration", holds: egressSelectors.refused},
	{flag: "tracing-config-file", what: "a TracingConfiguration", emptyStarts: true, holds: tracing.refused, gate: "APIServerTracing"},
	{flag: "authorization-webhook-config-file", what: "a kubeconfig", holds: kubeconfig, with: []string{"authorization-mode"}},
	{flag: "authentication-token-webhook-config-file", what: "a kubeconfig", holds: kubeconfig},
	{flag: "audit-webhook-config-file", what: "a kubeconfig", holds: kubeconfig, with: []string{"audit-policy-file"}},
}

// isRead tells whether the server reads the file that a flag names: it is not empty, and of several values the last one,
// unless they add up.
func (file *startFile) isRead(v View, f *config.Flag) bool {
	if f.Value == "" || f.Unknown || file.where != "" && !v.Release.Does(file.where) || file.gate != "" && !v.allowed(file.gate) {
		return false
	}
	if f != v.Flags.Last(f.Name) && !release.Accumulates(f.Name) {
		return false
	}
	return !slices.ContainsFunc(file.with, func(flag string) bool { return v.Flags.Value(flag) == "" })
}

func (p *Pass) fileUnreadable(store *certs.Store, file *startFile, g flagGroup, keys bool) {
	f, v := g.flag, g.views[0]
	host, ok := onHost(v, f.Value)
	switch {
	case ok && file.folderOnly && !strings.HasSuffix(f.Value, "/"): // which is MVP125's
		p.fileUnwritable(store, g, host)
		return
	case file.folderOnly && madeByKernel(f.Value):
		p.CannotTell("whether there is a file %s in the container, where none can be made and kube-apiserver exits without it", f.Value)
		return
	case file.folderOnly:
		return
	case !ok:
		p.locate(v, f.Name, f.Value) // says that it cannot be told
		return
	}
	text, problem := store.Text(host)
	clear(text)
	if problem == certs.Empty && file.emptyStarts || problem == certs.Missing && leftOut(store, file, f, keys) || !p.seen(f.Name, f.Value, problem) {
		return
	}
	says := problems[problem]
	if problem == certs.OK && file.holds != nil {
		says = file.holds(store, host, v.Release)
	}
	if says == "" {
		says = contentsRefused(store, v, f.Name, f.Value, host)
	}
	if says == "" {
		return
	}
	p.reportStops(Finding{
		At:      p.placeOr(f, v),
		Message: fmt.Sprintf("%s %s %s.", f.Name, quoted(f.Value), says),
		Fix:     "put " + file.what + " there",
	}, g.views)
}

// fileUnwritable reports a file that the server cannot make: it makes the folders that are missing.
func (p *Pass) fileUnwritable(store *certs.Store, g flagGroup, host string) {
	says := ""
	if is, _ := store.Folder(host); is {
		says = problems[certs.Directory]
	} else if belowFile(store, host) {
		says = "lies below a file"
	}
	if says != "" {
		p.reportStops(Finding{
			At:      p.placeOr(g.flag, g.views[0]),
			Message: fmt.Sprintf("%s %s %s.", g.flag.Name, quoted(g.flag.Value), says),
			Fix:     "name a file" + p.byHand(),
		}, g.views)
	}
}

// madeByKernel tells whether a path is of a file system in which nobody makes files. A standard stream of the process is there.
func madeByKernel(name string) bool {
	clean := path.Clean(name)
	return (strings.HasPrefix(clean, "/proc/") || strings.HasPrefix(clean, "/sys/")) && !streams[clean]
}

var streams = map[string]bool{"/proc/self/fd/1": true, "/proc/self/fd/2": true, "/proc/1/fd/1": true, "/proc/1/fd/2": true}

// belowFile tells whether a file stands where a path needs a folder.
func belowFile(store *certs.Store, host string) bool {
	for dir := path.Dir(host); dir != "/" && dir != "."; dir = path.Dir(dir) {
		text, problem := store.Text(dir)
		clear(text)
		switch problem {
		case certs.OK, certs.Empty, certs.TooLarge:
			return true
		case certs.Directory:
			return false
		}
	}
	return false
}

// leftOut tells whether a file is missing because a copy of a node's files does without it: what kubeadm itself names, it
// has made, and private keys are often not copied.
func leftOut(store *certs.Store, file *startFile, f *config.Flag, keys bool) bool {
	return !store.WholeSystem() && (f.Origin == config.FromKubeadm || file.secret && !keys)
}
