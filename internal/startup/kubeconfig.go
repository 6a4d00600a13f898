package startup

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// kubeconfig judges the kubeconfig of a webhook: what it is and what its current context names. It follows clientcmd of
// k8s.io/client-go, for which apiVersion and kind may be missing.
func kubeconfig(c content) string {
	var meta struct {
		typeMeta
		Clusters []struct {
			Cluster struct{ Server string }
		}
	}
	switch err := yaml.Unmarshal(c.text, &meta); {
	case err != nil:
		return "is not a kubeconfig"
	case meta.Kind != "" && meta.Kind != "Config" || meta.APIVersion != "" && meta.APIVersion != "v1":
		return fmt.Sprintf("holds kind %q of apiVersion %q in place of a kubeconfig", meta.Kind, meta.APIVersion)
	}
	named := false
	for _, each := range meta.Clusters {
		named = named || each.Cluster.Server != ""
	}
	if !named {
		return "is a kubeconfig that names no server"
	}
	return refusedContext(c)
}

func refusedContext(c content) string {
	config, err := clientcmd.Load(c.text)
	if err != nil {
		return "is not a kubeconfig"
	}
	// The files that it names are the server's, not ours: they are judged here, and the rest without them.
	missing := ""
	see := func(name *string) {
		if *name == "" {
			return
		}
		if at := c.beside(*name); !c.sees(at) {
			missing = at
		}
		*name = ""
	}
	if context := config.Contexts[config.CurrentContext]; context != nil {
		if cluster := config.Clusters[context.Cluster]; cluster != nil && len(cluster.CertificateAuthorityData) == 0 {
			see(&cluster.CertificateAuthority)
		}
		u := config.AuthInfos[context.AuthInfo]
		if u != nil && len(u.ClientCertificateData) == 0 && len(u.ClientKeyData) == 0 {
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
