package checks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// requestheaderRefusesPeers is MVP206.
var requestheaderRefusesPeers = &Rule{
	ID: "MVP206", Name: "requestheader-refuses-peers", Severity: Error, Fixable: true,
	Doc: Doc{
		What: "The common name of the proxy client certificate is not among requestheader-allowed-names (none allows " +
			"all), or the certificate is signed by another CA than requestheader-client-ca-file. Without the files " +
			"only kubeadm's own certificate is known; others are a warning.",
		Why: "A server hands a request over in the name of the client and proves with this certificate that it may. " +
			"The peer that does not take it answers 401, and the client gets a 404; one that takes it for the " +
			"certificate of a client answers 403.",
		Fix: "Add the common name, which is " + frontProxyCN + " for kubeadm's certificate, to " +
			"requestheader-allowed-names, and leave requestheader-client-ca-file to kubeadm.",
		Facts: []string{"H6", "H7", "S11"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		if p.single != "" {
			// Where nothing keeps a server from starting.
			p.Skip("%s", p.single)
		}
		store := p.openRoot()
		for _, g := range p.byValue(release.FlagRequestHeaderNames, release.FlagRequestHeaderCAFile,
			release.FlagProxyClientCertFile) {
			if store != nil && p.headersByFile(store, g) {
				continue
			}
			p.headersByFlag(g, store == nil)
		}
	},
}

// headersByFlag judges what the flags alone tell. unseen also reports what they do not.
func (p *Pass) headersByFlag(g values, unseen bool) {
	names, caFile, cert := g.flags[0], g.flags[1], g.flags[2]
	v := g.views[0]
	allowed, known := allowedNames(v)
	// With an empty proxy-client-cert-file, which is MVP205's, kubeadm's own is what will be there.
	kubeadms := cert != nil && !cert.Unknown && !p.otherFile(cert, "front-proxy-client.crt")
	if kubeadms && known && len(allowed) > 0 && !slices.Contains(allowed, frontProxyCN) {
		p.reportNotAllowed(g, frontProxyCN, "kubeadm's proxy client certificate", false)
		unseen = false
	}
	if p.headerCAByFlag(g, kubeadms, allowed, known) {
		unseen = false
	}
	if !unseen {
		return
	}
	var overridden []*config.Flag
	if !kubeadms && isSet(cert) && !cert.Unknown && len(allowed) > 0 {
		overridden = append(overridden, cert)
	}
	if isSet(caFile) && caFile.Origin != config.FromManifest && p.otherFile(caFile, "front-proxy-ca.crt") {
		overridden = append(overridden, caFile)
	}
	if len(overridden) > 0 {
		p.reportUnseen(g, names, overridden)
	}
}

// headerCAByFlag reports a requestheader-client-ca-file that cannot have signed kubeadm's certificate.
func (p *Pass) headerCAByFlag(g values, kubeadms bool, allowed []string, known bool) (reported bool) {
	f, v := g.flags[1], g.views[0]
	out := Finding{Severity: Error, Subject: nameOf(f), At: p.placeOr(f, v), Consequence: FalseNotFound,
		When: whenOf(g.views)}
	switch {
	case isEmpty(f) || f == nil && isSet(g.flags[2]) && isSet(v.Flags.Last(release.FlagPeerCAFile)):
		state := "empty"
		if f == nil {
			state = "not set"
		}
		out.Message = fmt.Sprintf("%s is %s: the server takes no request that a peer hands over.",
			release.FlagRequestHeaderCAFile, state)
	case f == nil || f.Unknown || !kubeadms:
		return false
	case sameFile(v.Flags.Last(release.FlagClientCAFile), path.Clean(f.Value)):
		out.Message = fmt.Sprintf("%s %s is the CA of the clients, not the one that signs kubeadm's proxy client "+
			"certificate.", f.Name, quoted(f.Value))
	case sameFile(v.Flags.Last(flagEtcdCAFile), path.Clean(f.Value)):
		out.Message = fmt.Sprintf("%s %s is the CA of etcd, not the one that signs kubeadm's proxy client certificate.",
			f.Name, quoted(f.Value))
	default:
		return false
	}
	out.Why = p.refused()
	out.Fix = "set it to front-proxy-ca.crt in the folder of the certificates" + p.byHand()
	if a := ownArg(f); a != nil {
		out.Fix = "remove it, so that kubeadm's own, " + p.inCertificatesDir("front-proxy-ca.crt") + ", holds"
		out.Changes = p.changes(Change{Op: RemoveArg, Arg: a, Summary: "removed " + f.Name})
	}
	if isSet(f) && known && len(allowed) == 0 && sameFile(v.Flags.Last(release.FlagClientCAFile), path.Clean(f.Value)) {
		p.overlapStops(&out, g.views)
	}
	p.reportUnlessSingle(out)
	return true
}

// overlapStops: since 1.35 kube-apiserver exits where every client certificate would do for a peer's.
func (p *Pass) overlapStops(f *Finding, views []View) {
	stops := where(views, func(v View) bool { return v.Release.Does(release.RefusesSharedClientCA) })
	if len(stops) == 0 {
		return
	}
	f.Consequence, f.When = WillNotStart, whenOf(stops)
	f.Why = "without requestheader-allowed-names every client could then speak for any other, and kube-apiserver " +
		"refuses that since 1.35: " + p.exitsWhen(f.When)
}

// reportNotAllowed reports a common name that the servers do not take; where says what certificate has it, and client
// whether the servers take it for that of a client.
func (p *Pass) reportNotAllowed(g values, cn, where string, client bool) {
	f, v := g.flags[0], g.views[0]
	allowed, _ := allowedNames(v)
	out := Finding{
		Severity: Error, Subject: nameOf(f), At: p.placeOr(f, v), Consequence: FalseNotFound, When: whenOf(g.views),
		Message: fmt.Sprintf("%s allows %s only, not %s, the name in %s.", f.Name, quotedList(allowed),
			quoted(cn), where),
		Why: p.refused(),
		Fix: fmt.Sprintf("add %s to %s%s", quoted(cn), f.Name, p.byHand()),
	}
	if client {
		out.Consequence, out.Why = None, takenForClient
	}
	if a := ownArg(f); a != nil && !strings.ContainsAny(cn, ",\"\r\n") {
		value := cn
		if f.Value != "" {
			value = f.Value + "," + cn
		}
		out.Changes = p.changes(Change{Op: SetArg, Arg: a, Value: value, Summary: "allowed " + cn + " in " + f.Name})
	}
	p.reportUnlessSingle(out)
}

// refused says what follows where a server does not take the proxy client certificate of its peers.
func (p *Pass) refused() string {
	return fmt.Sprintf("the server answers 401 to its peers: %s, they answer 404 for what only this server serves.",
		p.sideBySide())
}

// reportUnseen reports that only the files tell whether the servers take each other's certificate.
func (p *Pass) reportUnseen(g values, names *config.Flag, overridden []*config.Flag) {
	v := g.views[0]
	f := Finding{
		Severity: Warning, Subject: nameOf(overridden[0]), At: p.placeOr(overridden[0], v), When: whenOf(g.views),
		Message: fmt.Sprintf("%s is set to %s; whether the servers take each other's proxy client certificate cannot "+
			"be seen here.",
			overridden[0].Name, quoted(overridden[0].Value)),
		Why: fmt.Sprintf("a peer that does not take it answers 401, and, %s, the client gets a 404. It must be "+
			"signed by %s",
			p.sideBySide(), release.FlagRequestHeaderCAFile),
		Fix: "check with a node's files: --root",
	}
	if allowed, known := allowedNames(v); known && len(allowed) > 0 {
		f.Why += ", and its common name must be " + quotedList(allowed)
	}
	f.Why += "."
	for _, more := range append(overridden[1:], names) {
		if more != nil && !more.At.IsZero() && more != overridden[0] {
			f.Related = append(f.Related, Related{At: more.At, Message: more.Name + " must fit it"})
		}
	}
	p.reportUnlessSingle(f)
}

// reportUnlessSingle reports a finding about peers; with one control-plane node only what stops the server counts.
func (p *Pass) reportUnlessSingle(f Finding) {
	if p.single == "" || f.Consequence == WillNotStart {
		p.Report(f)
	}
}

// quotedList quotes names for a message, at most four of them.
func quotedList(names []string) string {
	const most = 4
	var quotedNames []string
	for i, name := range names {
		if i == most {
			quotedNames = append(quotedNames, fmt.Sprintf("%d more", len(names)-most))
			break
		}
		quotedNames = append(quotedNames, quoted(name))
	}
	return strings.Join(quotedNames, ", ")
}
