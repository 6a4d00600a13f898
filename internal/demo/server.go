package demo

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// Server is the API server of a node.
type Server struct {
	// Name is its node's, Address where it listens.
	Name, Address string

	cp       *ControlPlane
	release  *release.Catalogue
	recorded *recording
	listener net.Listener
	http     *http.Server
	once     sync.Once
	done     chan struct{}
	process  atomic.Pointer[process]
}

// setUp makes it the server of a node, which does not serve yet.
func (s *Server) setUp(n Node) error {
	serving, err := s.cp.pki.server(n.Name, loopback)
	if err != nil {
		return err
	}
	s.Name, s.recorded = n.Name, readRecording(n.Release)
	s.release, _ = release.CatalogueOf(n.Release)
	s.http = &http.Server{
		Handler: s,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*serving}, ClientAuth: tls.RequestClientCert,
		},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // of handshakes that probe ends on purpose
	}
	return nil
}

// serve begins to serve, where the server does not yet.
func (s *Server) serve() {
	s.once.Do(func() {
		go func() {
			defer close(s.done)
			_ = s.http.ServeTLS(s.listener, "", "")
		}()
	})
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
	return &rest.Config{
		Host: "https://" + s.Address, BearerToken: s.cp.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: certPEM(s.cp.pki.cas[caFile])},
	}
}

// ServeHTTP answers in the order of API servers: who asks, may they, is it for a peer, and only then what there is.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := s.process.Load()
	w.Header().Set("Audit-Id", uid())
	w.Header().Set("Cache-Control", "no-cache, private")
	who, ok := p.authenticate(r)
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
	of := q.groupVersionResource()
	if _, own := s.recorded.resources[of]; q.resource != "" && !own && r.Header.Get(peerHeader) != "true" {
		if peer := p.serving(of); peer != nil {
			p.handOn(w, r, q, who, peer)
			return
		}
	}
	p.answer(w, r, q)
}

// answer answers what is not for a peer.
func (p *process) answer(w http.ResponseWriter, r *http.Request, q *request) {
	path := strings.TrimSuffix(q.path, "/")
	document, ok := p.recorded.Documents[path]
	form := plainJSON
	if path == "/api" || path == "/apis" {
		form = negotiate(r, true)
	}
	switch {
	case q.resource != "":
		p.serveResource(w, r, q)
	case r.Method != http.MethodGet:
		writeStatus(w, r, generic(http.StatusMethodNotAllowed, r))
	case form == notAcceptable:
		writeStatus(w, r, notAcceptableStatus())
	case form != plainJSON:
		p.serveAggregated(w, r, path, form == aggregatedNoPeer)
	case ok:
		writeJSON(w, r, http.StatusOK, json.RawMessage(fill(string(document), p.variables())))
	case p.recorded.Health[path] != nil:
		p.serveHealth(w, r, path)
	case path == "/metrics":
		p.serveMetrics(w)
	case path == "/flagz" && p.recorded.Flags != nil:
		p.serveFlagz(w, r)
	case q.versioned && p.recorded.hasGroup(q.group):
		writeStatus(w, r, generic(http.StatusNotFound, r))
	default:
		pageNotFound(w)
	}
}
