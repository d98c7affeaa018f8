#!/usr/bin/env bash
# OpenStack's services and command line in a virtual environment of their own. Every package has one pinned version (openstack-constraints.txt).
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/cache.sh"
requirements=(nova keystone openstack-placement glance neutron libvirt-python python-openstackclient osc-placement PyMySQL uwsgi 'setuptools<81')
constraints=$RIG_HOME/openstack-constraints.txt
# A virtual environment cannot be moved and is bound to its interpreter.
key="$(sha256sum < "$constraints" | cut -c1-16) ${requirements[*]} $(python3 -c 'import sys; print(sys.version.split()[0], sys.base_prefix)')"
complete "$VENV" "$key" && exit 0

works() {
  [ -x "$VENV/bin/python" ] && diff -q <("$VENV/bin/pip" freeze) "$constraints" > /dev/null \
    && "$VENV/bin/python" -W ignore -c 'import nova, keystone, placement, glance, neutron, libvirt, openstackclient, pymysql' \
    && "$VENV/bin/uwsgi" --version > /dev/null
}
build() {
  rm -rf "$VENV"
  python3 -m venv "$VENV"
  # uwsgi and libvirt-python have no wheels and are compiled.
  nice -n 10 "$VENV/bin/pip" install --no-input --disable-pip-version-check -c "$constraints" "${requirements[@]}"
}
works 2> /dev/null || logged python build
works || die "the virtual environment $VENV is not what $constraints names"
mark_complete "$VENV" "$key"
