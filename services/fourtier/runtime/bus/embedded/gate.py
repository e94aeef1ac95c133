"""Lets clients that show the token through to the broker: `pulsar-lite` accepts everybody."""

import asyncio
import hmac
import time
from typing import cast

from fourtier.runtime.bus.pulsar.frames import (
    HEAD,
    FrameError,
    command_length,
    error_frame,
    token_shown,
)

_CONNECTS_WITHIN = 10.0
#: A broker that says nothing for so long has answered everything.
_QUIET = 0.04
_DRAINS_WITHIN = 0.5
#: A PING has 13 bytes, and any other frame more than this.
_MAX_KEEP_ALIVE = 16


class Gate:
    """Pipes between clients and the broker.

    Args:
        broker: where the broker listens.
        token: what clients must show.
    """

    def __init__(self, broker: tuple[str, int], token: str) -> None:
        self.broker = broker
        self.token = token.encode()
        #: Set while there is a broker; clients that come earlier wait.
        self.open = asyncio.Event()
        #: When something other than a keep-alive came through, by the monotonic clock.
        self.last_traffic = time.monotonic()
        self.clients: set[Client] = set()

    async def drain(self) -> None:
        """Take nothing more from clients, and let the broker answer what it has.

        A message whose receipt does not arrive is sent once more to the next broker.
        """
        for client in self.clients:
            if not client.transport.is_closing():
                client.transport.pause_reading()
        started = time.monotonic()
        while time.monotonic() < min(self.last_traffic + _QUIET, started + _DRAINS_WITHIN):  # noqa: ASYNC110 - it ends by time
            await asyncio.sleep(_QUIET / 4)

    def close_connections(self) -> None:
        """End all connections; clients connect again by themselves."""
        for client in list(self.clients):
            client.transport.close()

    def note_traffic(self, data: bytes) -> None:
        """Take note that there is traffic."""
        if len(data) > _MAX_KEEP_ALIVE:
            self.last_traffic = time.monotonic()


class _Pipe(asyncio.Protocol):
    """One end: what arrives here goes to the other end, no faster than it takes it."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.transport: asyncio.Transport
        self.other: _Pipe | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.gate.note_traffic(data)
        if self.other is not None:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        if self.other is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        is_open = self.gate.open.is_set()
        if is_open and self.other is not None and not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self.other is not None:
            self.other.transport.close()


class Client(_Pipe):
    """A client's end: the first frame must be CONNECT with the token."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(gate)
        self._first = bytearray()
        self._joining: asyncio.Task[None] | None = None
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for CONNECT, but not for long."""
        super().connection_made(transport)
        self.gate.clients.add(self)
        loop = asyncio.get_running_loop()
        self._late = loop.call_later(_CONNECTS_WITHIN, self.transport.close)

    def data_received(self, data: bytes) -> None:
        """Look at the first frame; pass on everything once the broker is joined."""
        if self.other is not None:
            super().data_received(data)
            return
        self._first += data
        if self._joining is None:
            self._check()

    def _check(self) -> None:
        try:
            shown = self._token()
        except FrameError as error:
            self._reject(str(error))
            return
        if shown is None:
            return  # the rest of the frame is on its way
        if not hmac.compare_digest(shown, self.gate.token):
            self._reject("authentication failed")
            return
        self._cancel_timer()
        self.transport.pause_reading()
        self._joining = asyncio.create_task(self._join(), name="join the broker")

    def _token(self) -> bytes | None:
        if len(self._first) < HEAD.size:
            return None
        total, length = command_length(bytes(self._first[: HEAD.size]))
        if len(self._first) < HEAD.size + total:
            return None
        return token_shown(bytes(self._first[HEAD.size : HEAD.size + length]))

    def _reject(self, reason: str) -> None:
        self.transport.write(error_frame(reason))
        self.transport.close()

    async def _join(self) -> None:
        loop = asyncio.get_running_loop()
        await self.gate.open.wait()
        try:
            _, broker = await loop.create_connection(lambda: _Pipe(self.gate), *self.gate.broker)
        except OSError:
            self.transport.close()
            return
        if self.transport.is_closing():
            broker.transport.close()
            return
        broker.other, self.other = self, broker
        broker.transport.write(bytes(self._first))
        self._first.clear()
        if self.gate.open.is_set():
            self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the broker too."""
        self.gate.clients.discard(self)
        self._cancel_timer()
        if self._joining is not None and self.other is None:
            self._joining.cancel()
        super().connection_lost(exc)

    def _cancel_timer(self) -> None:
        if self._late is not None:
            self._late.cancel()
