//go:build linux

package controlplane

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/test/lab"
)

// Node describes a node of a control plane, for its kube-apiserver's sake.
type Node struct {
	// Release is the minor of one of the lab's releases: "1.36".
	Release string
	// Name is the node's and its host name, Address its address. Without them they are the next ones: cp-1 and
	// 192.0.2.11, cp-2 and 192.0.2.12.
	Name, Address string
	// Host is the host name where it is another than the node's.
	Host string
	// Config is a kubeadm configuration file, of which the node's kubeadm makes the command line; without it, it is an
	// empty ClusterConfiguration. An InitConfiguration is added where it has none. A kubernetesVersion that the node's
	// kubeadm takes offence at is replaced.
	Config string
	// Flags change the command line, in their order.
	Flags []Change
	// Env is the environment: NAME=VALUE. A server asks itself at its --bind-address, which here is the node's address: with
	// a proxy that does not work, it only starts where NO_PROXY has that.
	Env []string
	// Files are put into the node's file system, over those that it has: the serving certificate of [ServerCrt], say.
	// A nil text removes the file.
	Files map[string][]byte
}

// Server is the kube-apiserver of a node. It runs between Start and Stop, Kill or its own end, and may be started again.
type Server struct {
	Node
	Release lab.Release
	// Args is the command line. It may be changed while the server does not run.
	Args []string
	// Root is the folder that is the server's file system, ConfigFile the kubeadm configuration that the command line is of,
	// as kubeadm got it.
	Root, ConfigFile string

	cp       *ControlPlane
	manifest []byte // kubeadm's

	mutex   sync.Mutex
	process *process
	runs    int
	started time.Time
	admin   *http.Client
}

func nodeName(i int) string { return fmt.Sprintf("cp-%d", i+1) }

// Add adds a node without starting its server. The node goes with the test that it is added for, so that the next test of
// a shared control plane does without it; its lease stays, as that of a real one does.
func (cp *ControlPlane) Add(tb TB, n Node) *Server {
	tb.Helper()
	cp.mutex.Lock()
	defer cp.mutex.Unlock()
	for i, address := range Addresses {
		if n.Name == "" && !cp.has(func(s *Server) bool { return s.Name == nodeName(i) }) {
			n.Name = nodeName(i)
		}
		if n.Address == "" && !cp.has(func(s *Server) bool { return s.Address == address }) {
			n.Address = address
		}
	}
	if n.Address == "" || n.Name == "" {
		tb.Fatalf("no address is left for a node %s", n.Name)
	}
	s, err := cp.newServer(tb.Context(), n)
	if err != nil {
		tb.Fatalf("%s: %v", n.Name, err)
	}
	cp.servers = append(cp.servers, s)
	tb.Cleanup(func() { s.end(tb) })
	return s
}

// Begin makes the objects that a cluster begins with: a server of the node runs until it is ready. What runs on the same etcd
// afterwards is, as at an upgrade, in a cluster that there was before.
func (cp *ControlPlane) Begin(tb TB, n Node) {
	tb.Helper()
	s := cp.Add(tb, n)
	s.Start(tb)
	s.WaitReady(tb)
	s.Kill()
}

// end kills the server and removes the node. Where the test has failed, what the server said last is of interest.
func (s *Server) end(tb TB) {
	tb.Helper()
	if p := s.current(); p != nil {
		p.kill()
		if tb.Failed() {
			tb.Logf("%s %s said last:\n%s", s.Name, s.Release, tail(p.text(), 15))
		}
	}
	s.cp.mutex.Lock()
	defer s.cp.mutex.Unlock()
	s.cp.servers = slices.DeleteFunc(s.cp.servers, func(other *Server) bool { return other == s })
	if err := os.RemoveAll(s.Root); err != nil {
		tb.Errorf("%v", err)
	}
}

func (cp *ControlPlane) has(is func(*Server) bool) bool { return slices.ContainsFunc(cp.servers, is) }

