package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
)

// A Kubeadm is the kubeadm of one release, to be asked what it makes of a configuration file.
//
// It runs with an environment of its own, so that no proxy variable of the caller gets into a manifest. Three things of
// the machine still show: the host name (it must be a DNS name), the address of the interface with the default route
// where the file names no localAPIEndpoint.advertiseAddress (no default route: validate answers, the manifest is
// refused; see [WithNode]), and which folders of CA certificates exist (mounts of the manifest). A machine that is a
// kubeadm node itself is no place for the lab: kubeadm looks into its certificatesDir.
type Kubeadm struct {
	Release Release
	Path    string
	// Env is the environment, such as HTTPS_PROXY=…, which kubeadm copies into the manifest.
	Env []string
}

// Kubeadm returns the release's kubeadm, built when missing.
func (r Release) Kubeadm(tb testing.TB) Kubeadm {
	tb.Helper()
	return Kubeadm{Release: r, Path: r.Binary(tb, "kubeadm")}
}

// ErrRefused is kubeadm's no, as opposed to a kubeadm that could not be run.
var ErrRefused = errors.New("refused by kubeadm")

// ConfigValidate asks `kubeadm config validate` and returns what it prints. The error is ErrRefused for a file that it
// does not accept. Args are further flags, such as --allow-experimental-api.
func (k Kubeadm) ConfigValidate(ctx context.Context, file string, args ...string) (output string, err error) {
	return k.run(ctx, nil, append([]string{"config", "validate", "--config", file}, args...)...)
}

// Manifest asks `kubeadm init phase control-plane apiserver` for the static pod manifest of kube-apiserver and returns
// it and what kubeadm prints. The error is ErrRefused for a file that it does not accept. It writes nothing outside a
// temporary folder and needs no privileges. A kubernetesVersion that is a label or missing makes kubeadm ask the
// internet first; see [Release.Pin].
func (k Kubeadm) Manifest(ctx context.Context, file string) (manifest []byte, output string, err error) {
	dir, err := os.MkdirTemp("", "mvpcheck-lab-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	output, err = k.run(ctx, []string{"KUBEADM_INIT_DRYRUN_DIR=" + dir},
		"init", "phase", "control-plane", "apiserver", "--dry-run", "--config", file)
	if err != nil {
		return nil, output, err
	}
	manifest, err = os.ReadFile(filepath.Join(dir, "kube-apiserver.yaml"))
	return manifest, output, err
}

// Certificates asks `kubeadm init phase certs all` for the certificates of the file's node, which it writes to the file's
// certificatesDir, and returns what kubeadm prints.
func (k Kubeadm) Certificates(ctx context.Context, file string) (output string, err error) {
	return k.run(ctx, nil, "init", "phase", "certs", "all", "--config", file)
}

// UploadConfig asks `kubeadm init phase upload-config kubeadm` to write the ConfigMap kube-system/kubeadm-config, and returns
// what kubeadm prints.
func (k Kubeadm) UploadConfig(ctx context.Context, file, kubeconfig string) (output string, err error) {
	return k.run(ctx, nil, "init", "phase", "upload-config", "kubeadm", "--config", file, "--kubeconfig", kubeconfig)
}

// klogHeader is the time, process and place in front of each of kubeadm's log lines.
var klogHeader = regexp.MustCompile(`(?m)^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.]+:\d+\] `)

func (k Kubeadm) run(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, k.Path, args...)
	cmd.Env = append(append([]string{}, k.Env...), env...)
	out, err := cmd.CombinedOutput()
	output := klogHeader.ReplaceAllString(string(out), "$1 ")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		err = fmt.Errorf("kubeadm %s: %w", k.Release.Version, ErrRefused)
	}
	return output, err
}

var (
	// documentStart is a line at which kubeadm splits a file, the only such.
	documentStart = regexp.MustCompile(`(?m)^---`)

	clusterConfiguration = regexp.MustCompile(`(?m)(^|[\s{,\x{feff}])["']?kind["']?[ \t]*:[ \t]*["']?ClusterConfiguration\b["']?`)
	initConfiguration    = regexp.MustCompile(`(?m)(^|[\s{,\x{feff}])["']?kind["']?[ \t]*:[ \t]*["']?InitConfiguration\b["']?`)
	configurationVersion = regexp.MustCompile(`["']?apiVersion["']?[ \t]*:[ \t]*["']?(kubeadm\.k8s\.io/\w+)`)
	versionKey           = regexp.MustCompile(`(?m)^([^#\n]*[\s{,]|)["']?kubernetesVersion["']?[ \t]*:`)
	versionValue         = regexp.MustCompile(`^(?:[ \t]*(?:"[^"\n]*"|'[^'\n]*'|[^\s#][^\s,]*))?`)
)

