#!/usr/bin/env bash
# Takes Prometheus and its tool from the distribution's package, once, into a
# cache outside the checkout. No service is started and root is not needed.
set -euo pipefail
. "$(dirname "$0")/once.sh"

get_prometheus() {
  need apt-get apt
  need dpkg-deb dpkg
  apt-get download -qq prometheus
  dpkg-deb -x prometheus_*.deb all
  mv all/usr/bin/prometheus all/usr/bin/promtool .
  rm -rf all prometheus_*.deb
  ./prometheus --version
}

once prometheus "Prometheus" get_prometheus
