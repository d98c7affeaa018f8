# shellcheck shell=bash
# Rooms: one network, mount, PID, IPC and UTS namespace each, joined by one bridge. A room is a machine as far as its daemons can tell.
#
# The namespaces have no names and no files: they live as long as their first process. So `kill -9` of one pid ends everything in the room
# (daemons, guests, mounts, interfaces), whatever state it was in, and nothing is left behind.

bridge() {
  (
    flock 8
    ip link show "$RIG_BRIDGE" > /dev/null 2>&1 && exit 0
    ip link add "$RIG_BRIDGE" type bridge
    ip addr add "$RIG_NET.1/24" dev "$RIG_BRIDGE"
    ip link set "$RIG_BRIDGE" up
  ) 8> "$RIG_STATE/bridge.lock"
}

room_pid() { cat "$RIG_NODE_DIR/$1/pid" 2> /dev/null; }
room_alive() {
  local pid
  pid=$(room_pid "$1") && [ -n "$pid" ] && tr '\0' '\n' 2> /dev/null < "/proc/$pid/environ" | grep -qxF "C5C3_RIG_DAEMON=$RIG_STATE"
}

# room NAME IP: opens it unless it is open.
room() {
  local name=$1 ip=$2 dir=$RIG_NODE_DIR/$1 link=rig$RIG_NUMBER-$1 outer pid=''
  bridge
  room_alive "$name" && return 0
  mkdir -p "$dir/log"
  rm -rf "$dir/pid" "$dir/open" "$dir/daemons"
  C5C3_RIG_DAEMON=$RIG_STATE setsid unshare --mount --uts --ipc --net --pid --fork --kill-child --mount-proc \
    bash "$RIG_HOME/room/init" "$name" "$dir" < /dev/null > "$dir/log/room.log" 2>&1 7>&- 9>&- &
  outer=$!
  for _ in $(seq 100); do
    [ -e "$dir/open" ] && pid=$(pgrep -P "$outer") && break
    sleep 0.05
  done
  [ -n "$pid" ] || die "the namespaces of $name did not open; read $dir/log/room.log"
  ip link del "$link" 2> /dev/null || true
  ip link add "$link" type veth peer name eth0 netns "$pid"
  ip link set "$link" master "$RIG_BRIDGE" up
  nsenter -t "$pid" -n bash -e -c "ip link set lo up; ip addr add $ip/24 dev eth0; ip link set eth0 up; ip route add default via $RIG_NET.1"
  echo "$pid" > "$dir/pid"
}

# room_close NAME: ends everything in it; its files stay.
room_close() {
  room_alive "$1" || return 0
  kill -KILL "$(room_pid "$1")"
  while room_alive "$1"; do sleep 0.05; done
}

# inside NAME COMMAND…: runs COMMAND in the room. The room's daemons keep their pid files and logs in the room's own folder.
inside() {
  local name=$1 dir=$RIG_NODE_DIR/$1
  shift
  DAEMON_DIR=$dir/daemons LOG_DIR=$dir/log nsenter -t "$(room_pid "$name")" -m -u -i -n -p -- "$@"
}

host_names() { printf '%s\n' "${RIG_HOSTS[@]%%=*}"; }
