#!/usr/bin/env bash
# Holds the alerts that the repository ships to Prometheus' own tool, from the
# distribution's package: that they can be read, and what they answer to.
set -euo pipefail
. "$(dirname "$0")/once.sh"

get_promtool() {
  need apt-get apt
  need dpkg-deb dpkg
  apt-get download -qq prometheus
  dpkg-deb -x prometheus_*.deb all
  mv all/usr/bin/promtool .
  rm -rf all prometheus_*.deb
  ./promtool --version
}

once promtool "promtool" get_promtool
cd "$(dirname "$0")/../../docs/alerts"
for rules in *.yaml; do
  case $rules in
    *.test.yaml) "$cache/promtool/promtool" test rules "$rules" ;;
    *) "$cache/promtool/promtool" check rules "$rules" ;;
  esac
done
