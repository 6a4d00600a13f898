package config

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// Manifest is the pod of a kube-apiserver: a static pod manifest of a node, or its mirror pod.
type Manifest struct {
	// File is the name of the file that it stands in.
	File string
	// Doc is its document, Container the map of the kube-apiserver container.
	Doc       *yamldoc.Document
	Container *yamldoc.Value
	// Mirror: it is the API's copy of a static pod.
	Mirror bool
	// Node is the node, as far as the pod tells it.
	Node Node
	// Image is the container image.
	Image string
	// Version is the image's tag, empty where it has none.
	Version   string
	VersionAt yamldoc.Place
	// Command is the command line of kube-apiserver, without the program.
	Command []Word
	// Program is the word that is kube-apiserver.
	Program Word
	// Remark says what of the command is unusual (a shell wrapper, a launcher, args beside command); empty: nothing.
	Remark string
	// Unreadable: the command line could not be found; Remark says why.
	Unreadable bool
	Envs       []EnvVar
	// Mounts are the host paths that the container sees.
	Mounts []Volume
}

// Word is one word of a command line.
type Word struct {
	Text string
	At   yamldoc.Place
	// Node is the list item that the word comes from.
	Node *yamldoc.Value
}

// endpointAnnotation holds the advertise address and port that kubeadm wrote the manifest with.
const endpointAnnotation = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"

// readManifest reads a Pod; nil where it is not that of a kube-apiserver.
func readManifest(d *yamldoc.Document, v *yamldoc.Value) (*Manifest, error) {
	meta := v.Get("metadata")
	containers := v.Get("spec", "containers")
	if containers == nil {
		return nil, nil
	}
	name := meta.Get("name").Str()
	isAPIServer := meta.Get("labels", "component").Str() == "kube-apiserver" || name == "kube-apiserver" ||
		strings.HasPrefix(name, "kube-apiserver-")
	var container *yamldoc.Value
	for _, c := range containers.Items {
		if n := c.Get("name").Str(); n == "kube-apiserver" || isAPIServer &&
			(container == nil || mentionsAPIServer(c)) {
			container = c
			if n == "kube-apiserver" {
				break
			}
		}
	}
	if container == nil || !isAPIServer && !mentionsAPIServer(container) {
		return nil, nil
	}
	m := &Manifest{File: d.Text.File.Name, Doc: d, Container: container, Image: container.Get("image").Str()}
	m.Mirror = meta.Get("annotations", "kubernetes.io/config.mirror") != nil || v.Get("status", "phase") != nil
	if image := container.Get("image"); image != nil {
		m.Version, m.VersionAt = imageTag(image.Text), image.Place()
	}
	if envs := container.Get("env"); envs != nil {
		m.Envs = readEnvs(envs)
	}
	m.readMounts(v)
	m.readCommand()
	m.readNode(v)
	return m, nil
}

func mentionsAPIServer(c *yamldoc.Value) bool {
	for _, key := range []string{"command", "args"} {
		list := c.Get(key)
		if list == nil {
			continue
		}
		for _, item := range list.Items {
			if apiServerWord.MatchString(item.Text) {
				return true
			}
		}
	}
	return false
}

// apiServerWord finds kube-apiserver as a program: at the start of a word, with or without a path.
var apiServerWord = regexp.MustCompile(`(?:^|[\s;&|])(?:\S*/)?kube-apiserver(?:\s|$)`)

func (m *Manifest) readNode(v *yamldoc.Value) {
	m.Node = Node{Name: v.Get("spec", "nodeName").Str(), From: "manifest", At: v.Place()}
	if m.Mirror {
		m.Node.From = "mirror pod"
		if m.Node.Name == "" {
			m.Node.Name = strings.TrimPrefix(v.Get("metadata", "name").Str(), "kube-apiserver-")
		}
	}
	if e := v.Get("metadata", "annotations", endpointAnnotation); e != nil {
		m.Node.Address, m.Node.Port = splitPort(e.Text)
		m.Node.At = e.Place()
	}
}

