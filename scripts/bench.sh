#!/usr/bin/env bash
# Prints how fast and how large the server is, each figure beside its goal:
# first the catalog alone, then the server with its doors, then many
# repositories and large ones, previews, then the packages' own benchmarks. Takes
# about six minutes; asserts nothing. Arguments go to the program, for example
# -parts many, -parts million for the memory over a million requests,
# -parts credentials for credentials on loan beside a real Vault alone
# (internal/realtest/vault.sh builds it),
# -parts gitops for edits, proposals at a real Gitea (internal/realtest/gitea.sh
# builds it), plans of fleets and the health of deployments, or
# -parts backstage -beside 10000 for what a real Backstage takes for the same
# (ten minutes; internal/realtest/backstage.sh installs it), -parts argocd for
# what a preview adds to what a real Argo CD takes (make test-real builds it), or
# -parts ui for pages of the front end in a browser, with -components by the
# server alone (26600 are 55,000 entities) and with -beside by a real Backstage
# as well, 0 for neither (internal/realtest/browser.sh and backstage.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$tmp/" ./internal/bench ./cmd/fairleadd ./cmd/fairlead-render
"$tmp/bench" -server "$tmp/fairleadd" "$@"

echo
echo "Benchmarks of the packages"
grep -rlE '^func Benchmark' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
  go test -run '^$' -bench . -benchmem -benchtime "${BENCHTIME:-100ms}" "$dir" | grep -E '^(Benchmark|pkg:)' || true
done
