package config

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// Marks of template languages. A directive stands at the start of a line and cannot be YAML that somebody meant.
var (
	jinjaDirective     = regexp.MustCompile(`(?m)^[ \t]*\{%[-+]?[ \t]*\w+`)
	jinjaComment       = regexp.MustCompile(`(?m)^[ \t]*\{#`)
	goDirective        = regexp.MustCompile(`(?m)^[ \t]*\{\{-?[ \t]*(/\*|\$\w+ *:?=|if\b|else\b|end\b|range\b|with\b|define\b|template\b|include\b|block\b|\.)`)
	terraformDirective = regexp.MustCompile(`(?m)^[ \t]*%\{~?[ \t]*(for|endfor|if|else|endif)\b`)
	anyMustache        = regexp.MustCompile(`\{\{.*?\}\}`)

	describeName = regexp.MustCompile(`\A(?:Name|Namespace):[ \t]+\S+\r?\n`)
	describeData = regexp.MustCompile(`(?m)^(Data|BinaryData)\r?\n====`)
	k3sKey       = regexp.MustCompile(`(?m)^(kube-apiserver-arg|write-kubeconfig-mode|kubelet-arg|tls-san|cluster-init):`)
	shebang      = regexp.MustCompile(`\A#![ \t]*/\S*\b(sh|bash|env|python3?|perl)\b`)
	kindKubeadm  = regexp.MustCompile(`(?m)^[ \t]*(kind:[ \t]*["']?(Cluster|Init|Join)Configuration|apiVersion:[ \t]*["']?kubeadm\.k8s\.io/)`)
)

// lookAlike recognises the files that people take for a kubeadm configuration, by their text, before anything
// is parsed: some of them are YAML by accident.
func lookAlike(f *yamldoc.File) *Error {
	data := bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))
	at := func(re *regexp.Regexp) int {
		loc := re.FindIndex(f.Data)
		if loc == nil {
			return 0
		}
		return loc[0] + len(f.Data[loc[0]:loc[1]]) - len(bytes.TrimLeft(f.Data[loc[0]:loc[1]], " \t"))
	}
	foreign := func() bool { return !kindKubeadm.Match(data) }
	// The regular expressions are slow on large files: look for their fixed part first.
	has := func(mark string) bool { return bytes.Contains(data, []byte(mark)) }
	switch {
	case has("#!") && shebang.Match(data):
		return fileError(f, 0, true, "this is a script, not a kubeadm configuration; check the file that it writes")
	case has("====") && describeName.Match(data) && describeData.Match(data):
		return fileError(f, 0, false, "this is the output of kubectl describe, which cannot be read back; use: "+
			"kubectl -n kube-system get configmap kubeadm-config -o yaml")
	case has("%{") && topLevel(terraformDirective, data):
		return fileError(f, at(terraformDirective), foreign(),
			"this is a Terraform template; render it and check the result")
	case has("{%") && topLevel(jinjaDirective, data):
		return fileError(f, at(jinjaDirective), foreign(), jinjaHint)
	case has("{#") && topLevel(jinjaComment, data):
		return fileError(f, at(jinjaComment), foreign(), jinjaHint)
	case has("{{") && topLevel(goDirective, data):
		return fileError(f, at(goDirective), foreign(),
			"this is a Go template (Helm, gomplate); render it and check the result")
	}
	return nil
}

const jinjaHint = "this is a Jinja template; check the rendered file (on a node often " +
	"/etc/kubernetes/kubeadm-config.yaml) or the ConfigMap kube-system/kubeadm-config"

// topLevel tells whether a directive stands in the document itself, not in a script that the document holds: no
// line in front of it at a lower indentation opens a block scalar.
func topLevel(re *regexp.Regexp, data []byte) bool {
	for _, loc := range re.FindAllIndex(data, -1) {
		if !insideBlockScalar(data, loc[0]) {
			return true
		}
	}
	return false
}

var opensBlockScalar = regexp.MustCompile(`(?:^|[:\-][ \t]+)[|>][-+0-9]*[ \t]*(?:#.*)?$`)

