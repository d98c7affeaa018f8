#!/usr/bin/env bash
# OVN central in a room of its own: Northbound and Southbound databases and northd.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/daemon.sh"
. "$RIG_HOME/lib/room.sh"

room ovn "$RIG_OVN_IP"
inside ovn bash "$RIG_HOME/room/ovn" "$RIG_NODE_DIR/ovn"

publish ovn <<EOF
export C5C3_RIG_OVN_NB='tcp:$RIG_OVN_IP:6641'
export C5C3_RIG_OVN_SB='tcp:$RIG_OVN_IP:6642'
EOF
versions ovn <<EOF
ovn $(ovn-nbctl --version | sed -n '1s/.* //p')
EOF
