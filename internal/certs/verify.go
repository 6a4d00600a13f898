package certs

import (
	"crypto/x509"
	"time"
)

// PeerName is the name that a kube-apiserver checks in the certificate of its peer, whatever address it dials.
const PeerName = "kubernetes.default.svc"

// Use is what a certificate is shown for.
type Use uint8

// Server: as the serving certificate, that the peer verifies with its --peer-ca-file. Client: as the proxy client
// certificate, that the peer verifies with its --requestheader-client-ca-file.
const (
	Server Use = iota
	Client
)

func (u Use) extKeyUsage() []x509.ExtKeyUsage {
	if u == Client {
		return []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	return []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
}

// Verdict is what crypto/tls would say of a certificate, taken apart: it stops at the first objection, while each of
// these has a remedy of its own.
type Verdict struct {
	// Untrusted: no chain leads from the certificate to one of the roots.
	Untrusted bool
	// WrongUse: its extended key usage, or that of an issuer, does not allow the use.
	WrongUse bool
	// WrongName: it is not valid for the name.
	WrongName bool
	// OutOfTime: it, or an issuer, has expired or is not valid yet.
	OutOfTime bool
}

// Verify judges a certificate with its intermediates against the roots. An empty name is not checked.
func Verify(chain, roots []*x509.Certificate, name string, use Use, now time.Time) Verdict {
	if len(chain) == 0 {
		return Verdict{Untrusted: true}
	}
	var v Verdict
	timeless, timelessRoots := withoutTime(chain), withoutTime(roots)
	switch {
	case !verifies(timeless, timelessRoots, []x509.ExtKeyUsage{x509.ExtKeyUsageAny}, now):
		v.Untrusted = true
	case !verifies(timeless, timelessRoots, use.extKeyUsage(), now):
		v.WrongUse = true
	}
	v.WrongName = name != "" && chain[0].VerifyHostname(name) != nil
	if v.Untrusted || v.WrongUse {
		v.OutOfTime = !within(chain[0], now)
	} else {
		v.OutOfTime = !verifies(chain, roots, use.extKeyUsage(), now)
	}
	return v
}

func verifies(chain, roots []*x509.Certificate, usages []x509.ExtKeyUsage, now time.Time) bool {
	_, err := chain[0].Verify(options(chain, roots, usages, now))
	return err == nil
}

func options(chain, roots []*x509.Certificate, usages []x509.ExtKeyUsage, now time.Time) x509.VerifyOptions {
	o := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: now,
		KeyUsages: usages}
	for _, c := range roots {
		o.Roots.AddCert(c)
	}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	return o
}

func within(c *x509.Certificate, now time.Time) bool {
	return !now.Before(c.NotBefore) && !now.After(c.NotAfter)
}

// withoutTime returns copies that are valid at any time. x509 tells an expired CA as one that it does not know.
func withoutTime(certs []*x509.Certificate) []*x509.Certificate {
	out := make([]*x509.Certificate, len(certs))
	for i, c := range certs {
		copied := *c
		copied.NotBefore, copied.NotAfter = time.Time{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
		out[i] = &copied
	}
	return out
}

// Issuer returns the issuer of a certificate, its CA or an intermediate, that ends first. Where several chains lead to
// a root it is that of the chain which lasts longest: a bundle may hold the old CA beside the new one. It is nil
// where no chain does, and where the certificate is itself a root.
func Issuer(chain, roots []*x509.Certificate, use Use, now time.Time) *x509.Certificate {
	if len(chain) == 0 {
		return nil
	}
	original := map[*x509.Certificate]*x509.Certificate{}
	copies := func(certs []*x509.Certificate) []*x509.Certificate {
		out := withoutTime(certs)
		for i, c := range out {
			original[c] = certs[i]
		}
		return out
	}
	leaf, anchors := copies(chain), copies(roots)
	found, err := leaf[0].Verify(options(leaf, anchors, use.extKeyUsage(), now))
	if err != nil {
		return nil
	}
	var best *x509.Certificate
	for _, c := range found {
		var first *x509.Certificate
		for _, issuer := range c[1:] {
			if o := original[issuer]; first == nil || o.NotAfter.Before(first.NotAfter) {
				first = o
			}
		}
		if first != nil && (best == nil || first.NotAfter.After(best.NotAfter)) {
			best = first
		}
	}
	return best
}
