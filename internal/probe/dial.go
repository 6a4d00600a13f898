package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// peerServerName is the name that an API server asks its peers' certificates for.
const peerServerName = "kubernetes.default.svc"

// errHandshakeOnly ends a connection after its handshake: nothing is to be sent.
var errHandshakeOnly = errors.New("nothing more to ask")

// dialPeer connects to an address as a peer would, without any credentials, and looks at the certificate.
func dialPeer(ctx context.Context, cfg *rest.Config, address string, timeout time.Duration) evidence.Dial {
	d, err := handshake(ctx, cfg, address, timeout)
	if err != nil {
		return evidence.Dial{Address: address, Error: reason(err)}
	}
	d.Address = address
	return d
}

func handshake(ctx context.Context, cfg *rest.Config, address string, timeout time.Duration) (evidence.Dial, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, noConnection(timeout))
	defer cancel()
	tc, err := rest.AnonymousClientConfig(cfg).TransportConfig()
	if err != nil {
		return evidence.Dial{}, err
	}
	tc.TLS.ServerName = peerServerName
	tlsConfig, err := transport.TLSConfigFor(tc)
	if err != nil {
		return evidence.Dial{}, err
	}
	// The transport dials on its own, and may still do so when it has given up waiting.
	seen := make(chan evidence.Dial, 1)
	tlsConfig.InsecureSkipVerify = true // VerifyConnection looks at the certificate and ends the connection
	tlsConfig.VerifyConnection = func(state tls.ConnectionState) error {
		select {
		case seen <- look(state.PeerCertificates, tlsConfig.RootCAs):
		default:
		}
		return errHandshakeOnly
	}
	rt := newTransport(tc, tlsConfig, timeout)
	defer rt.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/", nil)
	if err != nil {
		return evidence.Dial{}, err
	}
	if via, err := rt.Proxy(req); err == nil && via != nil && via.Scheme == "https" {
		// The first handshake would be the proxy's.
		return evidence.Dial{}, errors.New("not asked through a proxy that is asked with https itself")
	}
	res, err := rt.RoundTrip(req)
	if err == nil {
		res.Body.Close()
		return evidence.Dial{}, errors.New("the connection was not made with TLS")
	}
	switch {
	case errors.Is(err, errHandshakeOnly):
		return <-seen, nil
	case timedOut(err):
		err = noConnection(timeout)
	}
	return evidence.Dial{}, cause(ctx, err)
}

// look judges the certificates of a server as a peer does that trusts the roots. Without any, those of the system are
// not what a peer goes by.
func look(chain []*x509.Certificate, roots *x509.CertPool) evidence.Dial {
	d := evidence.Dial{Connected: true}
	if len(chain) == 0 {
		d.Error = "the server has no certificate"
		return d
	}
	leaf := chain[0]
	d.Subject, d.Issuer, d.NotAfter = line(leaf.Subject.String()), line(leaf.Issuer.String()), leaf.NotAfter.UTC()
	d.Names = certificateNames(leaf)
	var err error
	if roots == nil {
		d.Unverified = true
	} else {
		options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range chain[1:] {
			options.Intermediates.AddCert(c)
		}
		_, err = leaf.Verify(options)
		d.Trusted = err == nil
	}
	named := leaf.VerifyHostname(peerServerName)
	d.Named = named == nil
	if err = cmp.Or(err, named); err != nil {
		d.Error = reason(err)
	}
	return d
}
