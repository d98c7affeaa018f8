#!/usr/bin/env bash
# nova-compute with the libvirt driver on every hypervisor host: servers become domains of the host's libvirt and ports of its Open vSwitch.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/daemon.sh"
. "$RIG_HOME/lib/room.sh"
. "$RIG_HOME/lib/cloud.sh"

names=()
for host in "${RIG_HOSTS[@]}"; do
  name=${host%=*} dir=$RIG_NODE_DIR/${host%=*}
  mkdir -p "$dir/nova/lock" "$dir/instances"
  configuration nova-libvirt.conf "HOST=$name" "IP=${host#*=}" "HOSTDIR=$dir" > "$dir/nova-compute.conf"
  # shellcheck disable=SC2016 # expanded inside
  inside "$name" bash -c '. "$1/lib/rig.sh"; . "$1/lib/daemon.sh"; daemon nova-compute "$2/bin/nova-compute" --config-file "$3/nova-compute.conf"' \
    nova-compute "$RIG_HOME" "$VENV" "$dir"
  names+=("nova-compute:$name")
done
LOG_DIR=$RIG_NODE_DIR/node-1/log await nova-compute 240 "nova-compute on ${names[*]#*:} (each has a log of this name in its folder)" \
  python3 "$RIG_HOME/lib/services-up.py" "$KEYSTONE/v3" "$CLOUD_PASSWORD" "${names[@]}"

publish compute <<EOF
export C5C3_RIG_COMPUTES='${names[*]#*:}'
EOF
