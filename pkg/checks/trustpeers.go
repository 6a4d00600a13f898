package checks

import (
	"encoding/csv"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// frontProxyCN is the common name that kubeadm gives to the proxy client certificate.
const frontProxyCN = "front-proxy-client"

// peerCAWrong is MVP203.
var peerCAWrong = &Rule{
	ID: "MVP203", Name: "peer-ca-wrong", Severity: Error, Fixable: true, HandOff: true,
	Doc: Doc{
		What: "peer-ca-file is the CA of etcd or of the front proxy, or (with --root) does not verify the serving " +
			"certificate.",
		Why: "A server that cannot verify its peer answers the client 404, as if no such resource existed: kubeadm " +
			"has three CAs, and only ca.crt signs the serving certificates.",
		Fix:   "Set peer-ca-file to the CA that signed the serving certificates: ca.crt in the certificatesDir.",
		Facts: []string{"H4"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		store := p.openRoot()
		for _, g := range p.byValue(release.FlagPeerCAFile, release.FlagTLSCertFile, flagSNICertKey) {
			f := g.flags[0]
			if !isSet(f) || f.Unknown || cleanPath(f.Value) != f.Value {
				continue
			}
			judged := false
			if store != nil && mayBeSeen(g.views[0], f.Value) {
				judged = p.peerCAByFile(store, f, g)
			}
			if !judged {
				p.peerCAByPath(f, g)
			}
		}
		p.skipWithoutFiles()
	},
}

// skipWithoutFiles says that the larger part of a rule was not judged.
func (p *Pass) skipWithoutFiles() {
	if p.Root == "" {
		p.Skip(noFiles)
	}
}

// otherCA says whose CA a file is, by its path; empty where it may be the cluster's.
func (p *Pass) otherCA(file string, v View) string {
	file = path.Clean(file)
	if file == path.Clean(p.clusterCA(v)) || sameFile(v.Flags.Last(release.FlagClientCAFile), file) {
		return ""
	}
	switch {
	case strings.HasSuffix(file, "/etcd/ca.crt"), sameFile(v.Flags.Last(flagEtcdCAFile), file):
		return "etcd's CA"
	case strings.HasSuffix(file, "/front-proxy-ca.crt"), sameFile(v.Flags.Last(release.FlagRequestHeaderCAFile), file):
		return "the front proxy's CA"
	}
	return ""
}

func sameFile(f *config.Flag, file string) bool {
	return f != nil && f.Value != "" && !f.Unknown && path.Clean(f.Value) == file
}

func (p *Pass) peerCAByPath(f *config.Flag, g values) {
	v := g.views[0]
	whose := p.otherCA(f.Value, v)
	if whose == "" {
		return
	}
	out := Finding{
		Severity: Error, Subject: nameOf(f), At: p.placeOr(f, v), Consequence: FalseNotFound, When: whenOf(g.views),
		Message: fmt.Sprintf("%s %s is %s, which does not sign the serving certificates of API servers.", f.Name,
			quoted(f.Value), whose),
		Why: fmt.Sprintf("a server cannot verify its peers with it: %s, it answers 404 for what only the other "+
			"release serves.", p.sideBySide()),
		Fix:     fmt.Sprintf("%s: %s%s", f.Name, p.clusterCA(v), p.byHand()),
		Changes: p.setPeerCA(f),
	}
	// One CA for everything has one file as well, and then a serving certificate that kubeadm did not make.
	if base := path.Base(f.Value); p.otherServingCert(g.flags[1]) && base != "front-proxy-ca.crt" &&
		!strings.HasSuffix(f.Value, "/etcd/ca.crt") {
		out.Severity, out.Consequence, out.Changes = Warning, None, nil
		out.Message = fmt.Sprintf("%s %s is %s; whether that signed the serving certificates, too, cannot be "+
			"seen here.", f.Name, quoted(f.Value), whose)
		out.Fix = "check with a node's files: --root"
	}
	p.Report(out)
}

// otherServingCert tells whether tls-cert-file names another certificate than kubeadm's.
func (p *Pass) otherServingCert(f *config.Flag) bool {
	return p.otherFile(f, "apiserver.crt")
}

// otherFile tells whether a flag names another file than the one that kubeadm writes under a name. In a pod the folder
// does not count.
func (p *Pass) otherFile(f *config.Flag, kubeadms string) bool {
	switch {
	case f == nil || f.Value == "" || f.Unknown:
		return false
	case f.Origin == config.FromManifest:
		return path.Base(f.Value) != kubeadms
	}
	return path.Clean(f.Value) != p.inCertificatesDir(kubeadms)
}

// servingCertName is MVP204.
var servingCertName = &Rule{
	ID: "MVP204", Name: "serving-cert-name", Severity: Error, HandOff: true,
	Doc: Doc{
		What: "The serving certificate is not valid for the DNS name " + certs.PeerName + " (with --root), or " +
			"tls-cert-file or tls-sni-cert-key put another certificate than kubeadm's in its place, which cannot be " +
			"seen without the files.",
		Why: "Peers check this name in the certificate, whatever address they dial. Where it is missing the " +
			"connection fails and the client gets a 404. Clients that use another name notice nothing.",
		Fix: "Have the certificate issued with the name among its DNS names. kubeadm's own has it: move " +
			"apiserver.crt and apiserver.key away and run kubeadm init phase certs apiserver with the configuration; " +
			"kubeadm certs renew keeps the names as they are.",
		Facts: []string{"H5"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		store := p.openRoot()
		for _, g := range p.byValue(release.FlagTLSCertFile, flagSNICertKey) {
			if store != nil {
				p.servingNameByFile(store, g)
			} else {
				p.servingNameByFlag(g)
			}
		}
		p.skipWithoutFiles()
	},
}

func (p *Pass) servingNameByFlag(g values) {
	v := g.views[0]
	seen, what := g.flags[0], "the serving certificate"
	for _, f := range v.Flags.All(flagSNICertKey) {
		if sni, ok := certs.ParseSNI(f.Value); ok && !f.Unknown && sni.Covers(certs.PeerName) {
			seen, what = f, "the certificate for peers"
			break
		}
	}
	if seen == nil || seen.Name == release.FlagTLSCertFile && !p.otherServingCert(seen) {
		return
	}
	p.Report(Finding{
		Severity: Warning, Subject: nameOf(seen), At: p.placeOr(seen, v), When: whenOf(g.views),
		Message: fmt.Sprintf("%s sets %s to %s; whether that is valid for %s cannot be seen here.", seen.Name, what,
			quoted(seen.Value), certs.PeerName),
		Why: fmt.Sprintf("peers check this name: without it, %s, they answer 404 for what only this server serves.",
			p.sideBySide()),
		Fix: "check with a node's files (--root), or on the node: openssl x509 -noout -ext subjectAltName -in FILE",
	})
}

// proxyClientCertMissing is MVP205.
var proxyClientCertMissing = &Rule{
	ID: "MVP205", Name: "proxy-client-cert-missing", Severity: Error, Fixable: true,
	Doc: Doc{
		What: "proxy-client-cert-file or proxy-client-key-file is empty, or missing from a pod that has peer-ca-file.",
		Why: "A server proves to its peers with this certificate that it may speak for a client. With peer-ca-file " +
			"set and the gate on kube-apiserver exits without it: error building peer proxy handler.",
		Fix:   "Remove the empty extraArg, so that kubeadm's own argument holds, or name the files.",
		Facts: []string{"S9"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		names := []string{release.FlagProxyClientCertFile, release.FlagProxyClientKeyFile}
		for _, g := range p.byValue(append(names, release.FlagPeerCAFile)...) {
			var missing []string
			var empty []*config.Flag
			for i, f := range g.flags[:2] {
				switch {
				case isEmpty(f):
					empty = append(empty, f)
					missing = append(missing, names[i])
				case f == nil && isSet(g.flags[2]):
					missing = append(missing, names[i])
				}
			}
			if len(missing) > 0 {
				p.reportProxyCertMissing(g, missing, empty)
			}
		}
	},
}

func (p *Pass) reportProxyCertMissing(g values, missing []string, empty []*config.Flag) {
	v := g.views[0]
	state, at := "not set", p.placeOr(g.flags[2], v)
	if len(empty) > 0 {
		state, at = "empty", p.placeOr(empty[0], v)
	}
	f := Finding{
		Severity: Error, Subject: strings.Join(missing, ","), At: at, Consequence: FalseNotFound, When: whenOf(g.views),
		Message: fmt.Sprintf("%s %s %s: the server has nothing to prove its identity to its peers with.",
			text.And(missing), text.Plural(len(missing), "is", "are"), state),
		Why: "it can hand no request over; with peer-ca-file set and the gate on kube-apiserver does not " +
			"even start.",
		Fix: "name the files of kubeadm's front-proxy-client certificate" + p.byHand(),
	}
	var changes []Change
	for i, e := range empty {
		if a := ownArg(e); a != nil {
			f.Fix = "remove the empty " + text.And(missing) + ", so that kubeadm's own holds"
			changes = append(changes, Change{Op: RemoveArg, Arg: a, Summary: "removed the empty " + e.Name})
		}
		if i > 0 {
			f.Related = append(f.Related, Related{At: p.placeOr(e, v), Message: "empty, too"})
		}
	}
	f.Changes = p.changes(changes...)
	stops := where(g.views, func(v View) bool { return v.GateOn && isSet(g.flags[2]) })
	switch {
	case len(stops) > 0:
		f.Consequence, f.When, f.Why = WillNotStart, whenOf(stops), p.exitsWhen(whenOf(stops))
	case p.single != "":
		return
	}
	p.Report(f)
}

// allowedNames returns the common names that a server takes requests on behalf of others from; none means any. known is
// false where a value is not known, or kube-apiserver does not start with it (an empty name among others).
func allowedNames(v View) (names []string, known bool) {
	for _, f := range v.Flags.All(release.FlagRequestHeaderNames) {
		if f.Unknown {
			return nil, false
		}
		if f.Value == "" {
			continue
		}
		record, err := csv.NewReader(strings.NewReader(f.Value)).Read()
		if err != nil {
			return nil, false
		}
		names = append(names, record...)
	}
	blank := func(name string) bool { return strings.TrimSpace(name) == "" }
	return names, !slices.ContainsFunc(names, blank)
}
