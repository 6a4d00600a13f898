package certs

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
)

func certificates(ids ...*certstest.Identity) []*x509.Certificate {
	var out []*x509.Certificate
	for _, i := range ids {
		out = append(out, i.Cert)
	}
	return out
}

// TestVerify compares each verdict with a TLS handshake on a loopback address: of the peer, which checks the serving
// certificate, and of the server, which checks the proxy client certificate.
func TestVerify(t *testing.T) {
	n := certstest.NewNode(t)
	serve := certstest.Usage(x509.ExtKeyUsageServerAuth)
	call := certstest.Usage(x509.ExtKeyUsageClientAuth)
	dns := certstest.DNS(certstest.PeerNames...)
	intermediate := n.CA.Issue(t, "intermediate", certstest.CA)
	byIntermediate := intermediate.Issue(t, "kube-apiserver", dns, serve)
	expiredCA := certstest.NewCA(t, "old CA", certstest.Ends(certstest.Now.Add(-certstest.Day)))
	notCA := n.CA.Issue(t, "no CA", dns, serve)
	clientOnly := n.CA.Issue(t, "client CA", certstest.CA, call)

	for _, tc := range []struct {
		name  string
		chain []*certstest.Identity
		roots []*certstest.Identity
		use   Use
		want  Verdict
	}{
		{"kubeadm's", []*certstest.Identity{n.Server}, []*certstest.Identity{n.CA}, Server, Verdict{}},
		{"among others", []*certstest.Identity{n.Server}, []*certstest.Identity{n.EtcdCA, n.CA}, Server, Verdict{}},
		{"etcd's CA", []*certstest.Identity{n.Server}, []*certstest.Identity{n.EtcdCA}, Server, Verdict{Untrusted: true}},
		{"no roots", []*certstest.Identity{n.Server}, nil, Server, Verdict{Untrusted: true}},
		{"another name", []*certstest.Identity{n.CA.Issue(t, "kube-apiserver", certstest.DNS("kubernetes"), serve)}, []*certstest.Identity{n.CA}, Server, Verdict{WrongName: true}},
		{"the name as common name only", []*certstest.Identity{n.CA.Issue(t, PeerName, serve)}, []*certstest.Identity{n.CA}, Server, Verdict{WrongName: true}},
		{"wildcard", []*certstest.Identity{n.CA.Issue(t, "x", certstest.DNS("*.default.svc"), serve)}, []*certstest.Identity{n.CA}, Server, Verdict{}},
		{"another name and CA", []*certstest.Identity{n.EtcdCA.Issue(t, "x", serve)}, []*certstest.Identity{n.CA}, Server, Verdict{Untrusted: true, WrongName: true}},
		{"for clients", []*certstest.Identity{n.CA.Issue(t, "x", dns, call)}, []*certstest.Identity{n.CA}, Server, Verdict{WrongUse: true}},
		{"for anything", []*certstest.Identity{n.CA.Issue(t, "x", dns)}, []*certstest.Identity{n.CA}, Server, Verdict{}},
		{"by a CA for clients", []*certstest.Identity{clientOnly.Issue(t, "x", dns, serve), clientOnly}, []*certstest.Identity{n.CA}, Server, Verdict{WrongUse: true}},
		{"expired", []*certstest.Identity{n.CA.Issue(t, "x", dns, serve, certstest.Ends(certstest.Now.Add(-time.Second)))}, []*certstest.Identity{n.CA}, Server, Verdict{OutOfTime: true}},
		{"not yet", []*certstest.Identity{n.CA.Issue(t, "x", dns, serve, certstest.Begins(certstest.Now.Add(time.Second)))}, []*certstest.Identity{n.CA}, Server, Verdict{OutOfTime: true}},
		{"expired, of another CA", []*certstest.Identity{n.EtcdCA.Issue(t, "x", dns, serve, certstest.Ends(certstest.Now.Add(-time.Second)))}, []*certstest.Identity{n.CA}, Server, Verdict{Untrusted: true, OutOfTime: true}},
		{"CA expired", []*certstest.Identity{expiredCA.Issue(t, "x", dns, serve)}, []*certstest.Identity{expiredCA}, Server, Verdict{OutOfTime: true}},
		{"intermediate sent", []*certstest.Identity{byIntermediate, intermediate}, []*certstest.Identity{n.CA}, Server, Verdict{}},
		{"intermediate not sent", []*certstest.Identity{byIntermediate}, []*certstest.Identity{n.CA}, Server, Verdict{Untrusted: true}},
		{"intermediate trusted", []*certstest.Identity{byIntermediate}, []*certstest.Identity{intermediate}, Server, Verdict{}},
		{"signed by no CA", []*certstest.Identity{notCA.Issue(t, "x", dns, serve)}, []*certstest.Identity{notCA}, Server, Verdict{Untrusted: true}},
		{"trusted itself", []*certstest.Identity{n.Server}, []*certstest.Identity{n.Server}, Server, Verdict{}},
		{"proxy client", []*certstest.Identity{n.Proxy}, []*certstest.Identity{n.FrontProxyCA}, Client, Verdict{}},
		{"proxy client, another CA", []*certstest.Identity{n.Proxy}, []*certstest.Identity{n.CA}, Client, Verdict{Untrusted: true}},
		{"proxy client, for servers", []*certstest.Identity{n.FrontProxyCA.Issue(t, "x", serve)}, []*certstest.Identity{n.FrontProxyCA}, Client, Verdict{WrongUse: true}},
		{"proxy client, expired", []*certstest.Identity{n.FrontProxyCA.Issue(t, "x", call, certstest.Ends(certstest.Now.Add(-time.Second)))}, []*certstest.Identity{n.FrontProxyCA}, Client, Verdict{OutOfTime: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := ""
			if tc.use == Server {
				name = PeerName
			}
			got := Verify(certificates(tc.chain...), certificates(tc.roots...), name, tc.use, certstest.Now)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if err := handshake(t, n, tc.chain, tc.roots, tc.use); (err == nil) != (got == Verdict{}) {
				t.Errorf("verdict %+v, but the handshake says: %v", got, err)
			}
		})
	}
}

