#!/usr/bin/env bash
# Runs the tests of local previews where control groups are those of version 2,
# whole: in a Linux of its own, which is a process (User Mode Linux, from the
# distribution's package) and sees the files of this machine. It needs no
# rights and changes nothing of this machine's groups.
set -euo pipefail
. "$(dirname "$0")/once.sh"
limit=${1:-600}
only=${2:-'Contract|UnifiedCage|DaemonEnds|ManyProcesses|Memory|Strays|Measure'}

get_uml() {
  need apt-get apt
  need dpkg-deb dpkg
  apt-get download -qq user-mode-linux
  dpkg-deb -x user-mode-linux_*.deb .
  rm -f user-mode-linux_*.deb
  usr/bin/linux.uml --version
}

once uml "User Mode Linux" get_uml
repository=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$repository"
CGO_ENABLED=0 go test -c -o "$tmp/local.test" ./previews/local
CGO_ENABLED=0 go build -o "$tmp/app" ./previews/local/testdata/app
CGO_ENABLED=0 go build -o "$tmp/loopback" ./internal/realtest/testdata/loopback

cat >"$tmp/init" <<INIT
#!/bin/sh
exec >"$tmp/out" 2>&1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp PREVIEWED_APP="$tmp/app"
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmp /run
mkdir -p /run/tmp
export TMPDIR=/run/tmp
"$tmp/loopback"
echo "control groups version 2 with: \$(cat /sys/fs/cgroup/cgroup.controllers)"
echo "+cpu +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/fairlead
echo \$\$ >/sys/fs/cgroup/fairlead/cgroup.procs
cd "$repository/previews/local"
FAIRLEAD_CGROUPS=2 "$tmp/local.test" -test.timeout "${limit}s" -test.run '$only' -test.v
echo "exit \$?" >"$tmp/code"
ls -d /sys/fs/cgroup/fairlead-preview-* 2>/dev/null && echo "left behind" >"$tmp/code"
sync
echo o >/proc/sysrq-trigger
sleep 60
INIT
chmod +x "$tmp/init"
TMPDIR=/tmp timeout $((limit + 60)) "$cache/uml/usr/bin/linux.uml" mem=1500M rootfstype=hostfs rootflags=/ rw init="$tmp/init" con=null con0=null,fd:1 \
  </dev/null >"$tmp/console" 2>&1 || true
grep -vE '^ *(=== |--- SKIP)' "$tmp/out" || { tail -30 "$tmp/console"; exit 1; }
if [ "$(cat "$tmp/code" 2>/dev/null)" != "exit 0" ]; then
  echo "local previews do not pass with control groups version 2: $(cat "$tmp/code" 2>/dev/null || echo 'they did not end')" >&2
  exit 1
fi
