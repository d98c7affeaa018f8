# shellcheck shell=bash disable=SC2034
# Addresses and configuration files of the cloud. Sourced after rig.sh by everything that starts or asks an OpenStack service.

CLOUD_DIR=$RIG_NODE_DIR/cloud
CLOUD_ETC=$CLOUD_DIR/etc
KEYSTONE=http://$RIG_CLOUD_IP:5000
CLOUD_PASSWORD=rig-secret

# configuration TEMPLATE [NAME=VALUE…]: prints cloud/TEMPLATE with @NAME@ filled in.
configuration() {
  local template=$RIG_HOME/cloud/$1 text auth pair
  shift
  auth="auth_url = $KEYSTONE
auth_type = password
project_domain_name = Default
user_domain_name = Default
project_name = admin
username = admin
password = $CLOUD_PASSWORD
region_name = RegionOne"
  text=$(< "$template")
  for pair in "AUTH=$auth" "KEYSTONE=$KEYSTONE" "CLOUD=$RIG_CLOUD_IP" "OVN=$RIG_OVN_IP" "DIR=$CLOUD_DIR" "VENV=$VENV" \
    "DB=mysql+pymysql://os:os@127.0.0.1:3306" "$@"; do
    text=${text//"@${pair%%=*}@"/"${pair#*=}"}
  done
  printf '%s\n' "$text"
}

# What the initialised database in the cache was made from: the same services, the same steps, the same server.
cloud_key() {
  {
    cat "$RIG_HOME/openstack-constraints.txt" "$RIG_HOME/room/cloud-schema" "$RIG_HOME/lib/catalogue.py"
    echo "$CLOUD_PASSWORD"
    mariadbd --version | sed 's/.*Ver \([^ ]*\) .*/\1/'
  } | sha256sum | cut -c1-16
}
