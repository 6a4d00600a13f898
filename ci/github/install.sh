#!/usr/bin/env bash
# The first half of the GitHub Action: puts mvpcheck into $RUNNER_TEMP/mvpcheck and that into PATH. Without MVPCHECK_VERSION
# it builds the source that came with the action, which is pinned by the ref that the workflow names; with one it downloads
# that release. macOS has bash 3.2.
set -euo pipefail

bin=$RUNNER_TEMP/mvpcheck
version=${MVPCHECK_VERSION:-}

fail() {
  echo "::error title=mvpcheck::$1"
  exit 2
}

# sha256 prints the checksum of a file.
sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

build() {
  cd "$GITHUB_ACTION_PATH"
  go build -trimpath -o "$bin/" ./cmd/mvpcheck
}

download() {
  [[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "the input version is no release such as v0.1.0"
  local os arch archive base want
  case $RUNNER_OS in
  Linux) os=linux archive=tar.gz ;;
  macOS) os=darwin archive=tar.gz ;;
  Windows) os=windows archive=zip ;;
  *) fail "there is no release for this operating system" ;;
  esac
  case $RUNNER_ARCH in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) fail "there is no release for this architecture" ;;
  esac
  archive=mvpcheck_${version#v}_${os}_${arch}.$archive
  base=$GITHUB_SERVER_URL/${GITHUB_ACTION_REPOSITORY:-mvpcheck/mvpcheck}/releases/download/$version
  cd "$bin"
  for file in checksums.txt "$archive"; do
    curl --fail --silent --show-error --location --retry 3 --output "$file" "$base/$file" || fail "cannot download $file of $version"
  done
  want=$(awk -v name="$archive" '$2 == name { print $1 }' checksums.txt)
  [[ -n $want && $(sha256 "$archive") == "$want" ]] || fail "$archive is not what checksums.txt of $version says"
  case $archive in
  *.zip) unzip -oq "$archive" ;;
  *) tar -xzf "$archive" ;;
  esac
}

mkdir -p "$bin"
if [[ -n $version ]]; then (download); else (build); fi
echo "$bin" >>"$GITHUB_PATH"
"$bin/mvpcheck" version
