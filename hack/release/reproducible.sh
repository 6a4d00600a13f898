#!/usr/bin/env bash
# Builds the release of HEAD twice and compares what comes out, byte by byte: in two clones in folders of different names,
# with different time zones, languages and umasks, and the second time with nothing compiled before. CACHE=shared leaves that
# out, which is much faster. Usage: [CACHE=shared] hack/release/reproducible.sh [DIST]
# With DIST, the first release is left there.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD
dist=${1:-}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# build makes a release of HEAD in a clone of this name.
build() {
  echo "== $1"
  git clone --quiet --no-local "$source" "$work/$1"
  git -C "$work/$1" checkout --quiet --detach "$(git -C "$source" rev-parse HEAD)"
  "$work/$1/hack/release/goreleaser.sh" release --snapshot --clean --skip=publish
}

# sums prints the checksums of all that a release is made of. What GoReleaser writes of itself is no part of that.
sums() {
  (cd "$1/dist" && find . -type f ! -name metadata.json ! -name artifacts.json ! -name config.yaml -print0 | sort -z | xargs -0 sha256sum)
}

(umask 022 && TZ=UTC LC_ALL=C build first)
(
  umask 077
  if [[ ${CACHE:-} != shared ]]; then export GOCACHE=$work/cache; fi
  TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 build a/second/place
)
sums "$work/first" >"$work/first.sums"
sums "$work/a/second/place" >"$work/second.sums"
if ! diff "$work/first.sums" "$work/second.sums"; then
  echo "reproducible: two builds of one commit differ" >&2
  exit 1
fi
echo "reproducible: $(wc -l <"$work/first.sums") files are the same"
if [[ -n $dist ]]; then
  mkdir -p "$dist"
  cp -R "$work/first/dist/." "$dist"
fi
