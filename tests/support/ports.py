"""Ports for servers of which the address must be known before they start, or outlive a restart."""

import random
import socket

#: Below those that the system gives to connections (on Linux from 32768): one of these may take
#: the port of a server that has not started yet, or is being started again.
_RANGE = range(20_000, 32_000)
#: Not the one that tests are given, which is the same in two runs with one seed.
_CHANCE = random.SystemRandom()
#: One for each port that was given. By these other processes see it too, until this one ends: the
#: tests of another clone may look for ports at the same time.
_held: list[socket.socket] = []


def free_port() -> int:
    """A port on which nobody listens, and which no process with tests has been given before."""
    while True:
        port = _CHANCE.choice(_RANGE)
        if _hold(port) and _is_free(port):
            return port


def _hold(port: int) -> bool:
    """Take the port of that number of UDP, which nobody uses, as a mark."""
    mark = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        mark.bind(("127.0.0.1", port))
    except OSError:
        mark.close()
        return False
    _held.append(mark)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
