#!/usr/bin/env bash
# Things for tests to see and use: flavor, image, network, zones, aggregates, custom traits. Running it again changes nothing.
set -euo pipefail
. "$(dirname "$0")/../lib/rig.sh"
. "$RIG_HOME/lib/cloud.sh"
OS_CLIENT_CONFIG_FILE=$CLOUD_DIR/clouds.yaml timeout 120 "$VENV/bin/python" "$RIG_HOME/lib/seed.py" rig "${RIG_HOSTS[@]%%=*}"
