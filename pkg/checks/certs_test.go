package checks

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

const pki = certstest.Dir

var (
	forServers = certstest.Usage(x509.ExtKeyUsageServerAuth)
	forClients = certstest.Usage(x509.ExtKeyUsageClientAuth)
	peerNames  = certstest.DNS(certstest.PeerNames...)
)

// filesCase is a configuration, what is changed in the files of a good node, and what one rule says.
type filesCase struct {
	name string
	text string
	// change alters the files of the node.
	change func(t *testing.T, n *certstest.Node, f certstest.Files)
	pair   Pair
	want   []string
}

func runFilesCases(t *testing.T, rule *Rule, cases []filesCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			n := certstest.NewNode(t)
			files := n.Files(t)
			if tc.change != nil {
				tc.change(t, n, files)
			}
			text, pair := tc.text, tc.pair
			if text == "" {
				text = gateOn(ca)
			}
			if pair.From.IsZero() {
				pair = upgrade(35, 36)
			}
			root := files.Write(t)
			got := trustFindings(t, rule, text, pair, root)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if strings.Contains(strings.Join(got, "\n"), root) {
				t.Errorf("the finding names the root folder: %q", got)
			}
		})
	}
}

// place puts a certificate and its key in the place of the node's.
func place(t *testing.T, f certstest.Files, name string, id *certstest.Identity, more ...*certstest.Identity) {
	f[pki+"/"+name+".crt"] = certstest.PEM(append([]*certstest.Identity{id}, more...)...)
	f[pki+"/"+name+".key"] = id.KeyPEM(t)
}

type change = func(*testing.T, *certstest.Node, certstest.Files)

// TestGoodNode is the node that kubeadm makes: no rule may have anything to say of it.
func TestGoodNode(t *testing.T) {
	root := certstest.NewNode(t).Files(t).Write(t)
	for _, rule := range trustRules {
		if got := trustFindings(t, rule, gateOn(ca), upgrade(35, 36), root); got != nil {
			t.Errorf("%s: %q", rule.ID, got)
		}
		if got := trustFindings(t, rule, gateOn(ca), upgrade(35, 36), filepath.Join(root, "nothing")); got != nil && !strings.HasPrefix(got[0], "unknown: --root ") {
			t.Errorf("%s without the folder: %q", rule.ID, got)
		}
	}
}

var trustRules = []*Rule{peerCAMissing, peerCANotMounted, peerCAWrong, servingCertName, proxyClientCertMissing, requestheaderRefusesPeers, certificateExpiring, unreadableCertificate, peerCAPathMalformed}

