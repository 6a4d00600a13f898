package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"strings"
)

// Bundle is a file of certificates: a CA bundle, or a certificate with its intermediates.
type Bundle struct {
	Path string
	// Certs are the certificates that can be read, in their order.
	Certs []*x509.Certificate
	// Leaf is the first certificate, nil where that one cannot be read: kube-apiserver then does not serve with it.
	Leaf *x509.Certificate
	// Problem may stand beside certificates: BrokenPEM and Unparsable are about a part of the file.
	Problem Problem
}

// HasCA tells whether a certificate of the bundle is one of a CA. Others verify nothing but themselves.
func (b Bundle) HasCA() bool {
	for _, c := range b.Certs {
		if c.IsCA {
			return true
		}
	}
	return false
}

const certificateType = "CERTIFICATE"

var beginCertificate = []byte("-----BEGIN CERTIFICATE-----")

// parse reads the blocks of a file in the way of x509.CertPool and tls.X509KeyPair: other blocks, text in between and
// what is no block at all are passed over.
func (b *Bundle) parse(data []byte) {
	begun := bytes.Count(data, beginCertificate)
	var blocks, keys, ends, read int
	unparsable := false
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		blocks++
		if isKey(block) {
			keys++
			clear(block.Bytes)
		}
		if block.Type != certificateType {
			continue
		}
		ends++
		// A certificate with PEM headers is none for x509.CertPool.
		if len(block.Headers) > 0 {
			continue
		}
		read++
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			// The error can quote what the block holds.
			unparsable = true
			continue
		}
		if read == 1 {
			b.Leaf = cert
		}
		b.Certs = append(b.Certs, cert)
	}
	switch {
	case unparsable:
		b.Problem = Unparsable
	case begun > ends:
		b.Problem = BrokenPEM
	case read > 0:
	case keys > 0:
		b.Problem = PrivateKey
	case blocks > 0:
		b.Problem = NoCertificate
	default:
		b.Problem = NotPEM
	}
}

// isKey tells whether tls.X509KeyPair takes a block for a private key.
func isKey(b *pem.Block) bool {
	return b.Type == "PRIVATE KEY" || strings.HasSuffix(b.Type, " PRIVATE KEY")
}
