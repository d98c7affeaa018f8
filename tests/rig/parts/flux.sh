#!/usr/bin/env bash
# Flux's source-controller and kustomize-controller against the rig's Kubernetes. They run beside it on loopback, as processes with a kubeconfig;
# everything else is as in a cluster: namespace flux-system, CRDs, reconciliation.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/daemon.sh"

dir=$RIG_STATE/flux
mkdir -p "$dir/artifacts"
kubeconfig=$RIG_STATE/kube/admin.kubeconfig
kubectl=("$KUBE_BIN/kubectl" --kubeconfig "$kubeconfig" --request-timeout 20s)
"${kubectl[@]}" apply --server-side -f "$FLUX_DIR/crds" > /dev/null
"${kubectl[@]}" create namespace flux-system --dry-run=client -o yaml | "${kubectl[@]}" apply --server-side -f - > /dev/null
"${kubectl[@]}" wait --for condition=Established --timeout 30s crd gitrepositories.source.toolkit.fluxcd.io kustomizations.kustomize.toolkit.fluxcd.io > /dev/null

# controller NAME OPTIONS…: every address is said, because the defaults listen on all interfaces.
controller() {
  local name=$1
  shift
  HOME=$dir KUBECONFIG=$kubeconfig RUNTIME_NAMESPACE=flux-system daemon "$name" "$FLUX_DIR/bin/$name" --enable-leader-election=false --events-addr= \
    "--metrics-addr=127.0.0.1:$(port "$name-metrics")" "--health-addr=127.0.0.1:$(port "$name-health")" "$@"
}
storage=127.0.0.1:$(port flux-artifacts)
controller source-controller "--storage-path=$dir/artifacts" "--storage-addr=$storage" "--storage-adv-addr=$storage"
# A Kustomization that waits for another one looks again soon, and those whose health is waited for leave room for others: tests wait for both.
controller kustomize-controller --requeue-dependency=1s --concurrent=20
for name in source-controller kustomize-controller; do
  await "$name" 60 "$name" curl -sf "http://127.0.0.1:$(port "$name-health")/readyz"
done

publish flux <<EOF
export C5C3_RIG_FLUX='$FLUX_VERSION'
EOF
versions flux <<EOF
flux-source-controller $FLUX_VERSION
flux-kustomize-controller $FLUX_VERSION
EOF