func TestPeerCAByFile(t *testing.T) {
	const at = "9:12 error false-404 [running target]: "
	const wrong = at + "peer-ca-file \"/etc/kubernetes/pki/%s\" does not verify the serving certificate \"/etc/kubernetes/pki/apiserver.crt\": it was issued by %s."
	const set = " [set flag peer-ca-file /etc/kubernetes/pki/ca.crt]"
	runFilesCases(t, peerCAWrong, []filesCase{
		{name: "etcd's", text: gateOn("peer-ca-file=" + pki + "/etcd/ca.crt"), want: []string{
			fmt.Sprintf(wrong, "etcd/ca.crt", `"kubernetes", and the file holds "etcd-ca"`) + set}},
		{name: "a path like etcd's, and right", text: gateOn("peer-ca-file=" + pki + "/etcd/ca.crt"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			f[pki+"/etcd/ca.crt"] = f[pki+"/ca.crt"]
		}},
		{name: "old and new CA", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			f[pki+"/ca.crt"] = certstest.PEM(certstest.NewCA(t, "kubernetes"), n.CA)
		}},
		{name: "made anew", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			f[pki+"/ca.crt"] = certstest.PEM(certstest.NewCA(t, "kubernetes"))
		}, want: []string{fmt.Sprintf(wrong, "ca.crt", `"kubernetes", and the CA of that name in the file is another one, with another key`)}},
		{name: "no CA", text: gateOn("peer-ca-file=" + pki + "/front-proxy-client.crt"), want: []string{
			fmt.Sprintf(wrong, "front-proxy-client.crt", `"kubernetes", and the file holds no CA but "front-proxy-client"`) + set}},
		{name: "intermediate not sent", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			i := n.CA.Issue(t, "intermediate", certstest.CA)
			place(t, f, "apiserver", i.Issue(t, "x", peerNames, forServers))
		}, want: []string{fmt.Sprintf(wrong, "ca.crt", `"intermediate", and the file holds "kubernetes"`)}},
		{name: "intermediate sent", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			i := n.CA.Issue(t, "intermediate", certstest.CA)
			place(t, f, "apiserver", i.Issue(t, "x", peerNames, forServers), i)
		}},
		{name: "for clients", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "apiserver", n.CA.Issue(t, "x", peerNames, forClients))
		}, want: []string{"5:3 error false-404 [running target]: the serving certificate \"/etc/kubernetes/pki/apiserver.crt\", or its issuer, is not meant for servers (extended key usage)."}},
		{name: "the name is MVP204's", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "apiserver", n.CA.Issue(t, "x", forServers))
		}},
		{name: "the date is MVP207's", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "apiserver", n.CA.Issue(t, "x", peerNames, forServers, certstest.Ends(certstest.Now.Add(-1))))
		}},
		{name: "SNI decides", text: gateOn(ca, "tls-sni-cert-key='"+pki+"/sni.crt,"+pki+"/sni.key:kubernetes.default.svc'"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "sni", n.EtcdCA.Issue(t, "x", peerNames, forServers))
		}, want: []string{"9:12 error false-404 [running target]: peer-ca-file \"/etc/kubernetes/pki/ca.crt\" does not verify the serving certificate \"/etc/kubernetes/pki/sni.crt\": it was issued by \"etcd-ca\", and the file holds \"kubernetes\"."}},
		{name: "the file is missing: by path", text: gateOn("peer-ca-file=" + pki + "/etcd/ca.crt"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			delete(f, pki+"/etcd/ca.crt")
		}, want: []string{at + "peer-ca-file \"/etc/kubernetes/pki/etcd/ca.crt\" is etcd's CA, which does not sign the serving certificates of API servers." + set}},
		{name: "not mounted is MVP202's", text: gateOn("peer-ca-file=/srv/ca.crt")},
		{name: "mounted from elsewhere", text: gateOn("peer-ca-file=/trust/ca.crt") + "  extraVolumes: [{name: trust, hostPath: /srv/trust, mountPath: /trust}]\n", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			f["/srv/trust/ca.crt"] = certstest.PEM(n.EtcdCA)
		}, want: []string{"9:12 error false-404 [running target]: peer-ca-file \"/trust/ca.crt\" does not verify the serving certificate \"/etc/kubernetes/pki/apiserver.crt\": it was issued by \"kubernetes\", and the file holds \"etcd-ca\"." + set}},
		{name: "a hostile name", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "apiserver", certstest.NewCA(t, "\x1b[31m\n"+strings.Repeat("x", 200)).Issue(t, "x", peerNames))
		}, want: []string{fmt.Sprintf(wrong, "ca.crt", `"\x1b[31m\n`+strings.Repeat("x", 94)+`…", and the file holds "kubernetes"`)}},
	})
}

func TestServingNameByFile(t *testing.T) {
	bad := func(options ...certstest.Option) change {
		return func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "apiserver", n.CA.Issue(t, "kubernetes.default.svc", append(options, forServers)...))
		}
	}
	want := func(at, file string) []string {
		return []string{at + " error false-404 [running target]: the serving certificate \"/etc/kubernetes/pki/" + file + "\" is not valid for kubernetes.default.svc, the name that peers check."}
	}
	runFilesCases(t, servingCertName, []filesCase{
		{name: "another name", change: bad(certstest.DNS("kubernetes")), want: want("5:3", "apiserver.crt")},
		{name: "the common name does not count", change: bad(), want: want("5:3", "apiserver.crt")},
		{name: "another file, with the name", text: gateOn(ca, "tls-cert-file="+pki+"/front-proxy-client.crt"), want: want("11:12", "front-proxy-client.crt")},
		{name: "SNI has the name", text: gateOn("tls-sni-cert-key='" + pki + "/sni.crt," + pki + "/sni.key'"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "sni", n.Server)
			bad()(t, n, f)
		}},
		{name: "SNI has a pattern for it and not the name", text: gateOn("tls-sni-cert-key='" + pki + "/sni.crt," + pki + "/sni.key:*.default.svc'"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "sni", n.CA.Issue(t, "x", certstest.DNS("api.example.com"), forServers))
		}, want: want("9:12", "sni.crt")},
		{name: "missing is MVP208's", change: func(t *testing.T, n *certstest.Node, f certstest.Files) { delete(f, pki+"/apiserver.crt") }},
	})
}

