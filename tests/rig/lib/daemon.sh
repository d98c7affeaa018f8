# shellcheck shell=bash
# Starting, watching and ending daemons. Sourced after rig.sh, outside and inside the rooms.
#
# Every daemon is its own session, has a pid file (pid and start time, so that a reused pid is never taken for it), one log, and the mark
# C5C3_RIG_DAEMON=<state folder> in its environment, which its children inherit: `down` finds also what a crashed daemon left behind.

DAEMON_DIR=${DAEMON_DIR:-$RIG_STATE/daemons}
LOG_DIR=${LOG_DIR:-$RIG_STATE/log}

# The 22nd field of stat is the start time; the 2nd may hold spaces, so count from the closing bracket.
started_at() { sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -d' ' -f20; }

running() {
  local pid start
  [ -s "$DAEMON_DIR/$1" ] && read -r pid start < "$DAEMON_DIR/$1" && [ -n "$start" ] && [ "$(started_at "$pid")" = "$start" ] \
    && ! grep -q '^State:.Z' "/proc/$pid/status" 2> /dev/null
}

# daemon NAME COMMAND…: starts it unless it runs. The descriptors of locks (7, 9) are closed, or a daemon would hold them for ever.
daemon() {
  local name=$1 pid
  shift
  running "$name" && return 0
  mkdir -p "$DAEMON_DIR" "$LOG_DIR"
  C5C3_RIG_DAEMON=$RIG_STATE setsid nohup "$@" < /dev/null >> "$LOG_DIR/$name.log" 2>&1 7>&- 9>&- &
  pid=$!
  echo "$pid $(started_at "$pid")" > "$DAEMON_DIR/$name"
}

# await NAME SECONDS WHAT COMMAND…: until COMMAND succeeds. Ends early when daemon NAME (of this namespace) is gone; says which log to read.
await() {
  local name=$1 seconds=$2 what=$3 deadline
  shift 3
  deadline=$((SECONDS + seconds))
  until timeout 10 "$@" > /dev/null 2>&1; do
    if [ -e "$DAEMON_DIR/$name" ] && ! running "$name"; then
      not_ready "$name" "$what: $name ended"
      return 1
    fi
    if [ $SECONDS -ge $deadline ]; then
      not_ready "$name" "$what: not within $seconds s"
      return 1
    fi
    sleep 0.2
  done
}

not_ready() {
  {
    printf 'rig: %s; read %s\n' "$2" "$LOG_DIR/$1.log"
    tail -n 12 "$LOG_DIR/$1.log" 2> /dev/null | cut -c1-300 | sed 's/^/     | /'
  } >&2
}

# The pids of all processes of this state folder, whoever their parent is now.
marked_pids() {
  local file
  for file in /proc/[0-9]*/environ; do
    if tr '\0' '\n' < "$file" 2> /dev/null | grep -qxF "C5C3_RIG_DAEMON=$RIG_STATE"; then
      file=${file#/proc/}
      echo "${file%/environ}"
    fi
  done 2> /dev/null
}
