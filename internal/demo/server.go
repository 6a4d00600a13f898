package demo

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// Server is the API server of a node.
type Server struct {
	// Name is its node's, Address where it listens.
	Name, Address string

	cp       *ControlPlane
	release  *release.Catalogue
	listener net.Listener
	http     *http.Server
	done     chan struct{}
	process  atomic.Pointer[process]
}

// newServer returns the server of a node, which does not serve yet.
func newServer(cp *ControlPlane, n Node, l net.Listener) (*Server, error) {
	of, ok := release.CatalogueOf(n.Release)
	if !ok {
		return nil, fmt.Errorf("there is no catalogue of %s", n.Release)
	}
	serving, err := cp.pki.ca.server(n.Name, loopback)
	if err != nil {
		return nil, err
	}
	s := &Server{Name: n.Name, Address: l.Addr().String(), cp: cp, release: of, listener: l, done: make(chan struct{})}
	s.http = &http.Server{
		Handler:           s,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{serving.tls()}, ClientAuth: tls.RequestClientCert},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // of handshakes that probe ends on purpose
	}
	return s, nil
}

func (s *Server) serve() {
	go func() {
		defer close(s.done)
		_ = s.http.ServeTLS(s.listener, "", "")
	}()
}

// close ends the server. What it is answering ends with it.
func (s *Server) close() {
	p := s.process.Load()
	if p == nil {
		_ = s.listener.Close() // it has never served
		return
	}
	_ = s.http.Close()
	<-s.done
	p.stop()
}

func (s *Server) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Release is what the server says that it is: v1.36.3.
func (s *Server) Release() string { return s.release.Version }

// Config is the connection of an administrator.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "https://" + s.Address, BearerToken: s.cp.token, TLSClientConfig: rest.TLSClientConfig{CAData: s.cp.pki.ca.pem()}}
}

// ServeHTTP answers in the order of API servers: who asks, may they, is it for a peer, and only then what there is.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := s.process.Load()
	w.Header().Set("Audit-Id", uid(r.RemoteAddr, r.URL.Path, time.Now().String()))
	w.Header().Set("Cache-Control", "no-cache, private")
	who, ok := s.authenticate(p, r)
	if !ok {
		writeStatus(w, r, unauthorized())
		return
	}
	// It has served its purpose, and is nothing for peers.
	r.Header.Del("Authorization")
	q := parseRequest(r)
	if !who.may(q) {
		writeStatus(w, r, forbidden(who, q))
		return
	}
	if q.resource != "" && r.Header.Get(peerHeader) != "true" && p.find(q.group, q.version, q.resource) == nil {
		if address, ok := p.serving(q.groupResource()); ok {
			p.handOn(w, r, who, q.groupResource(), address)
			return
		}
	}
	s.answer(p, w, r, q)
}

// answer answers what is not for a peer.
func (s *Server) answer(p *process, w http.ResponseWriter, r *http.Request, q *request) {
	switch path := strings.TrimSuffix(q.path, "/"); {
	case q.resource != "":
		s.serveResource(p, w, r, q)
	case r.Method != http.MethodGet:
		writeStatus(w, r, notAllowed(r))
	case path == "/api", path == "/apis":
		s.serveDiscovery(p, w, r, path)
	case q.versioned && q.group != "" && !p.hasVersion(q.group, ""):
		pageNotFound(w)
	case q.versioned:
		p.serveResources(w, r, q.group, q.version)
	case strings.HasPrefix(path, "/apis/"):
		p.serveGroup(w, r, strings.TrimPrefix(path, "/apis/"))
	case path == "/version":
		p.serveVersion(w, r)
	case path == "/readyz", path == "/livez", path == "/healthz":
		p.serveHealth(w, r, strings.TrimPrefix(path, "/"))
	case path == "/metrics":
		p.serveMetrics(w)
	case path == "/flagz" && p.on("ComponentFlagz"):
		p.serveFlagz(w, r)
	default:
		pageNotFound(w)
	}
}

func (s *Server) serveDiscovery(p *process, w http.ResponseWriter, r *http.Request, path string) {
	switch form := negotiate(r, true); {
	case form == notAcceptable:
		writeStatus(w, r, notAcceptableStatus())
	case form != plainJSON:
		p.serveAggregated(w, r, form == aggregatedNoPeer)
	case path == "/api":
		p.serveVersions(w, r, s.Address)
	default:
		p.serveGroups(w, r)
	}
}

// serveVersion answers /version.
func (p *process) serveVersion(w http.ResponseWriter, r *http.Request) {
	minor := strconv.Itoa(p.minor())
	writeJSON(w, r, http.StatusOK, version.Info{
		Major: "1", Minor: minor, EmulationMajor: "1", EmulationMinor: minor,
		MinCompatibilityMajor: "1", MinCompatibilityMinor: strconv.Itoa(p.minor() - 1),
		GitVersion: p.release.Version, GitCommit: "mvpcheck-demo", BuildDate: "1970-01-01T00:00:00Z",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	})
}
