#!/usr/bin/env bash
# Compares mvpcheck probe with a parallel curl of the same requests, against three real servers (1.35, 1.36, 1.36) of the
# lab: whole processes, alternating runs; the median ratio should be at most 1.3. Then the synthetic control plane of 10,
# 25 and 50 servers with 2,000 resources each: time and memory should grow no faster than the servers.
# It needs curl and jq.
# Usage: hack/bench/probe.sh [RUNS]   (default 21)
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-21}
work=$(mktemp -d)
go build -trimpath -o "$work/mvpcheck" ./cmd/mvpcheck
go build -trimpath -o "$work/compare" ./hack/bench/compare
go build -o "$work/lab" ./test/lab/cmd/lab
go run ./test/lab/cmd/labbuild -release 1.35,1.36 kubeadm kube-apiserver >/dev/null
go run ./test/lab/cmd/labbuild etcd >/dev/null
trap '"$work/lab" down; rm -rf "$work"' EXIT
"$work/lab" up 1.35 1.36 1.36 >"$work/up.txt"
kubeconfig=$("$work/lab" exec -- sh -c 'echo $KUBECONFIG')

"$work/lab" exec -- "$work/mvpcheck" probe --wait 1m --record "$work/evidence.json"

# The same requests for curl: those that the evidence lists, with the same headers and the same client certificate.
field() { sed -n "s/^ *$1: //p" "$kubeconfig" | head -1 | base64 -d >"$2"; }
field certificate-authority-data "$work/ca.crt"
field client-certificate-data "$work/client.crt"
field client-key-data "$work/client.key"
aggregated='application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
jq -r --arg a "$aggregated" --arg w "$work" '.requests[] |
  "next\nurl = \"https://\(.server)\(.path)\"\noutput = \"/dev/null\"\nsilent\ncompressed\n"
  + "cacert = \"\($w)/ca.crt\"\ncert = \"\($w)/client.crt\"\nkey = \"\($w)/client.key\"\n"
  + (if .path == "/api" or .path == "/apis" then "header = \"Accept: \($a)\(if .profile then ";profile=nopeer" else "" end)\"\n" else "" end)
  + (if .local then "header = \"x-kubernetes-peer-proxied: true\"\n" else "" end)' "$work/evidence.json" | sed '1d' >"$work/curl.txt"
echo "$(jq '.requests | length' "$work/evidence.json") requests, mvpcheck probe : curl --parallel"
"$work/lab" exec -- "$work/compare" -runs "$runs" \
  "$work/mvpcheck probe -o json" \
  "curl --parallel --parallel-immediate --parallel-max 24 --config $work/curl.txt"

echo "synthetic control planes of 10, 25 and 50 servers with 2,000 resources each"
go test ./internal/probe -run '^$' -bench 'Fifty' -benchtime 5x -benchmem
