#!/usr/bin/env bash
# Runs GoReleaser with the tools of tools/release/go.mod:
#   hack/release/goreleaser.sh check
#   hack/release/goreleaser.sh release --snapshot --clean --skip=publish
set -euo pipefail
cd "$(dirname "$0")/../.."
go=${GO:-go}
cd tools/release
$go build -o ../../bin/ github.com/goreleaser/goreleaser/v2
# SBOMs have the checksum of the program that made them: it must not depend on where it was built.
CGO_ENABLED=0 $go build -trimpath -o ../../bin/ github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
cd ../..
PATH=$PWD/bin:$PATH exec bin/goreleaser "$@"
