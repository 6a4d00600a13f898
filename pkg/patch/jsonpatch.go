package patch

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// patchOp is an operation of RFC 6902. A remove has no value; a value of null, false or "" is one.
type patchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value *any   `json:"value,omitempty"`
}

func addOp(path string, value any) patchOp     { return patchOp{"add", path, &value} }
func replaceOp(path string, value any) patchOp { return patchOp{"replace", path, &value} }
func removeOp(path string) patchOp             { return patchOp{Op: "remove", Path: path} }

// JSONPatch returns the RFC 6902 patch of the object that changed: the ClusterConfiguration, the ConfigMap or the
// KubeadmControlPlane.
func JSONPatch(r *Result) ([]byte, error) {
	c, err := onlyCluster(r)
	if err != nil {
		return nil, err
	}
	for i, d := range r.Input.Docs {
		if d.Index != c.Doc.FileIndex() && !reflect.DeepEqual(d.Root.JSON(), r.before.Docs[i].Root.JSON()) {
			return nil, fmt.Errorf("%s: document %d changed too; a JSON patch is of one object", r.Name, d.Index)
		}
	}
	return printOps(diffJSON(objectOf(r.before.Clusters[0]).JSON(), objectOf(c).JSON(), "", nil))
}

// printOps writes one operation a line.
func printOps(ops []patchOp) ([]byte, error) {
	if len(ops) == 0 {
		return []byte("[]\n"), nil
	}
	lines := make([]string, len(ops))
	for i, op := range ops {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(op); err != nil {
			return nil, err
		}
		lines[i] = "  " + strings.TrimSpace(b.String())
	}
	return []byte("[\n" + strings.Join(lines, ",\n") + "\n]\n"), nil
}

// diffJSON appends the operations that make b of a, which stands at path.
func diffJSON(a, b any, path string, ops []patchOp) []patchOp {
	if reflect.DeepEqual(a, b) {
		return ops
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return diffMaps(a, b, path, ops)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return diffLists(a, b, path, ops)
		}
	}
	return append(ops, replaceOp(path, b))
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func diffMaps(a, b map[string]any, path string, ops []patchOp) []patchOp {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		at := path + "/" + pointerEscapes.Replace(key)
		if value, ok := b[key]; ok {
			ops = diffJSON(a[key], value, at, ops)
		} else {
			ops = append(ops, removeOp(at))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[key]; !ok {
			ops = append(ops, addOp(path+"/"+pointerEscapes.Replace(key), b[key]))
		}
	}
	return ops
}

// diffLists keeps the items that are in both, by name where they have one: edits leave their order. Indexes are those
// of the list as the operations before have left it.
func diffLists(a, b []any, path string, ops []patchOp) []patchOp {
	index := func(i int) string { return path + "/" + strconv.Itoa(i) }
	added := 0 // those of b that were not met in a yet
	i := 0
	for j, item := range b {
		same := slices.IndexFunc(a[i:], func(old any) bool { return sameItem(old, item) })
		if same < 0 {
			added++
			continue
		}
		for range same {
			ops = append(ops, removeOp(index(j-added)))
		}
		for ; added > 0; added-- {
			ops = append(ops, addOp(index(j-added), b[j-added]))
		}
		i += same + 1
		ops = diffJSON(a[i-1], item, index(j), ops)
	}
	for range a[i:] {
		ops = append(ops, removeOp(index(len(b)-added)))
	}
	for ; added > 0; added-- {
		ops = append(ops, addOp(index(len(b)-added), b[len(b)-added]))
	}
	return ops
}

// sameItem tells whether two items are about the same thing: the same name, or else all the same.
func sameItem(a, b any) bool {
	x, okA := a.(map[string]any)
	y, okB := b.(map[string]any)
	if okA && okB && x["name"] != nil && y["name"] != nil {
		return reflect.DeepEqual(x["name"], y["name"])
	}
	return reflect.DeepEqual(a, b)
}
