package demo

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// pkiDir is kubeadm's folder of certificates.
const pkiDir = config.DefaultCertificatesDir

// A process is a kube-apiserver from one start to the next: what its command line makes of it, and what it counts.
type process struct {
	started time.Time
	// uid tells it from those before and after it.
	uid string
	// configuration is the ClusterConfiguration that args are of.
	configuration string

	args     config.CommandLine
	release  *release.Catalogue
	recorded *recording
	// gate is that of the hand-off. published is the address that it tells its peers, empty where the gate is off.
	gate      bool
	published string
	// clientCA and proxyCA sign the certificates of clients and of peers; allowed are the names of peers.
	clientCA, proxyCA *x509.CertPool
	allowed           []string
	// transport is for requests to peers, nil where nothing is handed to them.
	transport *http.Transport
	peers     peers
	counters  counters
}

// newProcess starts a server with a command line. The error is why a real one would exit.
func newProcess(args config.CommandLine, of *release.Catalogue, answers *recording, files *pki) (*process, error) {
	p := &process{
		started: time.Now(), uid: uid(), args: args, release: of, recorded: answers,
		allowed: splitList(args.Value(release.FlagRequestHeaderNames)),
		peers:   peers{known: map[string]*peer{}}, counters: counters{series: map[string]int{}},
	}
	served, err := of.Serves(release.APISettings{RuntimeConfig: p.values(release.FlagRuntimeConfig), FeatureGates: p.values(release.FlagFeatureGates)})
	if err != nil {
		return nil, err
	}
	if !answers.serves(served) {
		return nil, fmt.Errorf("%s and %s: no server is recorded that serves what these make it serve", release.FlagRuntimeConfig, release.FlagFeatureGates)
	}
	if p.gate = p.on(release.Gate); p.gate {
		p.published = net.JoinHostPort(args.Value(release.FlagAdvertiseAddress), args.Value(release.FlagSecurePort))
	}
	var ok bool
	for flag, pool := range map[string]**x509.CertPool{release.FlagClientCAFile: &p.clientCA, release.FlagRequestHeaderCAFile: &p.proxyCA} {
		if *pool, ok = files.pool(args.Value(flag)); !ok {
			return nil, fmt.Errorf("%s: no such file: %s", flag, args.Value(flag))
		}
	}
	switch file := args.Value(release.FlagPeerCAFile); {
	case file == "":
	case !p.gate:
		return nil, fmt.Errorf("%s needs the gate %s to be on (S1)", release.FlagPeerCAFile, release.Gate)
	default:
		roots, ok := files.pool(file)
		if !ok {
			return nil, fmt.Errorf("%s: no such file: %s (S7)", release.FlagPeerCAFile, file)
		}
		p.transport = newPeerTransport(roots, files.frontProxy)
	}
	return p, nil
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
