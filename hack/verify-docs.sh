#!/bin/sh
# Fails when docs/rules, docs/cli or the schema of .mvpcheck.yaml are not what hack/update-docs.sh writes.
set -eu
cd "$(dirname "$0")/.."
go test -count=1 -run '^TestDocumentation$' ./hack/docs
