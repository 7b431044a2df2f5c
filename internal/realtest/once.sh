# What the scripts share that build servers once into a cache outside the
# checkout; to be sourced.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead

say() { printf 'realtest: %s\n' "$*"; }

# need PROGRAM PACKAGES installs Debian packages where a program is missing.
need() {
  if command -v "$1" >/dev/null; then
    return
  fi
  local sudo=
  if ! command -v apt-get >/dev/null; then
    say "$1 is missing and there is no apt-get; install it" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
    if ! command -v sudo >/dev/null; then
      say "$1 is missing, and neither root nor sudo is there to install it: have somebody run apt-get install $2" >&2
      exit 1
    fi
  fi
  say "installing $2 with apt-get"
  $sudo apt-get update -qq
  # shellcheck disable=SC2086 # several packages
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $2
}

# once NAME WHAT FUNCTION makes the folder NAME of the cache by FUNCTION, which
# runs in it, where that has not been done. Of two that want the same, one
# builds and the other waits.
once() (
  dir=$cache/$1
  if [ -e "$dir/done" ]; then
    say "$2 is there: $dir"
    exit 0
  fi
  need flock util-linux
  mkdir -p "$dir"
  exec 9>"$dir/lock"
  if ! flock -n 9; then
    say "another build of $2 is running; waiting for it"
    flock 9
    if [ -e "$dir/done" ]; then
      say "$2 is there: $dir"
      exit 0
    fi
  fi
  cd "$dir"
  start=$SECONDS
  "$3"
  touch "$dir/done"
  say "$2 was built in $((SECONDS - start)) s: $dir"
)

# module NAME@VERSION downloads a Go module and gives its folder.
module() {
  local from
  from=$(GOFLAGS='' GOWORK=off go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  if [ -z "$from" ]; then
    say "the module $1 cannot be had" >&2
    exit 1
  fi
  printf '%s\n' "$from"
}
