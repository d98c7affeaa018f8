#!/usr/bin/env bash
# The hypervisor hosts: each a room with libvirtd, QEMU (TCG), ovsdb-server, ovs-vswitchd (userspace datapath) and ovn-controller.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/daemon.sh"
. "$RIG_HOME/lib/room.sh"

"$RIG_HOME/lib/libvirt-pki" "$RIG_LIBVIRT_PKI" "${RIG_LIBVIRT_DAEMONS[@]}"
for host in "${RIG_HOSTS[@]}"; do room "${host%=*}" "${host#*=}"; done
starts=()
for host in "${RIG_HOSTS[@]}"; do
  name=${host%=*}
  inside "$name" bash "$RIG_HOME/room/host" "$name" "${host#*=}" "$RIG_NODE_DIR/$name" &
  starts+=($!)
done
for start in "${starts[@]}"; do wait "$start"; done
# From outside, the way tests and the product come.
for host in "${RIG_HOSTS[@]}"; do
  LOG_DIR=$RIG_NODE_DIR/${host%=*}/log await libvirtd 30 "libvirt of ${host%=*} over TCP" virsh -c "qemu+tcp://${host#*=}/system" version
  LOG_DIR=$RIG_NODE_DIR/${host%=*}/log await ovsdb-server 30 "OVSDB of ${host%=*} over TCP" ovs-vsctl --timeout=5 --db="tcp:${host#*=}:6640" show
  LOG_DIR=$RIG_NODE_DIR/${host%=*}/log await ovn-controller 30 "chassis ${host%=*} in the Southbound database" \
    ovn-sbctl --timeout=5 --db="tcp:$RIG_OVN_IP:6642" wait-until Chassis "${host%=*}" hostname="${host%=*}"
done

publish hosts <<EOF
export C5C3_RIG_HOSTS='${RIG_HOSTS[*]}'
export C5C3_RIG_NODE_DIR='$RIG_NODE_DIR'
export C5C3_RIG_LIBVIRT_PKI='$RIG_LIBVIRT_PKI'
EOF
versions hosts <<EOF
libvirt $(libvirtd --version | sed 's/.* //')
qemu $(qemu-system-x86_64 --version | sed -n '1s/QEMU emulator version \([0-9.]*\).*/\1/p')
openvswitch $(ovs-vswitchd --version | sed -n '1s/.* //p')
EOF
