#!/usr/bin/env bash
# The cloud in a room of its own: MariaDB, RabbitMQ, Keystone, Placement, Glance, Neutron (ML2/OVN) and Nova, with some computes that use
# Nova's fake driver. The schema of all databases takes minutes, so the initialised data folder is kept in the cache.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/daemon.sh"
. "$RIG_HOME/lib/room.sh"
. "$RIG_HOME/lib/cloud.sh"

archive=$RIG_CACHE/cloud-data-$(cloud_key).tar.zst
if [ ! -e "$CLOUD_DIR/initialised" ]; then
  # A half-made data folder of an interrupted start is of no use, nor is a daemon that sits on it.
  room_close cloud
  room cloud "$RIG_CLOUD_IP"
  rm -rf "$CLOUD_DIR/mysql" "$CLOUD_DIR/keystone" "$CLOUD_DIR/application-credential"
  if [ ! -s "$archive" ]; then
    began=$SECONDS
    say "cloud: making the databases (minutes, only the first time)"
    inside cloud bash "$RIG_HOME/room/cloud-schema" || die "the databases could not be made; logs in $CLOUD_DIR/log"
    tar -C "$CLOUD_DIR" -cf - mysql keystone application-credential | zstd -q -3 -o "$archive.new" -f
    rm -f "$RIG_CACHE"/cloud-data-*.tar.zst
    mv "$archive.new" "$archive"
    say "cloud: databases made ($((SECONDS - began)) s), kept in $archive"
  else
    zstd -qdc "$archive" | tar -C "$CLOUD_DIR" -xf -
  fi
  touch "$CLOUD_DIR/initialised"
fi
room cloud "$RIG_CLOUD_IP"
inside cloud bash "$RIG_HOME/room/cloud"

read -r credential_id credential_secret < "$CLOUD_DIR/application-credential"
cat > "$CLOUD_DIR/clouds.yaml" <<C
clouds:
  rig:
    auth_type: password
    auth:
      auth_url: $KEYSTONE/v3
      username: admin
      password: $CLOUD_PASSWORD
      project_name: admin
      user_domain_name: Default
      project_domain_name: Default
    region_name: RegionOne
    identity_api_version: "3"
    interface: public
  rig-appcred:
    auth_type: v3applicationcredential
    auth:
      auth_url: $KEYSTONE/v3
      application_credential_id: $credential_id
      application_credential_secret: $credential_secret
    region_name: RegionOne
    identity_api_version: "3"
    interface: public
C
fakes=()
for number in $(seq "$RIG_FAKE_COMPUTES"); do fakes+=("compute-$number"); done
LOG_DIR=$CLOUD_DIR/log await nova-conductor 240 "Nova's services" \
  python3 "$RIG_HOME/lib/services-up.py" "$KEYSTONE/v3" "$CLOUD_PASSWORD" nova-conductor:cloud nova-scheduler:cloud "${fakes[@]/#/nova-compute:}"

publish cloud <<EOF
export C5C3_RIG_CLOUDS_YAML='$CLOUD_DIR/clouds.yaml'
export C5C3_RIG_OPENSTACK='$VENV/bin/openstack'
EOF
for package in nova keystone openstack-placement glance neutron; do
  echo "${package#openstack-} $(sed -n "s/^$package==//p" "$RIG_HOME/openstack-constraints.txt")"
done | versions cloud
