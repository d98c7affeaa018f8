#!/usr/bin/env bash
# Flux's source-controller and kustomize-controller with their CRDs, built from the Go module proxy.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/cache.sh"
key="flux $FLUX_VERSION"
complete "$FLUX_DIR" "$key" && exit 0
controllers=(source-controller kustomize-controller)

# Each controller's go.mod replaces modules; replacements count only in the main module, so they are said again here.
module() {
  cat <<M
module rig
go 1.26.0
require github.com/fluxcd/$1 v$FLUX_VERSION
replace (
	github.com/fluxcd/$1/api => github.com/fluxcd/$1/api v$FLUX_VERSION
	github.com/fluxcd/pkg/artifact => github.com/fluxcd/pkg/artifact v0.18.0
	github.com/opencontainers/go-digest => github.com/opencontainers/go-digest v1.0.1-0.20220411205349-bde1400a84be
M
  if [ "$1" = kustomize-controller ]; then
    cat <<M
	sigs.k8s.io/kustomize/api => sigs.k8s.io/kustomize/api v0.21.1
	sigs.k8s.io/kustomize/kyaml => sigs.k8s.io/kustomize/kyaml v0.21.1
	gopkg.in/yaml.v3 => gopkg.in/yaml.v3 v3.0.1
M
  fi
  echo ')'
}

build() {
  local name
  export GOFLAGS=-mod=mod CGO_ENABLED=0
  mkdir -p "$FLUX_DIR/bin"
  for name in "${controllers[@]}"; do
    mkdir -p "$FLUX_DIR/src/$name"
    cd "$FLUX_DIR/src/$name"
    rm -f go.sum
    module "$name" > go.mod
    printf '//go:build tools\n\npackage rig\n\nimport _ "github.com/fluxcd/%s"\n' "$name" > tools.go
    # Not `go mod tidy`: a module that only tests need is not served by the proxy.
    go get "github.com/fluxcd/$name@v$FLUX_VERSION"
    nice -n 10 go build -trimpath -ldflags '-s -w' -o "$FLUX_DIR/bin/" "github.com/fluxcd/$name"
  done
}

resources() {
  local name
  rm -rf "$FLUX_DIR/crds"
  mkdir -p "$FLUX_DIR/crds"
  for name in "${controllers[@]}"; do
    cp "$(go env GOMODCACHE)/github.com/fluxcd/$name@v$FLUX_VERSION/config/crd/bases"/*.yaml "$FLUX_DIR/crds/"
  done
  chmod -R u+w "$FLUX_DIR/crds"
}

works() { for name in "${controllers[@]}"; do "$FLUX_DIR/bin/$name" --help 2>&1 | grep -q -- --events-addr || return 1; done; }
works || logged flux build
works || die "a binary in $FLUX_DIR/bin does not run"
resources
mark_complete "$FLUX_DIR" "$key"
