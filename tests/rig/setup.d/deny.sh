#!/usr/bin/env bash
# cargo-deny, built from crates.io into the cache: a long compile, so it is made last and at a low priority.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/cache.sh"
dir=$RIG_CACHE/cargo-deny-$CARGO_DENY_VERSION
mkdir -p "$RIG_CACHE/log"
exec 9> "$RIG_CACHE/deny.lock"
flock 9
complete "$dir" "cargo-deny $CARGO_DENY_VERSION" && exit 0
# Its own build folder, thrown away after: nothing of it is ours. No lto: it is run a few times, not shipped.
build() {
  CARGO_TARGET_DIR=$dir/build CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    nice -n 15 cargo install --locked --root "$dir" --version "$CARGO_DENY_VERSION" cargo-deny
  rm -rf "$dir/build"
}
works() { [ "$("$dir/bin/cargo-deny" --version 2> /dev/null)" = "cargo-deny $CARGO_DENY_VERSION" ]; }
works || logged cargo-deny build
works || die "$dir/bin/cargo-deny does not run"
mark_complete "$dir" "cargo-deny $CARGO_DENY_VERSION"
