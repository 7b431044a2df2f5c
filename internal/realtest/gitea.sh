#!/usr/bin/env bash
# Builds Gitea, the forge that tests run against, from its Go module with
# SQLite, once for each version, into a cache outside the checkout. There is no
# front-end build: the API, Git over HTTP and webhooks need none.
set -euo pipefail
. "$(dirname "$0")/once.sh"
version=v1.26.0

build_gitea() {
  say "downloading Gitea $version from the Go module proxy"
  local from
  from=$(module "code.gitea.io/gitea@$version")
  say "building Gitea $version into $PWD (about nine minutes of CPU; once)"
  rm -rf src static gitea
  cp -r "$from" src
  chmod -R u+w src
  (
    cd src
    # Built as the main module, so that its own go.mod and go.sum count.
    CGO_ENABLED=1 GOFLAGS='' GOWORK=off nice -n 15 go build -mod=readonly -buildvcs=false -trimpath \
      -tags sqlite,sqlite_unlock_notify \
      -ldflags "-s -w -X main.Version=${version#v} -X 'main.Tags=sqlite sqlite_unlock_notify'" -o ../gitea .
  )
  mkdir static
  mv src/templates src/options src/public static/
  rm -rf src
  ./gitea --version
}

need gcc 'gcc libc6-dev' # its SQLite is written in C
need git git
once "gitea-$version" "Gitea $version" build_gitea
