# What the scripts share that take etcd and Redis from Debian packages; to be
# sourced after once.sh.

# Downloads packages with what they depend on and this machine lacks, as
# whoever asks, and unpacks them: so no service is started, and root is not
# needed.
unpack_etcd_and_redis() {
  say "unpacking etcd-server and redis-server of Debian into $PWD (some seconds, 60 MB)"
  if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    say "there is no apt-get; install etcd and redis-server so that both are in PATH" >&2
    exit 1
  fi
  rm -rf apt root
  mkdir -p apt/state/lists/partial apt/cache/archives/partial
  local options=(-qq -o "Dir::State=$PWD/apt/state" -o Dir::State::status=/var/lib/dpkg/status
    -o "Dir::Cache=$PWD/apt/cache" -o Debug::NoLocking=true -o APT::Sandbox::User=)
  apt-get "${options[@]}" update
  apt-get "${options[@]}" install -y --no-install-recommends --reinstall --download-only etcd-server redis-server
  local package
  for package in apt/cache/archives/*.deb; do
    dpkg -x "$package" root
  done
  rm -rf apt
  LD_LIBRARY_PATH=$(echo "$PWD"/root/usr/lib/*-linux-gnu) root/usr/bin/redis-server --version
  root/usr/bin/etcd --version
}
