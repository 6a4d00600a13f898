package certs

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
)

// Text returns what a file of the node holds. Who asks for a file with secrets does not quote from it.
func (s *Store) Text(name string) ([]byte, Problem) { return s.read(name) }

// TokenKeys tells whether a file of the node holds what kube-apiserver signs the tokens of service accounts with, a private
// key, or, if private is false, what it verifies them with: any RSA or ECDSA key, or a certificate with one. It follows
// ParsePrivateKeyPEM and ParsePublicKeysPEM of k8s.io/client-go/util/keyutil.
func (s *Store) TokenKeys(name string, private bool) Problem {
	data, problem := s.read(name)
	defer clear(data)
	if problem != OK {
		return problem
	}
	blocks := 0
	for rest := data; ; blocks++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		found := isTokenKey(privateKey(block.Bytes)) || !private && isTokenKey(publicKey(block.Bytes))
		clear(block.Bytes)
		if found {
			return OK
		}
	}
	if blocks == 0 {
		return NotPEM
	}
	return NoKey
}

func isTokenKey(key any) bool {
	switch key.(type) {
	case *rsa.PrivateKey, *rsa.PublicKey, *ecdsa.PrivateKey, *ecdsa.PublicKey:
		return true
	}
	return false
}

func privateKey(der []byte) any {
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key
	}
	key, _ := x509.ParsePKCS8PrivateKey(der)
	return key
}

func publicKey(der []byte) any {
	if cert, err := x509.ParseCertificate(der); err == nil {
		return cert.PublicKey
	}
	key, _ := x509.ParsePKIXPublicKey(der)
	return key
}
