# shellcheck shell=bash disable=SC2034
# Where everything of the rig lives. Sourced by every script of tests/rig; it only names things and starts nothing.
#
# Two folders: the cache (built binaries, virtual environment, an initialised database; kept between runs, keyed by version) and the state
# (one running rig: its data, logs, pid files; thrown away by the next `up` after a `down`).

RIG_HOME=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/rig/versions.env
. "$RIG_HOME/versions.env"

RIG_CACHE=${C5C3_RIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/c5c3-rig}
# A second rig on the same machine needs its own number: it is the third byte of its network and part of its state folder's name.
RIG_NUMBER=${C5C3_RIG_NUMBER:-0}
RIG_STATE_DEFAULT=$RIG_CACHE/state
[ "$RIG_NUMBER" = 0 ] || RIG_STATE_DEFAULT=$RIG_CACHE/state-$RIG_NUMBER
RIG_STATE=${C5C3_RIG_STATE:-$RIG_STATE_DEFAULT}

KUBE_BIN=$RIG_CACHE/kube-$KUBE_VERSION/bin
FLUX_DIR=$RIG_CACHE/flux-$FLUX_VERSION
VENV=$RIG_CACHE/venv-$OPENSTACK_SERIES
CARGO_DENY=$RIG_CACHE/cargo-deny-$CARGO_DENY_VERSION/bin/cargo-deny

# The network of the namespaced hosts. The bridge's own address is how this machine reaches them.
RIG_BRIDGE=br-rig$RIG_NUMBER
RIG_NET=10.99.$RIG_NUMBER
RIG_CLOUD_IP=$RIG_NET.2
RIG_OVN_IP=$RIG_NET.3
RIG_SASL_IP=$RIG_NET.4
RIG_HOSTS=(node-1="$RIG_NET.11" node-2="$RIG_NET.12")
RIG_NODE_DIR=$RIG_STATE/node
# Certificates of libvirt daemons and their clients; each daemon has one for its name and address.
RIG_LIBVIRT_PKI=$RIG_STATE/libvirt-pki
RIG_LIBVIRT_DAEMONS=("${RIG_HOSTS[@]}" sasl="$RIG_SASL_IP")
RIG_FAKE_COMPUTES=${C5C3_RIG_FAKE_COMPUTES:-2}

# Domain sockets have room for 107 characters of path; the longest one here is <state>/node/node-1/run/openvswitch/ovsdb-server.ctl.
if [ ${#RIG_STATE} -gt 55 ]; then
  echo "rig: the state folder's path is too long for unix sockets (${#RIG_STATE} characters, at most 55): $RIG_STATE; set C5C3_RIG_STATE" >&2
  exit 2
fi

# Also when a shell has one rig's rig.env and another one's number.
if [ "$(cat "$RIG_STATE/number" 2> /dev/null || echo "$RIG_NUMBER")" != "$RIG_NUMBER" ]; then
  echo "rig: $RIG_STATE is the state of rig $(cat "$RIG_STATE/number"), not of rig $RIG_NUMBER; unset C5C3_RIG_STATE or C5C3_RIG_NUMBER" >&2
  exit 2
fi

say() { printf 'rig: %s\n' "$*"; }
die() {
  printf 'rig: %s\n' "$*" >&2
  exit 1
}
need_root() { [ "$(id -u)" = 0 ] || die "this needs root (network and mount namespaces); run it as root"; }

# publish PART < exports: what a part tells the tests. rig.env is put together from all parts that are up, atomically.
publish() {
  mkdir -p "$RIG_STATE/env.d"
  cat > "$RIG_STATE/env.d/.$1" && mv "$RIG_STATE/env.d/.$1" "$RIG_STATE/env.d/$1"
  (
    flock 8
    cat "$RIG_STATE"/env.d/* > "$RIG_STATE/rig.env.new"
    mv "$RIG_STATE/rig.env.new" "$RIG_STATE/rig.env"
  ) 8> "$RIG_STATE/env.lock"
}

# versions PART < "name version" lines.
versions() {
  mkdir -p "$RIG_STATE/versions.d"
  cat > "$RIG_STATE/versions.d/.$1" && mv "$RIG_STATE/versions.d/.$1" "$RIG_STATE/versions.d/$1"
  (
    flock 8
    cat "$RIG_STATE"/versions.d/* > "$RIG_STATE/versions.new"
    mv "$RIG_STATE/versions.new" "$RIG_STATE/versions"
  ) 8> "$RIG_STATE/env.lock"
}

# port NAME: the loopback port of that name, chosen once per state folder so that a daemon that is started again keeps it.
port() {
  mkdir -p "$RIG_STATE/ports"
  (
    flock 8
    [ -s "$RIG_STATE/ports/$1" ] || python3 "$RIG_HOME/lib/free-port.py" "$RIG_STATE/ports" > "$RIG_STATE/ports/$1"
    cat "$RIG_STATE/ports/$1"
  ) 8> "$RIG_STATE/ports.lock"
}
