package demo

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// validity is how long certificates hold. They are never kept longer than the program runs.
const validity = 365 * 24 * time.Hour

// An identity is a certificate with its private key.
type identity struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newCA returns a CA that signed itself.
func newCA(name string) (*identity, error) {
	return sign(nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	})
}

// server issues the serving certificate of a node, with the names that kubeadm gives it.
func (i *identity) server(node string, ip net.IP) (*identity, error) {
	return sign(i, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{node, "kubernetes", "kubernetes.default", peerServerName, peerServerName + ".cluster.local"},
		IPAddresses: []net.IP{net.IPv4(10, 96, 0, 1), ip},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// client issues the certificate of a user.
func (i *identity) client(user string, groups ...string) (*identity, error) {
	return sign(i, &x509.Certificate{
		Subject:  pkix.Name{CommonName: user, Organization: groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// sign makes a certificate with a key of its own; without a signer it signs itself.
func sign(by *identity, template *x509.Certificate) (*identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return nil, err
	}
	now := time.Now()
	template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(validity)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &identity{cert: cert, key: key}, nil
}

func (i *identity) pem() []byte { return pemOf("CERTIFICATE", i.cert.Raw) }

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func (i *identity) tls() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{i.cert.Raw}, PrivateKey: i.key, Leaf: i.cert}
}

// pki are the certificates of a control plane, as kubeadm makes them.
type pki struct {
	ca, etcdCA, frontProxyCA *identity
	// frontProxy is what a server shows its peers.
	frontProxy *identity
}

func newPKI() (*pki, error) {
	var p pki
	var err error
	for name, ca := range map[string]**identity{"kubernetes": &p.ca, "etcd-ca": &p.etcdCA, "front-proxy-ca": &p.frontProxyCA} {
		if *ca, err = newCA(name); err != nil {
			return nil, err
		}
	}
	p.frontProxy, err = p.frontProxyCA.client("front-proxy-client")
	return &p, err
}

// pool returns the CAs of a file of a node's, where kubeadm puts them; ok is false where there is no such file.
func (p *pki) pool(file string) (pool *x509.CertPool, ok bool) {
	ca, ok := map[string]*identity{
		pkiDir + "/ca.crt": p.ca, pkiDir + "/etcd/ca.crt": p.etcdCA, pkiDir + "/front-proxy-ca.crt": p.frontProxyCA,
	}[file]
	if !ok {
		return nil, false
	}
	pool = x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool, true
}
