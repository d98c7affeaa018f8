# shellcheck shell=bash
# How each service of the cloud is started. Sourced inside the cloud's room, after rig.sh, daemon.sh and cloud.sh.

SOCKET=/run/mysqld.sock
sql() { mariadb -uroot -S "$SOCKET" "$@"; }

write_configuration() {
  local file
  mkdir -p "$CLOUD_ETC" "$CLOUD_DIR"/{images,lock,nova,neutron}
  for file in keystone.conf placement.conf glance-api.conf neutron.conf ml2.ini nova.conf uwsgi.ini; do configuration "$file" > "$CLOUD_ETC/$file"; done
  cp "$VENV/etc/nova/api-paste.ini" "$CLOUD_ETC/"
}

# Nothing here has to survive a power cut, so nothing is flushed.
database() {
  mkdir -p "$CLOUD_DIR/tmp"
  daemon mariadb mariadbd --no-defaults --user=root --datadir="$CLOUD_DIR/mysql" --socket="$SOCKET" --pid-file=/run/mysqld.pid \
    --tmpdir="$CLOUD_DIR/tmp" --bind-address=127.0.0.1 --port=3306 --max-connections=1000 --skip-name-resolve --innodb-flush-method=nosync \
    --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --innodb-log-file-size=32M --innodb-buffer-pool-size=256M
  await mariadb 60 "MariaDB" mariadb -uroot -S "$SOCKET" -e 'select 1'
}

queue() {
  local dir=$CLOUD_DIR/rabbitmq
  mkdir -p "$dir"
  # guest may come from the hosts' rooms too.
  printf 'loopback_users = none\nlisteners.tcp.default = 5672\n' > "$dir/rabbitmq.conf"
  # One scheduler that sleeps when idle: the queue is never the bottleneck here, the two cores are.
  HOME=$dir RABBITMQ_NODENAME=rig@localhost RABBITMQ_CONFIG_FILE=$dir/rabbitmq.conf RABBITMQ_MNESIA_BASE=$dir RABBITMQ_LOG_BASE=$LOG_DIR \
    RABBITMQ_ENABLED_PLUGINS_FILE=$dir/plugins RABBITMQ_PID_FILE=/run/rabbitmq.pid \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none" \
    daemon rabbitmq /usr/lib/rabbitmq/bin/rabbitmq-server
}
queue_ready() { await rabbitmq 90 "RabbitMQ" bash -c ': < /dev/tcp/127.0.0.1/5672'; }

# api NAME PORT MODULE [UWSGI-OPTION…]
api() {
  local name=$1 port=$2 module=$3
  shift 3
  daemon "$name" "$VENV/bin/uwsgi" --ini "$CLOUD_ETC/uwsgi.ini" --http-socket "0.0.0.0:$port" --module "$module" "$@"
}
keystone() { OS_KEYSTONE_CONFIG_FILES=$CLOUD_ETC/keystone.conf OS_KEYSTONE_CONFIG_DIR=$CLOUD_ETC api keystone 5000 keystone.wsgi.api:application; }
placement() { OS_PLACEMENT_CONFIG_DIR=$CLOUD_ETC api placement 8778 placement.wsgi.api:application; }
glance() {
  OS_GLANCE_CONFIG_DIR=$CLOUD_ETC api glance 9292 glance.wsgi.api:application --pyargv "--config-file $CLOUD_ETC/glance-api.conf"
}
# Loaded after the fork: Neutron's OVN connections do not survive one.
neutron() {
  OS_NEUTRON_CONFIG_DIR=$CLOUD_ETC OS_NEUTRON_CONFIG_FILES="neutron.conf;ml2.ini" api neutron 9696 neutron.wsgi.api:application \
    --processes 1 --lazy-apps
}
nova_api() { OS_NOVA_CONFIG_DIR=$CLOUD_ETC api nova-api 8774 nova.wsgi.osapi_compute:application; }
nova() { daemon "nova-$1" "$VENV/bin/nova-$1" --config-file "$CLOUD_ETC/nova.conf"; }

# A compute with Nova's fake driver. Its id is fixed, both where Nova keeps a host's id and where the driver looks: a compute that comes back under
# another one is refused.
fake_compute() {
  local name=compute-$1 dir=$CLOUD_DIR/nova-compute-$1 identity
  identity=$(uuidgen --sha1 --namespace @dns --name "$name.rig")
  mkdir -p "$dir"
  printf '[DEFAULT]\nhost = %s\nstate_path = %s\n' "$name" "$dir" > "$CLOUD_ETC/$name.conf"
  echo "$identity" > "$dir/compute_id"
  daemon "$name" "$VENV/bin/python" "$RIG_HOME/lib/fake-compute.py" "$name" "$identity" \
    --config-file "$CLOUD_ETC/nova.conf" --config-file "$CLOUD_ETC/$name.conf"
}

# end NAME: TERM, and KILL after 10 s.
end() {
  local pid
  running "$1" || return 0
  read -r pid _ < "$DAEMON_DIR/$1"
  kill -TERM "$pid"
  for _ in $(seq 100); do
    running "$1" || return 0
    sleep 0.1
  done
  kill -KILL "$pid"
}
