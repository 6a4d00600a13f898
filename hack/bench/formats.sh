#!/usr/bin/env bash
# How long a whole run of mvpcheck check takes with 1,000 findings in 500 files, in each format, beside the text; and with
# 7,200 findings in 3,600 files as SARIF, which has the edits of patch, beside JSON: the aim is 1.1.
# Usage: hack/bench/formats.sh [RUNS]   (default 11)
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-11}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -trimpath -o "$work/mvpcheck" ./cmd/mvpcheck
go build -trimpath -o "$work/compare" ./hack/bench/compare
mkdir "$work/clusters"
for i in $(seq 500); do
  # Neither the gate nor the CA: two findings.
  printf 'apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: c%d\nkubernetesVersion: v1.35.4\ncontrolPlaneEndpoint: api.example:6443\n' "$i" \
    >"$work/clusters/$i.yaml"
done
for format in json yaml sarif junit github markdown html; do
  echo "$format : text"
  "$work/compare" -runs "$runs" "$work/mvpcheck check --fail-on never -o $format $work/clusters" "$work/mvpcheck check --fail-on never $work/clusters"
done
for i in $(seq 501 3600); do
  sed "s/c1\$/c$i/" "$work/clusters/1.yaml" >"$work/clusters/$i.yaml"
done
echo "sarif : json, 3,600 files"
"$work/compare" -runs "$((runs / 5 + 1))" "$work/mvpcheck check --fail-on never -o sarif $work/clusters" "$work/mvpcheck check --fail-on never -o json $work/clusters"
