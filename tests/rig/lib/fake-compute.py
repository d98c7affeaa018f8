#!/usr/bin/env python3
"""nova-compute with the fake driver under a node id that stays: fake-compute.py NAME UUID NOVA-COMPUTE-OPTIONS…

The driver takes its node's id from a register of ids that are random in each process. A compute that comes back under another id is refused
(duplicate compute node), so the id is put into the register before the driver asks. Everything else is nova-compute as it is.
"""
import sys

# First, because it prepares the process (threads or greenlets) before anything else is imported.
from nova.cmd import compute

from oslo_utils.fixture import uuidsentinel

name, identity, *options = sys.argv[1:]
setattr(uuidsentinel, f"node_{name}", identity)
sys.argv = ["nova-compute", *options]
sys.exit(compute.main())
