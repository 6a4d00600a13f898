package checks

// cases are the answers for testdata/cases, by the number of the file: what stands in the reports for the default pair of
// releases, and "fix" where mvpcheck patch makes the change.
var cases = map[string][]string{
	// v1beta2-too-old.yaml
	"001": {
		"1:13 error MVP001 refused-by-kubeadm",
		"3:20 error MVP007",
	},
	// v1beta1-version-stable.yaml
	"002": {
		"1:13 error MVP001 refused-by-kubeadm",
	},
	// v1alpha3-flat-fields.yaml
	"003": {
		"1:13 error MVP001 refused-by-kubeadm",
		"3:20 error MVP007",
	},
	// v1beta3-map-multidoc.yaml
	"005": {
		"9:7 info MVP309",
		"13:3 error MVP101 false-404 running fix (1.33 -> 1.34, 1.35 -> 1.36)",
		"13:3 error MVP201 false-404 fix (1.33 -> 1.34, 1.35 -> 1.36, 1.36 -> 1.37)",
		"8:13 error MVP001 refused-by-kubeadm target (1.36 -> 1.37)",
	},
	// v1beta4-list-comment-between-items.yaml
	"006": {
		"18:3 error MVP201 false-404 fix",
		"20:12 error MVP302 false-404 fix",
	},
	// v1beta4-envsubst-placeholders.yaml
	"007": {
		"4:13 info MVP006",
		"8:23 info MVP006",
		"12:3 error MVP101 false-404 running fix (1.33 -> 1.34, 1.35 -> 1.36)",
		"12:3 error MVP201 false-404 fix (1.33 -> 1.34, 1.35 -> 1.36, 1.36 -> 1.37)",
		"14:12 info MVP006",
		"14:12 error MVP302 false-404 fix (1.33 -> 1.34, 1.35 -> 1.36, 1.36 -> 1.37)",
		"16:12 info MVP006",
		"14:12 warning MVP302 fix (1.34 -> 1.35)",
	},
	// v1beta3-dump-order.yaml
	"009": nil, // 1.34 and 1.35 serve the same
	// no-apiserver-no-v-no-eol.yaml
	"010": {
		"8:7 error MVP101 false-404 running fix",
		"8:7 error MVP201 false-404 fix",
		"8:7 info MVP309",
	},
	// apiserver-empty-flow-map.yaml
	"012": {
		"1:1 error MVP201 false-404 fix",
		"8:7 info MVP309",
	},
	// extraargs-null.yaml
	"014": {
		"2:7 info MVP309",
		"7:3 error MVP201 false-404 fix",
	},
	// map-extraargs-in-v1beta4.yaml
	"015": {
		"5:3 error MVP002 refused-by-kubeadm fix",
	},
	// list-extraargs-in-v1beta3.yaml
	"016": {
		"5:3 error MVP002 refused-by-kubeadm fix",
	},
	// v1beta4-unquoted-scalars.yaml
	"018": {
		"2:7 info MVP309",
		"7:14 error MVP003 refused-by-kubeadm fix",
		"9:14 error MVP003 refused-by-kubeadm fix",
		"13:14 error MVP003 refused-by-kubeadm fix",
		"13:14 warning MVP304",
	},
	// gate-in-kubeadm-featuregates.yaml
	"020": {
		"2:7 info MVP309",
		"5:3 error MVP104 refused-by-kubeadm fix",
	},
	// camelcase-flag-and-colon-value.yaml
	"021": {
		"2:7 info MVP309",
		"7:5 error MVP120 will-not-start fix",
	},
	// feature-gates-folded.yaml
	"022": {
		"2:7 info MVP309",
		"10:19 error MVP209 will-not-start fix",
	},
	// feature-gates-kube-prefix-emulated.yaml
	"023": {
		"2:7 info MVP309",
	},
	// allalpha.yaml
	"025": {
		"2:7 info MVP309",
		"6:20 warning MVP111",
	},
	// obsolete-toplevel-apiserverextraargs.yaml
	"026": {
		"2:7 info MVP309",
		"4:1 warning MVP005",
		"6:1 error MVP005",
		"9:1 warning MVP005",
	},
	// allbeta-false.yaml
	"027": {
		"2:7 info MVP309",
		"7:12 error MVP102 false-404 fix",
		"9:12 error MVP103 will-not-start fix",
	},
	// feature-gates-repeated-entries.yaml
	"028": {
		"2:7 info MVP309",
	},
	// duplicate-map-keys.yaml
	"030": {
		"2:7 info MVP309",
		"9:5 error MVP004 refused-by-kubeadm",
		"11:1 error MVP004 refused-by-kubeadm",
	},
	// empty-documents.yaml
	"032": {
		"1:1 error MVP010 refused-by-kubeadm",
		"3:1 error MVP010 refused-by-kubeadm",
		"7:7 info MVP309",
		"14:1 error MVP010 refused-by-kubeadm",
	},
	// ipv6-only.yaml
	"033": {
		"16:24 error MVP302 false-404 fix",
		"20:24 warning MVP303 fix",
		"20:24 warning MVP306",
	},
	// external-etcd-odd-indent.yaml
	"035": nil, // 1.34 and 1.35 serve the same
	// tab-indentation.yaml
	"038": {
		"error: :5:1: a tab is used as indentation; YAML takes blanks only",
	},
	// crlf.yaml
	"039": {
		"3:7 info MVP309",
		"7:3 error MVP201 false-404 fix",
	},
	// bom.yaml
	"040": {
		"2:7 info MVP309",
	},
	// flow-style.yaml
	"041": {
		"1:1 error MVP010 refused-by-kubeadm",
		"3:7 info MVP309",
		"6:50 error MVP101 false-404 running fix",
		"6:50 error MVP201 false-404 fix",
	},
	// json-documents.yaml
	"042": {
		"11:10 info MVP309",
	},
	// jinja-template.yaml.j2
	"044": {
		"error: :3:1: this is a Jinja template; check the rendered file (on a node often /etc/kubernetes/kubeadm-config.yaml) or the ConfigMap kube-system/kubeadm-config",
	},
	// gotemplate.yaml.tpl
	"045": {
		"error: :1:1: this is a Go template (Helm, gomplate); render it and check the result",
	},
	// terraform-directives.yaml.tpl
	"046": {
		"error: :10:1: this is a Terraform template; render it and check the result",
	},
	// embedded-in-provision-script.yaml
	"048": {
		"error: :4:11: no kubeadm document found; the text inside 'script' looks like one: check the file that it writes",
	},
	// kind-cluster.yaml
	"049": {
		"4:3 info MVP110 (1.36 -> 1.37)",
	},
	// kcp-v1beta1-map.yaml
	"051": {
		"11:9 error MVP201 false-404 fix",
		"12:11 error MVP120 will-not-start",
	},
	// kcp-v1beta2-list-multidoc.yaml
	"052": nil,
	// configmap-plain.yaml
	"053": nil, // 1.34 and 1.35 serve the same
	// configmap-edit-header-clusterstatus.yaml
	"054": {
		"12:17 error MVP001 refused-by-kubeadm",
		"14:24 error MVP007",
	},
	// configmap-in-list.yaml
	"056": {
		"17:9 error MVP201 false-404 fix",
		"21:13 info MVP309",
	},
	// configmap-escaped-string.yaml
	"057": {
		"3:40 error MVP201 false-404 fix",
		"4:35 info MVP309",
	},
	// configmap-kubectl-describe.txt
	"058": {
		"error: :1:1: this is the output of kubectl describe, which cannot be read back; use: kubectl -n kube-system get configmap kubeadm-config -o yaml",
	},
	// static-kubeadm-plain.yaml
	"060": {
		"13:5 error MVP101 false-404 running",
		"13:5 error MVP201 false-404",
	},
	// static-command-plus-args.yaml
	"061": {
		"10:5 error MVP101 false-404 running",
		"10:5 error MVP201 false-404",
		"10:5 info MVP403",
	},
	// static-shell-wrapper-redirect.yaml
	"062": {
		"12:5 info MVP403",
		"15:7 error MVP202 will-not-start",
		"15:7 error MVP205 will-not-start",
	},
	// static-json-go-runner.manifest
	"064": {
		"11:5 info MVP403",
		"15:18 error MVP202 will-not-start",
		"15:18 error MVP205 will-not-start",
	},
	// live-mirror-pod-dump.yaml
	"066": {
		"17:5 error MVP101 false-404 running",
		"17:5 error MVP201 false-404",
	},
	// static-other-certdir-and-port.yaml
	"067": {
		"22:7 error MVP202 will-not-start",
	},
	// static-loopback-advertise-no-front-proxy.yaml
	"068": {
		"15:7 error MVP301 false-404",
		"17:7 error MVP202 will-not-start",
		"17:7 error MVP205 will-not-start",
	},
	// static-egress-selector.yaml
	"071": {
		"21:7 info MVP312",
	},
	// static-many-gates.yaml
	"072": {
		"16:90 error MVP107 will-not-start",
	},
	// static-proxy-env.yaml
	"074": {
		"22:7 error MVP311 false-404",
	},
	// ansible-playbook-named-kubeadm.yaml
	"076": {
		"error: :2:1: no kubeadm document found: this is an Ansible playbook; check the file that it renders or the ConfigMap kube-system/kubeadm-config",
	},
	// k3s-config.yaml
	"079": {
		"error: :2:1: this is a k3s or RKE2 configuration, not kubeadm's; mvpcheck reads kubeadm configurations only",
	},
	// upgradeconfiguration-only.yaml
	"080": {
		"note: no ClusterConfiguration here (only UpgradeConfiguration), so nothing says which flags kube-apiserver gets; give the cluster's: kubectl -n kube-system get configmap kubeadm-config -o yaml | mvpcheck check -",
		"note: kubeadm upgrade apply takes patches from /etc/kubernetes/patches: check them too, with --patches /etc/kubernetes/patches beside the ClusterConfiguration",
		"note: kubeadm upgrade node takes patches from /etc/kubernetes/patches: check them too, with --patches /etc/kubernetes/patches beside the ClusterConfiguration",
	},
	// upgrade-and-cluster-in-one-file.yaml
	"081": {
		"7:7 info MVP309",
		"7:7 warning MVP406 lost-on-upgrade",
	},
	// v1-mergemethod.yaml
	"082": {
		"1:13 error MVP001 refused-by-kubeadm",
		"2:7 info MVP309",
		"11:18 error MVP008 false-404 fix",
		"14:18 error MVP008 false-404 fix",
	},
	// ha-shared-addresses.yaml
	"083": {
		"9:24 error MVP302 false-404 fix",
		"12:24 warning MVP303 fix",
	},
	// peer-ip-without-port.yaml
	"085": {
		"2:7 info MVP309",
		"9:12 warning MVP304",
	},
	// peer-flags-gate-off.yaml
	"086": {
		"2:7 info MVP309",
		"5:3 error MVP101 false-404 running fix",
		"7:12 error MVP103 will-not-start running fix",
	},
	// bind-address-loopback.yaml
	"087": {
		"7:19 error MVP307 false-404",
	},
	// allowed-names-mismatch.yaml
	"090": {
		"2:7 info MVP309",
		"9:12 error MVP206 false-404 fix",
		"11:12 error MVP205 will-not-start fix",
	},
	// join-only.yaml
	"092": {
		"note: no ClusterConfiguration here (only JoinConfiguration), so nothing says which flags kube-apiserver gets; give the cluster's: kubectl -n kube-system get configmap kubeadm-config -o yaml | mvpcheck check -",
	},
	// patch-strategic-replaces-command.yaml
	"094": {
		"8:5 warning MVP405 lost-on-upgrade",
	},
	// patch-json-append.yaml
	"095": nil,
}
