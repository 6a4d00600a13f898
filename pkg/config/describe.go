package config

import (
	"fmt"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// Documents says what of its file a cluster is, such as "ClusterConfiguration (document 2 of 3), kubeadm.k8s.io/v1beta4".
func (c *Cluster) Documents() string {
	if len(c.Patches) > 0 && c.Form == "" {
		return "kubeadm patch for kube-apiserver"
	}
	text := string(c.Form)
	if c.Doc == nil {
		return text
	}
	if n := len(c.Input.Docs); n > 1 {
		text += fmt.Sprintf(" (document %d of %d)", c.Doc.FileIndex(), n)
	}
	switch object := c.controlPlane(); {
	case object != nil:
		text = object.Get("kind").Str() + text[len(c.Form):] + ", " + object.Get("apiVersion").Str()
	case c.APIVersion != "":
		text += ", kubeadm.k8s.io/" + c.APIVersion
	}
	return text
}

// Name names a cluster within its file: a KubeadmControlPlane by its own name.
func (c *Cluster) Name() string {
	if name := c.controlPlane().Get("metadata", "name").Str(); name != "" {
		return name
	}
	return fmt.Sprintf("document %d", c.Doc.FileIndex())
}

// controlPlane returns the KubeadmControlPlane or template that holds a cluster, which may be an item of a List; nil for
// other forms.
func (c *Cluster) controlPlane() *yamldoc.Value {
	if c.Form != FormControlPlane {
		return nil
	}
	v := c.Root
	for v != nil && (v.Get("apiVersion") == nil || v.Get("kind") == nil) {
		v = v.Parent()
	}
	return v
}
