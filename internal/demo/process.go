package demo

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// pkiDir is kubeadm's folder of certificates.
const pkiDir = config.DefaultCertificatesDir

// A process is a kube-apiserver from one start to the next: what its command line makes of it, and what it counts.
type process struct {
	*Server
	started time.Time
	// uid tells it from those before and after it.
	uid string
	// configuration is the ClusterConfiguration that args are of.
	configuration string
	args          config.CommandLine
	// gate is that of the hand-off. published is the address that it tells its peers, empty where the gate is off.
	gate      bool
	published string
	// clientCA and proxyCA sign the certificates of clients and of peers; allowed are the names of peers.
	clientCA, proxyCA *x509.CertPool
	allowed           []string
	// transport is for requests to peers, nil where nothing is handed to them.
	transport *http.Transport

	mu sync.Mutex
	// peers are those that it has read, counters its counts by their series.
	peers    []*Server
	counters map[string]int
}

// newProcess starts a server with the command line that kubeadm writes for its node. The error is why a real one would
// exit.
func newProcess(s *Server, configuration string, cluster *config.Cluster) (*process, error) {
	p := &process{
		Server: s, started: time.Now(), uid: uid(), configuration: configuration, counters: map[string]int{},
		args: cluster.CommandLine(config.Node{Name: s.Name, Address: loopback.String(), Port: s.port()}),
	}
	p.allowed = strings.FieldsFunc(p.args.Value(release.FlagRequestHeaderNames), func(c rune) bool { return c == ',' })
	served, err := s.release.Serves(release.APISettings{
		RuntimeConfig: p.values(release.FlagRuntimeConfig), FeatureGates: p.values(release.FlagFeatureGates),
	})
	if err != nil {
		return nil, err
	}
	if !s.recorded.serves(served) {
		return nil, fmt.Errorf("%s and %s: no server is recorded that serves what they say",
			release.FlagRuntimeConfig, release.FlagFeatureGates)
	}
	if p.gate = p.on(release.Gate); p.gate {
		p.published = net.JoinHostPort(p.args.Value(release.FlagAdvertiseAddress), p.args.Value(release.FlagSecurePort))
	}
	if p.clientCA, err = p.pool(release.FlagClientCAFile); err != nil {
		return nil, err
	}
	if p.proxyCA, err = p.pool(release.FlagRequestHeaderCAFile); err != nil {
		return nil, err
	}
	switch {
	case p.args.Value(release.FlagPeerCAFile) == "":
	case !p.gate:
		return nil, fmt.Errorf("%s needs the gate %s to be on (S1)", release.FlagPeerCAFile, release.Gate)
	default:
		roots, err := p.pool(release.FlagPeerCAFile)
		if err != nil {
			return nil, fmt.Errorf("%w (S7)", err)
		}
		p.transport = newPeerTransport(roots, s.cp.pki.frontProxy)
	}
	return p, nil
}

// pool returns the CA of a flag's file.
func (p *process) pool(flag string) (*x509.CertPool, error) {
	file := p.args.Value(flag)
	ca, ok := p.cp.pki.cas[strings.TrimPrefix(file, pkiDir+"/")]
	if !ok {
		return nil, fmt.Errorf("%s: no such file: %s", flag, file)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.Leaf)
	return pool, nil
}

// values are all values that the command line gives for a flag.
func (p *process) values(flag string) []string {
	var out []string
	for _, f := range p.args.All(flag) {
		out = append(out, f.Value)
	}
	return out
}

// on tells whether a feature gate is on.
func (p *process) on(gate string) bool {
	on, _ := release.ParseFeatureGates(p.values(release.FlagFeatureGates)).Gate(gate, p.release.Release())
	return on
}

// stop ends the connections to peers.
func (p *process) stop() {
	if p.transport != nil {
		p.transport.CloseIdleConnections()
	}
}
