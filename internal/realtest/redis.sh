#!/usr/bin/env bash
# Takes a Redis server from Debian packages, once, into a cache outside the
# checkout, where the machine has none. No service is started and root is not
# needed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/once.sh"
. "$here/unpack.sh"
if command -v redis-server >/dev/null; then
  say "Redis is there: $(command -v redis-server)"
else
  once etcd-redis "etcd and Redis" unpack_etcd_and_redis
fi
