package checks

import (
	"fmt"
	"testing"
)

const skippedNoFiles = "skipped: " + noFiles

func TestPeerCAWrongByPath(t *testing.T) {
	const etcd = "9:12 error false-404 [running target]: peer-ca-file \"/etc/kubernetes/pki/etcd/ca.crt\" is etcd's CA, which does not sign the serving certificates of API servers."
	const set = " [set flag peer-ca-file /etc/kubernetes/pki/ca.crt]"
	external := "etcd:\n  external:\n    endpoints: [https://192.0.2.1:2379]\n    caFile: %s\n    certFile: /x/c\n    keyFile: /x/k\n"
	with := func(caFile string) string { return fmt.Sprintf(external, caFile) }
	runCases(t, peerCAWrong, []trustCase{
		{"right", gateOn(ca), Pair{}, []string{skippedNoFiles}},
		{"not set", extraArgs(), Pair{}, []string{skippedNoFiles}},
		{"etcd's", gateOn("peer-ca-file=/etc/kubernetes/pki/etcd/ca.crt"), Pair{}, []string{etcd + set}},
		{"not canonical", gateOn("peer-ca-file=/etc/kubernetes/pki/x/../etcd/ca.crt"), Pair{}, []string{
			"9:12 error false-404 [running target]: peer-ca-file \"/etc/kubernetes/pki/x/../etcd/ca.crt\" is etcd's CA, which does not sign the serving certificates of API servers." + set}},
		{"front proxy's", gateOn("peer-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt"), Pair{}, []string{
			"9:12 error false-404 [running target]: peer-ca-file \"/etc/kubernetes/pki/front-proxy-ca.crt\" is the front proxy's CA, which does not sign the serving certificates of API servers." + set}},
		{"external etcd's", gateOn("peer-ca-file=/etc/etcd/certs/root.pem") + with("/etc/etcd/certs/root.pem"), Pair{}, []string{
			"9:12 error false-404 [running target]: peer-ca-file \"/etc/etcd/certs/root.pem\" is etcd's CA, which does not sign the serving certificates of API servers." + set}},
		{"external etcd has the cluster's CA", gateOn(ca) + with("/etc/kubernetes/pki/ca.crt"), Pair{}, []string{skippedNoFiles}},
		{"one CA for all", gateOn("peer-ca-file=/etc/corp/root.pem", "tls-cert-file=/etc/corp/api.pem") + with("/etc/corp/root.pem"), Pair{}, []string{
			"9:12 warning none [running target]: peer-ca-file \"/etc/corp/root.pem\" is etcd's CA; whether that signed the serving certificates, too, cannot be seen here."}},
		{"malformed", gateOn("peer-ca-file=\" /etc/kubernetes/pki/etcd/ca.crt\""), Pair{}, []string{skippedNoFiles}},
		{"not filled in", gateOn("peer-ca-file=${DIR}/etcd/ca.crt"), Pair{}, []string{skippedNoFiles}},
		{"pod", pod([]string{"peer-ca-file=/p/etcd/ca.crt", "client-ca-file=/p/ca.crt"}, "/p"), upgrade(36, 37), []string{
			"10:7 error false-404 [running target]: peer-ca-file \"/p/etcd/ca.crt\" is etcd's CA, which does not sign the serving certificates of API servers."}},
		{"pod, the clients' CA lies there", pod([]string{"peer-ca-file=/p/etcd/ca.crt", "client-ca-file=/p/etcd/ca.crt"}, "/p"), upgrade(36, 37), []string{skippedNoFiles}},
	})
}

