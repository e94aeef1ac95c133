"""The first frames of a connection in Pulsar's own protocol: CONNECT, CONNECTED and ERROR.

A frame is its length, the length of its command, and the command.
"""

import struct
from typing import Any

from google.protobuf.message import DecodeError

from fourtier.runtime.bus.protobuf import declare

#: The length of what follows, and of the command in it. The first does not count itself.
HEAD = struct.Struct(">II")
#: What of the first length is not the command.
_LENGTH_OF_COMMAND = 4
#: More than a CONNECT or its answer ever has: certificates may be in them.
_MAX_FRAME = 64 * 1024

_CONNECT, _CONNECTED, _ERROR = 2, 3, 14
_PROTOCOL = 12
_AUTHENTICATION_ERROR = 3
#: Of an error that answers CONNECT, which has no number of its own.
_NO_REQUEST = 2**64 - 1
_TOKEN = "token"  # noqa: S105 - the method's name

_COMMAND: type[Any] = declare(
    "fourtier.pulsar",
    {
        "Connect": {
            "client_version": (1, "string"),
            "auth_data": (3, "bytes"),
            "protocol_version": (4, "int32"),
            "auth_method_name": (5, "string"),
        },
        "Connected": {"server_version": (1, "string"), "protocol_version": (2, "int32")},
        "Error": {"request_id": (1, "uint64"), "error": (2, "int32"), "message": (3, "string")},
        "Command": {
            "type": (1, "int32"),
            "connect": (2, "Connect"),
            "connected": (3, "Connected"),
            "error": (14, "Error"),
        },
    },
)["Command"]


class FrameError(ValueError):
    """What came is not a frame of Pulsar's protocol, or not the one that was due."""


class NotLetInError(Exception):
    """The broker wants a token, or another one."""


def connect_frame(token: str | None) -> bytes:
    """What a client says first."""
    command = _COMMAND(type=_CONNECT)
    command.connect.client_version = "fourtier"
    command.connect.protocol_version = _PROTOCOL
    if token:
        command.connect.auth_method_name = _TOKEN
        command.connect.auth_data = token.encode()
    return _frame(command)


def connected_frame(version: str) -> bytes:
    """How a broker lets a client in."""
    command = _COMMAND(type=_CONNECTED)
    command.connected.server_version = version
    command.connected.protocol_version = _PROTOCOL
    return _frame(command)


def error_frame(message: str) -> bytes:
    """How a broker tells a client that it does not let it in."""
    command = _COMMAND(type=_ERROR)
    command.error.request_id = _NO_REQUEST
    command.error.error = _AUTHENTICATION_ERROR
    command.error.message = message
    return _frame(command)


def command_length(head: bytes) -> tuple[int, int]:
    """How many bytes follow a frame's head, and how many of them are its command.

    Raises:
        FrameError: this is not the head of a short frame.
    """
    total, length = HEAD.unpack(head)
    if not _LENGTH_OF_COMMAND <= total <= _MAX_FRAME or length > total - _LENGTH_OF_COMMAND:
        raise FrameError("what came is not Pulsar's protocol")
    return total - _LENGTH_OF_COMMAND, length


def token_shown(command: bytes) -> bytes:
    """The token in a CONNECT; empty if there is none.

    Raises:
        FrameError: it is not a CONNECT.
    """
    read = _read(command)
    if read.type != _CONNECT:
        raise FrameError("the first command is not CONNECT")
    connect = read.connect
    return bytes(connect.auth_data) if connect.auth_method_name == _TOKEN else b""


def server_version(command: bytes) -> str:
    """What a broker that answers CONNECT calls itself.

    Raises:
        FrameError: it is not an answer to CONNECT.
        NotLetInError: with the broker's reason.
    """
    read = _read(command)
    if read.type == _ERROR:
        raise NotLetInError(read.error.message)
    if read.type != _CONNECTED:
        raise FrameError("the answer is not CONNECTED")
    return str(read.connected.server_version)


def _read(command: bytes) -> Any:
    try:
        return _COMMAND.FromString(command)
    except DecodeError as error:
        raise FrameError("what came is not Pulsar's protocol") from error


def _frame(command: Any) -> bytes:
    content = command.SerializeToString()
    return HEAD.pack(len(content) + _LENGTH_OF_COMMAND, len(content)) + bytes(content)
