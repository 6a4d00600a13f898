#!/bin/sh
# Writes docs/rules and docs/cli from the rules and the commands.
set -eu
cd "$(dirname "$0")/.."
go run ./hack/docs
