#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (30s unless set); a finding is kept in
# the package's testdata and fails the run.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-30s}
grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | while read -r file; do
  dir=$(dirname "$file")
  # What is merely new is not made small for a minute each, as go test would.
  grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | awk '{print $2}' | while read -r target; do
    echo "fuzzing $dir $target for $time"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 2s "$dir"
  done
done
