//go:build linux

package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// An Identity is a certificate with its private key.
type Identity struct {
	Cert *x509.Certificate
	Key  crypto.Signer
}

// Subject is what a certificate says about its owner.
type Subject struct {
	Name     string   // the common name: a client's user
	Groups   []string // the organizations: a client's groups
	DNSNames []string
	IPs      []string
}

// Issue makes a certificate that the CA signed, for a client as well as for a server.
func (i *Identity) Issue(tb TB, s Subject) *Identity {
	tb.Helper()
	id, err := i.issue(s)
	if err != nil {
		tb.Fatalf("certificate of %s: %v", s.Name, err)
	}
	return id
}

func (i *Identity) issue(s Subject) (*Identity, error) {
	now := time.Now()
	cert := &x509.Certificate{
		Subject:   pkix.Name{CommonName: s.Name, Organization: s.Groups},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    s.DNSNames,
	}
	for _, ip := range s.IPs {
		cert.IPAddresses = append(cert.IPAddresses, net.ParseIP(ip))
	}
	return sign(i, cert)
}

// sign makes a certificate with a key of its own.
func sign(by *Identity, template *x509.Certificate) (*Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.Cert, key.Public(), by.Key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Identity{Cert: cert, Key: key}, nil
}

// CertPEM returns the certificate as text.
func (i *Identity) CertPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Cert.Raw})
}

// KeyPEM returns the private key as text.
func (i *Identity) KeyPEM() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(i.Key)
	if err != nil {
		panic(err) // only for kinds of keys that are not made here
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// readIdentity reads a certificate and its private key, as kubeadm writes them.
func readIdentity(certFile, keyFile string) (*Identity, error) {
	certDER, err := readPEM(certFile)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", certFile, err)
	}
	keyDER, err := readPEM(keyFile)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(keyDER)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	return &Identity{Cert: cert, Key: key}, nil
}

func readPEM(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: %w", file, errors.New("no PEM block"))
	}
	return block.Bytes, nil
}
