#!/usr/bin/env bash
# Prints what CHANGELOG.md says of a version: hack/release/notes.sh v0.1.0
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1:?usage: hack/release/notes.sh VERSION}
notes=$(awk -v title="## ${version#v}" 'index($0, "## ") == 1 { inside = ($0 == title || index($0, title " ") == 1); next } inside' CHANGELOG.md)
if [[ -z ${notes//[[:space:]]/} ]]; then
  echo "notes: CHANGELOG.md has no section \"## ${version#v}\"" >&2
  exit 1
fi
printf '%s\n' "$notes"
