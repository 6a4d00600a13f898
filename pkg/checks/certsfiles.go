package checks

import (
	"fmt"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// unreadableCertificate is MVP208.
var unreadableCertificate = &Rule{
	ID: "MVP208", Name: "unreadable-certificate", Severity: Error,
	Doc: Doc{
		What: "With --root: a certificate or a private key that the flags name is missing, empty, no PEM text, " +
			"damaged, or something else than it should be; or certificate and key do not belong together.",
		Why: "kube-apiserver exits at start on such a file. An empty peer-ca-file is worse: the server starts, " +
			"verifies no peer, and answers a silent 404.",
		Fix:   "Put the right file there; on a kubeadm node kubeadm init phase certs writes what is missing.",
		Facts: []string{"S7", "S7b"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		p.servingHalfEmpty()
		store := p.openRoot()
		if store == nil {
			p.skipWithoutFiles()
			return
		}
		for _, g := range p.byValue(release.FlagPeerCAFile) {
			p.peerCAUnreadable(store, g)
		}
		for _, g := range p.byValue(release.FlagRequestHeaderCAFile) {
			p.headerCAUnreadable(store, g)
		}
		pairs := p.pairs()
		keys := keysAtHand(store, pairs)
		for _, pair := range pairs {
			p.pairUnreadable(store, pair, keys)
		}
	},
}

// servingHalfEmpty reports a serving certificate without key or the other way round, which needs no files to tell.
func (p *Pass) servingHalfEmpty() {
	for _, g := range p.byValue(release.FlagTLSCertFile, release.FlagTLSPrivateKeyFile) {
		cert, key := g.flags[0], g.flags[1]
		if isEmpty(key) {
			cert, key = key, cert
		}
		if !isEmpty(cert) || !isSet(key) {
			continue
		}
		p.Report(Finding{
			Severity: Error, Subject: nameOf(cert), At: p.placeOr(cert, g.views[0]), Consequence: WillNotStart,
			When:    whenOf(g.views),
			Message: fmt.Sprintf("%s is empty and %s is not: kube-apiserver does not start.", cert.Name, key.Name),
			Why:     p.exitsWhen(whenOf(g.views)),
			Fix:     "name both files, or remove both" + p.byHand(),
		})
	}
}

// keyProblem is the text for a private key, of which some problems mean something else.
func keyProblem(problem certs.Problem) string {
	if problem == certs.Unparsable {
		return "holds a private key that cannot be read (encrypted, or damaged)"
	}
	return problem.Says()
}

func (p *Pass) peerCAUnreadable(store *certs.Store, g values) {
	f, v := g.flags[0], g.views[0]
	if !isSet(f) || f.Unknown || cleanPath(f.Value) != f.Value {
		return
	}
	if !mayBeSeen(v, f.Value) {
		return
	}
	b, ok := p.bundleOf(store, v, f.Name, f.Value)
	if !ok || b.Problem == certs.OK {
		return
	}
	out := Finding{
		Subject: nameOf(f), At: p.placeOr(f, v),
		Message: fmt.Sprintf("%s %s %s.", f.Name, quoted(f.Value), b.Problem.Says()),
		Fix: "put the CA that signed the serving certificates there, or set " + f.Name + " to " + p.clusterCA(v) +
			p.byHand(),
	}
	switch {
	case len(b.Certs) > 0:
		p.reportPassedOver(out, g.views)
	case b.Problem != certs.Empty:
		p.reportAtStart(out, g.views)
	case p.single == "":
		out.Severity, out.Consequence, out.When = Error, FalseNotFound, whenOf(g.views)
		out.Why = fmt.Sprintf("kube-apiserver starts with it and verifies no peer: %s, it answers a silent 404 for "+
			"what only the other release serves.", p.sideBySide())
		p.Report(out)
	}
}

// reportPassedOver reports a part of a file that kube-apiserver passes over.
func (p *Pass) reportPassedOver(f Finding, views []View) {
	f.Severity, f.Consequence, f.When = Warning, None, whenOf(views)
	f.Why = "kube-apiserver passes over it without a word and works with the other certificates of the file."
	p.Report(f)
}

func (p *Pass) headerCAUnreadable(store *certs.Store, g values) {
	f, v := g.flags[0], g.views[0]
	if !isSet(f) || f.Unknown {
		return
	}
	b, ok := p.bundleOf(store, v, f.Name, f.Value)
	if !ok || b.Problem == certs.OK {
		return
	}
	out := Finding{
		Subject: nameOf(f), At: p.placeOr(f, v),
		Message: fmt.Sprintf("%s %s %s.", f.Name, quoted(f.Value), b.Problem.Says()),
		Fix:     "put the CA that signed the proxy client certificate there",
	}
	if b.Problem == certs.BrokenPEM && len(b.Certs) > 0 {
		p.reportPassedOver(out, g.views)
		return
	}
	p.reportStops(out, g.views)
}

// reportStops reports what kube-apiserver exits on whatever the gate says.
func (p *Pass) reportStops(f Finding, views []View) {
	f.Severity, f.Consequence, f.When = Error, WillNotStart, whenOf(views)
	f.Why = p.exitsWhen(f.When)
	p.Report(f)
}

// certPair is a certificate with its key, as flags name them.
type certPair struct {
	what              string
	cert, key         *config.Flag
	certFile, keyFile string
	views             []View
}

// pairs are the certificates with keys of all servers. A pair of which a half is empty is another rule's.
func (p *Pass) pairs() []certPair {
	var pairs []certPair
	for _, names := range [][3]string{
		{release.FlagTLSCertFile, release.FlagTLSPrivateKeyFile, "the serving certificate"},
		{release.FlagProxyClientCertFile, release.FlagProxyClientKeyFile, "the proxy client certificate"},
	} {
		for _, g := range p.byValue(names[0], names[1]) {
			cert, key := g.flags[0], g.flags[1]
			if isSet(cert) && isSet(key) && !cert.Unknown && !key.Unknown {
				pairs = append(pairs, certPair{names[2], cert, key, cert.Value, key.Value, g.views})
			}
		}
	}
	for _, g := range p.byValue(flagSNICertKey) {
		for _, f := range g.views[0].Flags.All(flagSNICertKey) {
			if sni, ok := certs.ParseSNI(f.Value); ok && !f.Unknown {
				pairs = append(pairs, certPair{"the serving certificate", f, f, sni.CertFile, sni.KeyFile, g.views})
			}
		}
	}
	return pairs
}

// keysAtHand tells whether the files hold private keys at all. Who copies a node's files for a check does well to leave
// them out; then none is missing.
func keysAtHand(store *certs.Store, pairs []certPair) bool {
	if store.WholeSystem() {
		return true
	}
	for _, pair := range pairs {
		cert, okCert := onHost(pair.views[0], pair.certFile)
		key, okKey := onHost(pair.views[0], pair.keyFile)
		if okCert && okKey && store.Pair(cert, key).Key != certs.Missing {
			return true
		}
	}
	return false
}

func (p *Pass) pairUnreadable(store *certs.Store, c certPair, keys bool) {
	v := c.views[0]
	certHost, okCert := p.locate(v, c.cert.Name, c.certFile)
	keyHost, okKey := p.locate(v, c.key.Name, c.keyFile)
	if !okCert || !okKey {
		return
	}
	pair := store.Pair(certHost, keyHost)
	if p.seen(c.cert.Name, c.certFile, pair.Cert.Problem) && pair.Cert.Problem != certs.OK {
		p.certUnreadable(c, pair.Cert)
	}
	out := Finding{Subject: c.keyFile, At: p.placeOr(c.key, v), Fix: "put the private key of " + c.what + " there"}
	switch {
	case pair.Key == certs.Missing && !keys:
	case !p.seen(c.key.Name, c.keyFile, pair.Key):
	case pair.Key != certs.OK:
		out.Message = fmt.Sprintf("%s %s %s.", c.key.Name, quoted(c.keyFile), keyProblem(pair.Key))
		p.reportStops(out, c.views)
	case pair.Mismatch:
		out.Message = fmt.Sprintf("the private key %s does not belong to %s %s.", quoted(c.keyFile), c.what,
			quoted(c.certFile))
		p.reportStops(out, c.views)
	}
}

// certUnreadable reports a certificate's file. kube-apiserver looks at its first certificate only; the others it sends
// along, and it is the peer who cannot read them.
func (p *Pass) certUnreadable(c certPair, b certs.Bundle) {
	out := Finding{
		Subject: c.certFile, At: p.placeOr(c.cert, c.views[0]),
		Message: fmt.Sprintf("%s %s %s.", c.cert.Name, quoted(c.certFile), b.Problem.Says()),
		Fix:     "put " + c.what + " there",
	}
	switch {
	case b.Leaf == nil:
		p.reportStops(out, c.views)
	case b.Problem == certs.BrokenPEM:
		p.reportPassedOver(out, c.views)
	case p.single == "":
		out.Severity, out.Consequence, out.When = Error, FalseNotFound, whenOf(c.views)
		out.Why = fmt.Sprintf("kube-apiserver starts and sends it along, and no peer can read it: %s, requests "+
			"between them fail and clients get a 404.", p.sideBySide())
		p.Report(out)
	}
}