func (m *Manifest) readMounts(v *yamldoc.Value) {
	host := map[string]string{}
	if vols := v.Get("spec", "volumes"); vols != nil {
		for _, vol := range vols.Items {
			if p := vol.Get("hostPath", "path").Str(); p != "" {
				host[vol.Get("name").Str()] = p
			}
		}
	}
	mounts := m.Container.Get("volumeMounts")
	if mounts == nil {
		return
	}
	for _, mount := range mounts.Items {
		name := mount.Get("name").Str()
		m.Mounts = append(m.Mounts, Volume{Name: name, HostPath: host[name], MountPath: mount.Get("mountPath").Str(),
			Node: mount})
	}
}

// readCommand finds kube-apiserver's flags in command and args.
func (m *Manifest) readCommand() {
	var words []Word
	for _, key := range []string{"command", "args"} {
		list := m.Container.Get(key)
		if list == nil {
			continue
		}
		if key == "args" && len(words) > 0 && len(list.Items) > 0 {
			m.Remark = "the flags stand in command and args; both were read"
		}
		words = append(words, m.words(list.Items)...)
	}
	m.findServer(words)
}

// words are the words of list items, with environment variables filled in.
func (m *Manifest) words(items []*yamldoc.Value) []Word {
	words := make([]Word, 0, len(items))
	for _, item := range items {
		words = append(words, Word{Text: m.expand(item.AsString()), At: item.Place(), Node: item})
	}
	return words
}

// findServer finds kube-apiserver among the words of a command.
func (m *Manifest) findServer(words []Word) {
	if len(words) == 0 {
		m.Unreadable, m.Remark = true, "the container has no command; the image's own entry point is not known here"
		return
	}
	if script := shellScript(words); script != nil {
		m.readShell(*script)
		return
	}
	for i, w := range words {
		if path.Base(w.Text) != "kube-apiserver" {
			continue
		}
		if i > 0 {
			m.Remark = "kube-apiserver is started through " + path.Base(words[0].Text) + "; the words in front of it " +
				"are not its flags"
		}
		m.Program, m.Command = w, words[i+1:]
		return
	}
	if strings.HasPrefix(words[0].Text, "-") {
		// No command, only args: the image's entry point is the server.
		m.Program, m.Command = words[0], words
		m.Remark = "the container has no command; its args were read as kube-apiserver's"
		return
	}
	m.Unreadable, m.Remark = true, "the command "+strconv.Quote(words[0].Text)+" is not kube-apiserver; its flags "+
		"are not known"
}

// shellScript returns the word that a shell is told to run, nil where the command is no shell.
func shellScript(words []Word) *Word {
	switch path.Base(words[0].Text) {
	case "sh", "bash", "dash", "ash":
	default:
		return nil
	}
	for i, w := range words[1:] {
		if strings.HasPrefix(w.Text, "-") && strings.HasSuffix(w.Text, "c") && i+2 < len(words) {
			return &words[i+2]
		}
	}
	return nil
}

// readShell reads the flags of kube-apiserver out of a shell command, on best effort: what the shell would compute
// at run time stays as it is spelt and counts as unknown.
func (m *Manifest) readShell(script Word) {
	m.Remark = "kube-apiserver is started by a shell; its flags were read on best effort"
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script.Text), "")
	if err != nil {
		m.Unreadable, m.Remark = true, "kube-apiserver is started by a shell command that cannot be read"
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || m.Program.Text != "" {
			return true
		}
		for i, arg := range call.Args {
			text := wordText(arg)
			if m.Program.Text == "" {
				if path.Base(text) == "kube-apiserver" {
					m.Program = Word{Text: text, At: script.At, Node: script.Node}
				} else if i > 0 && !strings.HasPrefix(text, "-") && path.Base(wordText(call.Args[0])) != "exec" {
					return true
				}
				continue
			}
			m.Command = append(m.Command, Word{Text: text, At: script.At, Node: script.Node})
		}
		return true
	})
	if m.Program.Text == "" {
		m.Unreadable, m.Remark = true, "the shell command does not start kube-apiserver in a way that can be read"
	}
}

