"""A relay in front of `pulsar-lite`, so that a client that dies seems to it to disconnect.

A process that is killed with unread data leaves a connection that is reset, not closed.
`pulsar-lite` 0.2 then forgets to remove its consumers: they hold the messages they received,
receive more, and whoever wants to replace them is turned away ("Consumer 2 already exists") until
the broker is started again. In `fourtier up` all die at once, the broker too; here they do not.
Real Pulsar needs no relay.

The broker sends clients its own address when they look a topic up; the relay puts its own there.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_HOST = "127.0.0.1"


class _End(asyncio.Protocol):
    """One end of a relayed connection: what it receives the other one sends."""

    def __init__(self) -> None:
        self.other: _End | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.other and self.other.transport and not self.other.transport.is_closing():
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport and not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def connection_lost(self, _error: Exception | None) -> None:
        self.transport = None
        if self.other and self.other.transport:
            self.other.hang_up()

    def hang_up(self) -> None:
        """Close."""
        if self.transport:
            self.transport.close()


class _BrokerEnd(_End):
    """The end at the broker. It is not closed but ended, and what still comes is read."""

    def __init__(self, port: int, shown: int) -> None:
        super().__init__()
        self._address, self._shown = _address(port), _address(shown)

    def data_received(self, data: bytes) -> None:
        super().data_received(data.replace(self._address, self._shown))

    def hang_up(self) -> None:
        """Say that nothing more comes; the broker closes then."""
        if self.transport and not self.transport.is_closing():
            self.transport.resume_reading()
            self.transport.write_eof()


class _ClientEnd(_End):
    """The end at a client, which opens the other one."""

    def __init__(self, port: int, to: int) -> None:
        super().__init__()
        self._port = port
        self._to = to
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport
        self.transport.pause_reading()
        self._opening = asyncio.create_task(self._open())

    async def _open(self) -> None:
        try:
            _, other = await asyncio.get_running_loop().create_connection(
                lambda: _BrokerEnd(self._to, self._port), _HOST, self._to
            )
        except OSError:  # the broker is down, and so are we
            self.hang_up()
            return
        self.other, other.other = other, self
        if self.transport:
            self.transport.resume_reading()
        else:
            other.hang_up()


def _address(port: int) -> bytes:
    return f"{_HOST}:{port}".encode()


@asynccontextmanager
async def relay(port: int, to: int) -> AsyncGenerator[None]:
    """Relay one port to another until the context ends."""
    assert min(port, to) >= 10_000, "one address replaces the other byte by byte"
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _ClientEnd(port, to), _HOST, port)
    try:
        yield
    finally:
        server.close()
