"""Greets a broker in Pulsar's own protocol before the client library is let loose on it.

The library tries for half a minute before it says that nobody is there, or that what is there is no
broker, and it never tells which broker it is. The one frame that is exchanged here does both.
"""

import asyncio
import os
import ssl
import struct
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

from fourtier.runtime.bus.contract import BusError

_WITHIN = 5.0
_PORTS = {"pulsar": 6650, "pulsar+ssl": 6651}
#: BaseCommand of type CONNECT: client version `fourtier`, protocol version 12.
_CONNECT = b"\x08\x02\x12\x0c\x0a\x08fourtier\x20\x0c"
#: Field numbers: `connected` in BaseCommand, `server_version` in CommandConnected.
_CONNECTED, _VERSION = 3, 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SHORTEST, _LONGEST = 4, 10_000
_MORE = 0x80
_NO_BROKER = "what answers there is no Pulsar broker"


async def handshake(url: str, trust_certificates: str | None = None) -> str:
    """What the first broker of a URL that answers calls itself; empty if it wants to know us first.

    Raises:
        BusError: the URL is of no known kind, nobody answers, or it is no broker.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in _PORTS or not rest:
        raise BusError(f"{url!r} is no bus: write pulsar://HOST:PORT or pulsar+ssl://HOST:PORT")
    secure = scheme == "pulsar+ssl"
    places = rest.split("/", maxsplit=1)[0].split(",")
    reasons: list[str] = []
    for place in places:
        try:
            context = ssl.create_default_context(cafile=trust_certificates) if secure else None
            return await _handshake(place, _PORTS[scheme], context)
        except TimeoutError:
            reasons.append(f"no answer within {_WITHIN:g} seconds")
        except OSError as error:
            reasons.append(_in_words(error))
        except EOFError:
            reasons.append(_NO_BROKER)
        except ValueError as error:
            reasons.append(str(error))
    raise BusError(
        f"no bus can be reached at {url}: {'; '.join(reasons)}. "
        f"Is the broker running, and is the URL right?"
    )


def _in_words(error: OSError) -> str:
    """The system's own words; asyncio puts numbers and tuples around them."""
    if isinstance(error, ssl.SSLError):  # its number is none of the system's
        return str(error)
    number = error.errno or 0
    return os.strerror(number) if number > 0 else error.strerror or str(error)


async def _handshake(place: str, default_port: int, context: ssl.SSLContext | None) -> str:
    parts = urlsplit(f"//{place}")
    if parts.hostname is None:
        raise ValueError("the host is missing")
    async with asyncio.timeout(_WITHIN):
        reader, writer = await asyncio.open_connection(
            parts.hostname, parts.port or default_port, ssl=context
        )
        try:
            size = len(_CONNECT)
            writer.write(struct.pack(">II", size + 4, size) + _CONNECT)
            total, length = struct.unpack(">II", await reader.readexactly(8))
            if not _SHORTEST <= total <= _LONGEST or length > total - _SHORTEST:
                raise ValueError(_NO_BROKER)
            return _version(await reader.readexactly(length))
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


def _version(command: bytes) -> str:
    for number, content in _fields(command):
        if number == _CONNECTED:
            for inner, text in _fields(content):
                if inner == _VERSION:
                    return text.decode(errors="replace")
    return ""


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of each field of a protobuf message that holds text or a message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at)
        elif kind == _BYTES:
            length, at = _varint(data, at)
            yield number, data[at : at + length]
            at += length
        elif kind in {_FIXED64, _FIXED32}:
            at += 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(_NO_BROKER)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & ~_MORE) << shift
        if byte < _MORE:
            return value, at
        shift += 7
    raise ValueError(_NO_BROKER)
