package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// adminKubeconfig is what kubeadm leaves on a control-plane node.
const adminKubeconfig = "/etc/kubernetes/admin.conf"

// LoadConfig returns the connection that a kubeconfig describes, and the name of its context. Without a file it is
// $KUBECONFIG, ~/.kube/config, the ServiceAccount of the pod that we run in, or kubeadm's admin.conf, in this order.
// Errors hold no secrets.
func LoadConfig(file, contextName string) (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	rules.WarnIfAllMissing = false
	if file == "" && contextName == "" && !anyExists(rules.Precedence) {
		if cfg, err := rest.InClusterConfig(); err == nil {
			return withoutLimits(cfg), "in-cluster", nil
		}
		if anyExists([]string{adminKubeconfig}) {
			rules.ExplicitPath = adminKubeconfig
		}
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: contextName})
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	name := contextName
	if name == "" {
		name = raw.CurrentContext
	}
	if len(raw.Clusters) == 0 {
		return nil, "", errors.New("no kubeconfig: none of --kubeconfig, $KUBECONFIG, ~/.kube/config and " + adminKubeconfig + " is there")
	}
	if _, ok := raw.Contexts[name]; name != "" && !ok {
		return nil, "", fmt.Errorf("kubeconfig: no context %q", name)
	}
	cfg, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	return withoutLimits(cfg), name, nil
}

// withoutLimits takes out what would slow requests down or end them on its own terms.
func withoutLimits(cfg *rest.Config) *rest.Config {
	cfg.Timeout = 0
	cfg.UserAgent = "mvpcheck"
	return cfg
}

func anyExists(files []string) bool {
	for _, f := range files {
		if _, err := os.Stat(filepath.Clean(f)); err == nil {
			return true
		}
	}
	return false
}
