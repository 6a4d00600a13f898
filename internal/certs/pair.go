package certs

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
)

// Pair is a certificate and its private key. Of the key only these two answers are kept.
type Pair struct {
	Cert Bundle
	// Key is what is wrong with the key's file.
	Key Problem
	// Mismatch: both can be read and do not belong together.
	Mismatch bool
}

// Pair reads a certificate with its private key in the way of tls.X509KeyPair.
func (s *Store) Pair(certFile, keyFile string) Pair {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := [2]string{certFile, keyFile}
	if p, ok := s.pairs[id]; ok {
		return p
	}
	p := Pair{Cert: s.bundle(certFile)}
	key, problem := s.read(keyFile)
	defer clear(key)
	if p.Key = problem; problem == OK {
		p.Key = keyProblem(key)
	}
	if p.Key == OK && p.Cert.Leaf != nil {
		cert, problem := s.read(certFile)
		if problem == OK {
			// The error can quote the key; it only matters that there is one.
			_, err := tls.X509KeyPair(cert, key)
			p.Mismatch = err != nil
		}
		clear(cert)
	}
	s.pairs[id] = p
	return p
}

// keyProblem tells whether tls.X509KeyPair finds a key that it can use: it takes the first block of a private key.
func keyProblem(data []byte) Problem {
	blocks := 0
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		blocks++
		if isKey(block) {
			defer clear(block.Bytes)
			if parsesAsKey(block.Bytes) {
				return OK
			}
			return Unparsable
		}
	}
	if blocks > 0 {
		return NoKey
	}
	return NotPEM
}

func parsesAsKey(der []byte) bool {
	if _, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return true
	}
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		_, signs := key.(crypto.Signer)
		return signs
	}
	_, err := x509.ParseECPrivateKey(der)
	return err == nil
}
