// Package certstest makes certificates for tests: CAs, what they sign, and the files that kubeadm lays out on a node.
package certstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Now is the time that the certificates are made for.
var Now = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

// Day is a day.
const Day = 24 * time.Hour

// Identity is a certificate with its private key; of a CA it can sign others.
type Identity struct {
	Cert *x509.Certificate
	Key  crypto.Signer
}

// Option changes a certificate before it is signed.
type Option func(*x509.Certificate)

// DNS sets the DNS names.
func DNS(names ...string) Option { return func(c *x509.Certificate) { c.DNSNames = names } }

// Ends sets the end of the validity.
func Ends(t time.Time) Option { return func(c *x509.Certificate) { c.NotAfter = t } }

// Begins sets the begin of the validity.
func Begins(t time.Time) Option { return func(c *x509.Certificate) { c.NotBefore = t } }

// Usage sets the extended key usage.
func Usage(u ...x509.ExtKeyUsage) Option { return func(c *x509.Certificate) { c.ExtKeyUsage = u } }

// CA makes a certificate that signs others.
func CA(c *x509.Certificate) {
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	c.NotAfter = Now.Add(3650 * Day)
}

// NewCA returns a CA that signed itself.
func NewCA(t testing.TB, cn string, options ...Option) *Identity {
	return sign(t, nil, cn, append([]Option{CA}, options...))
}

// Issue returns a certificate that the identity signed, valid for a year and without any use.
func (i *Identity) Issue(t testing.TB, cn string, options ...Option) *Identity {
	return sign(t, i, cn, options)
}

func sign(t testing.TB, by *Identity, cn string, options []Option) *Identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: cn},
		NotBefore: Now.Add(-30 * Day), NotAfter: Now.Add(365 * Day), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	for _, o := range options {
		o(template)
	}
	parent, signer := template, crypto.Signer(key)
	if by != nil {
		parent, signer = by.Cert, by.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Identity{Cert: cert, Key: key}
}

// PEM returns certificates as text.
func PEM(ids ...*Identity) []byte {
	var out []byte
	for _, i := range ids {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Cert.Raw})...)
	}
	return out
}

// KeyPEM returns the private key as text.
func (i *Identity) KeyPEM(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(i.Key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Dir is kubeadm's folder of certificates.
const Dir = "/etc/kubernetes/pki"

// PeerNames are the DNS names that kubeadm gives to a serving certificate.
var PeerNames = []string{"cp-1", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
	"kubernetes.default.svc.cluster.local"}

// Files are the files of a node by their paths.
type Files map[string][]byte

// Node is what kubeadm signs for a node.
type Node struct {
	CA, EtcdCA, FrontProxyCA *Identity
	Server, Proxy            *Identity
}

// NewNode returns the certificates of a node as kubeadm makes them.
func NewNode(t testing.TB) *Node {
	n := &Node{CA: NewCA(t, "kubernetes"), EtcdCA: NewCA(t, "etcd-ca"), FrontProxyCA: NewCA(t, "front-proxy-ca")}
	n.Server = n.CA.Issue(t, "kube-apiserver", DNS(PeerNames...), Usage(x509.ExtKeyUsageServerAuth))
	n.Proxy = n.FrontProxyCA.Issue(t, "front-proxy-client", Usage(x509.ExtKeyUsageClientAuth))
	return n
}

// Files returns the files that kubeadm lays out.
func (n *Node) Files(t testing.TB) Files {
	return Files{
		Dir + "/ca.crt":                 PEM(n.CA),
		Dir + "/etcd/ca.crt":            PEM(n.EtcdCA),
		Dir + "/front-proxy-ca.crt":     PEM(n.FrontProxyCA),
		Dir + "/apiserver.crt":          PEM(n.Server),
		Dir + "/apiserver.key":          n.Server.KeyPEM(t),
		Dir + "/front-proxy-client.crt": PEM(n.Proxy),
		Dir + "/front-proxy-client.key": n.Proxy.KeyPEM(t),
	}
}

// Write lays the files out below a new root folder and returns it.
func (f Files) Write(t testing.TB) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, data := range f {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