func TestServingCertByFlag(t *testing.T) {
	warning := func(at, flag, what, value string) []string {
		return []string{at + " warning none [running target]: " + flag + " sets " + what + " to \"" + value + "\"; whether that is valid for kubernetes.default.svc cannot be seen here."}
	}
	const main, peers = "the serving certificate", "the certificate for peers"
	runCases(t, servingCertName, []trustCase{
		{"kubeadm's", gateOn(ca), Pair{}, []string{skippedNoFiles}},
		{"kubeadm's, written out", gateOn("tls-cert-file=/etc/kubernetes/pki//apiserver.crt"), Pair{}, []string{skippedNoFiles}},
		{"another", gateOn("tls-cert-file=/etc/kubernetes/pki/api.crt"), Pair{}, warning("9:12", "tls-cert-file", main, "/etc/kubernetes/pki/api.crt")},
		{"SNI for another name", gateOn("tls-sni-cert-key='/a.crt,/a.key:api.example.com'"), Pair{}, []string{skippedNoFiles}},
		{"SNI without patterns", gateOn("tls-sni-cert-key='/a.crt,/a.key'"), Pair{}, []string{skippedNoFiles}},
		{"SNI for the name", gateOn("tls-cert-file=/x.crt", "tls-sni-cert-key='/a.crt,/a.key:*.default.svc'"), Pair{},
			warning("11:12", "tls-sni-cert-key", peers, "/a.crt,/a.key:*.default.svc")},
		{"pod", pod([]string{"tls-cert-file=/p/apiserver.crt"}, "/p"), upgrade(36, 37), []string{skippedNoFiles}},
		{"pod with another", pod([]string{"tls-cert-file=/p/server.pem"}, "/p"), upgrade(36, 37), warning("10:7", "tls-cert-file", main, "/p/server.pem")},
	})
}

func TestProxyClientCertMissing(t *testing.T) {
	const emptyCert, emptyKey = "proxy-client-cert-file=\"\"", "proxy-client-key-file=\"\""
	const what = "the server has nothing to prove its identity to its peers with."
	runCases(t, proxyClientCertMissing, []trustCase{
		{"kubeadm's", gateOn(ca), Pair{}, nil},
		{"certificate empty", gateOn(ca, emptyCert), Pair{}, []string{
			"11:12 error will-not-start [running target]: proxy-client-cert-file is empty: " + what + " [remove arg proxy-client-cert-file]"}},
		{"both empty", gateOn(ca, emptyCert, emptyKey), Pair{}, []string{
			"11:12 error will-not-start [running target]: proxy-client-cert-file and proxy-client-key-file are empty: " + what + " [remove arg proxy-client-cert-file] [remove arg proxy-client-key-file]"}},
		{"gate on at the target only", extraArgs(ca, emptyKey), Pair{}, []string{
			"9:12 error will-not-start [target]: proxy-client-key-file is empty: " + what + " [remove arg proxy-client-key-file]"}},
		{"no peer CA", gateOn(emptyCert), Pair{}, []string{
			"9:12 error false-404 [running target]: proxy-client-cert-file is empty: " + what + " [remove arg proxy-client-cert-file]"}},
		{"not filled in", gateOn(ca, "proxy-client-cert-file=${CERT}"), Pair{}, nil},
		{"pod without", pod([]string{ca}, "/etc"), upgrade(36, 37), []string{
			"10:7 error will-not-start [running target]: proxy-client-cert-file and proxy-client-key-file are not set: " + what}},
		{"pod with one", pod([]string{ca, "proxy-client-cert-file=/etc/c"}, "/etc"), upgrade(36, 37), []string{
			"10:7 error will-not-start [running target]: proxy-client-key-file is not set: " + what}},
		{"pod without, no peer CA", pod([]string{"v=2"}, "/etc"), upgrade(36, 37), nil},
	})
}

