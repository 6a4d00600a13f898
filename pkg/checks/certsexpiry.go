package checks

import (
	"crypto/x509"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// certificateExpiring is MVP207.
var certificateExpiring = &Rule{
	ID: "MVP207", Name: "certificate-expiring", Severity: Error,
	Doc: Doc{
		What: "With --root: the peer CA, the serving certificate, the proxy client certificate or the CA that " +
			"verifies it has expired, is not valid yet, or expires within --cert-days (30).",
		Why: "Peers check the dates on every connection. From the end on they hand nothing to each other, and " +
			"clients get a 404. kubeadm upgrade renews a node's certificates, but not its CAs, and only when that " +
			"node's turn comes.",
		Fix: "kubeadm certs check-expiration shows the dates, kubeadm certs renew renews certificates; restart the " +
			"control plane's pods afterwards. A CA is replaced by hand.",
		Facts: []string{"H4", "H7"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		store := p.openRoot()
		if store == nil {
			p.skipWithoutFiles()
			return
		}
		for _, g := range p.byValue(release.FlagTLSCertFile, flagSNICertKey, release.FlagPeerCAFile) {
			var leaf shown
			if s, ok := p.shownToPeers(store, g.views[0]); ok {
				leaf = s
			}
			p.expiry(store, g, "the serving certificate", leaf, g.flags[2], certs.Server)
		}
		for _, g := range p.byValue(release.FlagProxyClientCertFile, release.FlagRequestHeaderCAFile) {
			var leaf shown
			if f := g.flags[0]; isSet(f) && !f.Unknown {
				if b, ok := p.bundleOf(store, g.views[0], f.Name, f.Value); ok {
					leaf = shown{flag: f, file: f.Value, bundle: b}
				}
			}
			p.expiry(store, g, "the proxy client certificate", leaf, g.flags[1], certs.Client)
		}
	},
}

// expiry judges a certificate and what it depends on.
func (p *Pass) expiry(store *certs.Store, g values, what string, leaf shown, caFlag *config.Flag, use certs.Use) {
	v := g.views[0]
	var roots certs.Bundle
	if isSet(caFlag) && !caFlag.Unknown && cleanPath(caFlag.Value) == caFlag.Value {
		if host, ok := onHost(v, caFlag.Value); ok {
			roots = store.Bundle(host)
			p.seen(caFlag.Name, caFlag.Value, roots.Problem)
		}
	}
	var issuer *x509.Certificate
	if leaf.bundle.Leaf != nil {
		p.dates(g, leaf.flag, fmt.Sprintf("%s %s", what, quoted(leaf.file)), leaf.bundle.Leaf, p.renewal(leaf))
		issuer = certs.Issuer(leaf.bundle.Certs, roots.Certs, use, p.Now)
	}
	switch {
	case issuer == nil && len(roots.Certs) > 0:
		issuer = lasts(roots.Certs)
	case issuer == nil:
		return
	case slices.ContainsFunc(leaf.bundle.Certs[1:], issuer.Equal) && !slices.ContainsFunc(roots.Certs, issuer.Equal):
		p.dates(g, leaf.flag, "the issuer of "+what+" in "+quoted(leaf.file), issuer, "have it issued anew")
		return
	}
	p.dates(g, caFlag,
		fmt.Sprintf("the CA %s in %s %s", quoted(subject(issuer.Subject.CommonName, issuer.Subject.String())),
			caFlag.Name, quoted(caFlag.Value)),
		issuer, "replace the CA by hand (Kubernetes documentation: Manual Rotation of CA Certificates)")
}

// lasts returns the certificate that ends last.
func lasts(list []*x509.Certificate) *x509.Certificate {
	return slices.MaxFunc(list, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
}

// renewal is how a certificate is renewed, which kubeadm does for its own.
func (p *Pass) renewal(s shown) string {
	for _, k := range []struct{ flag, file, name string }{
		{release.FlagTLSCertFile, "apiserver.crt", "apiserver"},
		{release.FlagProxyClientCertFile, "front-proxy-client.crt", "front-proxy-client"},
	} {
		if s.flag.Name == k.flag && path.Base(s.file) == k.file && !p.otherFile(s.flag, k.file) {
			return "kubeadm certs renew " + k.name + " on this node, then restart kube-apiserver"
		}
	}
	return "renew it, then restart kube-apiserver"
}

// dates reports a certificate that is out of its time, or will be soon.
func (p *Pass) dates(g values, f *config.Flag, name string, c *x509.Certificate, fix string) {
	const layout = "2006-01-02"
	begin, end := c.NotBefore.UTC().Format(layout), c.NotAfter.UTC().Format(layout)
	out := Finding{Severity: Error, Subject: nameOf(f) + " " + c.SerialNumber.String(), At: p.placeOr(f, g.views[0]),
		When: whenOf(g.views), Fix: fix}
	switch left := c.NotAfter.Sub(p.Now); {
	case left < 0:
		out.Message = fmt.Sprintf("%s expired on %s, %s ago.", name, end, days(-left))
	case p.Now.Before(c.NotBefore):
		out.Message = fmt.Sprintf("%s is not valid before %s, in %s.", name, begin, days(c.NotBefore.Sub(p.Now)))
		out.Fix = "check the clocks of the nodes, or have it issued anew"
	case left <= time.Duration(p.CertDays)*24*time.Hour:
		out.Severity = Warning
		out.Message = fmt.Sprintf("%s expires on %s, in %s.", name, end, days(left))
		out.Why = "from then on peers hand nothing to this server, or it nothing to them, and clients get a 404; if " +
			"that is before the last server is upgraded, the roll runs into it."
		p.Report(out)
		return
	default:
		return
	}
	out.Why = "clients that check the dates refuse it."
	if p.single == "" {
		out.Consequence = FalseNotFound
		out.Why = fmt.Sprintf("peers check the dates and refuse it: %s, clients get a 404 for what only the other "+
			"release serves.", p.sideBySide())
	}
	p.Report(out)
}

func days(d time.Duration) string {
	switch n := int(d / (24 * time.Hour)); n {
	case 0:
		return "less than a day"
	case 1:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", n)
	}
}
