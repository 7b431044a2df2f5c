#!/usr/bin/env bash
# Holds the alerts that the repository ships to Prometheus' own tool, from the
# distribution's package: that they can be read, and what they answer to.
set -euo pipefail
. "$(dirname "$0")/once.sh"
"$(dirname "$0")/prometheus.sh"
cd "$(dirname "$0")/../../docs/alerts"
for rules in *.yaml; do
  case $rules in
    *.test.yaml) "$cache/prometheus/promtool" test rules "$rules" ;;
    *) "$cache/prometheus/promtool" check rules "$rules" ;;
  esac
done
