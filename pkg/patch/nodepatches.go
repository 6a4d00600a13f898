package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// nodePatchFile is a name that kubeadm reads as a JSON patch of kube-apiserver's static pod.
const nodePatchFile = "kube-apiserver+json.yaml"

// NodePatches writes a folder for kubeadm's --patches: a JSON patch of kube-apiserver's static pod that appends the
// flags and mounts that the patch of the configuration adds. A flag that stands behind another of its name wins, or
// with feature-gates adds to it. What the patch of the configuration removes cannot be said this way and is noted in
// the file. A file that is there already with other content is not replaced.
func NodePatches(dir string, r *Result) error {
	c, err := onlyCluster(r)
	if err != nil {
		return err
	}
	ops, gone := nodeOps(r.before.Clusters[0], c)
	if len(ops) == 0 {
		return fmt.Errorf("%s: no flag is added, so there is nothing for a node's patch", r.Name)
	}
	text, err := printOps(ops)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# for kubeadm --patches, at each init, join and upgrade of a control-plane node\n")
	for _, name := range gone {
		fmt.Fprintf(&b, "# a patch cannot remove --%s safely: remove it from the ClusterConfiguration\n", name)
	}
	b.Write(text)
	return writePatchFile(dir, b.Bytes())
}

func writePatchFile(dir string, text []byte) error {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: is not a folder; kubeadm takes no link either", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return files.Error(dir, err)
	}
	name := filepath.Join(dir, nodePatchFile)
	switch have, err := files.Configuration.Read(name); {
	case err == nil && bytes.Equal(have, text):
		return nil
	case err == nil:
		return fmt.Errorf("%s: is there already with other content; it is not replaced", name)
	case !errors.Is(err, fs.ErrNotExist):
		return files.Error(name, err)
	}
	return files.WriteNew(name, text, 0o644)
}

// nodeOps returns the operations on the pod that add what after has and before has not, and the names of the flags
// that before alone has.
func nodeOps(before, after *config.Cluster) (ops []patchOp, gone []string) {
	had := words(before)
	for _, word := range words(after) {
		if !slices.Contains(had, word) {
			ops = append(ops, addOp("/spec/containers/0/command/-", word))
		}
	}
	for _, a := range before.APIServer.Args {
		has := func(b *config.Arg) bool { return b.Name == a.Name }
		if !slices.ContainsFunc(after.APIServer.Args, has) && !slices.Contains(gone, a.Name) {
			gone = append(gone, strings.Join(strings.Fields(a.Name), " "))
		}
	}
	for _, v := range after.APIServer.Volumes {
		if slices.ContainsFunc(before.APIServer.Volumes, func(b config.Volume) bool { return b.Name == v.Name }) {
			continue
		}
		ops = append(ops,
			addOp("/spec/volumes/-", map[string]any{"name": v.Name, "hostPath": map[string]any{"path": v.HostPath}}),
			addOp("/spec/containers/0/volumeMounts/-",
				map[string]any{"name": v.Name, "mountPath": v.MountPath, "readOnly": true}))
	}
	return ops, gone
}

// words are the arguments that a configuration gives to kube-apiserver.
func words(c *config.Cluster) []string {
	var out []string
	if c.APIServer.Unreadable != "" {
		return nil
	}
	for _, a := range c.APIServer.Args {
		if a.MergeMethod == "" {
			out = append(out, "--"+a.Name+"="+a.Value)
		}
	}
	return out
}
