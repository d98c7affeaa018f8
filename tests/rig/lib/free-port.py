#!/usr/bin/env python3
"""Prints a loopback TCP port that nobody holds and that no other part of this rig was given.

Below the kernel's ephemeral range on purpose: an outgoing connection of some other program cannot take the port between this choice and the
daemon's start.
"""
import pathlib
import random
import socket
import sys

taken = {int(text) for file in pathlib.Path(sys.argv[1]).iterdir() if (text := file.read_text().strip())}
candidates = [port for port in range(20000, 32000) if port not in taken]
random.shuffle(candidates)
for port in candidates:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        print(port)
        sys.exit(0)
sys.exit("no free loopback port between 20000 and 31999")
