#!/usr/bin/env bash
# Builds Argo CD, and the Kubernetes that it runs against, from Go modules, and
# takes etcd and Redis from Debian packages, once for each version, into a cache
# outside the checkout. Nothing is installed on the machine and no service is
# started; neither root nor sudo is needed where Go and Git are there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/once.sh"
. "$here/unpack.sh"

kubernetes=$(sed -n 's/^\tk8s.io\/kubernetes \(v[^ ]*\).*/\1/p' "$here/kube/go.mod")
argocd=v2.14.21
# The versions that this Argo CD ships (its hack/tool-versions.sh).
kustomize=v5.4.3 helm=v3.16.3

build() { # arguments of go build
  GOFLAGS='' GOWORK=off CGO_ENABLED=0 nice -n 15 go build -mod=readonly -buildvcs=false -trimpath "$@"
}

build_kubernetes() {
  say "building the API server and the controllers of Kubernetes $kubernetes into $PWD (about nine minutes of CPU; once)"
  local out=$PWD version=k8s.io/component-base/version minor=${kubernetes#v1.}
  cd "$here/kube"
  build -ldflags "-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=${minor%%.*}" -o "$out/" \
    k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager
  "$out/kube-apiserver" --version
}

build_argocd() {
  say "building Argo CD $argocd into $PWD (about five minutes of CPU; once)"
  local out=$PWD from
  from=$(module "github.com/argoproj/argo-cd/v2@$argocd")
  # Built in its own module, so that its own go.mod and go.sum count.
  cd "$from"
  build -ldflags "-s -w -X github.com/argoproj/argo-cd/v2/common.version=${argocd#v}" -o "$out/argocd" ./cmd
  rm -rf "$out/crds"
  mkdir "$out/crds"
  install -m 644 manifests/crds/{application,appproject,applicationset}-crd.yaml "$out/crds/"
  "$out/argocd" version --client --short
}

build_tools() {
  say "building kustomize $kustomize and helm $helm into $PWD (about three minutes of CPU; once)"
  export GOBIN=$PWD GOFLAGS='' GOWORK=off CGO_ENABLED=0
  nice -n 15 go install -trimpath -ldflags '-s -w' "sigs.k8s.io/kustomize/kustomize/v5@$kustomize"
  nice -n 15 go install -trimpath -ldflags '-s -w' "helm.sh/helm/v3/cmd/helm@$helm"
}

if ! command -v go >/dev/null; then
  say "Go is missing: install the version that go.mod names" >&2
  exit 1
fi
need git git # Argo CD's repository server runs it
if command -v etcd >/dev/null && command -v redis-server >/dev/null; then
  say "etcd and Redis are there: $(command -v etcd) $(command -v redis-server)"
else
  once etcd-redis "etcd and Redis" unpack_etcd_and_redis
fi
once "kube-$kubernetes" "Kubernetes $kubernetes" build_kubernetes
once "argocd-$argocd" "Argo CD $argocd" build_argocd
once "argocd-tools-$kustomize-$helm" "kustomize and helm" build_tools
