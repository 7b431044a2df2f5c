#!/usr/bin/env bash
# Builds the Vault that tests run against from its Go modules, once for each
# version of it and of the program around it, into a cache outside the checkout.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/once.sh"

version=$(sed -n 's/^\tgithub.com\/hashicorp\/vault \(v[^ ]*\).*/\1/p' "$here/vaultd/go.mod")
ours=$(cat "$here"/vaultd/*.go "$here/vaultd/go.sum" | sha256sum | cut -c1-12)

build_vault() {
  say "building Vault $version into $PWD (about nine minutes of CPU; once)"
  local out=$PWD
  cd "$here/vaultd"
  GOFLAGS='' GOWORK=off CGO_ENABLED=0 nice -n 15 go build -mod=readonly -buildvcs=false -trimpath -ldflags '-s -w' -o "$out/vaultd" .
}

once "vault-$version-$ours" "Vault $version" build_vault
touch "$cache/vault-$version-$ours/done" # tests take the last
