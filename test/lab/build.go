package lab

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// CacheVariable names the environment variable that replaces the folder of the built programs.
const CacheVariable = "MVPCHECK_LAB_CACHE"

// kubernetesCommands are the programs of a release, each with the arguments that make it tell its version.
var kubernetesCommands = map[string][]string{
	"kubeadm":        {"version", "-o", "short"},
	"kube-apiserver": {"--version"},
}

// CacheDir returns the folder of the built programs. It is the user's, not the checkout's, because the programs depend
// on the release alone: a clean checkout finds them again.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "mvpcheck", "lab"), nil
}

// program is what the lab builds from a nested module.
type program struct {
	name, version string // "kubeadm", "v1.36.3"
	dir, pkg      string // the module, the package within it
	ldflags       string
	versionArgs   []string       // make it tell its version
	told          *regexp.Regexp // finds the version, with or without its "v", in what it tells
}

// String returns "kubeadm v1.36.3".
func (p program) String() string { return p.name + " " + p.version }

// file is the name of the built program.
func (p program) file() string {
	name := p.name + "-" + p.version
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

// tells returns the version that the program at path tells of itself, "" when there is no such program.
func (p program) tells(ctx context.Context, path string) string {
	out, err := exec.CommandContext(ctx, path, p.versionArgs...).Output()
	if err != nil {
		return ""
	}
	return p.versionIn(out)
}

// versionIn finds the version in what the program tells, "" when there is none.
func (p program) versionIn(text []byte) string {
	m := p.told.FindSubmatch(text)
	if m == nil {
		return ""
	}
	return "v" + string(m[1])
}

// lastWord finds the version in what Kubernetes' programs tell: "Kubernetes v1.36.3", "v1.36.3".
var lastWord = regexp.MustCompile(`(?:^|\s)v(\d\S*)\s*$`)

// describeDir is the nested module of the program that tells what a release accepts, below the repository's root.
const describeDir = "test/lab/describe"

// describeVersion finds the version in what that program tells.
var describeVersion = regexp.MustCompile(`^\{"Version":"v([^"]+)"`)

// describe is the program of describeDir, linked with the release. The name holds a digest of its source, as it changes
// with the checkout and not with the release alone.
func (r Release) describe() (program, error) {
	dir, err := findDir(describeDir)
	if err != nil {
		return program{}, err
	}
	source, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		return program{}, err
	}
	return program{
		name: fmt.Sprintf("describe-%.6x", sha256.Sum256(source)), version: r.Version, dir: r.Dir,
		pkg: "github.com/mvpcheck/mvpcheck/" + describeDir, ldflags: r.ldflags(), told: describeVersion,
	}, nil
}

func (r Release) program(command string) (program, error) {
	if command == "describe" {
		return r.describe()
	}
	args, ok := kubernetesCommands[command]
	if !ok {
		return program{}, fmt.Errorf("the lab has no command %q", command)
	}
	return program{
		name: command, version: r.Version, dir: r.Dir, pkg: "k8s.io/kubernetes/cmd/" + command,
		ldflags: r.ldflags(), versionArgs: args, told: lastWord,
	}, nil
}

// etcdDir is the nested module of etcd, below the repository's root. Its go.mod is the only place that names its version.
const etcdDir = "test/lab/etcd"

var (
	etcdRequirement = regexp.MustCompile(`(?m)^\s*(?:require\s+)?go\.etcd\.io/etcd/server/v3\s+(v\S+)`)
	etcdVersion     = regexp.MustCompile(`(?m)^etcd Version: (\S+)$`)
)

func etcdProgram() (program, error) {
	dir, err := findDir(etcdDir)
	if err != nil {
		return program{}, err
	}
	file := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(file)
	if err != nil {
		return program{}, err
	}
	m := etcdRequirement.FindSubmatch(text)
	if m == nil {
		return program{}, fmt.Errorf("%s: no requirement of go.etcd.io/etcd/server/v3", file)
	}
	return program{
		name: "etcd", version: string(m[1]), dir: dir, pkg: "go.etcd.io/etcd/server/v3",
		ldflags: "-s -w", versionArgs: []string{"--version"}, told: etcdVersion,
	}, nil
}

