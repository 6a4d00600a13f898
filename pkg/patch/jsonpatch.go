package patch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// patchOp is an operation of RFC 6902.
type patchOp struct {
	Op, Path string
	Value    any
}

// MarshalJSON keeps a value of null, false or "" where the operation has one.
func (o patchOp) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	type bare struct {
		Op   string `json:"op"`
		Path string `json:"path"`
	}
	type full struct {
		bare
		Value any `json:"value"`
	}
	var err error
	if o.Op == "remove" {
		err = enc.Encode(bare{o.Op, o.Path})
	} else {
		err = enc.Encode(full{bare{o.Op, o.Path}, o.Value})
	}
	return bytes.TrimSpace(b.Bytes()), err
}

// JSONPatch returns the RFC 6902 patch of the object that changed: the ClusterConfiguration, the ConfigMap or the
// KubeadmControlPlane.
func JSONPatch(r *Result) ([]byte, error) {
	c, err := onlyCluster(r)
	if err != nil {
		return nil, err
	}
	before, err := beforeInput(r)
	if err != nil {
		return nil, err
	}
	for i, d := range r.Input.Docs {
		if d.Index != c.Doc.FileIndex() && !reflect.DeepEqual(d.Root.JSON(), before.Docs[i].Root.JSON()) {
			return nil, fmt.Errorf("%s: document %d changed too; a JSON patch is of one object", r.Name, d.Index)
		}
	}
	ops := diffJSON(patchedObject(before.Clusters[0]), patchedObject(c), "", nil)
	return printOps(ops)
}

func patchedObject(c *config.Cluster) any { return objectOf(c).JSON() }

// printOps writes one operation a line.
func printOps(ops []patchOp) ([]byte, error) {
	if len(ops) == 0 {
		return []byte("[]\n"), nil
	}
	lines := make([]string, len(ops))
	for i, op := range ops {
		text, err := op.MarshalJSON()
		if err != nil {
			return nil, err
		}
		lines[i] = "  " + string(text)
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
	return append(ops, patchOp{"replace", path, b})
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func diffMaps(a, b map[string]any, path string, ops []patchOp) []patchOp {
	for _, key := range sortedKeys(a) {
		at := path + "/" + pointerEscapes.Replace(key)
		if value, ok := b[key]; ok {
			ops = diffJSON(a[key], value, at, ops)
		} else {
			ops = append(ops, patchOp{Op: "remove", Path: at})
		}
	}
	for _, key := range sortedKeys(b) {
		if _, ok := a[key]; !ok {
			ops = append(ops, patchOp{"add", path + "/" + pointerEscapes.Replace(key), b[key]})
		}
	}
	return ops
}

// diffLists keeps the longest run of items that are the same in both, by name where they have one, and adds
// and removes the others. Indexes are those of the list as the operations before have left it.
func diffLists(a, b []any, path string, ops []patchOp) []patchOp {
	pairs := commonItems(a, b)
	at := 0
	i, j := 0, 0
	for _, pair := range append(pairs, [2]int{len(a), len(b)}) {
		for ; i < pair[0]; i++ {
			ops = append(ops, patchOp{Op: "remove", Path: path + "/" + strconv.Itoa(at)})
		}
		for ; j < pair[1]; j++ {
			ops = append(ops, patchOp{"add", path + "/" + strconv.Itoa(at), b[j]})
			at++
		}
		if i < len(a) && j < len(b) {
			ops = diffJSON(a[i], b[j], path+"/"+strconv.Itoa(at), ops)
			at++
			i++
			j++
		}
	}
	return ops
}

// commonItems returns the index pairs of a longest common subsequence.
func commonItems(a, b []any) [][2]int {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if sameItem(a[i], b[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case sameItem(a[i], b[j]):
			pairs = append(pairs, [2]int{i, j})
			i++
			j++
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
