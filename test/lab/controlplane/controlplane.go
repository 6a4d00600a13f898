//go:build linux

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mvpcheck/mvpcheck/test/lab"
)

// TB is what the package needs of a [testing.TB].
type TB interface {
	Helper()
	Name() string
	Context() context.Context
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
	Failed() bool
}

// Options are those of a control plane. The zero value is a good one.
type Options struct {
	// Config is the kubeadm configuration of the nodes that have none of their own; see [Node].
	Config string
	// CertSANs are further names and addresses of the serving certificate, besides those of all nodes and of
	// [SharedAddress].
	CertSANs []string
}

// ControlPlane is an etcd and the servers of the nodes that share it. There is one at a time in a namespace, unless the
// nodes' addresses or ports differ.
type ControlPlane struct {
	// Dir is the folder of everything, Etcd the address of etcd: 127.0.0.1:PORT.
	Dir, Etcd string
	// CA is the cluster's, EtcdCA etcd's and FrontProxyCA the one of the requests between servers.
	CA, EtcdCA, FrontProxyCA *Identity
	// Admin is the certificate of a client that may do anything.
	Admin *Identity

	options Options
	etcd    *process
	mutex   sync.Mutex
	servers []*Server
}

// timeouts that only something broken reaches.
const (
	etcdTimeout  = 30 * time.Second
	readyTimeout = 90 * time.Second
	stopTimeout  = 90 * time.Second
)

// New makes the certificates and starts etcd. All ends with the test.
func New(tb TB, o Options) *ControlPlane {
	tb.Helper()
	if os.Getenv(insideVariable) == "" {
		tb.Fatalf("the lab's servers need a namespace: func TestMain(m *testing.M) { controlplane.Main(m) }")
	}
	dir, err := os.MkdirTemp("", "control-plane-")
	if err != nil {
		tb.Fatalf("%v", err)
	}
	cp := &ControlPlane{Dir: dir, options: o}
	tb.Cleanup(func() { cp.end(tb) })
	if err := cp.makeCertificates(tb.Context()); err != nil {
		tb.Fatalf("certificates: %v", err)
	}
	if err := cp.startEtcd(tb.Context()); err != nil {
		tb.Fatalf("etcd: %v", err)
	}
	return cp
}

// end ends what New started.
func (cp *ControlPlane) end(tb TB) {
	tb.Helper()
	for _, s := range cp.Servers() {
		s.end(tb)
	}
	if cp.etcd != nil {
		cp.etcd.kill()
	}
	if err := os.RemoveAll(cp.Dir); err != nil {
		tb.Errorf("%v", err)
	}
}

// pki is the folder of the certificates that every node gets.
func (cp *ControlPlane) pki() string { return filepath.Join(cp.Dir, "pki") }

// makeCertificates has kubeadm make them, for all nodes at once. Whichever release's kubeadm does makes no difference.
func (cp *ControlPlane) makeCertificates(ctx context.Context) error {
	releases, err := lab.ReadReleases()
	if err != nil {
		return err
	}
	r := releases[len(releases)-2]
	names := append([]string{"localhost", "127.0.0.1"}, Addresses...)
	for i := range Addresses {
		names = append(names, nodeName(i))
	}
	file := filepath.Join(cp.Dir, "certificates.yaml")
	text := lab.WithNode(fmt.Sprintf("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: %s\n"+
		"certificatesDir: %s\nencryptionAlgorithm: ECDSA-P256\napiServer:\n  certSANs: [%s]\n",
		r.Version, cp.pki(), strings.Join(append(names, cp.options.CertSANs...), ", ")), nodeName(0), Addresses[0])
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	k, err := kubeadm(ctx, r)
	if err != nil {
		return err
	}
	if output, err := k.Certificates(ctx, file); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	for name, ca := range map[string]**Identity{"ca": &cp.CA, "etcd/ca": &cp.EtcdCA, "front-proxy-ca": &cp.FrontProxyCA} {
		path := filepath.Join(cp.pki(), name)
		if *ca, err = readIdentity(path+".crt", path+".key"); err != nil {
			return err
		}
	}
	cp.Admin, err = cp.CA.issue(Subject{Name: "lab-admin", Groups: []string{"system:masters"}})
	return err
}

func kubeadm(ctx context.Context, r lab.Release) (lab.Kubeadm, error) {
	path, err := r.Path(ctx, "kubeadm")
	return lab.Kubeadm{Release: r, Path: path}, err
}

// startEtcd starts etcd without TLS, and without care for its data.
func (cp *ControlPlane) startEtcd(ctx context.Context) error {
	path, err := lab.EtcdPath(ctx)
	if err != nil {
		return err
	}
	client, peer, err := freePorts()
	if err != nil {
		return err
	}
	cp.Etcd = client
	cp.etcd, err = start(exec.Command(path, "--name=lab", "--data-dir="+filepath.Join(cp.Dir, "etcd"),
		"--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer,
		"--initial-cluster=lab=http://"+peer), filepath.Join(cp.Dir, "etcd.log"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	return poll(ctx, 50*time.Millisecond, func() (bool, error) {
		if code, exited := cp.etcd.exited(); exited {
			return false, fmt.Errorf("exited with %d: %s", code, tail(cp.etcd.text(), 5))
		}
		answer, err := http.Get("http://" + client + "/health")
		if err != nil {
			return false, nil
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK, nil
	})
}

// freePorts returns two addresses of lo that nothing listens on.
func freePorts() (a, b string, err error) {
	var addresses [2]string
	for i := range addresses {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close()
		addresses[i] = l.Addr().String()
	}
	return addresses[0], addresses[1], nil
}

// poll asks again and again until the answer is yes, an error or the end of the context.
func poll(ctx context.Context, every time.Duration, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
}

// Servers returns the servers of the nodes that there are, in the order in which they were added.
func (cp *ControlPlane) Servers() []*Server {
	cp.mutex.Lock()
	defer cp.mutex.Unlock()
	return append([]*Server(nil), cp.servers...)
}

// Start adds nodes (see [ControlPlane.Add]), starts their servers side by side and waits until all are ready.
func (cp *ControlPlane) Start(tb TB, nodes ...Node) []*Server {
	tb.Helper()
	servers := make([]*Server, len(nodes))
	for i, n := range nodes {
		servers[i] = cp.Add(tb, n)
		servers[i].Start(tb)
	}
	for _, s := range servers {
		s.WaitReady(tb)
	}
	return servers
}

// copyTree copies a folder.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o600)
	})
}

// linkFile links a file, or copies it to another file system.
func linkFile(from, to string) error {
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}