// BuildEtcd returns the path of the etcd server. It builds it unless the cache has it, as [Release.Build] does.
func BuildEtcd(ctx context.Context, progress io.Writer) (string, error) {
	p, err := etcdProgram()
	if err != nil {
		return "", err
	}
	paths, err := build(ctx, progress, p)
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// Build returns the paths of commands of the release (kubeadm, kube-apiserver). It builds those that the cache lacks or
// that tell another version than the right one, all in one go as they share most of their packages, and writes a line
// before and after a build to progress.
func (r Release) Build(ctx context.Context, progress io.Writer, commands ...string) ([]string, error) {
	programs := make([]program, len(commands))
	for i, command := range commands {
		p, err := r.program(command)
		if err != nil {
			return nil, err
		}
		programs[i] = p
	}
	return build(ctx, progress, programs...)
}

// build builds what the cache lacks of the programs of one module, and returns the paths of all of them.
func build(ctx context.Context, progress io.Writer, programs ...program) ([]string, error) {
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(programs))
	for i, p := range programs {
		paths[i] = filepath.Join(cache, p.file())
	}
	if len(missing(ctx, cache, programs)) == 0 {
		return paths, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	// Tests of several packages may find the same to be missing.
	unlock, err := lock(ctx, filepath.Join(cache, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	return paths, buildInto(ctx, cache, progress, missing(ctx, cache, programs))
}

// missing returns those of the programs that the folder lacks or has in another version.
func missing(ctx context.Context, dir string, programs []program) []program {
	var out []program
	for _, p := range programs {
		if p.tells(ctx, filepath.Join(dir, p.file())) != p.version {
			out = append(out, p)
		}
	}
	return out
}

func buildInto(ctx context.Context, dir string, progress io.Writer, programs []program) error {
	if len(programs) == 0 {
		return nil
	}
	// Built aside and renamed: an interrupted build never leaves half a program.
	tmp, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	var names []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	what := strings.Join(names, " and ") + " " + programs[0].version
	start := time.Now()
	fmt.Fprintf(progress, "lab: building %s (minutes the first time)\n", what)
	// One after the other although go build takes several packages at once: what they share is built once either way, and
	// each gets its own name.
	for _, p := range programs {
		if err := p.build(ctx, filepath.Join(tmp, p.file())); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if err := os.Rename(filepath.Join(tmp, p.file()), filepath.Join(dir, p.file())); err != nil {
			return err
		}
	}
	fmt.Fprintf(progress, "lab: built %s in %s\n", what, time.Since(start).Round(time.Second))
	return nil
}

func (p program) build(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", p.ldflags, "-o", path, p.pkg)
	cmd.Dir = p.dir
	// As the released programs are built, and without need of a C compiler.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	if got := p.tells(ctx, path); got != p.version {
		return fmt.Errorf("the built program tells version %q", got)
	}
	return nil
}

// ldflags stamps the version. Without it the programs are of no release: kubeadm takes itself for its development
// version and /version tells nothing.
func (r Release) ldflags() string {
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			fmt.Sprintf("-X %s.gitVersion=%s", pkg, r.Version),
			fmt.Sprintf("-X %s.gitMajor=1", pkg),
			fmt.Sprintf("-X %s.gitMinor=%d", pkg, r.minor))
	}
	return strings.Join(flags, " ")
}

// built remembers the programs that this process has found or built.
var built struct {
	sync.Mutex
	paths map[string]string
}

// path returns the path of a program, which is looked for, and built, the first time. It tells its progress on standard
// error.
func (p program) path(ctx context.Context) (string, error) {
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[p.file()]; ok {
		return path, nil
	}
	paths, err := build(ctx, os.Stderr, p)
	if err != nil {
		return "", err
	}
	if built.paths == nil {
		built.paths = map[string]string{}
	}
	built.paths[p.file()] = paths[0]
	return paths[0], nil
}

// Path returns the path of a command of the release (kubeadm, kube-apiserver), built when missing, which is looked for
// once in the life of a process.
func (r Release) Path(ctx context.Context, command string) (string, error) {
	p, err := r.program(command)
	if err != nil {
		return "", err
	}
	return p.path(ctx)
}

// EtcdPath is [Release.Path] for the etcd server.
func EtcdPath(ctx context.Context) (string, error) {
	p, err := etcdProgram()
	if err != nil {
		return "", err
	}
	return p.path(ctx)
}

// Binary is [Release.Path] for tests.
func (r Release) Binary(tb testing.TB, command string) string {
	tb.Helper()
	path, err := r.Path(tb.Context(), command)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
