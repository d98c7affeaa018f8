#!/usr/bin/env bash
# A Kubernetes control plane on loopback: etcd, kube-apiserver with aggregation, kube-controller-manager, and what the product expects to
# find in a cluster: its namespace and one Node per hypervisor host.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/daemon.sh"

dir=$RIG_STATE/kube
pki=$dir/pki
mkdir -p "$dir"
etcd_port=$(port etcd) peer_port=$(port etcd-peer) api_port=$(port kube-apiserver) kcm_port=$(port kube-controller-manager)

"$RIG_HOME/lib/pki" "$pki"

# kubeconfig FILE USER CERTIFICATE-NAME
kubeconfig() {
  "$RIG_HOME/lib/kubeconfig" "$2" "https://127.0.0.1:$api_port" "$pki/ca.crt" "$pki/$3.crt" "$pki/$3.key" > "$1"
}
kubeconfig "$dir/admin.kubeconfig" admin admin
kubeconfig "$dir/kube-controller-manager.kubeconfig" system:kube-controller-manager kube-controller-manager
kubeconfig "$dir/c5c3-apiserver.kubeconfig" c5c3-apiserver c5c3-apiserver

daemon etcd "$KUBE_BIN/server" --data-dir "$dir/etcd" --unsafe-no-fsync --log-level warn \
  --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
  --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
  --initial-cluster "default=http://127.0.0.1:$peer_port"

# No --enable-aggregator-routing: there is no cluster network, so an APIService is reached through its Service of type ExternalName.
# No endpoint reconciler: kube-apiserver refuses to publish a loopback address as its own and would only complain.
daemon kube-apiserver "$KUBE_BIN/kube-apiserver" --etcd-servers "http://127.0.0.1:$etcd_port" \
  --allow-privileged=true --bind-address 127.0.0.1 --secure-port "$api_port" --advertise-address 127.0.0.1 --endpoint-reconciler-type none \
  --tls-cert-file "$pki/kube-apiserver.crt" --tls-private-key-file "$pki/kube-apiserver.key" --client-ca-file "$pki/ca.crt" \
  --service-account-key-file "$pki/sa.key" --service-account-signing-key-file "$pki/sa.key" \
  --service-account-issuer https://kubernetes.default.svc --service-cluster-ip-range 10.0.0.0/24 --authorization-mode RBAC \
  --requestheader-client-ca-file "$pki/front-proxy-ca.crt" --requestheader-allowed-names front-proxy-client \
  --requestheader-username-headers X-Remote-User --requestheader-group-headers X-Remote-Group \
  --requestheader-extra-headers-prefix X-Remote-Extra- \
  --proxy-client-cert-file "$pki/front-proxy-client.crt" --proxy-client-key-file "$pki/front-proxy-client.key"

kubectl() { "$KUBE_BIN/kubectl" --kubeconfig "$dir/admin.kubeconfig" --request-timeout 10s "$@"; }
await kube-apiserver 90 "/readyz of kube-apiserver" "$KUBE_BIN/kubectl" --kubeconfig "$dir/admin.kubeconfig" get --raw /readyz

# Each controller with its own service account, as in a real cluster: so the garbage collector meets the aggregated API with the rights it has there.
daemon kube-controller-manager "$KUBE_BIN/kube-controller-manager" --bind-address 127.0.0.1 --secure-port "$kcm_port" --leader-elect=false \
  --kubeconfig "$dir/kube-controller-manager.kubeconfig" --authentication-kubeconfig "$dir/kube-controller-manager.kubeconfig" \
  --authorization-kubeconfig "$dir/kube-controller-manager.kubeconfig" --use-service-account-credentials \
  --service-account-private-key-file "$pki/sa.key" --root-ca-file "$pki/ca.crt" \
  --controllers garbage-collector-controller,namespace-controller,resourcequota-controller,deployment-controller,replicaset-controller,serviceaccount-controller,root-ca-certificate-publisher-controller

kubectl apply --server-side -f "$RIG_HOME/manifests/cluster.yaml" > /dev/null
for host in "${RIG_HOSTS[@]}"; do "$RIG_HOME/lib/node-object" "${host%=*}" "${host#*=}"; done > "$dir/nodes.yaml"
kubectl apply --server-side --force-conflicts -f "$dir/nodes.yaml" > /dev/null
kubectl apply --server-side --force-conflicts --subresource status -f "$dir/nodes.yaml" > /dev/null
await kube-controller-manager 60 "/healthz of kube-controller-manager" curl -skf "https://127.0.0.1:$kcm_port/healthz"
# The namespace's default service account is made by a controller: when it is there, the controllers work.
await kube-controller-manager 60 "the controllers" "$KUBE_BIN/kubectl" --kubeconfig "$dir/admin.kubeconfig" -n c5c3-system get serviceaccount default

publish kube <<EOF
export C5C3_RIG_KUBECONFIG='$dir/admin.kubeconfig'
export C5C3_RIG_KUBECTL='$KUBE_BIN/kubectl'
export C5C3_RIG_PKI='$pki'
EOF
versions kube <<EOF
kube-apiserver $KUBE_VERSION
kube-controller-manager $KUBE_VERSION
etcd $("$KUBE_BIN/server" --version | sed -n 's/^etcd Version: //p')
EOF
