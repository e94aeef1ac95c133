"""Ports for servers of which the address must be known before they start, or outlive a restart."""

import random
import socket

#: Below those that the system gives to connections (on Linux from 32768): one of these may take
#: the port of a server that has not started yet, or is being started again.
_RANGE = range(20_000, 32_000)
#: Not the one that tests are given, which is the same in two runs with one seed.
_CHANCE = random.SystemRandom()
_given: set[int] = set()


def free_port() -> int:
    """A port on which nobody listens, and which this process has not been given before."""
    while True:
        port = _CHANCE.choice(_RANGE)
        if port not in _given and _is_free(port):
            _given.add(port)
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
