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
	"sync"
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
			MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: peerServerName, Certificates: []tls.Certificate{*own},
		},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   peerTimeout,
		ResponseHeaderTimeout: peerTimeout,
		IdleConnTimeout:       30 * time.Second,
	}
}

// peers are what a server has learned of its peers.
type peers struct {
	mu sync.Mutex
	// known are the peers by their addresses.
	known map[string]*peer
}

// learn reads the documents of a peer, as servers do when a peer's lease appears. A peer that cannot be read serves
// nothing, for all that the server knows.
func (p *process) learn(ctx context.Context, address string) {
	if p.transport == nil {
		return
	}
	if address == "" {
		p.count(syncErrors, map[string]any{"type": "hostport_resolution"})
		return
	}
	known := &peer{serves: map[schema.GroupVersionResource]bool{}}
	for _, path := range []string{"/api", "/apis"} {
		document, err := p.readPeer(ctx, address, path)
		if err == nil {
			err = known.add(document)
		}
		if err != nil {
			p.count(syncErrors, map[string]any{"type": "fetch_discovery"})
			continue
		}
		if path == "/apis" {
			known.groups = document
		}
	}
	p.peers.mu.Lock()
	defer p.peers.mu.Unlock()
	p.peers.known[address] = known
}

// readPeer reads a document that has what the peer serves itself.
func (p *process) readPeer(ctx context.Context, address, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", aggregatedType+";profile=nopeer")
	req.Header.Set(peerHeader, "true")
	groups := []string{groupAuthenticated}
	res, err := transport.NewAuthProxyRoundTripper("system:apiserver", "", groups, nil, p.transport).RoundTrip(req)
	if err != nil {
		p.rerouted(http.StatusServiceUnavailable, schema.GroupVersionResource{})
		return nil, err
	}
	defer res.Body.Close()
	p.rerouted(res.StatusCode, schema.GroupVersionResource{})
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	return io.ReadAll(res.Body)
}

// serving returns the address of a peer that serves what the server does not have itself, any where there are several.
func (p *process) serving(r schema.GroupVersionResource) (address string, ok bool) {
	p.peers.mu.Lock()
	defer p.peers.mu.Unlock()
	var addresses []string
	for address, known := range p.peers.known {
		if known.serves[r] {
			addresses = append(addresses, address)
		}
	}
	if len(addresses) == 0 {
		return "", false
	}
	return addresses[rand.IntN(len(addresses))], true
}

// handOn hands a request to a peer, for the user who sent it.
func (p *process) handOn(w http.ResponseWriter, r *http.Request, who user, what schema.GroupVersionResource, address string) {
	status := http.StatusServiceUnavailable
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "https", Host: address})
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
	p.rerouted(status, what)
}
