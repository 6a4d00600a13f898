package demo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"time"

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
func newPeerTransport(roots *x509.CertPool, own *identity) *http.Transport {
	return &http.Transport{
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: peerServerName, Certificates: []tls.Certificate{own.tls()},
		},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   peerTimeout,
		ResponseHeaderTimeout: peerTimeout,
		IdleConnTimeout:       30 * time.Second,
	}
}

// A groupResource names a resource that can be asked for.
type groupResource struct{ group, version, resource string }

// peers are what a server has learned of its peers.
type peers struct {
	mu sync.Mutex
	// known are the peers by their addresses.
	known map[string]*peer
}

// A peer is a server that was read.
type peer struct {
	serves  map[groupResource]bool
	entries []entry
}

// learn reads the documents of a peer, as servers do when a peer's lease appears. A peer that cannot be read serves
// nothing, for all that the server knows.
func (p *process) learn(ctx context.Context, address string) {
	if p.transport == nil {
		return
	}
	if address == "" {
		p.counters.syncFailed("hostport_resolution")
		return
	}
	known := &peer{serves: map[groupResource]bool{}}
	for _, path := range []string{"/api", "/apis"} {
		entries, err := p.readPeer(ctx, address, path)
		if err != nil {
			p.counters.syncFailed("fetch_discovery")
			continue
		}
		for _, e := range entries {
			known.serves[groupResource{e.group, e.version, e.resource.Resource}] = true
		}
		if path == "/apis" {
			known.entries = entries
		}
	}
	p.peers.mu.Lock()
	defer p.peers.mu.Unlock()
	p.peers.known = put(p.peers.known, address, known)
}

// readPeer reads a document that has what the peer serves itself.
func (p *process) readPeer(ctx context.Context, address, path string) ([]entry, error) {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", aggregatedType+";profile=nopeer")
	req.Header.Set(peerHeader, "true")
	res, err := transport.NewAuthProxyRoundTripper("system:apiserver", "", []string{groupAuthenticated}, nil, p.transport).RoundTrip(req)
	if err != nil {
		p.counters.rerouted(http.StatusServiceUnavailable, groupResource{})
		return nil, err
	}
	defer res.Body.Close()
	p.counters.rerouted(res.StatusCode, groupResource{})
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	var doc discoveryList
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", path, address, err)
	}
	return doc.entries(), nil
}

// serving returns the address of a peer that serves what the server does not have itself, any where there are several.
func (p *process) serving(r groupResource) (address string, ok bool) {
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
func (p *process) handOn(w http.ResponseWriter, r *http.Request, who user, what groupResource, address string) {
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
	p.counters.rerouted(status, what)
}

// counters are what /metrics tells of the hand-off.
type counters struct {
	mu         sync.Mutex
	byCode     map[reroutedKey]int
	syncErrors map[string]int
}

type reroutedKey struct {
	code string
	groupResource
}

func (c *counters) rerouted(code int, what groupResource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := reroutedKey{strconv.Itoa(code), what}
	c.byCode = put(c.byCode, key, c.byCode[key]+1)
}

func (c *counters) syncFailed(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.syncErrors = put(c.syncErrors, kind, c.syncErrors[kind]+1)
}

func put[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}
