package config

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// PatchFile is a kubeadm patch for the kube-apiserver pod, from a folder given to kubeadm's --patches.
type PatchFile struct {
	File *yamldoc.File
	// Type is strategic, merge or json.
	Type string
	// Root is the patch itself: a map, or for json the list of operations.
	Root *yamldoc.Value
	// Command and Args are the lists of a strategic or merge patch, nil where it has none.
	Command, Args *yamldoc.Value
}

// Names of patch files as kubeadm reads them (kubeadm's util/patches, alike in 1.33 to 1.37): the ending is .json or
// .yaml, the target comes first, and what follows is looked at as far as a dot or a plus sign only.
var (
	patchEnding = regexp.MustCompile(`.+\.(json|yaml)$`)
	patchName   = regexp.MustCompile(`^(etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubeletconfiguration|corednsdeployment)([^.+\n]*)?(\+)?(json|merge|strategic)?`)
)

// ReadPatches reads the kube-apiserver patches of a folder given to kubeadm's --patches, subfolders too, in the order
// in which kubeadm applies them. Files that kubeadm ignores or that are for other targets are passed over.
func ReadPatches(dir string) ([]*PatchFile, error) {
	var patches []*PatchFile
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return files.Error(name, err)
		}
		base := d.Name()
		m := patchName.FindStringSubmatch(base)
		if d.IsDir() || !patchEnding.MatchString(base) || m == nil || m[1] != "kube-apiserver" {
			return nil
		}
		if m[3] == "+" && m[4] == "" {
			return fmt.Errorf("%s: kubeadm stops at this name: behind the + it wants json, merge or strategic", name)
		}
		p, err := readPatchFile(name, m[4])
		patches = append(patches, p...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return patches, nil
}

func readPatchFile(name, patchType string) ([]*PatchFile, error) {
	data, err := files.Configuration.Read(name)
	if err != nil {
		return nil, err
	}
	file := yamldoc.NewFile(name, data)
	docs, err := file.Text().Documents()
	if err != nil {
		return nil, err
	}
	var patches []*PatchFile
	for _, d := range docs {
		if d.Root == nil {
			continue
		}
		p := newPatch(d.Root, patchType)
		if p == nil {
			return nil, &Error{Place: d.Root.Place(),
				Msg: "this is no patch of the kind that its file name tells; a JSON patch is a list of operations " +
					"and its file name needs +json"}
		}
		patches = append(patches, p)
	}
	return patches, nil
}

func newPatch(root *yamldoc.Value, patchType string) *PatchFile {
	switch {
	case patchType == "json":
		return jsonPatch(root)
	case root.Kind != yamldoc.Map:
		return nil
	}
	p := &PatchFile{File: root.Document().Text.File, Type: patchType, Root: root}
	if p.Type == "" {
		p.Type = "strategic"
	}
	for _, c := range items(root.Get("spec", "containers")) {
		if name := c.Get("name").Str(); name == "kube-apiserver" || name == "" {
			p.Command, p.Args = c.Get("command"), c.Get("args")
		}
	}
	return p
}

func items(v *yamldoc.Value) []*yamldoc.Value {
	if v == nil {
		return nil
	}
	return v.Items
}

// jsonPatch returns the RFC 6902 patch that a list is, nil where it is none for a pod.
func jsonPatch(v *yamldoc.Value) *PatchFile {
	if v.Kind != yamldoc.List || len(v.Items) == 0 {
		return nil
	}
	for _, op := range v.Items {
		if op.Get("op").Str() == "" || !strings.HasPrefix(op.Get("path").Str(), "/") {
			return nil
		}
	}
	return &PatchFile{File: v.Document().Text.File, Type: "json", Root: v}
}

// strategicPatch returns the patch that a pod without an image is, nil for a whole pod.
func strategicPatch(v *yamldoc.Value) *PatchFile {
	containers := items(v.Get("spec", "containers"))
	if len(containers) == 0 || v.Get("metadata", "name").Str() != "kube-apiserver" {
		return nil
	}
	for _, c := range containers {
		if c.Get("image") != nil {
			return nil
		}
	}
	return newPatch(v, "strategic")
}