func (cp *ControlPlane) newServer(ctx context.Context, n Node) (*Server, error) {
	r, err := lab.FindRelease(n.Release)
	if err != nil {
		return nil, err
	}
	s := &Server{Node: n, Release: r, cp: cp, Root: filepath.Join(cp.Dir, n.Name)}
	if s.admin, err = client(cp.Admin.CertPEM(), cp.Admin.KeyPEM()); err != nil {
		return nil, err
	}
	if err := s.makeRoot(ctx); err != nil {
		return nil, err
	}
	if s.Args, err = s.command(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// makeRoot makes the node's file system.
func (s *Server) makeRoot(ctx context.Context) error {
	if err := copyTree(s.cp.pki(), filepath.Join(s.Root, PKI)); err != nil {
		return err
	}
	for _, dir := range []string{"proc", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.Root, dir), 0o755); err != nil {
			return err
		}
	}
	if err := s.putProgram(ctx); err != nil {
		return err
	}
	for name, text := range s.Files {
		if err := s.WriteFile(name, text); err != nil {
			return err
		}
	}
	return s.WriteFile("/etc/hosts", []byte("127.0.0.1 localhost\n"))
}

// putProgram puts the release's program where the node's server runs it.
func (s *Server) putProgram(ctx context.Context) error {
	path, err := s.Release.Path(ctx, "kube-apiserver")
	if err != nil {
		return err
	}
	// A copy of the program is shared by the nodes, where the cache is on another file system.
	shared := filepath.Join(s.cp.Dir, filepath.Base(path))
	if err := linkFile(path, shared); err != nil {
		return err
	}
	program := filepath.Join(s.Root, serverPath)
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return err
	}
	if err := os.Remove(program); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return linkFile(shared, program)
}

