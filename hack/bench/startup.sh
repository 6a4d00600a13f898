#!/usr/bin/env bash
# Compares the whole run of mvpcheck check on a small configuration with that of an earlier revision, alternating: what
# has been added since, such as the catalogues, should cost no more than a millisecond. Then what decoding costs by itself.
# Usage: hack/bench/startup.sh [REVISION [RUNS]]   (default: the commit before the catalogues, 201)
set -euo pipefail
cd "$(dirname "$0")/../.."
base=${1:-$(git log --diff-filter=A --format=%H -- pkg/release/catalogue.go | tail -1)^}
runs=${2:-201}
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base"; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$base"
go build -trimpath -o "$work/now" ./cmd/mvpcheck
(cd "$work/base" && go build -trimpath -o "$work/before" ./cmd/mvpcheck)
go build -trimpath -o "$work/compare" ./hack/bench/compare

# A configuration in which neither finds anything: exit code 0.
cat >"$work/cluster.yaml" <<'YAML'
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.3
controlPlaneEndpoint: cluster.example:6443
apiServer:
  extraArgs:
    - name: peer-ca-file
      value: /etc/kubernetes/pki/ca.crt
YAML
echo "mvpcheck check, now : $(git rev-parse --short "$base")"
"$work/compare" -runs "$runs" "$work/now check $work/cluster.yaml" "$work/before check $work/cluster.yaml"
echo "decoding a catalogue"
go test ./internal/release -run '^$' -bench 'Catalogue' -benchmem