var commandPath = regexp.MustCompile(`^/spec/containers/(\d+)/(command|args)(?:/(\d+|-))?$`)

// applyPatches returns the command line after kubeadm has applied its patches. known is false where a patch does
// what cannot be followed here.
func applyPatches(flags CommandLine, patches []*PatchFile) (out CommandLine, known bool) {
	if len(patches) == 0 {
		return flags, true
	}
	known = true
	// The first word of the command is the program.
	words := make([]patchedWord, 1, 1+len(flags))
	for i := range flags {
		words = append(words, patchedWord{flag: &flags[i]})
	}
	for _, p := range patches {
		if p.Type != "json" {
			if p.Command != nil {
				words = listWords(p.Command)
			}
			if p.Args != nil {
				words = append(words, listWords(p.Args)...)
			}
			continue
		}
		for _, op := range p.Root.Items {
			m := commandPath.FindStringSubmatch(op.Get("path").Str())
			if m == nil {
				continue
			}
			var ok bool
			if words, ok = applyOperation(words, op, m[2], m[3]); !ok {
				known = false
			}
		}
	}
	var own []Word
	for _, w := range words[min(1, len(words)):] {
		if w.flag == nil {
			own = append(own, w.word)
			continue
		}
		out = append(append(out, readWords(own)...), *w.flag)
		own = nil
	}
	return append(out, readWords(own)...), known
}

// patchedWord is a word of a command: one of kubeadm's flags, or text that a patch brings.
type patchedWord struct {
	flag *Flag
	word Word
}

func listWords(list *yamldoc.Value) []patchedWord {
	words := make([]patchedWord, 0, len(list.Items))
	for _, item := range list.Items {
		words = append(words, patchedWord{word: Word{Text: item.AsString(), At: item.Place(), Node: item}})
	}
	return words
}

func applyOperation(words []patchedWord, op *yamldoc.Value, list, index string) ([]patchedWord, bool) {
	value := op.Get("value")
	if list == "args" && index == "" && value != nil && value.Kind == yamldoc.List {
		return append(words, listWords(value)...), true
	}
	if list == "args" && index != "-" {
		return words, false
	}
	var word []patchedWord
	if value != nil && value.Kind == yamldoc.String {
		word = []patchedWord{{word: Word{Text: value.Text, At: value.Place(), Node: value}}}
	}
	at := len(words)
	if index != "-" {
		var err error
		if at, err = strconv.Atoi(index); err != nil {
			if value != nil && value.Kind == yamldoc.List {
				return listWords(value), true
			}
			return words, false
		}
	}
	switch op.Get("op").Str() {
	case "test":
		return words, true
	case "add":
		if at > len(words) || word == nil {
			return words, false
		}
		return append(words[:at:at], append(word, words[at:]...)...), true
	case "replace":
		if at >= len(words) || word == nil {
			return words, false
		}
		return append(words[:at:at], append(word, words[at+1:]...)...), true
	case "remove":
		if at >= len(words) {
			return words, false
		}
		return append(words[:at:at], words[at+1:]...), true
	}
	return words, false
}

// readWords reads words as flags.
func readWords(words []Word) CommandLine {
	var out CommandLine
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w.Text, "-") || w.Text == "-" || w.Text == "--" {
			continue
		}
		f := Flag{Origin: FromManifest, At: w.At}
		name, value, hasValue := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		f.Spelling, f.Name, f.Value = name, release.NormalizeFlag(name), value
		if !hasValue {
			f.Value = "true"
			// The value of a flag that is no boolean is the next word.
			if i+1 < len(words) && !release.IsBoolFlag(f.Name) {
				i++
				f.Value, f.At = words[i].Text, words[i].At
			}
		}
		f.Unknown = PlaceholderIn(f.Value) != "" || strings.Contains(f.Value, "$")
		out = append(out, f)
	}
	return out
}
