#!/bin/sh
# Rolls /kinder/patched.yaml out on this control-plane node, on the release that runs, and proves that the new server is
# ready for the hand-off: roll.sh LEFT, where LEFT is how many servers still have the gate off afterwards.
set -eu
left=$1
manifest=/etc/kubernetes/manifests/kube-apiserver.yaml
admin=/etc/kubernetes/admin.conf

# Each server advertises its own address. The ClusterConfiguration has none, and this node's own is in its manifest.
address=$(sed -n 's/.*--advertise-address=//p' "$manifest")
test -n "$address"
{
	cat /kinder/patched.yaml
	printf -- '---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint:\n  advertiseAddress: %s\n' "$address"
} > /kinder/patched-node.yaml
kubeadm init phase control-plane apiserver --config=/kinder/patched-node.yaml

# The kubelet ends the old server and starts the new one. Only the new one has this hook.
tries=60
until kubectl --kubeconfig="$admin" --server="https://$address:6443" get --raw='/readyz?verbose' 2>&1 |
	grep -q '^\[+\]poststarthook/mixed-version-proxy-handler ok'; do
	tries=$((tries - 1))
	if [ "$tries" -eq 0 ]; then
		echo "no server with the hook after two minutes" >&2
		exit 1
	fi
	sleep 2
done

# This server's row says: gate on, peer CA yes. The others' follow.
code=0
mvpcheck probe --kubeconfig="$admin" > /kinder/probe.txt || code=$?
cat /kinder/probe.txt
grep -Eq "^$address:6443 .* on +yes " /kinder/probe.txt
test "$(grep -Ec '^[0-9.]+:6443 .* off +no ' /kinder/probe.txt)" -eq "$left"
if [ "$left" -gt 0 ]; then
	test "$code" -eq 1
fi
