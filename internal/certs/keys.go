package certs

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/pem"
	"slices"

	"k8s.io/client-go/util/keyutil"
)

// Text returns what a file of the node holds. Who asks for a file with secrets does not quote from it.
func (s *Store) Text(name string) ([]byte, Problem) { return s.read(name) }

// Key tells what is wrong with the file of a private key for TLS.
func (s *Store) Key(name string) Problem {
	data, problem := s.read(name)
	defer clear(data)
	if problem != OK {
		return problem
	}
	return keyProblem(data)
}

// TokenKeys tells whether a file of the node holds what kube-apiserver signs the tokens of service accounts with, a
// private key, or, if private is false, what it verifies them with. It reads them as kube-apiserver does, which takes
// an ECDSA key in PKCS#8 for the one and not for the other.
func (s *Store) TokenKeys(name string, private bool) Problem {
	data, problem := s.read(name)
	defer clear(data)
	if problem != OK {
		return problem
	}
	// The errors can quote the file; it only matters that there is one.
	var keys []any
	if private {
		key, err := keyutil.ParsePrivateKeyPEM(data)
		if err == nil {
			keys = []any{key}
		}
	} else {
		keys, _ = keyutil.ParsePublicKeysPEM(data)
	}
	if slices.ContainsFunc(keys, isTokenKey) {
		return OK
	}
	if block, _ := pem.Decode(data); block == nil {
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
