#!/usr/bin/env bash
# Runs the test suites that need real servers, and installs or builds what is
# missing first. SUITES is "all", "auto" (those that the last commits changed)
# or names: postgres vault clients tokens backstage gitea argocd story ui cgroups alerts.
set -euo pipefail
cd "$(dirname "$0")/.."
want=${*:-all}
export FAIRLEAD_REAL=1

# What each suite concerns, as a pattern of changed paths, and its time limit.
declare -A concerns=(
  [postgres]='^(internal/(store|realtest|jobs|app)|access|previews)/'
  [vault]='^(secrets/|cmd/fairlead/(loan|scrub|command)/|access/|internal/(app|store)/|internal/realtest/(vault|postgres|server|realtest|certificates))'
  [gitea]='^(internal/(forge|git|realtest|app)|catalog/ingest)/'
  [clients]='^(mcp|rest|graphql|internal/(app|realtest)|catalog|access)/'
  [tokens]='^(access|internal/realtest)/'
  [backstage]='^(rest|catalog|internal/(app|realtest|store))/'
  [argocd]='^(previews|gitops|secrets/vault|cmd/fairleadd|internal/(argo|app|realtest))/'
  [story]='^(backstage|gitops|access|docs/policy|cmd/(fairlead|fairleadd)|internal/(argo|app|demo|forge|git|jobs|prometheus|realtest|store))/'
  [ui]='^(backstage/|graphql/schema|internal/(demo|realtest/(ui|browser|backstage|gitea|tokens|testdata)|app/(ui|browser|packages|testdata/browser)))'
  [cgroups]='^(previews/(local|previewstest)|internal/realtest)/'
  [alerts]='^(docs/alerts|internal/(realtest|prometheus)|gitops|catalog/infer)/'
)
declare -A limit=([postgres]=15m [vault]=15m [gitea]=15m [clients]=20m [tokens]=10m [backstage]=10m [argocd]=25m [story]=15m [ui]=20m [cgroups]=12m [alerts]=5m)
order=(postgres vault clients tokens backstage gitea argocd story ui cgroups alerts)

# Whether a server whose folder begins so is built.
built() { compgen -G "${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/$1*/done" >/dev/null; }

changed() {
  local base
  base=$(git rev-list -1 --before='4 hours ago' HEAD 2>/dev/null || true)
  if [ -n "$base" ]; then git diff --name-only "$base" HEAD; else git ls-files; fi
}

selected=()
case $want in
  all) selected=("${order[@]}") ;;
  auto)
    files=$(changed)
    for s in "${order[@]}"; do
      if [ "$s" = cgroups ] || [ "$s" = argocd ]; then
        echo "left out: $s (it takes long, with servers or a kernel of its own; run it by its name)"
      elif [ "$s" = vault ] && ! compgen -G "${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/vault-v*/vaultd" >/dev/null; then
        echo "left out: vault (Vault is not built here yet, which takes nine minutes of CPU; run it by its name)"
      elif [ "$s" = story ] && ! { built kube-v && built argocd-v && built vault-v && built gitea- && built ui-app- && built browser-; }; then
        echo "left out: story (its servers are not built here yet, which takes half an hour; run it by its name)"
      elif [ "$s" = ui ] && ! { built ui-app- && built browser- && built gitea- && built backstage-; }; then
        echo "left out: ui (the front end is not built here yet, which takes minutes and 1.3 GB; run it by its name)"
      elif grep -qE "${concerns[$s]}|^(go\.(mod|sum)|scripts/|Makefile)" <<<"$files"; then
        selected+=("$s")
      else
        echo "left out: $s (nothing it concerns has changed)"
      fi
    done ;;
  *) read -r -a selected <<<"$want" ;;
esac

# As make test does it.
race() { go test -race '-gcflags=modernc.org/...=-d=checkptr=0' "$@"; }

failed=0
for s in "${selected[@]}"; do
  echo "== suite $s (limit ${limit[$s]:?there is no suite $s})"
  start=$SECONDS
  case $s in
    postgres)
      internal/realtest/install.sh
      internal/realtest/redis.sh
      race -timeout "${limit[$s]}" ./internal/store/... ./internal/jobs/... ./access ./previews/... || failed=1
      race -timeout "${limit[$s]}" -run 'TestApprovalsEndToEnd|TestPreviewData|TestMigrate' ./internal/app || failed=1
      race -timeout "${limit[$s]}" -run 'Postgres|Redis' ./internal/realtest || failed=1 ;;
    vault)
      internal/realtest/install.sh
      internal/realtest/vault.sh
      race -timeout "${limit[$s]}" -run Vault ./internal/realtest ./cmd/fairlead/loan || failed=1
      race -timeout "${limit[$s]}" -run '^TestVault' ./internal/app || failed=1
      # Kubernetes is of the suite argocd, which has a cluster.
      race -timeout "${limit[$s]}" -skip Kubernetes ./secrets/... || failed=1 ;;
    backstage)
      internal/realtest/backstage.sh
      race -timeout "${limit[$s]}" -run '^TestBackstage' ./internal/realtest ./internal/app || failed=1 ;;
    gitea)
      internal/realtest/gitea.sh
      race -timeout "${limit[$s]}" -run Gitea ./internal/realtest ./internal/app || failed=1
      race -timeout "${limit[$s]}" ./internal/forge/... || failed=1 ;;
    argocd)
      internal/realtest/install.sh
      internal/realtest/argocd.sh
      # One stack at a time, of 1.2 GB; Argo CD's client is not built once more
      # for the race detector.
      race -timeout "${limit[$s]}" -run 'ArgoCD|Place|Link' ./internal/realtest || failed=1
      go test -p 1 -timeout "${limit[$s]}" -run ArgoCD ./internal/argo ./cmd/fairleadd || failed=1
      internal/realtest/vault.sh
      race -timeout "${limit[$s]}" -run Kubernetes ./secrets/vault || failed=1 ;;
    story)
      for server in install prometheus gitea vault argocd browser ui; do internal/realtest/$server.sh; done
      # One stack of all servers, of 1.5 GB; Argo CD's client is not built once
      # more for the race detector.
      go test -timeout "${limit[$s]}" ./internal/realtest/full || failed=1 ;;
    ui)
      internal/realtest/browser.sh
      internal/realtest/ui.sh check
      internal/realtest/ui.sh installed
      for server in gitea backstage tokens; do internal/realtest/$server.sh; done
      race -timeout "${limit[$s]}" -run '^Test(Browser|Packages)' ./internal/app || failed=1 ;;
    clients)
      internal/realtest/clients.sh
      internal/realtest/openapi.sh
      race -timeout "${limit[$s]}" -run 'Real' ./internal/app/... ./mcp/... ./rest/... || failed=1 ;;
    cgroups)
      internal/realtest/cgroups.sh 600 || failed=1 ;;
    alerts)
      internal/realtest/promtool.sh || failed=1
      race -timeout "${limit[$s]}" ./internal/prometheus || failed=1
      race -timeout "${limit[$s]}" -run TestDeploymentMeasured ./internal/app || failed=1 ;;
    tokens)
      internal/realtest/tokens.sh
      race -timeout "${limit[$s]}" -run Real ./access/oidc || failed=1 ;;
  esac
  echo "== suite $s took $((SECONDS - start)) s"
done
exit $failed