// handshake connects two servers as peers do and returns the error of the side that verifies.
func handshake(t *testing.T, n *certstest.Node, chain, roots []*certstest.Identity, use Use) error {
	t.Helper()
	shown := tls.Certificate{PrivateKey: chain[0].Key}
	for _, c := range chain {
		shown.Certificate = append(shown.Certificate, c.Cert.Raw)
	}
	own := tls.Certificate{Certificate: [][]byte{n.Server.Cert.Raw}, PrivateKey: n.Server.Key}
	pool := func(ids ...*certstest.Identity) *x509.CertPool {
		p := x509.NewCertPool()
		for _, i := range ids {
			p.AddCert(i.Cert)
		}
		return p
	}
	clock := func() time.Time { return certstest.Now }
	server := &tls.Config{Certificates: []tls.Certificate{shown}, Time: clock}
	client := &tls.Config{ServerName: PeerName, RootCAs: pool(roots...), Time: clock}
	if use == Client {
		server = &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: pool(roots...), ClientAuth: tls.RequireAndVerifyClientCert, Time: clock}
		client = &tls.Config{ServerName: PeerName, RootCAs: pool(n.CA), Time: clock,
			// As client-go does: whatever the server asks for, this one is sent.
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &shown, nil }}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	served := make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			served <- err
			return
		}
		defer conn.Close()
		served <- tls.Server(conn, server).Handshake()
	}()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	err = tls.Client(conn, client).Handshake()
	if use == Server {
		conn.Close()
		<-served
		return err
	}
	defer conn.Close()
	return <-served
}

func TestIssuer(t *testing.T) {
	soon := certstest.Now.Add(5 * certstest.Day)
	root := certstest.NewCA(t, "root")
	intermediate := root.Issue(t, "intermediate", certstest.CA, certstest.Ends(soon))
	leaf := intermediate.Issue(t, "leaf", certstest.Ends(certstest.Now.Add(certstest.Day)))
	other := certstest.NewCA(t, "other")
	for _, tc := range []struct {
		name         string
		chain, roots []*certstest.Identity
		want         string
	}{
		{"the intermediate ends first", []*certstest.Identity{leaf, intermediate}, []*certstest.Identity{root}, "intermediate"},
		{"the root is all there is", []*certstest.Identity{root.Issue(t, "leaf")}, []*certstest.Identity{other, root}, "root"},
		{"trusted itself", []*certstest.Identity{leaf}, []*certstest.Identity{leaf}, ""},
		{"untrusted", []*certstest.Identity{leaf}, []*certstest.Identity{other}, ""},
		{"nothing", nil, []*certstest.Identity{other}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			if c := Issuer(certificates(tc.chain...), certificates(tc.roots...), Server, certstest.Now); c != nil {
				got = c.Subject.CommonName
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
