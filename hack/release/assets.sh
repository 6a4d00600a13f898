#!/usr/bin/env bash
# Writes what releases have beside the program into bin/assets: completions, manual pages (plain in man, compressed in
# man-gz) and the changelog of the Debian package. Usage: hack/release/assets.sh VERSION SECONDS
# SECONDS is the time of the commit since 1970; no other time gets into the files.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1:?usage: hack/release/assets.sh VERSION SECONDS}
seconds=${2:?usage: hack/release/assets.sh VERSION SECONDS}
go=${GO:-go}
assets=bin/assets
# GoReleaser sets these for what it builds; these programs run here.
unset GOOS GOARCH

rm -rf "$assets"
mkdir -p "$assets/completions"
$go build -trimpath -o "$assets/mvpcheck" ./cmd/mvpcheck
"$assets/mvpcheck" completion bash >"$assets/completions/mvpcheck.bash"
"$assets/mvpcheck" completion zsh >"$assets/completions/_mvpcheck"
"$assets/mvpcheck" completion fish >"$assets/completions/mvpcheck.fish"
"$assets/mvpcheck" completion powershell >"$assets/completions/mvpcheck.ps1"
rm "$assets/mvpcheck"
$go run ./hack/man -version "$version" -date "$seconds" "$assets/man"
$go run ./hack/man -z -version "$version" -date "$seconds" "$assets/man-gz"
# Debian's version has a tilde before what comes before a release.
LC_ALL=C TZ=UTC0 printf 'mvpcheck (%s-1) unstable; urgency=low\n\n  * %s\n\n -- %s  %(%a, %d %b %Y %H:%M:%S +0000)T\n' \
  "$(sed 's/^v//; s/-/~/' <<<"$version")" "New release: https://github.com/mvpcheck/mvpcheck/blob/main/CHANGELOG.md" \
  "The mvpcheck authors <mvpcheck@users.noreply.github.com>" "$seconds" | gzip -9n >"$assets/changelog.Debian.gz"
