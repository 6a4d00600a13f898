package checks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// upgrade is a pair of minor releases.
func upgrade(from, to int) Pair {
	return Pair{From: release.OfMinor(from), To: release.OfMinor(to), Upgrade: from != to}
}

// extraArgs returns a ClusterConfiguration with extraArgs; an argument is name=value, with value as YAML.
func extraArgs(args ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\ncontrolPlaneEndpoint: cp.example.com:6443\napiServer:\n  extraArgs:\n")
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		fmt.Fprintf(&b, "  - name: %s\n    value: %s\n", name, value)
	}
	if len(args) == 0 {
		return strings.TrimSuffix(b.String(), "apiServer:\n  extraArgs:\n")
	}
	return b.String()
}

// gateOn are extraArgs with the gate on besides others.
func gateOn(args ...string) string {
	return extraArgs(append([]string{"feature-gates=" + release.Gate + "=true"}, args...)...)
}

// pod returns a static pod manifest with flags and with folders mounted.
func pod(flags []string, mounts ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Pod\nmetadata: {name: kube-apiserver, namespace: kube-system}\nspec:\n  containers:\n  - name: kube-apiserver\n    image: registry.example.com/kube-apiserver:v1.36.0\n    command:\n    - kube-apiserver\n")
	for _, f := range flags {
		fmt.Fprintf(&b, "    - --%s\n", f)
	}
	b.WriteString("    volumeMounts:\n")
	for i, m := range mounts {
		fmt.Fprintf(&b, "    - {name: v%d, mountPath: %s}\n", i, m)
	}
	b.WriteString("  volumes:\n")
	for i, m := range mounts {
		fmt.Fprintf(&b, "  - {name: v%d, hostPath: {path: %s}}\n", i, m)
	}
	return b.String()
}

// trustFindings runs one rule over a text and returns what it says, a line a finding.
func trustFindings(t *testing.T, rule *Rule, text string, pair Pair, root string) []string {
	t.Helper()
	in, err := config.Read("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	res := Run(Input{Cluster: in.Clusters[0], Pair: pair, Root: root, Now: certstest.Now, CertDays: 30}, []*Rule{rule})
	var out []string
	for _, f := range res.Findings {
		if f.At.IsZero() || f.Message == "" || f.Why == "" || f.Fix == "" {
			t.Errorf("incomplete: %+v", f)
		}
		if f.Severity > rule.Severity || len(f.Changes) > 0 && !rule.Fixable {
			t.Errorf("more than the rule says of itself: %v, %d changes", f.Severity, len(f.Changes))
		}
		start, _ := f.At.Range()
		out = append(out, fmt.Sprintf("%d:%d %s %s %v: %s%s", start.Line, start.Column, f.Severity, f.Consequence, f.When, f.Message, changesText(f.Changes)))
	}
	for _, n := range res.Skipped {
		out = append(out, "skipped: "+n.Reason)
	}
	for _, n := range res.Unknown {
		out = append(out, "unknown: "+n.Reason)
	}
	return out
}

func changesText(changes []Change) string {
	ops := map[Op]string{SetFlag: "set flag", SetArg: "set arg", RemoveArg: "remove arg", AddVolume: "mount"}
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, " [%s", ops[c.Op])
		if c.Flag != "" {
			b.WriteString(" " + c.Flag)
		}
		if c.Arg != nil {
			b.WriteString(" " + c.Arg.Name)
		}
		if c.Value != "" {
			b.WriteString(" " + c.Value)
		}
		b.WriteString("]")
	}
	return b.String()
}

// trustCase is a configuration and what one rule says of it.
type trustCase struct {
	name string
	text string
	pair Pair
	want []string
}