func TestRequestHeaderByFile(t *testing.T) {
	proxy := func(cn string, options ...certstest.Option) change {
		return func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "front-proxy-client", n.FrontProxyCA.Issue(t, cn, append(options, forClients)...))
		}
	}
	const names = "requestheader-allowed-names allows %s only, not %s, the name in the proxy client certificate \"/etc/kubernetes/pki/front-proxy-client.crt\"."
	const other = "requestheader-client-ca-file \"/etc/kubernetes/pki/%s\" does not verify the proxy client certificate \"/etc/kubernetes/pki/front-proxy-client.crt\": it was issued by \"front-proxy-ca\", and the file holds %s."
	runFilesCases(t, requestheaderRefusesPeers, []filesCase{
		{name: "another name in the certificate", change: proxy("aggregator"), want: []string{
			"5:3 error false-404 [running target]: " + fmt.Sprintf(names, `"front-proxy-client"`, `"aggregator"`)}},
		{name: "which is allowed", text: gateOn("requestheader-allowed-names=aggregator"), change: proxy("aggregator")},
		{name: "any is allowed", text: gateOn("requestheader-allowed-names=\"\""), change: proxy("aggregator")},
		{name: "which is not", text: gateOn("requestheader-allowed-names=\"a,b,c,d,e\""), change: proxy("aggregator"), want: []string{
			"9:12 error false-404 [running target]: " + fmt.Sprintf(names, `"a", "b", "c", "d", 1 more`, `"aggregator"`) + " [set arg requestheader-allowed-names a,b,c,d,e,aggregator]"}},
		{name: "the clients' CA", text: gateOn("requestheader-client-ca-file=" + pki + "/ca.crt"), want: []string{
			"9:12 error false-404 [running target]: " + fmt.Sprintf(other, "ca.crt", `"kubernetes"`) + " [remove arg requestheader-client-ca-file]"}},
		{name: "the clients' CA, any name", text: gateOn("requestheader-client-ca-file="+pki+"/ca.crt", "requestheader-allowed-names=\"\""), pair: upgrade(34, 35), want: []string{
			"9:12 error will-not-start [target]: " + fmt.Sprintf(other, "ca.crt", `"kubernetes"`) + " [remove arg requestheader-client-ca-file]"}},
		{name: "signed by the clients' CA", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "front-proxy-client", n.CA.Issue(t, "front-proxy-client", forClients))
		}, want: []string{"5:3 error none [running target]: requestheader-client-ca-file \"/etc/kubernetes/pki/front-proxy-ca.crt\" does not verify the proxy client certificate \"/etc/kubernetes/pki/front-proxy-client.crt\": it was issued by \"kubernetes\", and the file holds \"front-proxy-ca\"."}},
		{name: "another name, signed by the clients' CA, which is that of the headers", text: gateOn("requestheader-client-ca-file=" + pki + "/ca.crt"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "front-proxy-client", n.CA.Issue(t, "aggregator", forClients))
		}, want: []string{"5:3 error none [running target]: " + fmt.Sprintf(names, `"front-proxy-client"`, `"aggregator"`)}},
		{name: "one CA for both", text: gateOn("requestheader-client-ca-file=" + pki + "/ca.crt"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "front-proxy-client", n.CA.Issue(t, "front-proxy-client", forClients))
		}},
		{name: "one CA for both, any name", text: gateOn("requestheader-client-ca-file="+pki+"/ca.crt", "requestheader-allowed-names=\"\""), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "front-proxy-client", n.CA.Issue(t, "front-proxy-client", forClients))
		}, want: []string{"9:12 error will-not-start [running target]: requestheader-client-ca-file \"/etc/kubernetes/pki/ca.crt\" and client-ca-file have a CA in common, and requestheader-allowed-names is empty."}},
		{name: "one CA for both, any name, before 1.35", text: gateOn("requestheader-client-ca-file="+pki+"/ca.crt", "requestheader-allowed-names=\"\""), pair: upgrade(33, 34), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "front-proxy-client", n.CA.Issue(t, "front-proxy-client", forClients))
		}},
		{name: "for servers", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "front-proxy-client", n.FrontProxyCA.Issue(t, "front-proxy-client", forServers))
		}, want: []string{"5:3 error false-404 [running target]: the proxy client certificate \"/etc/kubernetes/pki/front-proxy-client.crt\", or its issuer, is not meant for clients (extended key usage)."}},
		{name: "made anew by hand, and consistent", text: gateOn("requestheader-client-ca-file="+pki+"/p-ca.crt", "proxy-client-cert-file="+pki+"/p.crt", "proxy-client-key-file="+pki+"/p.key", "requestheader-allowed-names=p"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			own := certstest.NewCA(t, "p-ca")
			f[pki+"/p-ca.crt"] = certstest.PEM(own)
			place(t, f, "p", own.Issue(t, "p", forClients))
		}},
		{name: "expired is MVP207's", change: proxy("front-proxy-client", certstest.Ends(certstest.Now.Add(-1)))},
		{name: "empty CA flag", text: gateOn("requestheader-client-ca-file=\"\""), want: []string{
			"9:12 error false-404 [running target]: requestheader-client-ca-file is empty: the server takes no request that a peer hands over. [remove arg requestheader-client-ca-file]"}},
	})
}