// Accepts tells whether the release's kubeadm takes a kubernetesVersion without asking the internet: a full version
// that is at most one minor older than itself. Newer ones it takes too, however new.
func (r Release) Accepts(kubernetesVersion string) bool {
	v, err := version.ParseSemantic(kubernetesVersion)
	return err == nil && v.AtLeast(version.MustParseSemantic(fmt.Sprintf("1.%d.0", r.minor-1)))
}

// Pin returns the text of a kubeadm configuration file with the kubernetesVersion that the release's kubeadm needs:
// where that of the ClusterConfiguration is missing, a label such as "stable" or too old, it becomes the release's own.
// Nothing else changes, and nothing at all where kubeadm accepts the version or there is no ClusterConfiguration. Of
// the manifest, only the image depends on it, so the flags are those that the file itself would get from the kubeadm
// that it was written for.
func (r Release) Pin(text string) string {
	var b strings.Builder
	for _, doc := range documents(text) {
		if kind := clusterConfiguration.FindStringIndex(doc); kind != nil {
			doc = r.pinDocument(doc, kind[1])
		}
		b.WriteString(doc)
	}
	return b.String()
}

// pinDocument is Pin for the document of the ClusterConfiguration, whose kind ends at the given offset.
func (r Release) pinDocument(doc string, kindEnd int) string {
	flow := strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(doc, "---")), "{")
	keys := versionKey.FindAllStringIndex(doc, -1)
	if len(keys) == 0 && flow {
		return doc[:kindEnd] + `, "kubernetesVersion": "` + r.Version + `"` + doc[kindEnd:]
	}
	if len(keys) == 0 {
		lineStart := strings.LastIndex(doc[:kindEnd], "\n") + 1
		line := strings.TrimPrefix(doc[lineStart:kindEnd], "\ufeff")
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		rest := strings.IndexByte(doc[kindEnd:], '\n')
		if rest < 0 {
			return doc + "\n" + indent + "kubernetesVersion: " + r.Version + "\n"
		}
		end := kindEnd + rest + 1
		eol := "\n"
		if strings.HasSuffix(doc[:end], "\r\n") {
			eol = "\r\n"
		}
		return doc[:end] + indent + "kubernetesVersion: " + r.Version + eol + doc[end:]
	}
	// From the end, as the offsets before it stay. More than one is a duplicate key, of which the last counts.
	for i := len(keys) - 1; i >= 0; i-- {
		start := keys[i][1]
		value := versionValue.FindString(doc[start:])
		if flow {
			value = strings.TrimRight(value, "}")
		}
		end := start + len(value)
		if !r.Accepts(strings.Trim(value, ` "'`+"\t")) {
			doc = doc[:start] + ` "` + r.Version + `"` + doc[end:]
		}
	}
	return doc
}

// WithNode returns the text of a kubeadm configuration file with an InitConfiguration for a node of that name and
// address at its end, unless it holds one or has no ClusterConfiguration. So kubeadm neither looks for the machine's
// default route nor at its host name. The manifest's flags are those of that node.
func WithNode(text, name, address string) string {
	for _, doc := range documents(text) {
		if initConfiguration.MatchString(doc) {
			return text
		}
	}
	for _, doc := range documents(text) {
		version := configurationVersion.FindStringSubmatch(doc)
		if version == nil || !clusterConfiguration.MatchString(doc) {
			continue
		}
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text + fmt.Sprintf("---\napiVersion: %s\nkind: InitConfiguration\nlocalAPIEndpoint:\n  advertiseAddress: %q\nnodeRegistration:\n  name: %s\n",
			version[1], address, name)
	}
	return text
}

// documents splits a text where kubeadm does; together the documents are the text.
func documents(text string) []string {
	var docs []string
	start := 0
	for _, m := range documentStart.FindAllStringIndex(text, -1) {
		if m[0] > start {
			docs = append(docs, text[start:m[0]])
			start = m[0]
		}
	}
	return append(docs, text[start:])
}
