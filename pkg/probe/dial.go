package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/mvpcheck/mvpcheck/pkg/evidence"
)

// peerServerName is the name that an API server asks its peers' certificates for.
const peerServerName = "kubernetes.default.svc"

// errHandshakeOnly ends a connection after its handshake: nothing is to be sent.
var errHandshakeOnly = errors.New("nothing more to ask")

// dialPeer connects to an address as a peer would, without any credentials, and looks at the certificate.
func dialPeer(ctx context.Context, cfg *rest.Config, address string, timeout time.Duration) evidence.Dial {
	d := evidence.Dial{Address: address}
	public := rest.AnonymousClientConfig(cfg)
	tc, err := public.TransportConfig()
	if err == nil {
		err = handshake(ctx, &d, tc, timeout)
	}
	if err != nil && !errors.Is(err, errHandshakeOnly) {
		d.Error = reason(err)
	}
	return d
}

func handshake(ctx context.Context, d *evidence.Dial, tc *transport.Config, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New("no connection in time"))
	defer cancel()
	tc.TLS.ServerName = peerServerName
	tlsConfig, err := transport.TLSConfigFor(tc)
	if err != nil {
		return err
	}
	tlsConfig.InsecureSkipVerify = true // VerifyConnection looks at the certificate and ends the connection
	tlsConfig.VerifyConnection = func(state tls.ConnectionState) error {
		look(d, state.PeerCertificates, tlsConfig.RootCAs)
		return errHandshakeOnly
	}
	proxy := http.ProxyFromEnvironment
	if tc.Proxy != nil {
		proxy = tc.Proxy
	}
	rt := &http.Transport{Proxy: proxy, TLSClientConfig: tlsConfig, DisableKeepAlives: true}
	if tc.DialHolder != nil {
		rt.DialContext = tc.DialHolder.Dial
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+d.Address+"/", nil)
	if err != nil {
		return err
	}
	res, err := rt.RoundTrip(req)
	if err == nil {
		res.Body.Close()
		return errors.New("the connection was not made with TLS")
	}
	return cause(ctx, err)
}

// look judges the certificates of a server as a peer does that trusts the roots.
func look(d *evidence.Dial, chain []*x509.Certificate, roots *x509.CertPool) {
	d.Connected = true
	if len(chain) == 0 {
		d.Error = "the server has no certificate"
		return
	}
	leaf := chain[0]
	d.Subject, d.Issuer, d.NotAfter = leaf.Subject.String(), leaf.Issuer.String(), leaf.NotAfter.UTC()
	d.Names = certificateNames(leaf)
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	_, err := leaf.Verify(options)
	d.Trusted = err == nil
	if err != nil {
		d.Error = reason(err)
	}
	named := leaf.VerifyHostname(peerServerName)
	d.Named = named == nil
	if err == nil && named != nil {
		d.Error = reason(named)
	}
}