func TestExpiry(t *testing.T) {
	in := func(days float64) certstest.Option {
		return certstest.Ends(certstest.Now.Add(time.Duration(days * float64(certstest.Day))))
	}
	serving := func(o certstest.Option) change {
		return func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "apiserver", n.CA.Issue(t, "x", peerNames, forServers, o))
		}
	}
	const name = "the serving certificate \"/etc/kubernetes/pki/apiserver.crt\""
	bad, soon := "5:3 error false-404 [running target]: ", "5:3 warning none [running target]: "
	caIn := func(days float64) change {
		return func(t *testing.T, n *certstest.Node, f certstest.Files) {
			c := certstest.NewCA(t, "kubernetes", in(days))
			f[pki+"/ca.crt"] = certstest.PEM(c)
			place(t, f, "apiserver", c.Issue(t, "x", peerNames, forServers))
		}
	}
	const caName = "the CA \"kubernetes\" in peer-ca-file \"/etc/kubernetes/pki/ca.crt\""
	runFilesCases(t, certificateExpiring, []filesCase{
		{name: "in 31 days", change: serving(in(30.5))},
		{name: "in 30 days", change: serving(in(30)), want: []string{soon + name + " expires on 2026-09-19, in 30 days."}},
		{name: "today", change: serving(in(0.5)), want: []string{soon + name + " expires on 2026-08-21, in less than a day."}},
		{name: "a day ago", change: serving(in(-1)), want: []string{bad + name + " expired on 2026-08-19, 1 day ago."}},
		{name: "not yet", change: serving(certstest.Begins(certstest.Now.Add(2 * certstest.Day))), want: []string{bad + name + " is not valid before 2026-08-22, in 2 days."}},
		{name: "the peer CA soon", change: caIn(10), want: []string{"9:12 warning none [running target]: " + caName + " expires on 2026-08-30, in 10 days."}},
		{name: "the peer CA expired", change: caIn(-10), want: []string{"9:12 error false-404 [running target]: " + caName + " expired on 2026-08-10, 10 days ago."}},
		{name: "an old CA beside the new one", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			f[pki+"/ca.crt"] = certstest.PEM(certstest.NewCA(t, "kubernetes", in(-10)), n.CA)
		}},
		{name: "the new CA beside the old one that still signs", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			caIn(5)(t, n, f)
			f[pki+"/ca.crt"] = append(f[pki+"/ca.crt"], certstest.PEM(n.CA)...)
		}, want: []string{"9:12 warning none [running target]: " + caName + " expires on 2026-08-25, in 5 days."}},
		{name: "an intermediate", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			i := n.CA.Issue(t, "intermediate", certstest.CA, in(3))
			place(t, f, "apiserver", i.Issue(t, "x", peerNames, forServers), i)
		}, want: []string{soon + "the issuer of the serving certificate in \"/etc/kubernetes/pki/apiserver.crt\" expires on 2026-08-23, in 3 days."}},
		{name: "the proxy client certificate", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			place(t, f, "front-proxy-client", n.FrontProxyCA.Issue(t, "front-proxy-client", forClients, in(-100)))
		}, want: []string{bad + "the proxy client certificate \"/etc/kubernetes/pki/front-proxy-client.crt\" expired on 2026-05-12, 100 days ago."}},
		{name: "the front proxy's CA", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			c := certstest.NewCA(t, "front-proxy-ca", in(-2))
			f[pki+"/front-proxy-ca.crt"] = certstest.PEM(c)
			place(t, f, "front-proxy-client", c.Issue(t, "front-proxy-client", forClients))
		}, want: []string{bad + "the CA \"front-proxy-ca\" in requestheader-client-ca-file \"/etc/kubernetes/pki/front-proxy-ca.crt\" expired on 2026-08-18, 2 days ago."}},
		{name: "a CA that verifies nothing", text: gateOn("peer-ca-file=" + pki + "/etcd/ca.crt"), change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			f[pki+"/etcd/ca.crt"] = certstest.PEM(certstest.NewCA(t, "etcd-ca", in(-1)))
		}, want: []string{"9:12 error false-404 [running target]: the CA \"etcd-ca\" in peer-ca-file \"/etc/kubernetes/pki/etcd/ca.crt\" expired on 2026-08-19, 1 day ago."}},
		{name: "files missing", change: func(t *testing.T, n *certstest.Node, f certstest.Files) {
			for name := range f {
				delete(f, name)
			}
		}},
	})
}

