package certs

import (
	"crypto/x509"
	"strings"
)

// SNI is a value of kube-apiserver's --tls-sni-cert-key: a certificate that is served to those who ask for one of its
// names.
type SNI struct {
	CertFile, KeyFile string
	// Names are the patterns, empty where the names of the certificate itself count.
	Names []string
}

// ParseSNI reads "cert,key" or "cert,key:pattern,pattern" as kube-apiserver does (component-base's NamedCertKey).
func ParseSNI(value string) (s SNI, ok bool) {
	files, names, hasNames := strings.Cut(value, ":")
	if hasNames {
		if strings.TrimSpace(names) == "" {
			return SNI{}, false
		}
		for name := range strings.SplitSeq(names, ",") {
			s.Names = append(s.Names, strings.TrimSpace(name))
		}
	}
	cert, key, ok := strings.Cut(files, ",")
	if !ok || strings.Contains(key, ",") {
		return SNI{}, false
	}
	s.CertFile, s.KeyFile = strings.TrimSpace(cert), strings.TrimSpace(key)
	return s, true
}

// Covers tells whether a pattern of the value is a name, or a wildcard that covers it: crypto/tls replaces the first
// label by * and asks once more.
func (s SNI) Covers(name string) bool {
	for _, n := range s.Names {
		if n == name || n == wildcard(name) {
			return true
		}
	}
	return false
}

func wildcard(name string) string {
	_, rest, _ := strings.Cut(name, ".")
	return "*." + rest
}

// Served returns which certificate a server shows to who asks for a name: the index of the SNI certificate, or -1 for
// the one of --tls-cert-file. leaves are the certificates of sni, nil where one cannot be read.
//
// It follows BuildNamedCertificates of k8s.io/apiserver (dynamiccertificates), where explicit patterns go before the
// names of certificates and the earlier value before the later, and getCertificate of crypto/tls, which takes any
// certificate that is valid for the name where no pattern is.
func Served(name string, main *x509.Certificate, sni []SNI, leaves []*x509.Certificate) int {
	explicit, implied := map[string]int{}, map[string]int{}
	for i := len(sni) - 1; i >= 0; i-- {
		for _, n := range sni[i].Names {
			explicit[n] = i
		}
		if len(sni[i].Names) == 0 && leaves[i] != nil {
			for _, n := range append([]string{leaves[i].Subject.CommonName}, leaves[i].DNSNames...) {
				implied[n] = i
			}
		}
	}
	for _, n := range []string{strings.ToLower(name), wildcard(strings.ToLower(name))} {
		if i, ok := explicit[n]; ok {
			return i
		}
		if i, ok := implied[n]; ok {
			return i
		}
	}
	if main != nil && main.VerifyHostname(name) == nil {
		return -1
	}
	for i, leaf := range leaves {
		if leaf != nil && leaf.VerifyHostname(name) == nil {
			return i
		}
	}
	return -1
}
