#!/usr/bin/env bash
# Debian's packages: the hosts' daemons, the cloud's database and queue, and small tools.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/cache.sh"
packages=(openvswitch-switch ovn-central ovn-host libvirt-daemon-system libvirt-clients libvirt-dev qemu-system-x86 qemu-utils
  libsasl2-modules libsasl2-modules-db sasl2-bin
  rabbitmq-server mariadb-server iproute2 procps uuid-runtime openssl curl jq git zstd gcc pkg-config)

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2> /dev/null)" = "ii " ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
command -v apt-get > /dev/null || die "these Debian packages are missing and there is no apt-get: ${missing[*]}"
[ "$(id -u)" = 0 ] || die "these Debian packages are missing; as root: apt-get install --no-install-recommends ${missing[*]}"

install() {
  export DEBIAN_FRONTEND=noninteractive
  # No daemon of theirs may start: the rig starts its own. The policy file is taken away again.
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' RETURN
  fi
  dpkg --configure -a
  apt-get update -q
  apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"
}
logged packages install
