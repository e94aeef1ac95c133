"""Asks who is there, in Pulsar's own protocol, before the client library connects.

The library tries for half a minute before it says that nobody is there, that what is there is not a
broker, or that the token is wrong, and it never tells which broker it is. The one frame that is
exchanged here tells all of it at once.
"""

import asyncio
import os
import ssl
from contextlib import suppress
from urllib.parse import urlsplit

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.pulsar.frames import (
    HEAD,
    FrameError,
    NotLetInError,
    command_length,
    connect_frame,
    server_version,
)

_WITHIN = 5.0
_PORTS = {"pulsar": 6650, "pulsar+ssl": 6651}


async def handshake(
    url: str, trust_certificates: str | None = None, token: str | None = None
) -> str:
    """What the first broker of a URL that answers calls itself.

    Raises:
        BusError: the URL is of no known kind, nobody answers, it is not a broker, or it does not
            let us in.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in _PORTS or not rest:
        raise BusError(f"{url!r} is not a bus: write pulsar://HOST:PORT or pulsar+ssl://HOST:PORT")
    addresses = rest.split("/", maxsplit=1)[0].split(",")
    reasons: list[str] = []
    for address in addresses:
        try:
            context = _context(trust_certificates) if scheme == "pulsar+ssl" else None
            return await _handshake(address, _PORTS[scheme], context, connect_frame(token))
        except NotLetInError as error:
            wanted = "rejects the token" if token else "wants a token"
            raise BusError(
                f"the bus at {url} {wanted} ({error}): set FOURTIER_BUS_TOKEN"
            ) from error
        except TimeoutError:
            reasons.append(f"no answer within {_WITHIN:g} seconds")
        except OSError as error:
            reasons.append(_in_words(error))
        except (EOFError, FrameError):
            reasons.append("what answers there is not a Pulsar broker")
        except ValueError as error:
            reasons.append(str(error))
    raise BusError(
        f"no bus can be reached at {url}: {'; '.join(reasons)}. "
        f"Is the broker running, and is the URL right?"
    )


def _context(trust_certificates: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=trust_certificates)


def _in_words(error: OSError) -> str:
    """The system's own words; asyncio puts numbers and tuples around them."""
    if isinstance(error, ssl.SSLError):  # its number is none of the system's
        return str(error)
    number = error.errno or 0
    return os.strerror(number) if number > 0 else error.strerror or str(error)


async def _handshake(
    address: str, default_port: int, context: ssl.SSLContext | None, connect: bytes
) -> str:
    parts = urlsplit(f"//{address}")
    if parts.hostname is None:
        raise ValueError("the host is missing")
    async with asyncio.timeout(_WITHIN):
        reader, writer = await asyncio.open_connection(
            parts.hostname, parts.port or default_port, ssl=context
        )
        try:
            writer.write(connect)
            _, length = command_length(await reader.readexactly(HEAD.size))
            return server_version(await reader.readexactly(length))
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
