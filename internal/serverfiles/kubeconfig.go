package serverfiles

import (
	"fmt"
	"path"

	"k8s.io/client-go/tools/clientcmd"
)

// Kubeconfig judges the kubeconfig of a webhook, which stands at a path: what its current context names. exists tells whether
// the server sees a file.
func Kubeconfig(text []byte, file string, exists func(path string) bool) string {
	config, err := clientcmd.Load(text)
	if err != nil {
		return "is not a kubeconfig"
	}
	// The files that it names are the server's, not ours: they are judged here, and the rest without them.
	missing := ""
	see := func(name *string) {
		if *name == "" {
			return
		}
		at := *name
		if !path.IsAbs(at) {
			at = path.Join(path.Dir(file), at)
		}
		if !exists(at) {
			missing = at
		}
		*name = ""
	}
	if context := config.Contexts[config.CurrentContext]; context != nil {
		if c := config.Clusters[context.Cluster]; c != nil && len(c.CertificateAuthorityData) == 0 {
			see(&c.CertificateAuthority)
		}
		if u := config.AuthInfos[context.AuthInfo]; u != nil && len(u.ClientCertificateData) == 0 && len(u.ClientKeyData) == 0 {
			pair := u.ClientCertificate != "" && u.ClientKey != ""
			see(&u.TokenFile)
			if pair {
				see(&u.ClientCertificate)
				see(&u.ClientKey)
			}
		}
	}
	if missing != "" {
		return fmt.Sprintf("is a kubeconfig that names %q, which is not there", missing)
	}
	switch _, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig(); {
	case clientcmd.IsEmptyConfig(err):
		return "is a kubeconfig whose current-context leads to no server"
	case err != nil:
		return fmt.Sprintf("is a kubeconfig that cannot be used: %v", err)
	}
	return ""
}
