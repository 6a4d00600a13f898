package demo

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"time"
)

// validity is how long certificates hold. They are never kept longer than the program runs.
const validity = 365 * 24 * time.Hour

// The names of the CAs that kubeadm makes, by their files below pkiDir.
var caNames = map[string]string{caFile: "kubernetes", etcdCAFile: "etcd-ca", frontProxyCAFile: "front-proxy-ca"}

const (
	caFile           = "ca.crt"
	etcdCAFile       = "etcd/ca.crt"
	frontProxyCAFile = "front-proxy-ca.crt"
)

// pki are the certificates of a control plane, as kubeadm makes them, with their private keys.
type pki struct {
	// cas are the CAs by their files.
	cas map[string]*tls.Certificate
	// frontProxy is what a server shows its peers.
	frontProxy *tls.Certificate
}

func newPKI() (p *pki, err error) {
	p = &pki{cas: map[string]*tls.Certificate{}}
	for file, name := range caNames {
		p.cas[file], err = sign(nil, &x509.Certificate{
			Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		})
		if err != nil {
			return nil, err
		}
	}
	p.frontProxy, err = p.client(frontProxyCAFile, "front-proxy-client")
	return p, err
}

// server issues the serving certificate of a node, with the names that kubeadm gives it.
func (p *pki) server(node string, ip net.IP) (*tls.Certificate, error) {
	return sign(p.cas[caFile], &x509.Certificate{
		Subject: pkix.Name{CommonName: "kube-apiserver"},
		DNSNames: []string{
			node, "kubernetes", "kubernetes.default", peerServerName, peerServerName + ".cluster.local",
		},
		IPAddresses: []net.IP{net.IPv4(10, 96, 0, 1), ip},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// client issues the certificate of a user.
func (p *pki) client(ca, user string, groups ...string) (*tls.Certificate, error) {
	return sign(p.cas[ca], &x509.Certificate{
		Subject:  pkix.Name{CommonName: user, Organization: groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// sign makes a certificate with a key of its own; without a signer it signs itself.
func sign(by *tls.Certificate, template *x509.Certificate) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(validity)
	parent, signer := template, crypto.PrivateKey(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: cert}, err
}

func certPEM(c *tls.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Leaf.Raw})
}
