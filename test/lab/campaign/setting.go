package campaign

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Setting is one configuration of a kube-apiserver.
type Setting struct {
	Seed  uint64
	Index int
	// Release is the server's minor: "1.36".
	Release string
	// APIVersion is that of the kubeadm configuration. v1beta3 has a map for extraArgs, in which a name stands once.
	APIVersion string
	Args       []Arg
}

// Arg is one of apiServer's extraArgs.
type Arg struct{ Name, Value string }

// Site is what a setting does not know before it is tried.
type Site struct {
	// Etcd is host and port of etcd, Address the node's.
	Etcd, Address string
}

// Marks in values that stand for parts of the site.
const (
	etcdMark = "@etcd"
	nodeMark = "@node"
)

// At returns the setting for a site.
func (s Setting) At(site Site) Setting {
	r := strings.NewReplacer(etcdMark, site.Etcd, nodeMark, site.Address)
	args := make([]Arg, len(s.Args))
	for i, a := range s.Args {
		args[i] = Arg{r.Replace(a.Name), r.Replace(a.Value)}
	}
	s.Args = args
	return s
}

// Config is the setting as a kubeadm configuration.
func (s Setting) Config() string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: kubeadm.k8s.io/%s\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n", s.APIVersion)
	for _, a := range s.Args {
		if s.APIVersion == "v1beta3" {
			fmt.Fprintf(&b, "    %s: %s\n", quoted(a.Name), quoted(a.Value))
		} else {
			fmt.Fprintf(&b, "  - name: %s\n    value: %s\n", quoted(a.Name), quoted(a.Value))
		}
	}
	return b.String()
}

// quoted is a text as JSON, and so YAML, has it.
func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // texts always can be
	}
	return string(out)
}

// Names returns the flags that the setting gives, as kube-apiserver writes them.
func (s Setting) Names() []string {
	var names []string
	for _, a := range s.Args {
		names = append(names, strings.ReplaceAll(a.Name, "_", "-"))
	}
	return names
}
