package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// --root gives the rules the node's certificates, --cert-days says which ends are near.
func TestCertDays(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "etc/kubernetes/pki/ca.crt"), certificate(t, 20*24*time.Hour))
	file := repo + "testdata/scripts/files/ready.yaml"
	for days, want := range map[string]bool{"30": true, "10": false} {
		r := runMain(t, "check", "-q", "--only", "MVP207", "--root", root, "--cert-days", days, file)
		if got := strings.Contains(r.out, "ca.crt"); got != want {
			t.Errorf("--cert-days %s: %s%s", days, r.out, r.err)
		}
	}
}

// certificate is a CA that is valid for some time.
func certificate(t *testing.T, valid time.Duration) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
