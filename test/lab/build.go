package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// CacheVariable names the environment variable that replaces the folder of the built programs.
const CacheVariable = "MVPCHECK_LAB_CACHE"

// commands are the programs of a release, each with the arguments that make it tell its version.
var commands = map[string][]string{
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

// Build returns the path of a command of the release (kubeadm, kube-apiserver). It builds the command unless the cache
// has it and it tells the right version, and writes a line before and after a build to progress.
func (r Release) Build(ctx context.Context, command string, progress io.Writer) (string, error) {
	versionArgs, ok := commands[command]
	if !ok {
		return "", fmt.Errorf("the lab has no command %q", command)
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, command+"-"+r.Version)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if toldVersion(ctx, path, versionArgs) == r.Version {
		return path, nil
	}

	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	// Built aside and renamed: another build at the same time, or an interrupted one, never leaves half a program.
	tmp, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	built := filepath.Join(tmp, filepath.Base(path))

	start := time.Now()
	fmt.Fprintf(progress, "lab: building %s %s (minutes the first time)\n", command, r.Version)
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", r.ldflags(), "-o", built, "k8s.io/kubernetes/cmd/"+command)
	build.Dir = r.Dir
	// As the released programs are built, and without need of a C compiler.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) }
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %s: go build: %w\n%s", command, r.Version, err, out)
	}
	if got := toldVersion(ctx, built, versionArgs); got != r.Version {
		return "", fmt.Errorf("%s %s: the built program tells version %q", command, r.Version, got)
	}
	if err := os.Rename(built, path); err != nil {
		return "", err
	}
	fmt.Fprintf(progress, "lab: built %s %s in %s\n", command, r.Version, time.Since(start).Round(time.Second))
	return path, nil
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

// toldVersion returns the last word that a program says of its version, "" when there is no such program.
func toldVersion(ctx context.Context, path string, args []string) string {
	out, err := exec.CommandContext(ctx, path, args...).Output()
	if err != nil {
		return ""
	}
	words := strings.Fields(string(out))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// built remembers the programs that this process has found or built.
var built struct {
	sync.Mutex
	paths map[string]string
}

// Binary is [Release.Build] for tests: it tells its progress on standard error.
func (r Release) Binary(tb testing.TB, command string) string {
	tb.Helper()
	built.Lock()
	defer built.Unlock()
	key := command + "-" + r.Version
	if path, ok := built.paths[key]; ok {
		return path
	}
	path, err := r.Build(tb.Context(), command, os.Stderr)
	if err != nil {
		tb.Fatal(err)
	}
	if built.paths == nil {
		built.paths = map[string]string{}
	}
	built.paths[key] = path
	return path
}
