package probe

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// adminKubeconfig is what kubeadm leaves on a control-plane node.
var adminKubeconfig = "/etc/kubernetes/admin.conf"

// LoadConfig returns the connection that a kubeconfig describes, and the name of its context. Without a file it is
// $KUBECONFIG, ~/.kube/config, the ServiceAccount of the pod that we run in, or kubeadm's admin.conf, in this order.
// Errors are one line and hold no secrets.
func LoadConfig(file, contextName string) (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing, rules.MigrationRules = false, nil
	if file != "" {
		rules.Precedence = []string{file}
	}
	if files := existing(rules.Precedence); len(files) > 0 {
		rules.Precedence = files
	} else if file != "" || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		// Another source could be that of another cluster.
		return nil, "", fmt.Errorf("kubeconfig %s: no such file", strings.Join(rules.Precedence, ", "))
	} else {
		if cfg, err := rest.InClusterConfig(); err == nil && contextName == "" {
			return withoutLimits(cfg), "in-cluster", nil
		}
		if rules.Precedence = existing([]string{adminKubeconfig}); len(rules.Precedence) == 0 {
			return nil, "", errors.New("no kubeconfig: none of --kubeconfig, $KUBECONFIG, ~/.kube/config and " +
				adminKubeconfig + " is there")
		}
	}
	cfg, name, err := load(rules, contextName)
	if err != nil {
		text := strings.Join(strings.Fields(err.Error()), " ")
		if yaml, _, found := strings.Cut(text, "unknown anchor"); found {
			text = yaml + "unknown anchor" // a password can look like one
		}
		return nil, "", fmt.Errorf("kubeconfig %s: %s", strings.Join(rules.Precedence, ", "), line(text))
	}
	return withoutLimits(cfg), name, nil
}

func load(rules *clientcmd.ClientConfigLoadingRules, contextName string) (*rest.Config, string, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: contextName})
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, "", err
	}
	name := cmp.Or(contextName, raw.CurrentContext)
	context, ok := raw.Contexts[name]
	switch {
	case len(raw.Contexts) == 0:
		return nil, "", errors.New("it has no contexts")
	case name == "":
		return nil, "", errors.New("it has no current-context; choose one with --context")
	case !ok:
		return nil, "", fmt.Errorf("no context %q", name)
	}
	cluster := raw.Clusters[context.Cluster]
	if cluster == nil {
		return nil, "", fmt.Errorf("context %q is of cluster %q, which is not there", name, context.Cluster)
	}
	// Looked at here because the error of clientcmd would quote it, with its password.
	if cluster.ProxyURL != "" {
		u, err := url.Parse(cluster.ProxyURL)
		if err != nil || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
			return nil, "", fmt.Errorf("the proxy-url of cluster %q is no URL of the kind http, https or socks5",
				context.Cluster)
		}
	}
	cfg, err := loader.ClientConfig()
	return cfg, name, err
}

// withoutLimits takes out what would slow requests down or end them on its own terms.
func withoutLimits(cfg *rest.Config) *rest.Config {
	cfg.Timeout = 0
	cfg.UserAgent = "mvpcheck"
	return cfg
}

func existing(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool {
		_, err := os.Stat(f)
		return f == "" || errors.Is(err, fs.ErrNotExist)
	})
}
