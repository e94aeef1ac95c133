"""The gate in front of the embedded broker, with a broker that says back what it gets."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from fourtier.runtime.bus.embedded.gate import Client, Gate
from fourtier.runtime.bus.pulsar.frames import connect_frame, error_frame

TOKEN = "sesame"  # noqa: S105 - of these tests
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def gate_to_echo() -> AsyncGenerator[tuple[Gate, int]]:
    """A gate, and the port at which it listens."""
    connections: set[asyncio.Task[None] | None] = set()

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    broker = await asyncio.start_server(echo, "127.0.0.1", 0)
    gate = Gate(broker.sockets[0].getsockname(), TOKEN)
    gate.open.set()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Client(gate), "127.0.0.1", 0)
    async with broker, server:
        yield gate, server.sockets[0].getsockname()[1]
        gate.close_connections()
        await asyncio.gather(*(task for task in connections if task), return_exceptions=True)


@asynccontextmanager
async def connected(port: int) -> AsyncGenerator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    yield reader, writer
    writer.close()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_a_client_that_shows_the_token_is_let_through() -> None:
    first = connect_frame(TOKEN)
    async with gate_to_echo() as (_, port), connected(port) as (reader, writer):
        for byte in first:  # a frame may come in any pieces
            writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert await reader.readexactly(len(first)) == first
        content = bytes(range(256)) * 40_000
        writer.write(content)
        assert await reader.readexactly(len(content)) == content


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (connect_frame("wrong"), "authentication failed"),
        (connect_frame(None), "authentication failed"),
        (error_frame("no"), "the first command is not CONNECT"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "what came is not Pulsar's protocol"),
        (b"\x00\x00\x00\x07\x00\x00\x00\x03\xff\xff\xff", "what came is not Pulsar's protocol"),
    ],
    ids=["wrong", "none", "other command", "http", "rubbish"],
)
async def test_a_client_without_the_token_gets_an_error_and_never_reaches_the_broker(
    first: bytes, reason: str
) -> None:
    async with gate_to_echo() as (_, port), connected(port) as (reader, writer):
        writer.write(first)
        assert await reader.read() == error_frame(reason)


async def test_a_client_that_sends_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourtier.runtime.bus.embedded.gate._CONNECTS_WITHIN", 0.05)
    async with gate_to_echo() as (gate, port), connected(port) as (reader, _):
        assert await reader.read() == b""
        assert not gate.clients


async def test_a_client_that_connects_while_the_broker_starts_waits_for_it() -> None:
    first = connect_frame(TOKEN)
    async with gate_to_echo() as (gate, port), connected(port) as (reader, writer):
        gate.open.clear()
        writer.write(first)
        answering = asyncio.create_task(reader.readexactly(len(first)))
        await asyncio.wait([answering], timeout=0.05)
        assert not answering.done()
        gate.open.set()
        assert await answering == first


async def test_a_slow_reader_holds_up_the_other_side_and_fills_no_memory() -> None:
    async with gate_to_echo() as (_, port), connected(port) as (reader, writer):
        writer.write(connect_frame(TOKEN))
        chunk, chunks = b"x" * 1_000_000, 0
        room = asyncio.create_task(writer.drain())
        await room
        while room.done() and chunks < 200:
            writer.write(chunk)
            chunks += 1
            room = asyncio.create_task(writer.drain())
            await asyncio.wait([room], timeout=1)
        assert 0 < chunks < 100
        expected = len(connect_frame(TOKEN)) + chunks * len(chunk)
        assert len(await reader.readexactly(expected)) == expected
        await room


async def test_keep_alives_are_not_traffic() -> None:
    async with gate_to_echo() as (gate, port), connected(port) as (reader, writer):
        writer.write(connect_frame(TOKEN))
        await reader.readexactly(len(connect_frame(TOKEN)))
        before = gate.last_traffic
        writer.write(b"x" * 13)
        await reader.readexactly(13)
        assert gate.last_traffic == before
        writer.write(b"x" * 100)
        await reader.readexactly(100)
        assert gate.last_traffic > before
