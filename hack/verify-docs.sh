#!/bin/sh
# Fails when docs/rules or docs/cli are not what hack/update-docs.sh writes.
set -eu
cd "$(dirname "$0")/.."
go test -count=1 -run '^TestDocumentation$' ./internal/cli