func runCases(t *testing.T, rule *Rule, cases []trustCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			pair := tc.pair
			if pair.From.IsZero() {
				pair = upgrade(35, 36)
			}
			if diff := cmp.Diff(tc.want, trustFindings(t, rule, tc.text, pair, "")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

const ca = "peer-ca-file=/etc/kubernetes/pki/ca.crt"

func TestPeerCAMissing(t *testing.T) {
	const missing = " error false-404 [running target]: peer-ca-file is not set: the servers cannot verify each other and hand no request over."
	runCases(t, peerCAMissing, []trustCase{
		{"nothing set", extraArgs(), Pair{}, []string{"2:7" + missing + " [set flag peer-ca-file /etc/kubernetes/pki/ca.crt]"}},
		{"another folder", extraArgs("v=\"2\"") + "certificatesDir: /var/lib//pki/\n", Pair{}, []string{"5:3" + missing + " [set flag peer-ca-file /var/lib/pki/ca.crt]"}},
		{"folder not filled in", extraArgs("v=\"2\"") + "certificatesDir: ${DIR}\n", Pair{}, []string{"5:3" + missing}},
		{"set", gateOn(ca), Pair{}, nil},
		{"not filled in", gateOn("peer-ca-file=${CA}"), Pair{}, nil},
		{"empty", gateOn("peer-ca-file=\"\""), Pair{}, []string{
			"9:12 error false-404 [running target]: peer-ca-file is empty: the servers cannot verify each other and hand no request over. [set flag peer-ca-file /etc/kubernetes/pki/ca.crt]"}},
		{"underscores", gateOn("peer_ca_file=/etc/kubernetes/pki/ca.crt"), Pair{}, nil},
		{"same minor", extraArgs(), upgrade(36, 36), []string{"skipped: the minor release does not change: all servers serve the same"}},
		{"under an unknown field", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\napiServer:\n  extraArg:\n  - {name: peer-ca-file, value: /x}\n", Pair{},
			[]string{"skipped: peer-ca-file is there and does not reach the servers, which another finding says"}},
		{"capitals", gateOn("peerCAFile=/etc/kubernetes/pki/ca.crt"), Pair{},
			[]string{"skipped: peer-ca-file is there and does not reach the servers, which another finding says"}},
		{"pod", pod([]string{"tls-cert-file=/srv/certs/apiserver.crt"}, "/srv/certs"), upgrade(36, 37), []string{"8:5" + missing}},
	})
}

func TestPeerCAFixText(t *testing.T) {
	in, err := config.Read("pod.yaml", []byte(pod([]string{"tls-cert-file=/srv/certs/apiserver.crt"}, "/srv/certs")))
	if err != nil {
		t.Fatal(err)
	}
	res := Run(Input{Cluster: in.Clusters[0], Pair: upgrade(35, 36), Now: certstest.Now}, []*Rule{peerCAMissing})
	const want = "peer-ca-file: /srv/certs/ca.crt in the ClusterConfiguration (kubeadm upgrade rewrites this manifest), rolled out on 1.35 before the upgrade"
	if diff := cmp.Diff(want, res.Findings[0].Fix); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPeerCANotMounted(t *testing.T) {
	const outside = "peer-ca-file=/srv/pki/ca.crt"
	const message = ": peer-ca-file \"/srv/pki/ca.crt\" is not in the kube-apiserver pod: no volume mounts it."
	volume := "  extraVolumes:\n  - {name: %s, hostPath: /host, mountPath: %s}\n"
	runCases(t, peerCANotMounted, []trustCase{
		{"kubeadm's", gateOn(ca), Pair{}, nil},
		{"outside", gateOn(outside), Pair{}, []string{"9:12 error will-not-start [running target]" + message + " [mount /srv/pki]"}},
		{"gate off on the running release", extraArgs(outside), Pair{}, []string{"7:12 error will-not-start [target]" + message + " [mount /srv/pki]"}},
		{"gate off on both", extraArgs(outside), upgrade(34, 35), []string{"7:12 error none [running target]" + message + " [mount /srv/pki]"}},
		{"same minor", extraArgs(outside), upgrade(36, 36), []string{"7:12 error will-not-start [running target]" + message + " [mount /srv/pki]"}},
		{"a name alike", gateOn("peer-ca-file=/etc/kubernetes/pki2/ca.crt"), Pair{}, []string{
			"9:12 error will-not-start [running target]: peer-ca-file \"/etc/kubernetes/pki2/ca.crt\" is not in the kube-apiserver pod: no volume mounts it. [mount /etc/kubernetes/pki2]"}},
		{"folder of the root", gateOn("peer-ca-file=/root/ca.crt"), Pair{}, []string{
			"9:12 error will-not-start [running target]: peer-ca-file \"/root/ca.crt\" is not in the kube-apiserver pod: no volume mounts it. [mount /root/ca.crt]"}},
		{"out of the folder again", gateOn("peer-ca-file=/etc/kubernetes/pki/../ca.crt"), Pair{}, []string{
			"9:12 error will-not-start [running target]: peer-ca-file \"/etc/kubernetes/pki/../ca.crt\" is not in the kube-apiserver pod: no volume mounts it. [mount /etc/kubernetes]"}},
		{"extra volume", gateOn(outside) + fmt.Sprintf(volume, "x", "/srv"), Pair{}, nil},
		{"kubeadm's volume replaced", gateOn(ca) + fmt.Sprintf(volume, "k8s-certs", "/other"), Pair{}, []string{
			"9:12 error will-not-start [running target]: peer-ca-file \"/etc/kubernetes/pki/ca.crt\" is not in the kube-apiserver pod: no volume mounts it. [mount /etc/kubernetes/pki]"}},
		{"certificates of the system", gateOn("peer-ca-file=/etc/ssl/certs/x.pem"), Pair{}, nil},
		{"perhaps mounted", gateOn("peer-ca-file=/usr/share/ca-certificates/x.crt"), Pair{}, []string{
			"skipped: /usr/share/ca-certificates/x.crt is in /usr/share/ca-certificates, which kubeadm mounts where the node has it"}},
		{"malformed", gateOn("peer-ca-file=\" /srv/pki/ca.crt\""), Pair{}, nil},
		{"not filled in", gateOn("peer-ca-file=${DIR}/ca.crt"), Pair{}, nil},
		{"pod", pod([]string{outside}, "/etc/kubernetes/pki"), upgrade(36, 37), []string{"10:7 error will-not-start [running target]" + message}},
		{"pod with it", pod([]string{outside}, "/srv/pki"), upgrade(36, 37), nil},
		{"pod without volumes", strings.Split(pod([]string{outside}), "    volumeMounts")[0], upgrade(36, 37), []string{"10:7 error will-not-start [running target]" + message}},
		{"wrong file, too", gateOn("peer-ca-file=/srv/etcd/ca.crt"), Pair{}, []string{
			"9:12 error will-not-start [running target]: peer-ca-file \"/srv/etcd/ca.crt\" is not in the kube-apiserver pod: no volume mounts it."}},
	})
}

func TestPeerCAPathMalformed(t *testing.T) {
	finding := func(consequence, value, what, changes string) []string {
		return []string{fmt.Sprintf("9:12 error %s [running target]: peer-ca-file %s %s: kube-apiserver finds no such file.%s", consequence, value, what, changes)}
	}
	const clean = " [set arg peer-ca-file /etc/kubernetes/pki/ca.crt]"
	runCases(t, peerCAPathMalformed, []trustCase{
		{"right", gateOn(ca), Pair{}, nil},
		{"not canonical", gateOn("peer-ca-file=/etc//kubernetes/./pki/ca.crt"), Pair{}, nil},
		{"blank within", gateOn("peer-ca-file=/etc/kubernetes/pki/my ca.crt"), Pair{}, nil},
		{"leading blank", gateOn("peer-ca-file=\" /etc/kubernetes/pki/ca.crt\""), Pair{}, finding("will-not-start", `" /etc/kubernetes/pki/ca.crt"`, "has blanks around it", clean)},
		{"trailing blank", gateOn("peer-ca-file=\"/etc/kubernetes/pki/ca.crt \""), Pair{}, finding("will-not-start", `"/etc/kubernetes/pki/ca.crt "`, "has blanks around it", clean)},
		{"folded scalar", gateOn("peer-ca-file=>\n      /etc/kubernetes/pki/ca.crt"), Pair{}, finding("will-not-start", `"/etc/kubernetes/pki/ca.crt\n"`, "ends with a line break", clean)},
		{"quotes within", gateOn("peer-ca-file='\"/etc/kubernetes/pki/ca.crt\"'"), Pair{}, finding("will-not-start", `"\"/etc/kubernetes/pki/ca.crt\""`, "has quotes within the value", clean)},
		{"slash at the end", gateOn("peer-ca-file=/etc/kubernetes/pki/ca.crt/"), Pair{}, finding("will-not-start", `"/etc/kubernetes/pki/ca.crt/"`, "ends with a slash, as only a folder does", clean)},
		{"relative", gateOn("peer-ca-file=pki/ca.crt"), Pair{}, finding("will-not-start", `"pki/ca.crt"`, "is no absolute path", "")},
		{"home", gateOn("peer-ca-file=~/ca.crt"), Pair{}, finding("will-not-start", `"~/ca.crt"`, "is no absolute path", "")},
		{"relative, right from /", gateOn("peer-ca-file=etc/kubernetes/pki/ca.crt"), Pair{}, []string{
			"9:12 warning none [running target]: peer-ca-file \"etc/kubernetes/pki/ca.crt\" is no absolute path."}},
		{"gate off", extraArgs("peer-ca-file=\" /etc/kubernetes/pki/ca.crt\""), upgrade(34, 35), []string{
			"7:12 error none [running target]: peer-ca-file \" /etc/kubernetes/pki/ca.crt\" has blanks around it: kube-apiserver finds no such file." + clean}},
		{"gate on at the target only", extraArgs("peer-ca-file=\" /etc/kubernetes/pki/ca.crt\""), Pair{}, []string{
			"7:12 error will-not-start [target]: peer-ca-file \" /etc/kubernetes/pki/ca.crt\" has blanks around it: kube-apiserver finds no such file." + clean}},
		{"not mounted, too", gateOn("peer-ca-file=\" /srv/pki/ca.crt\""), Pair{}, finding("will-not-start", `" /srv/pki/ca.crt"`, "has blanks around it", " [set arg peer-ca-file /srv/pki/ca.crt] [mount /srv/pki]")},
		{"wrong file, too", gateOn("peer-ca-file=\" /etc/kubernetes/pki/etcd/ca.crt\""), Pair{}, finding("will-not-start", `" /etc/kubernetes/pki/etcd/ca.crt"`, "has blanks around it", clean)},
		{"empty", gateOn("peer-ca-file=\"\""), Pair{}, nil},
		{"not filled in", gateOn("peer-ca-file=\" {{ dir }}/ca.crt\""), Pair{}, nil},
		{"pod", pod([]string{"peer-ca-file=/srv/ca.crt/"}, "/srv"), upgrade(36, 37), []string{
			"10:7 error will-not-start [running target]: peer-ca-file \"/srv/ca.crt/\" ends with a slash, as only a folder does: kube-apiserver finds no such file."}},
	})
}