func insideBlockScalar(data []byte, at int) bool {
	lines := strings.Split(string(data[:at]), "\n")
	this := data[at:]
	if i := bytes.IndexByte(this, '\n'); i >= 0 {
		this = this[:i]
	}
	depth := indentOf(string(this))
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimRight(lines[i], " \t\r")
		if line == "" || indentOf(line) >= depth {
			continue
		}
		depth = indentOf(line)
		if opensBlockScalar.MatchString(line) {
			return true
		}
		if depth == 0 {
			return false
		}
	}
	return false
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// templateError explains a syntax error that comes from template marks, nil where it does not.
func templateError(f *yamldoc.File, err error) *Error {
	var se *yamldoc.SyntaxError
	if !errors.As(err, &se) {
		return nil
	}
	loc := anyMustache.FindIndex(f.Data)
	if loc == nil {
		return nil
	}
	return fileError(f, loc[0], !kindKubeadm.Match(f.Data),
		"the template mark %s makes this no YAML; render the template and check the result", f.Data[loc[0]:loc[1]])
}

// notConfig says what a file without any document that mvpcheck reads looks like.
func notConfig(f *yamldoc.File, docs []*yamldoc.Document) *Error {
	var root *yamldoc.Value
	for _, d := range docs {
		if d.Root != nil {
			root = d.Root
			break
		}
	}
	switch {
	case root == nil:
		return fileError(f, 0, true, "no kubeadm document found: the file has only comments")
	case k3sKey.Match(f.Data) && root.Get("apiVersion") == nil:
		return fileError(f, root.Start, true, "this is a k3s or RKE2 configuration, not kubeadm's; mvpcheck reads "+
			"kubeadm configurations only")
	case root.Kind == yamldoc.List && isPlaybook(root):
		return fileError(f, root.Start, true, "no kubeadm document found: this is an Ansible playbook; check the file "+
			"that it renders or the ConfigMap kube-system/kubeadm-config")
	case root.Kind != yamldoc.Map:
		return fileError(f, root.Start, true, "no kubeadm document found: the document is %s", root.Kind)
	}
	if v := embeddedKubeadm(root); v != nil {
		return &Error{Place: v.Place(), Foreign: true, Msg: "no kubeadm document found; the text inside " +
			quoteKey(v) + " looks like one: check the file that it writes"}
	}
	if kind := root.Get("kind").Str(); kind != "" {
		what := kind
		if av := root.Get("apiVersion").Str(); av != "" {
			what = av + " " + kind
		}
		return fileError(f, root.Start, true, "no kubeadm document found: this is %s", what)
	}
	return fileError(f, root.Start, true, "no kubeadm document found: no document has an apiVersion and a kind that "+
		"mvpcheck reads")
}

func isPlaybook(list *yamldoc.Value) bool {
	for _, item := range list.Items {
		if item.Get("hosts") != nil || item.Get("import_playbook") != nil || item.Get("tasks") != nil {
			return true
		}
	}
	return false
}

// embeddedKubeadm returns a string value that holds the text of a kubeadm configuration.
func embeddedKubeadm(v *yamldoc.Value) *yamldoc.Value {
	if v.Kind == yamldoc.String && strings.Contains(v.Text, "\n") && kindKubeadm.MatchString(v.Text) {
		return v
	}
	for _, item := range v.Items {
		if found := embeddedKubeadm(item); found != nil {
			return found
		}
	}
	for _, e := range v.Entries {
		if found := embeddedKubeadm(e.Value); found != nil {
			return found
		}
	}
	return nil
}

func quoteKey(v *yamldoc.Value) string {
	if e := v.Entry(); e != nil {
		return "'" + e.Key + "'"
	}
	return v.Path()
}

var placeholder = regexp.MustCompile(`\{\{.*?\}\}|\$\{[^}\n]*\}|\$\([A-Za-z_][A-Za-z0-9_]*\)|<[A-Za-z][A-Za-z0-9 _.-]*>|%\{|\{%|@[A-Z_]{2,}@`)

// PlaceholderIn returns the first template mark in a value, empty if there is none.
func PlaceholderIn(s string) string {
	if !strings.ContainsAny(s, "{$<@") {
		return ""
	}
	return placeholder.FindString(s)
}
