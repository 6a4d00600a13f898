#!/bin/sh
# Writes docs/rules, docs/cli and the schema of .mvpcheck.yaml from the rules and the commands.
set -eu
cd "$(dirname "$0")/.."
go run ./hack/docs
