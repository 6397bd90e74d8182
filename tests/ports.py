"""Ports of loopback for the servers of tests.

They lie below those that Linux gives to connections, so that none takes one between its choice
and its use. Each process of pytest-xdist has every sixteenth, and gives each once in turn.
"""

import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle

_FIRST, _END, _PROCESSES = 20_000, 32_000, 16


def free_port() -> int:
    """A port that nobody listens on, and that nobody else is given."""
    return next(_PORTS)


def _ports() -> Iterator[int]:
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    ports = [*range(_FIRST + number % _PROCESSES, _END, _PROCESSES)]
    # Two runs at once, as of two clones, begin elsewhere.
    random.Random(os.getpid()).shuffle(ports)
    for port in cycle(ports):
        if _is_free(port):
            yield port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: one that has just ended must not seem to be there.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return True
    return False


_PORTS = _ports()
