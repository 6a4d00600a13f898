package checks

import (
	"crypto/x509"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// openRoot returns the node's files, nil where there are none.
func (p *Pass) openRoot() *certs.Store {
	if p.Root == "" {
		return nil
	}
	store, err := certs.Open(p.Root)
	if err != nil {
		p.CannotTell("--root %v", err)
		return nil
	}
	return store
}

// onHost returns the path on the node of a file that the pod sees, ok false where it is in no host path.
func onHost(v View, file string) (host string, ok bool) {
	longest := ""
	for _, m := range v.Mounts {
		if m.MountPath != "" && config.Within(file, m.MountPath) && len(m.MountPath) >= len(longest) {
			longest = m.MountPath
			host = ""
			if m.HostPath != "" {
				host = path.Join(m.HostPath, strings.TrimPrefix(path.Clean(file), path.Clean(m.MountPath)))
			}
		}
	}
	if longest == "" && maybeMounted(v, file) != "" {
		return path.Clean(file), true
	}
	return host, host != ""
}

// locate returns the path on the node of the file that a flag names. Where that cannot be told, the rule cannot tell.
func (p *Pass) locate(v View, flag, file string) (host string, ok bool) {
	host, ok = onHost(v, file)
	if !ok {
		p.CannotTell("%s %s is in no host path of the pod, so it was not read", flag, quoted(file))
	}
	return host, ok
}

// bundleOf reads the certificates that a flag names. ok is false where they are not known.
func (p *Pass) bundleOf(store *certs.Store, v View, flag, file string) (b certs.Bundle, ok bool) {
	host, ok := p.locate(v, flag, file)
	if !ok {
		return b, false
	}
	b = store.Bundle(host)
	return b, p.seen(flag, file, b.Problem)
}

// seen tells whether a file was seen at all. What this user may not read is unknown, not wrong.
func (p *Pass) seen(flag, file string, problem certs.Problem) bool {
	switch problem {
	case certs.Denied:
		p.CannotTell("%s %s cannot be read by this user; run mvpcheck as root, or give a copy of the node's files",
			flag, quoted(file))
	case certs.TooLarge:
		p.CannotTell("%s %s has more than %d MiB and was not read", flag, quoted(file), certs.MaxSize>>20)
	case certs.Special, certs.Unreadable:
		p.CannotTell("%s %s is no regular file that can be read", flag, quoted(file))
	}
	return !problem.Unknown()
}

// shown is the certificate that a server shows to its peers.
type shown struct {
	flag   *config.Flag
	file   string
	bundle certs.Bundle
}

// shownToPeers returns the certificate that a server shows for certs.PeerName; ok is false where it is not known.
func (p *Pass) shownToPeers(store *certs.Store, v View) (s shown, ok bool) {
	main := v.Flags.Last(release.FlagTLSCertFile)
	if !isSet(main) || main.Unknown {
		return s, false
	}
	s = shown{flag: main, file: main.Value}
	if s.bundle, ok = p.bundleOf(store, v, main.Name, main.Value); !ok {
		return s, false
	}
	var sni []certs.SNI
	var seen []shown
	var leaves []*x509.Certificate
	for _, f := range v.Flags.All(flagSNICertKey) {
		value, parsed := certs.ParseSNI(f.Value)
		if !parsed || f.Unknown {
			return s, false
		}
		b, read := p.bundleOf(store, v, f.Name, value.CertFile)
		if !read {
			return s, false
		}
		sni, leaves = append(sni, value), append(leaves, b.Leaf)
		seen = append(seen, shown{flag: f, file: value.CertFile, bundle: b})
	}
	if i := certs.Served(certs.PeerName, s.bundle.Leaf, sni, leaves); i >= 0 {
		s = seen[i]
	}
	return s, s.bundle.Leaf != nil
}

// peerCAByFile judges peer-ca-file by what the servers show; judged is false where that is not known.
func (p *Pass) peerCAByFile(store *certs.Store, f *config.Flag, g values) (judged bool) {
	v := g.views[0]
	roots, ok := p.bundleOf(store, v, f.Name, f.Value)
	if !ok || len(roots.Certs) == 0 {
		return false
	}
	s, ok := p.shownToPeers(store, v)
	if !ok {
		return false
	}
	out := Finding{
		Severity: Error, Subject: nameOf(f), At: p.placeOr(f, v), Consequence: FalseNotFound, When: whenOf(g.views),
		Why: fmt.Sprintf("a server cannot verify its peers with it: %s, it answers 404 for what only the other "+
			"release serves.", p.sideBySide()),
		Fix: fmt.Sprintf("set %s to the CA that signed the serving certificates%s", f.Name, p.byHand()),
	}
	switch verdict := certs.Verify(s.bundle.Certs, roots.Certs, certs.PeerName, certs.Server, p.Now); {
	case verdict.Untrusted:
		out.Message = fmt.Sprintf("%s %s does not verify the serving certificate %s: %s.", f.Name, quoted(f.Value),
			quoted(s.file), mismatch(s.bundle.Certs, roots))
		if ca := p.clusterCA(v); p.verifiesServing(store, v, ca, s) {
			out.Fix = fmt.Sprintf("%s: %s%s", f.Name, ca, p.byHand())
			out.Changes = p.setPeerCA(f)
		}
	case verdict.WrongUse:
		out.At = p.placeOr(s.flag, v)
		out.Message = fmt.Sprintf("the serving certificate %s, or its issuer, is not meant for servers (extended "+
			"key usage).", quoted(s.file))
		out.Fix = "have the certificate issued for server authentication"
	default:
		return true
	}
	p.Report(out)
	return true
}

// verifiesServing tells whether a file is a CA that verifies the serving certificate.
func (p *Pass) verifiesServing(store *certs.Store, v View, file string, s shown) bool {
	host, ok := onHost(v, file)
	if !ok {
		return false
	}
	return !certs.Verify(s.bundle.Certs, store.Bundle(host).Certs, "", certs.Server, p.Now).Untrusted
}

// mismatch says why a certificate does not verify, by the names of issuer and CAs.
func mismatch(chain []*x509.Certificate, roots certs.Bundle) string {
	last := chain[len(chain)-1]
	var have []string
	same := false
	for _, c := range roots.Certs {
		have = append(have, subject(c.Subject.CommonName, c.Subject.String()))
		same = same || string(c.RawSubject) == string(last.RawIssuer)
	}
	issuer := subject(last.Issuer.CommonName, last.Issuer.String())
	switch {
	case !roots.HasCA():
		return fmt.Sprintf("it was issued by %s, and the file holds no CA but %s", quoted(issuer), quotedList(have))
	case same:
		return fmt.Sprintf("it was issued by %s, and the CA of that name in the file is another one, with another key",
			quoted(issuer))
	}
	return fmt.Sprintf("it was issued by %s, and the file holds %s", quoted(issuer), quotedList(have))
}

// subject is a certificate's name for a message: its common name, else all of it, cut where it is very long.
func subject(cn, all string) string {
	const most = 100
	if cn == "" {
		cn = all
	}
	if r := []rune(cn); len(r) > most {
		return string(r[:most]) + "…"
	}
	return cn
}

// servingNameByFile reports a certificate that is not valid for the name that peers check.
func (p *Pass) servingNameByFile(store *certs.Store, g values) {
	v := g.views[0]
	s, ok := p.shownToPeers(store, v)
	if !ok || s.bundle.Leaf.VerifyHostname(certs.PeerName) == nil {
		return
	}
	names := "it has no DNS name"
	if len(s.bundle.Leaf.DNSNames) > 0 {
		names = "it is valid for " + quotedList(s.bundle.Leaf.DNSNames)
	}
	f := Finding{
		Severity: Error, Subject: nameOf(s.flag), At: p.placeOr(s.flag, v), Consequence: FalseNotFound,
		When: whenOf(g.views),
		Message: fmt.Sprintf("the serving certificate %s is not valid for %s, the name that peers check.",
			quoted(s.file), certs.PeerName),
		Why: fmt.Sprintf("%s; %s, peers cannot connect and answer 404 for what only this server serves.", names,
			p.sideBySide()),
		Fix: "have it issued with the DNS name " + certs.PeerName + " among its names, and restart kube-apiserver",
	}
	if s.flag.Name == release.FlagTLSCertFile && !p.otherServingCert(s.flag) {
		f.Fix = "move apiserver.crt and apiserver.key away, run kubeadm init phase certs apiserver --config FILE on " +
			"this node, and restart kube-apiserver (kubeadm certs renew keeps the names as they are)"
	}
	p.Report(f)
}

// headersByFile judges by the proxy client certificate; judged is false where that is not known.
func (p *Pass) headersByFile(store *certs.Store, g values) (judged bool) {
	caFile, cert := g.flags[1], g.flags[2]
	v := g.views[0]
	if !isSet(cert) || cert.Unknown {
		return false
	}
	chain, ok := p.bundleOf(store, v, cert.Name, cert.Value)
	if !ok || chain.Leaf == nil {
		return false
	}
	cn := chain.Leaf.Subject.CommonName
	allowed, known := allowedNames(v)
	if known && len(allowed) > 0 && !slices.Contains(allowed, cn) {
		p.reportNotAllowed(g, cn, "the proxy client certificate "+quoted(cert.Value), p.takesForClient(store, v, chain))
	}
	if !isSet(caFile) {
		p.headerCAByFlag(g, false, allowed, known)
		return true
	}
	if caFile.Unknown {
		return true
	}
	if roots, ok := p.bundleOf(store, v, caFile.Name, caFile.Value); ok && len(roots.Certs) > 0 {
		p.headerCAByFile(store, g, chain, roots, known && len(allowed) == 0)
	}
	return true
}

// headerCAByFile reports a CA that did not sign the proxy client certificate. anyName: the servers take any name.
func (p *Pass) headerCAByFile(store *certs.Store, g values, chain, roots certs.Bundle, anyName bool) {
	f, cert, v := g.flags[1], g.flags[2], g.views[0]
	out := Finding{Severity: Error, Subject: nameOf(f), At: p.placeOr(f, v), Consequence: FalseNotFound,
		When: whenOf(g.views), Why: p.refused()}
	verdict := certs.Verify(chain.Certs, roots.Certs, "", certs.Client, p.Now)
	overlap := anyName && p.sharesClientCA(store, v, roots)
	switch {
	case verdict.Untrusted:
		out.Message = fmt.Sprintf("%s %s does not verify the proxy client certificate %s: %s.", f.Name, quoted(f.Value),
			quoted(cert.Value), mismatch(chain.Certs, roots))
		out.Fix = "set it to the CA that signed the certificate" + p.byHand()
		if p.takesForClient(store, v, chain) {
			out.Consequence, out.Why = None, takenForClient
		}
		if a := ownArg(f); a != nil && p.verifiesProxy(store, v, chain) {
			out.Fix = "remove it, so that kubeadm's own, " + p.inCertificatesDir("front-proxy-ca.crt") + ", holds"
			out.Changes = p.changes(Change{Op: RemoveArg, Arg: a, Summary: "removed " + f.Name})
		}
	case verdict.WrongUse:
		out.At = p.placeOr(cert, v)
		out.Message = fmt.Sprintf("the proxy client certificate %s, or its issuer, is not meant for clients (extended "+
			"key usage).", quoted(cert.Value))
		out.Fix = "have the certificate issued for client authentication"
	case overlap:
		out.Message = fmt.Sprintf("%s %s and %s have a CA in common, and %s is empty.", f.Name, quoted(f.Value),
			release.FlagClientCAFile, release.FlagRequestHeaderNames)
		out.Fix = "name the common name of the proxy client certificate in " + release.FlagRequestHeaderNames +
			p.byHand()
		p.overlapStops(&out, g.views)
		if out.Consequence != WillNotStart {
			return
		}
	default:
		return
	}
	if overlap {
		p.overlapStops(&out, g.views)
	}
	p.reportUnlessSingle(out)
}

// verifiesProxy tells whether kubeadm's own CA verifies the proxy client certificate.
func (p *Pass) verifiesProxy(store *certs.Store, v View, chain certs.Bundle) bool {
	host, ok := onHost(v, p.inCertificatesDir("front-proxy-ca.crt"))
	return ok && !certs.Verify(chain.Certs, store.Bundle(host).Certs, "", certs.Client, p.Now).Untrusted
}

// takenForClient is what follows where takesForClient holds; measured in the scenario H7-taken-for-a-client.
const takenForClient = "client-ca-file's CA has signed it, so that a server takes its peers for a client of that " +
	"name: it answers 403 to what they hand over, whatever the real client may do."

// takesForClient tells whether a server that does not take the proxy client certificate as that of a peer takes it as
// that of a client.
func (p *Pass) takesForClient(store *certs.Store, v View, chain certs.Bundle) bool {
	f := v.Flags.Last(release.FlagClientCAFile)
	if !isSet(f) || f.Unknown {
		return false
	}
	host, ok := onHost(v, f.Value)
	if !ok {
		return false
	}
	verdict := certs.Verify(chain.Certs, store.Bundle(host).Certs, "", certs.Client, p.Now)
	return !verdict.Untrusted && !verdict.WrongUse
}

// sharesClientCA tells whether a CA is also one of the clients.
func (p *Pass) sharesClientCA(store *certs.Store, v View, roots certs.Bundle) bool {
	f := v.Flags.Last(release.FlagClientCAFile)
	if !isSet(f) || f.Unknown {
		return false
	}
	host, ok := onHost(v, f.Value)
	if !ok {
		return false
	}
	for _, c := range store.Bundle(host).Certs {
		if slices.ContainsFunc(roots.Certs, c.Equal) {
			return true
		}
	}
	return false
}
