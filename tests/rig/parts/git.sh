#!/usr/bin/env bash
# A Git server: bare repositories below <state>/git, served over smart HTTP on loopback, pushes allowed.
# `git init --bare $C5C3_RIG_GIT_ROOT/NAME.git` makes a repository; it needs no settings of its own.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/daemon.sh"

root=$RIG_STATE/git
port=$(port git)
mkdir -p "$root"
daemon git python3 "$RIG_HOME/lib/git-http.py" "$root" "$port" "$RIG_HOME/git-hooks"
await git 20 "the Git server" curl -sf "http://127.0.0.1:$port/-/ready"

publish git <<EOF
export C5C3_RIG_GIT_ROOT='$root'
export C5C3_RIG_GIT_URL='http://127.0.0.1:$port'
EOF
versions git <<EOF
git $(git --version | cut -d' ' -f3)
EOF