func TestUnreadable(t *testing.T) {
	put := func(name, text string) change {
		return func(t *testing.T, n *certstest.Node, f certstest.Files) { f[pki+"/"+name] = []byte(text) }
	}
	drop := func(names ...string) change {
		return func(t *testing.T, n *certstest.Node, f certstest.Files) {
			for _, name := range names {
				delete(f, pki+"/"+name)
			}
		}
	}
	add := func(name, text string) change {
		return func(t *testing.T, n *certstest.Node, f certstest.Files) {
			f[pki+"/"+name] = append(f[pki+"/"+name], text...)
		}
	}
	swap := func(to, from string) change {
		return func(t *testing.T, n *certstest.Node, f certstest.Files) { f[pki+"/"+to] = f[pki+"/"+from] }
	}
	const noCert = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	const cut = "-----BEGIN CERTIFICATE-----\nMIIB\n"
	peer := func(severity, consequence, what string) []string {
		return []string{"9:12 " + severity + " " + consequence + " [running target]: peer-ca-file \"/etc/kubernetes/pki/ca.crt\" " + what + "."}
	}
	own := func(severity, consequence, what string) []string {
		return []string{"5:3 " + severity + " " + consequence + " [running target]: " + what + "."}
	}
	stops := func(what string) []string { return own("error", "will-not-start", what) }
	const serving, proxy = "tls-cert-file \"/etc/kubernetes/pki/apiserver.crt\" ", "proxy-client-cert-file \"/etc/kubernetes/pki/front-proxy-client.crt\" "
	const headers = "requestheader-client-ca-file \"/etc/kubernetes/pki/front-proxy-ca.crt\" "
	runFilesCases(t, unreadableCertificate, []filesCase{
		{name: "peer CA missing", change: drop("ca.crt"), want: peer("error", "will-not-start", "does not exist below --root")},
		{name: "peer CA empty", change: put("ca.crt", ""), want: peer("error", "false-404", "is an empty file")},
		{name: "peer CA a line break", change: put("ca.crt", "\n"), want: peer("error", "will-not-start", "is not PEM text")},
		{name: "peer CA a key", change: swap("ca.crt", "apiserver.key"), want: peer("error", "will-not-start", "holds a private key in place of a certificate")},
		{name: "peer CA no certificate", change: put("ca.crt", noCert), want: peer("error", "will-not-start", "holds a certificate that cannot be read")},
		{name: "peer CA cut off", change: put("ca.crt", cut), want: peer("error", "will-not-start", "is damaged: a certificate begins in it and does not end")},
		{name: "peer CA with another, unreadable", change: add("ca.crt", noCert), want: peer("warning", "none", "holds a certificate that cannot be read")},
		{name: "peer CA with another, cut off", change: add("ca.crt", cut), want: peer("warning", "none", "is damaged: a certificate begins in it and does not end")},
		{name: "peer CA missing, gate off", text: extraArgs(ca), pair: upgrade(34, 35), change: drop("ca.crt"), want: []string{
			"7:12 error none [running target]: peer-ca-file \"/etc/kubernetes/pki/ca.crt\" does not exist below --root."}},
		{name: "peer CA missing, gate on at the target", text: extraArgs(ca), change: drop("ca.crt"), want: []string{
			"7:12 error will-not-start [target]: peer-ca-file \"/etc/kubernetes/pki/ca.crt\" does not exist below --root."}},
		{name: "peer CA a folder", text: gateOn("peer-ca-file=" + pki), want: []string{
			"9:12 error will-not-start [running target]: peer-ca-file \"/etc/kubernetes/pki\" is a folder."}},
		{name: "peer CA not mounted", text: gateOn("peer-ca-file=/srv/ca.crt")},
		{name: "peer CA malformed", text: gateOn("peer-ca-file=\" /etc/kubernetes/pki/x.crt\"")},
		{name: "peer CA in a folder that kubeadm may mount", text: gateOn("peer-ca-file=/usr/share/ca-certificates/x.crt"), want: []string{
			"9:12 error will-not-start [running target]: peer-ca-file \"/usr/share/ca-certificates/x.crt\" does not exist below --root."}},
		{name: "peer CA large", change: put("ca.crt", strings.Repeat("#", 1<<20+1)), want: []string{
			"unknown: peer-ca-file \"/etc/kubernetes/pki/ca.crt\" has more than 1 MiB and was not read"}},

		{name: "front proxy CA missing", change: drop("front-proxy-ca.crt"), want: stops(headers + "does not exist below --root")},
		{name: "front proxy CA empty", change: put("front-proxy-ca.crt", ""), want: stops(headers + "is an empty file")},
		{name: "front proxy CA with another, unreadable", change: add("front-proxy-ca.crt", noCert), want: stops(headers + "holds a certificate that cannot be read")},
		{name: "front proxy CA with another, cut off", change: add("front-proxy-ca.crt", cut), want: own("warning", "none", headers+"is damaged: a certificate begins in it and does not end")},

		{name: "serving certificate missing", change: drop("apiserver.crt"), want: stops(serving + "does not exist below --root")},
		{name: "serving certificate a key", change: swap("apiserver.crt", "apiserver.key"), want: stops(serving + "holds a private key in place of a certificate")},
		{name: "serving certificate, intermediate unreadable", change: add("apiserver.crt", noCert), want: own("error", "false-404", serving+"holds a certificate that cannot be read")},
		{name: "serving key missing", change: drop("apiserver.key"), want: stops("tls-private-key-file \"/etc/kubernetes/pki/apiserver.key\" does not exist below --root")},
		{name: "no keys copied", change: drop("apiserver.key", "front-proxy-client.key")},
		{name: "serving key empty", change: put("apiserver.key", ""), want: stops("tls-private-key-file \"/etc/kubernetes/pki/apiserver.key\" is an empty file")},
		{name: "serving key a certificate", change: swap("apiserver.key", "apiserver.crt"), want: stops("tls-private-key-file \"/etc/kubernetes/pki/apiserver.key\" holds no private key")},
		{name: "serving key unreadable", change: put("apiserver.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), want: stops("tls-private-key-file \"/etc/kubernetes/pki/apiserver.key\" holds a private key that cannot be read (encrypted, or damaged)")},
		{name: "another key", change: swap("apiserver.key", "front-proxy-client.key"), want: stops("the private key \"/etc/kubernetes/pki/apiserver.key\" does not belong to the serving certificate \"/etc/kubernetes/pki/apiserver.crt\"")},
		{name: "proxy certificate missing", change: drop("front-proxy-client.crt"), want: stops(proxy + "does not exist below --root")},
		{name: "another proxy key", change: swap("front-proxy-client.key", "apiserver.key"), want: stops("the private key \"/etc/kubernetes/pki/front-proxy-client.key\" does not belong to the proxy client certificate \"/etc/kubernetes/pki/front-proxy-client.crt\"")},
		{name: "proxy key flag empty is MVP205's", text: gateOn(ca, "proxy-client-key-file=\"\""), change: drop("front-proxy-client.crt")},
		{name: "SNI", text: gateOn("tls-sni-cert-key='" + pki + "/a.crt," + pki + "/a.key'"), want: []string{
			"9:12 error will-not-start [running target]: tls-sni-cert-key \"/etc/kubernetes/pki/a.crt\" does not exist below --root.",
			"9:12 error will-not-start [running target]: tls-sni-cert-key \"/etc/kubernetes/pki/a.key\" does not exist below --root."}},
		{name: "serving certificate not mounted", text: gateOn("tls-cert-file=/srv/x.crt"), want: []string{
			"unknown: tls-cert-file \"/srv/x.crt\" is in no host path of the pod, so it was not read"}},
	})
}

