#!/usr/bin/env bash
# Compares mvpcheck check with the tools that people run on such files today:
#   one file:     kubeadm config validate, whole process, alternating runs; the median ratio should be at most 0.3
#   10,000 files: kubeconform with a local schema that takes everything, on the same files; the aim is 0.8 in wall and CPU
#                 time, and mvpcheck's peak memory at most 64 MiB
# The ratio of CPU times is the less noisy one. TestCostOfAFile bounds what a file allocates.
# Usage: hack/bench/check.sh [RUNS]   (default 21; the directory is run a fifth as often)
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-21}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go build -trimpath -o "$work/mvpcheck" ./cmd/mvpcheck
go run ./test/lab/cmd/labbuild -release 1.36 kubeadm >/dev/null
kubeadm=$(ls "${MVPCHECK_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mvpcheck/lab}"/kubeadm-v1.36.*)
GOBIN=$work go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
go build -trimpath -o "$work/compare" ./hack/bench/compare

cat >"$work/cluster.yaml" <<'YAML'
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint:
  advertiseAddress: 192.0.2.11
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.1
controlPlaneEndpoint: api.example.com:6443
networking:
  podSubnet: 10.244.0.0/16
apiServer:
  certSANs:
  - api.example.com
  extraArgs:
  - name: audit-log-path
    value: "-"
  - name: peer-ca-file
    value: /etc/kubernetes/pki/ca.crt
YAML
mkdir "$work/dir"
for i in $(seq 10000); do
  sed "s/api.example.com/api-$i.example.com/" "$work/cluster.yaml" >"$work/dir/cluster-$i.yaml"
done
echo '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}' >"$work/schema.json"

echo "one file, mvpcheck check : kubeadm config validate"
"$work/compare" -runs "$runs" \
  "$work/mvpcheck check $work/cluster.yaml" \
  "$kubeadm config validate --config $work/cluster.yaml"
echo "10,000 files, mvpcheck check : kubeconform"
"$work/compare" -runs "$((runs / 5 + 1))" \
  "$work/mvpcheck check $work/dir" \
  "$work/kubeconform -schema-location $work/schema.json $work/dir"
