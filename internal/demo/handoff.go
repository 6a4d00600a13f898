package demo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/transport"
)

const (
	// peerServerName is the name that a server wants of its peers' certificates.
	peerServerName = "kubernetes.default.svc"
	// peerHeader marks a request that was handed on once, and is not to be handed on again.
	peerHeader = "X-Kubernetes-Peer-Proxied"
	// peerTimeout is ample for loopback.
	peerTimeout = 5 * time.Second
)

// newPeerTransport returns the transport for requests to peers.
func newPeerTransport(roots *x509.CertPool, own *tls.Certificate) *http.Transport {
	return &http.Transport{
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: peerServerName,
			Certificates: []tls.Certificate{*own},
		},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   peerTimeout,
		ResponseHeaderTimeout: peerTimeout,
		IdleConnTimeout:       30 * time.Second,
	}
}

// learn reads the documents of a peer, as servers do when a peer's lease appears. What a peer has that cannot be read,
// the server does not know.
func (p *process) learn(ctx context.Context, peer *Server) {
	if p.transport == nil {
		return
	}
	address := peer.process.Load().published
	if address == "" {
		p.count(syncErrors, map[string]any{"type": "hostport_resolution"})
		return
	}
	for _, path := range []string{"/api", "/apis"} {
		if err := p.readPeer(ctx, address, path); err != nil {
			p.count(syncErrors, map[string]any{"type": "fetch_discovery"})
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.peers = append(p.peers, peer)
}

// readPeer reads a document that has what the peer serves itself: its recording.
func (p *process) readPeer(ctx context.Context, address, path string) error {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", aggregatedType+";profile=nopeer")
	req.Header.Set(peerHeader, "true")
	groups := []string{groupAuthenticated}
	res, err := transport.NewAuthProxyRoundTripper("system:apiserver", "", groups, nil, p.transport).RoundTrip(req)
	if err != nil {
		p.rerouted(http.StatusServiceUnavailable, schema.GroupVersionResource{})
		return err
	}
	defer res.Body.Close()
	p.rerouted(res.StatusCode, schema.GroupVersionResource{})
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// serving returns a peer that serves what the server does not have itself, any where there are several, or nil.
func (p *process) serving(of schema.GroupVersionResource) *Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	var serving []*Server
	for _, peer := range p.peers {
		if _, ok := peer.recorded.resources[of]; ok {
			serving = append(serving, peer)
		}
	}
	if len(serving) == 0 {
		return nil
	}
	return serving[rand.IntN(len(serving))]
}

// handOn hands a request to a peer, for the user who sent it.
func (p *process) handOn(w http.ResponseWriter, r *http.Request, q *request, who user, peer *Server) {
	status := http.StatusServiceUnavailable
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "https", Host: peer.Address})
			r.Out.Header.Set(peerHeader, "true")
		},
		Transport: transport.NewAuthProxyRoundTripper(who.name, "", who.groups, nil, p.transport),
		ErrorLog:  log.New(io.Discard, "", 0),
		ModifyResponse: func(res *http.Response) error {
			status = res.StatusCode
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
	}
	proxy.ServeHTTP(w, r)
	p.rerouted(status, q.groupVersionResource())
}
