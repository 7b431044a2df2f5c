# What the scripts share that install packages of the npm registry into a
# folder outside the checkout; to be sourced.

# need_npm installs npm where it is missing.
need_npm() {
  if command -v npm >/dev/null; then
    return
  fi
  echo "realtest: installing npm with apt-get"
  local sudo=
  if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
  fi
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends npm
}

# npm_folder FOLDER NAME PACKAGE... makes a folder the current one, as a package
# of that name with these packages installed. Nothing of them is run.
npm_folder() {
  local dir=$1 name=$2
  shift 2
  mkdir -p "$dir"
  cd "$dir"
  echo "{\"name\":\"$name\",\"private\":true}" > package.json
  npm install --silent --no-audit --no-fund --ignore-scripts "$@"
}
