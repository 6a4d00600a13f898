package patch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// ExtraArgs returns the apiServer part of a configuration that the flags come from, extraArgs and extraVolumes,
// as YAML in the form of its apiVersion.
func ExtraArgs(c *config.Cluster) ([]byte, error) {
	component := yamldoc.Object()
	for _, key := range []string{"extraArgs", "extraVolumes"} {
		if v := c.APIServer.Node.Get(key); v != nil && v.Kind != yamldoc.Null {
			component.Fields = append(component.Fields, yamldoc.NodeField{Key: key, Value: yamldoc.NodeOf(v)})
		}
	}
	return yamldoc.Object(yamldoc.NodeField{Key: "apiServer", Value: component}).Print()
}

// onlyCluster returns the cluster of a result; some outputs are of one only.
func onlyCluster(r *Result) (*config.Cluster, error) {
	switch len(r.Input.Clusters) {
	case 0:
		return nil, fmt.Errorf("%s: has no ClusterConfiguration", r.Name)
	case 1:
		return r.Input.Clusters[0], nil
	}
	return nil, fmt.Errorf("%s: has %d configurations; split the file", r.Name, len(r.Input.Clusters))
}

// serverFields are what the API server adds to an object.
var serverFields = []string{
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields",
	"resourceVersion", "selfLink", "uid",
}

// ConfigMap returns a complete ConfigMap kube-system/kubeadm-config with the patched configuration.
func ConfigMap(r *Result) ([]byte, error) {
	c, err := onlyCluster(r)
	if err != nil {
		return nil, err
	}
	switch c.Form {
	case config.FormConfigMap:
		n := yamldoc.NodeOf(objectOf(c), "status")
		for i, f := range n.Fields {
			if f.Key == "metadata" {
				n.Fields[i].Value = yamldoc.NodeOf(objectOf(c).Get("metadata"), serverFields...)
			}
		}
		return n.Print()
	case config.FormKubeadm:
		metadata := yamldoc.Object(field("name", "kubeadm-config"), field("namespace", "kube-system"))
		data := yamldoc.Object(field("ClusterConfiguration", documentText(c.Doc)))
		return yamldoc.Object(field("apiVersion", "v1"), field("kind", "ConfigMap"),
			yamldoc.NodeField{Key: "metadata", Value: metadata}, yamldoc.NodeField{Key: "data", Value: data}).Print()
	}
	return nil, fmt.Errorf("%s: a %s has no kubeadm-config ConfigMap", r.Name, c.Form)
}

// objectOf returns the object of the file that holds the configuration: the document, or the item of a List.
func objectOf(c *config.Cluster) *yamldoc.Value {
	if c.Form == config.FormControlPlane {
		return controlPlane(c)
	}
	v := c.Root
	if outer := c.Root.Document().Text.Outer(); outer != nil {
		v = outer
	}
	for v.Parent() != nil && (v.Get("apiVersion") == nil || v.Get("kind") == nil) {
		v = v.Parent()
	}
	return v
}

// documentText is a document's own text without the blank lines around it, with plain line breaks.
func documentText(d *yamldoc.Document) string {
	text := bytes.ReplaceAll(d.Text.Data[d.Start:d.End], []byte("\r\n"), []byte("\n"))
	for {
		line, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok || len(bytes.TrimSpace(line)) > 0 {
			break
		}
		text = rest
	}
	return strings.TrimRight(string(text), " \t\r\n") + "\n"
}
