# shellcheck shell=bash
# What is complete in the cache. A folder counts only with its marker, which is written last and names what it was made from; so a run that was
# interrupted half way leaves nothing that a later one takes for good.

complete() { [ "$(cat "$1/.complete" 2> /dev/null)" = "$2" ]; }
mark_complete() { echo "$2" > "$1/.complete.new" && mv "$1/.complete.new" "$1/.complete"; }

# logged NAME COMMAND…: runs it with its output in the cache's log folder; shows the end of it when it fails.
logged() {
  local name=$1 log=$RIG_CACHE/log/$1.log began=$SECONDS
  shift
  say "$name: this takes a while; log in $log"
  if ! "$@" > "$log" 2>&1; then
    tail -n 25 "$log" | sed 's/^/     | /' >&2
    die "$name failed; read $log"
  fi
  say "$name: done ($((SECONDS - began)) s)"
}