// WriteFile writes a file of the node's file system. A nil text removes it.
func (s *Server) WriteFile(name string, text []byte) error {
	path := filepath.Join(s.Root, name)
	if text == nil {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

const emptyConfig = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"

// command returns the arguments of the server: kubeadm's, with what the lab and the test change.
func (s *Server) command(ctx context.Context) ([]string, error) {
	text := s.Config
	if text == "" {
		text = s.cp.options.Config
	}
	if text == "" {
		text = emptyConfig
	}
	// Beside the node's file system, not in it.
	s.ConfigFile = s.Root + ".yaml"
	if err := os.WriteFile(s.ConfigFile, []byte(lab.WithNode(s.Release.Pin(text), s.Name, s.Address)), 0o644); err != nil {
		return nil, err
	}
	k, err := kubeadm(ctx, s.Release)
	if err != nil {
		return nil, err
	}
	k.Env = s.Env
	manifest, output, err := k.Manifest(ctx, s.ConfigFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	s.manifest = manifest
	var pod struct {
		Spec struct {
			Containers []struct{ Command []string }
		}
	}
	if err := yaml.Unmarshal(manifest, &pod); err != nil {
		return nil, err
	}
	args := s.adapt(pod.Spec.Containers[0].Command[1:])
	for _, change := range s.Flags {
		args = change(args)
	}
	return args, nil
}

// adapt changes those of kubeadm's flags that do not work here. What the configuration says instead of them stays.
func (s *Server) adapt(args []string) []string {
	// The lab's etcd is one for all nodes and has no TLS.
	etcd := map[string]string{
		"etcd-cafile": PKI + "/etcd/ca.crt", "etcd-certfile": PKI + "/apiserver-etcd-client.crt", "etcd-keyfile": PKI + "/apiserver-etcd-client.key",
	}
	changed := slices.ContainsFunc(args, func(arg string) bool {
		own, ok := etcd[flagName(arg)]
		_, value, _ := strings.Cut(arg, "=")
		return ok && value != own
	})
	for name := range etcd {
		if !changed {
			args = Remove(name)(args)
		}
	}
	if i := slices.Index(args, "--etcd-servers=https://127.0.0.1:2379"); i >= 0 {
		args[i] = "--etcd-servers=http://" + s.cp.Etcd
	}
	// The nodes' addresses are all on one machine: 0.0.0.0, which kubeadm leaves it at, would be those of the others too.
	if _, ok := flagValue(args, release.FlagBindAddress); !ok {
		args = Set(release.FlagBindAddress, s.Address)(args)
	}
	return args
}

// Flag returns the value of a flag of the command line, "" where it is not set.
func (s *Server) Flag(name string) string {
	value, _ := flagValue(s.Args, name)
	return value
}

// Minor is the release's: 36 of 1.36.
func (s *Server) Minor() int {
	var minor int
	_, _ = fmt.Sscanf(s.Release.Minor, "1.%d", &minor)
	return minor
}

// HostPort returns where the server listens.
func (s *Server) HostPort() string {
	return net.JoinHostPort(s.Address, s.Flag(release.FlagSecurePort))
}

// URL returns the server's address for clients.
func (s *Server) URL() string { return "https://" + s.HostPort() }

// Start starts the server and does not wait.
func (s *Server) Start(tb TB) {
	tb.Helper()
	if err := s.Launch(); err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
}

// Launch is Start without a test.
func (s *Server) Launch() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.process != nil {
		if _, exited := s.process.exited(); !exited {
			return errors.New("runs already")
		}
	}
	cmd := exec.Command("/proc/self/exe", append([]string{NodeCommand, cmp.Or(s.Host, s.Name), s.Root}, s.Args...)...)
	cmd.Env = append([]string{"PATH=/usr/local/bin"}, s.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS}
	s.runs++
	s.started = time.Now()
	var err error
	s.process, err = start(cmd, fmt.Sprintf("%s.%d.log", s.Root, s.runs))
	return err
}

func (s *Server) current() *process {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.process
}

// ExitError says that the server has ended.
type ExitError struct {
	Code int
	Log  string // all that it wrote
}

// Error has the last lines of the log.
func (e *ExitError) Error() string {
	return fmt.Sprintf("exited with %d:\n%s", e.Code, tail(e.Log, 10))
}

// Ready waits until the server is ready. The error is an *ExitError when it ends before that.
func (s *Server) Ready(ctx context.Context) error {
	p := s.current()
	if p == nil {
		return errors.New("not started")
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	answer := "no answer"
	err := poll(ctx, 100*time.Millisecond, func() (bool, error) {
		if code, exited := p.exited(); exited {
			return false, &ExitError{Code: code, Log: p.text()}
		}
		r, err := s.Ask(ctx, "/readyz")
		if err != nil {
			return false, nil
		}
		answer = fmt.Sprintf("%d %s", r.Status, r.Body)
		return r.Status == http.StatusOK, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("not ready after %s: /readyz: %s\n%s", readyTimeout, answer, tail(p.text(), 10))
	}
	return err
}

// WaitReady waits until the server is ready; that it ends before is the end of the test.
func (s *Server) WaitReady(tb TB) {
	tb.Helper()
	if err := s.Ready(tb.Context()); err != nil {
		tb.Fatalf("%s %s: %v", s.Name, s.Release, err)
	}
}

// Stop ends the server as the kubelet does, with SIGTERM, and waits for its end.
func (s *Server) Stop(tb TB) {
	tb.Helper()
	if p := s.current(); p != nil {
		if err := p.end(syscall.SIGTERM, stopTimeout); err != nil {
			tb.Errorf("%s: %v", s.Name, err)
		}
	}
}

// Upgrade gives the stopped server another release and another kubeadm configuration, as kubeadm does to a node.
func (s *Server) Upgrade(tb TB, minor, config string) {
	tb.Helper()
	r, err := lab.FindRelease(minor)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.Node.Release, s.Node.Config, s.Release = minor, config, r
	if err := s.putProgram(tb.Context()); err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
	if s.Args, err = s.command(tb.Context()); err != nil {
		tb.Fatalf("%s: %v", s.Name, err)
	}
}

// Kill ends the server without letting it take leave.
func (s *Server) Kill() {
	if p := s.current(); p != nil {
		p.kill()
	}
}

// Restart stops the server, starts it and waits until it is ready.
func (s *Server) Restart(tb TB) {
	tb.Helper()
	s.Stop(tb)
	s.Start(tb)
	s.WaitReady(tb)
}

// Exited returns the exit code, -1 for a server that a signal ended, and the last lines that it wrote; ok is false while
// it runs.
func (s *Server) Exited() (code int, lastLines string, ok bool) {
	p := s.current()
	if p == nil {
		return 0, "", false
	}
	code, ok = p.exited()
	return code, tail(p.text(), 10), ok
}

// WaitExit waits until the server has ended by itself; it returns false when it still runs after that time.
func (s *Server) WaitExit(tb TB, wait time.Duration) bool {
	tb.Helper()
	p := s.current()
	if p == nil {
		tb.Fatalf("%s: not started", s.Name)
	}
	select {
	case <-p.done:
		return true
	case <-time.After(wait):
		return false
	}
}

// LogText returns what the server has written since its last start.
func (s *Server) LogText() string {
	if p := s.current(); p != nil {
		return p.text()
	}
	return ""
}

// client returns a client that shows a certificate, if it is given one. It takes any certificate from the server, so that one
// with a broken certificate can be asked, too, and a new connection each time, so that a server that was started again
// answers at once.
func client(cert, key []byte) (*http.Client, error) {
	config := &tls.Config{InsecureSkipVerify: true}
	if len(cert) > 0 {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	// No proxy: the environment is the test's, not the servers'.
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}, nil
}
