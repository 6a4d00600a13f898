package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
)

// FuzzBundle proves that no file makes the reader panic, that it finds certificates where x509 does, and that what it
// keeps of a file with a private key says nothing of the key.
func FuzzBundle(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nc2VjcmV0c2VjcmV0\n-----END PRIVATE KEY-----\n"))
	ca := certstest.NewCA(f, "kubernetes")
	f.Add(append(ca.KeyPEM(f), certstest.PEM(ca)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		var secrets [][]byte
		for rest := data; ; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				break
			}
			if isKey(block) && len(block.Bytes) >= 8 {
				secrets = append(secrets, block.Bytes, []byte(fmt.Sprintf("%x", block.Bytes)))
			}
		}
		b := Bundle{Path: "/f"}
		b.parse(bytes.Clone(data))
		if trusted := x509.NewCertPool().AppendCertsFromPEM(data); trusted != (len(b.Certs) > 0) {
			t.Errorf("x509 finds certificates: %v, the bundle has %d", trusted, len(b.Certs))
		}
		if (b.Problem == OK || b.Leaf != nil) && len(b.Certs) == 0 {
			t.Errorf("problem %v, leaf %v without certificates", b.Problem, b.Leaf != nil)
		}
		kept := fmt.Sprintf("%v %q %v %v", b.Problem, b.Path, b.HasCA(), keyProblem(bytes.Clone(data)))
		for _, c := range b.Certs {
			kept += c.Subject.String()
		}
		for _, s := range secrets {
			if bytes.Contains([]byte(kept), s) {
				t.Error("a private key shows through")
			}
		}
	})
}
