#!/usr/bin/env bash
# Runs every fuzz target of the module for a time. Usage: hack/fuzz.sh [TIME]   (default 1m)
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-1m}
grep -rn --include='*_test.go' -oE '^func Fuzz[A-Za-z]+' . | while IFS=: read -r file _ func; do
  package=$(dirname "$file")
  target=${func#func }
  echo "== $package $target"
  # Without a limit the minimiser takes most of the time.
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 20x "$package"
done
