#!/usr/bin/env bash
# libvirt daemons that want a user name and a password (SASL), in a room of their own.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/daemon.sh"
. "$RIG_HOME/lib/room.sh"

"$RIG_HOME/lib/libvirt-pki" "$RIG_LIBVIRT_PKI" "${RIG_LIBVIRT_DAEMONS[@]}"
room sasl "$RIG_SASL_IP"
inside sasl bash "$RIG_HOME/room/sasl" "$RIG_NODE_DIR/sasl" "$RIG_LIBVIRT_PKI"

publish sasl <<EOF
export C5C3_RIG_SASL='$RIG_SASL_IP'
export C5C3_RIG_SASL_SOCKETS='$RIG_NODE_DIR/sasl/run/libvirt/libvirt-sock $RIG_NODE_DIR/sasl/run/plain/libvirt/libvirt-sock'
export C5C3_RIG_SASL_USER='observer'
export C5C3_RIG_SASL_PASSWORD='rig, a=b'
EOF
versions sasl <<EOF
cyrus-sasl $(dpkg-query -W -f '${Version}' libsasl2-2 | sed 's/+.*//')
EOF
