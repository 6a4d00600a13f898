package checks

import (
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/serverfiles"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// serverFile is a file as the kube-apiserver of a view sees it.
type serverFile struct {
	view  View
	store *certs.Store
	// name is the path in the pod, text what it holds.
	name string
	text []byte
}

// sees tells whether there is a file at a path of the pod: there is none where nothing is mounted, and what stands in a volume
// that is no folder of the node cannot be told and is taken to be there.
func (f serverFile) sees(name string) bool {
	host, ok := onHost(f.view, name)
	if !ok {
		return slices.ContainsFunc(f.view.Mounts, func(m config.Volume) bool { return m.MountPath != "" && config.Within(name, m.MountPath) })
	}
	text, problem := f.store.Text(host)
	clear(text)
	return problem != certs.Missing && problem != certs.Directory
}

// fileContents judge what stands in files that are of the right kind, by the flags that name them.
var fileContents = map[string]func(f serverFile) string{
	"admission-control-config-file": admissionContents,
	"audit-policy-file":             func(f serverFile) string { return serverfiles.Audit(f.text) },
	"authentication-config":         authenticationContents,
	"authorization-config":          func(f serverFile) string { return serverfiles.Authorization(f.text, f.sees) },
	"encryption-provider-config":    func(f serverFile) string { return serverfiles.Encryption(f.text) },
	"tracing-config-file":           func(f serverFile) string { return serverfiles.Tracing(f.text) },
	"etcd-keyfile":                  keyOf("etcd-certfile"),
	release.FlagEgressSelectorConfig: func(f serverFile) string {
		return serverfiles.Egress(f.text, f.sees)
	},
	"audit-webhook-config-file":                kubeconfigContents,
	"authentication-token-webhook-config-file": kubeconfigContents,
	"authorization-webhook-config-file":        kubeconfigContents,
}

// keyOf judges whether a key is that of the certificate which a flag names.
func keyOf(certFlag string) func(f serverFile) string {
	return func(f serverFile) string {
		cert := f.view.Flags.Last(certFlag)
		if !isSet(cert) || cert.Unknown {
			return ""
		}
		certHost, okCert := onHost(f.view, cert.Value)
		keyHost, okKey := onHost(f.view, f.name)
		if okCert && okKey && f.store.Pair(certHost, keyHost).Mismatch {
			return "is not the key of " + certFlag + " " + quoted(cert.Value)
		}
		return ""
	}
}

func admissionContents(f serverFile) string {
	var plugins serverfiles.AdmissionPlugins
	for _, flag := range []string{"enable-admission-plugins", "admission-control"} {
		for _, value := range f.view.values(flag) {
			plugins.Named = append(plugins.Named, strings.Split(value, ",")...)
		}
	}
	plugins.Configured = release.ConfiguredPlugins()
	return serverfiles.Admission(f.text, f.name, plugins, f.sees)
}

func kubeconfigContents(f serverFile) string { return serverfiles.Kubeconfig(f.text, f.name, f.sees) }

func authenticationContents(f serverFile) string {
	return serverfiles.Authentication(f.text, serverfiles.AuthenticationFlags{
		ServiceAccountIssuers: f.view.values("service-account-issuer"),
		AnonymousFlag:         f.view.Flags.Last("anonymous-auth") != nil,
		AnonymousGate:         f.view.allowed("AnonymousAuthConfigurableEndpoints"),
	})
}

// contentsRefused says what the server exits on in a file that it can read and that is of the right kind.
func contentsRefused(store *certs.Store, v View, flag, file, host string) string {
	judge := fileContents[flag]
	if judge == nil {
		return ""
	}
	text, problem := store.Text(host)
	defer clear(text)
	if problem != certs.OK {
		return ""
	}
	return judge(serverFile{view: v, store: store, name: file, text: text})
}