// wordText returns a shell word without its quotes. A word with parts that the shell computes stays in its spelling, in
// which the $ tells that its value is not known.
func wordText(w *syntax.Word) string {
	if text, ok := literalText(w.Parts, false); ok {
		return text
	}
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, w); err != nil {
		return "$"
	}
	return b.String()
}

// literalText returns the text of the parts of a word; ok is false where the shell computes one of them.
func literalText(parts []syntax.WordPart, quoted bool) (text string, ok bool) {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescapeShell(part.Value, quoted))
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			inner, ok := literalText(part.Parts, true)
			if !ok || part.Dollar {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescapeShell takes the backslashes away that a shell takes away, within double quotes and outside of them.
func unescapeShell(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var envReference = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)`)

// expand replaces $(NAME) by the container's environment variables as the kubelet does; what is not known stays.
func (m *Manifest) expand(s string) string {
	if !strings.Contains(s, "$(") {
		return s
	}
	return envReference.ReplaceAllStringFunc(s, func(ref string) string {
		for _, e := range m.Envs {
			if e.Name == ref[2:len(ref)-1] && !e.Unknown {
				return e.Value
			}
		}
		return ref
	})
}

// addManifests makes a cluster of the pods of a file that has no ClusterConfiguration, or adds them to the one
// that it has.
func (r *reader) addManifests(manifests []*Manifest) {
	if len(r.in.Clusters) == 1 && r.in.Clusters[0].Form != FormControlPlane {
		r.in.Clusters[0].AddManifests(manifests)
		return
	}
	m := manifests[0]
	c := &Cluster{Input: r.in, Form: FormManifest, Doc: m.Doc, CertificatesDir: Field{Value: DefaultCertificatesDir}}
	if m.Mirror {
		c.Form = FormMirrorPod
	}
	c.AddManifests(manifests)
	r.in.Clusters = append(r.in.Clusters, c)
}

// AddManifests adds the pods of nodes to a cluster.
func (c *Cluster) AddManifests(manifests []*Manifest) {
	c.Manifests = append(c.Manifests, manifests...)
	for _, m := range manifests {
		if !c.knowsNode(m.Node) {
			c.Nodes = append(c.Nodes, m.Node)
		}
	}
}

func (c *Cluster) knowsNode(n Node) bool {
	for _, known := range c.Nodes {
		if n.Name != "" && n.Name == known.Name || n.Address != "" && n.Address == known.Address {
			return true
		}
	}
	return false
}

// ReadManifest reads a node's static pod manifest, and the other files of its folder that the kubelet would run for the
// kube-apiserver pod: it takes every file that does not begin with a dot. The manifest itself is the first.
func ReadManifest(name string) ([]*Manifest, error) {
	m, err := readManifestFile(name)
	if err != nil {
		return nil, err
	}
	folder := []*Manifest{m}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return nil, files.Error(filepath.Dir(name), err)
	}
	for _, f := range entries {
		other := filepath.Join(filepath.Dir(name), f.Name())
		if !f.Type().IsRegular() || strings.HasPrefix(f.Name(), ".") || f.Name() == filepath.Base(name) {
			continue
		}
		// What the kubelet cannot read as a pod it does not run.
		if m, err := readManifestFile(other); err == nil && !m.Mirror {
			folder = append(folder, m)
		}
	}
	return folder, nil
}

func readManifestFile(name string) (*Manifest, error) {
	in, err := ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(in.Clusters) == 0 || len(in.Clusters[0].Manifests) == 0 {
		return nil, fileError(in.File, 0, false,
			"no kube-apiserver pod in this file; give a node's /etc/kubernetes/manifests/kube-apiserver.yaml")
	}
	return in.Clusters[0].Manifests[0], nil
}

// AddFolder adds the pods of a node's manifests folder, as ReadManifest returns them.
func (c *Cluster) AddFolder(folder []*Manifest) {
	c.AddManifests(folder[:1])
	c.ManifestFolders = append(c.ManifestFolders, folder)
}