func TestRequestHeaderByFlag(t *testing.T) {
	const notAllowed = " error false-404 [running target]: requestheader-allowed-names allows %s, not \"front-proxy-client\", the name in kubeadm's proxy client certificate."
	refuses := func(at, names, change string) []string { return []string{at + fmt.Sprintf(notAllowed, names) + change} }
	const unseen = "whether the servers take each other's proxy client certificate cannot be seen here."
	const clients = "the CA of the clients, not the one that signs kubeadm's proxy client certificate."
	runCases(t, requestheaderRefusesPeers, []trustCase{
		{"kubeadm's", gateOn(ca), Pair{}, nil},
		{"another name", gateOn("requestheader-allowed-names=aggregator"), Pair{}, refuses("9:12", `"aggregator" only`, " [set arg requestheader-allowed-names aggregator,front-proxy-client]")},
		{"among others", gateOn("requestheader-allowed-names=\"aggregator,front-proxy-client\""), Pair{}, nil},
		{"blank before the name", gateOn("requestheader-allowed-names=\"aggregator, front-proxy-client\""), Pair{}, refuses("9:12", `"aggregator", " front-proxy-client" only`, " [set arg requestheader-allowed-names aggregator, front-proxy-client,front-proxy-client]")},
		{"given twice", gateOn("requestheader-allowed-names=a", "requestheader-allowed-names=front-proxy-client"), Pair{}, nil},
		{"with underscores, beside kubeadm's", gateOn("requestheader_allowed_names=a"), Pair{}, nil},
		{"any", gateOn("requestheader-allowed-names=\"\""), Pair{}, nil},
		{"quoted, as in CSV", gateOn("requestheader-allowed-names='\"front-proxy-client\",\"a,b\"'"), Pair{}, nil},
		{"not CSV", gateOn("requestheader-allowed-names='a\"b'"), Pair{}, nil},
		{"an empty name", gateOn("requestheader-allowed-names='a,'"), Pair{}, nil},
		{"not filled in", gateOn("requestheader-allowed-names=${NAMES}"), Pair{}, nil},
		{"empty certificate", gateOn("requestheader-allowed-names=a", "proxy-client-cert-file=\"\""), Pair{}, refuses("9:12", `"a" only`, " [set arg requestheader-allowed-names a,front-proxy-client]")},
		{"another certificate", gateOn("proxy-client-cert-file=/etc/kubernetes/pki/proxy.crt"), Pair{}, []string{
			"9:12 warning none [running target]: proxy-client-cert-file is set to \"/etc/kubernetes/pki/proxy.crt\"; " + unseen}},
		{"another certificate, any name", gateOn("proxy-client-cert-file=/etc/kubernetes/pki/proxy.crt", "requestheader-allowed-names=\"\""), Pair{}, nil},
		{"another set", gateOn("proxy-client-cert-file=/p/p.crt", "requestheader-client-ca-file=/p/ca.crt", "requestheader-allowed-names=p"), Pair{}, []string{
			"9:12 warning none [running target]: proxy-client-cert-file is set to \"/p/p.crt\"; " + unseen}},
		{"another CA", gateOn("requestheader-client-ca-file=/p/ca.crt"), Pair{}, []string{
			"9:12 warning none [running target]: requestheader-client-ca-file is set to \"/p/ca.crt\"; " + unseen}},
		{"the clients' CA", gateOn("requestheader-client-ca-file=/etc/kubernetes/pki/ca.crt"), Pair{}, []string{
			"9:12 error false-404 [running target]: requestheader-client-ca-file \"/etc/kubernetes/pki/ca.crt\" is " + clients + " [remove arg requestheader-client-ca-file]"}},
		{"the clients' CA and any name", gateOn("requestheader-client-ca-file=/etc/kubernetes/pki/ca.crt", "requestheader-allowed-names=\"\""), upgrade(34, 35), []string{
			"9:12 error will-not-start [target]: requestheader-client-ca-file \"/etc/kubernetes/pki/ca.crt\" is " + clients + " [remove arg requestheader-client-ca-file]"}},
		{"etcd's CA", gateOn("requestheader-client-ca-file=/etc/kubernetes/pki/etcd/ca.crt"), Pair{}, []string{
			"9:12 error false-404 [running target]: requestheader-client-ca-file \"/etc/kubernetes/pki/etcd/ca.crt\" is the CA of etcd, not the one that signs kubeadm's proxy client certificate. [remove arg requestheader-client-ca-file]"}},
		{"empty CA", gateOn("requestheader-client-ca-file=\"\""), Pair{}, []string{
			"9:12 error false-404 [running target]: requestheader-client-ca-file is empty: the server takes no request that a peer hands over. [remove arg requestheader-client-ca-file]"}},
		{"pod", pod([]string{"requestheader-allowed-names=front-proxy-client", "proxy-client-cert-file=/p/front-proxy-client.crt", "requestheader-client-ca-file=/p/front-proxy-ca.crt"}, "/p"), upgrade(36, 37), nil},
		{"pod of another name", pod([]string{"requestheader-allowed-names=x", "proxy-client-cert-file=/p/front-proxy-client.crt"}, "/p"), upgrade(36, 37), refuses("10:7", `"x" only`, "")},
		{"pod with other files", pod([]string{"proxy-client-cert-file=/p/x.pem", "requestheader-client-ca-file=/p/ca.pem"}, "/p"), upgrade(36, 37), nil},
		{"pod without CA", pod([]string{ca, "proxy-client-cert-file=/p/x.pem"}, "/p"), upgrade(36, 37), []string{
			"8:5 error false-404 [running target]: requestheader-client-ca-file is not set: the server takes no request that a peer hands over."}},
	})
}
