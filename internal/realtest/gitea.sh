#!/usr/bin/env bash
# Builds Gitea, the forge that tests run against, from its Go module with
# SQLite, once for each version, into a cache outside the checkout. There is no
# front-end build: the API, Git over HTTP and webhooks need none.
set -euo pipefail
version=v1.26.0
dir=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/gitea-$version

say() { printf 'realtest: %s\n' "$*"; }

if [ -e "$dir/done" ]; then
  say "Gitea is there: $dir"
  exit 0
fi

need() { # program, Debian package
  if command -v "$1" >/dev/null; then
    return
  fi
  if ! command -v apt-get >/dev/null; then
    say "$1 is missing and there is no apt-get; install it" >&2
    exit 1
  fi
  say "installing $2 with apt-get"
  local sudo=
  if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
  fi
  $sudo apt-get update -qq
  # shellcheck disable=SC2086 # several packages
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $2
}
need gcc 'gcc libc6-dev' # its SQLite is written in C
need git git
need flock util-linux

mkdir -p "$dir"
exec 9>"$dir/lock"
if ! flock -n 9; then
  say "another build of Gitea is running; waiting for it"
  flock 9
fi
if [ -e "$dir/done" ]; then
  say "Gitea is there: $dir"
  exit 0
fi

say "downloading Gitea $version from the Go module proxy"
cd "$dir"
from=$(GOFLAGS= GOWORK=off go mod download -json "code.gitea.io/gitea@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
if [ -z "$from" ]; then
  say "the module cannot be had" >&2
  exit 1
fi

say "building Gitea $version into $dir (about nine minutes of CPU; once)"
rm -rf src static gitea
cp -r "$from" src
chmod -R u+w src
start=$SECONDS
(
  cd src
  # Built as the main module, so that its own go.mod and go.sum count.
  CGO_ENABLED=1 GOFLAGS= GOWORK=off nice -n 15 go build -mod=readonly -buildvcs=false -trimpath \
    -tags sqlite,sqlite_unlock_notify \
    -ldflags "-s -w -X main.Version=${version#v} -X 'main.Tags=sqlite sqlite_unlock_notify'" -o ../gitea .
)
mkdir static
mv src/templates src/options src/public static/
rm -rf src
./gitea --version
touch done
say "Gitea $version was built in $((SECONDS - start)) s"
