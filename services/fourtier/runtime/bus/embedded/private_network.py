"""A network of its own for the broker, whose port nobody else can reach: Linux only."""

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1


def enter_private_network() -> bool:
    """Move this process into a network that has only a loopback; whether the system allows it.

    Sockets that are open stay where they are: through one that listens, clients come in. The
    process must have one thread only.
    """
    if sys.platform != "linux" or not _is_allowed():
        return False
    _enter()
    return True


def _is_allowed() -> bool:
    """Try it in another process: one that has only half succeeded could not go back."""
    child = os.fork()
    if child == 0:
        try:
            _enter()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _enter() -> None:
    user, group = os.geteuid(), os.getegid()
    # An administrator would lose the right to other users' files in a new space of users.
    new = _NEW_NETWORK if user == 0 else _NEW_USER | _NEW_NETWORK
    if ctypes.CDLL(None, use_errno=True).unshare(new):
        raise OSError(ctypes.get_errno(), "unshare")
    if new & _NEW_USER:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack("16xh14x", fcntl.ioctl(any_socket, _GET_FLAGS, request))
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))