func TestServingHalfEmpty(t *testing.T) {
	runCases(t, unreadableCertificate, []trustCase{
		{"certificate empty", gateOn("tls-cert-file=\"\""), Pair{}, []string{
			"9:12 error will-not-start [running target]: tls-cert-file is empty and tls-private-key-file is not: kube-apiserver does not start."}},
		{"key empty", gateOn("tls-private-key-file=\"\""), Pair{}, []string{
			"9:12 error will-not-start [running target]: tls-private-key-file is empty and tls-cert-file is not: kube-apiserver does not start."}},
		{"both empty", gateOn("tls-cert-file=\"\"", "tls-private-key-file=\"\""), Pair{}, []string{skippedNoFiles}},
	})
}

// TestOneNode: with one control-plane node nobody is asked for a hand-off; what stops the server still counts.
func TestOneNode(t *testing.T) {
	n := certstest.NewNode(t)
	files := n.Files(t)
	files[pki+"/ca.crt"] = nil
	delete(files, pki+"/front-proxy-ca.crt")
	place(t, files, "apiserver", n.CA.Issue(t, "x", peerNames, forServers, certstest.Ends(certstest.Now.Add(-certstest.Day))))
	in, err := config.Read("cluster.yaml", []byte(gateOn(ca)))
	if err != nil {
		t.Fatal(err)
	}
	in.Clusters[0].Replicas, in.Clusters[0].ReplicasFrom = 1, "--nodes"
	res := Run(Input{Cluster: in.Clusters[0], Pair: upgrade(35, 36), Root: files.Write(t), Now: certstest.Now}, trustRules)
	var got []string
	for _, f := range res.Findings {
		got = append(got, fmt.Sprintf("%s %s %s", f.Rule.ID, f.Severity, f.Consequence))
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"MVP207 error none", "MVP208 error will-not-start"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestNotReadable: what this user may not read is unknown, never wrong.
func TestNotReadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	root := certstest.NewNode(t).Files(t).Write(t)
	for _, name := range []string{"ca.crt", "apiserver.key"} {
		if err := os.Chmod(filepath.Join(root, pki, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, rule := range trustRules {
		for _, line := range trustFindings(t, rule, gateOn(ca), upgrade(35, 36), root) {
			if !strings.HasPrefix(line, "unknown: ") {
				t.Errorf("%s: %s", rule.ID, line)
			}
		}
	}
}
