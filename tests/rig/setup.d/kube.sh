#!/usr/bin/env bash
# etcd, kube-apiserver, kube-controller-manager and kubectl, built from the Go module proxy: about ten minutes of two cores, once.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/cache.sh"
dir=$RIG_CACHE/kube-$KUBE_VERSION
key="kubernetes $KUBE_VERSION"
complete "$dir" "$key" && exit 0

build() {
  mkdir -p "$dir/bin" "$dir/src"
  cd "$dir/src"
  # k8s.io/kubernetes replaces its staging modules by folders of its own tree, which the module does not carry: name their releases instead.
  local upstream
  upstream=$(go mod download -json "k8s.io/kubernetes@v$KUBE_VERSION" | jq -r .GoMod)
  {
    printf 'module rig\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' "$KUBE_VERSION"
    sed -n "s#^\t\(k8s.io/[a-z-]*\) => ./staging.*#\t\1 => \1 v0.${KUBE_VERSION#1.}#p" "$upstream"
    echo ')'
  } > go.mod
  cat > tools.go <<'G'
//go:build tools

package rig

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
G
  export GOFLAGS=-mod=mod CGO_ENABLED=0
  go mod tidy
  nice -n 10 go build -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$KUBE_VERSION" -o "$dir/bin/" \
    k8s.io/kubernetes/cmd/kubectl k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager go.etcd.io/etcd/server/v3
}

# Every binary must say its version: one whose link was interrupted does not.
works() {
  local name
  for name in kube-apiserver kube-controller-manager; do [ "$("$dir/bin/$name" --version)" = "Kubernetes v$KUBE_VERSION" ] || return 1; done
  "$dir/bin/kubectl" version --client | grep -q "v$KUBE_VERSION" && "$dir/bin/server" --version > /dev/null
}
works 2> /dev/null || logged kube build
works || die "a binary in $dir/bin does not run"
mark_complete "$dir" "$key"
