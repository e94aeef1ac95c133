"""Messages, topics and a server for tests of the runtime."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from fourtier.runtime.bus.contract import (
    Address,
    Bus,
    BusError,
    Delivery,
    Mode,
    RejectedByBusError,
    Subscription,
)
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.runtime.rpc.limits import Limits
from fourtier.runtime.rpc.retry import Retry
from fourtier.runtime.rpc.routes import Route
from fourtier.runtime.rpc.server import Server
from fourtier.schema.message import Answer, Message
from fourtier.schema.topics import Call, Topic, command, query
from tests.support.waiting import wait_until

SERVICE = "test"
#: Pauses that a test does not notice.
QUICK = Retry(attempts=3, first=0.001, cap=0.001)
#: Pauses that a test does not live to see the end of.
SLOW = Retry(attempts=3, first=3_600, cap=3_600)


class Note(Message):
    """A message with a key and a number."""

    key: str
    number: int


class Reply(Answer):
    """What comes back; `last` for streams."""

    number: int = 0
    last: bool = True


def by_key(note: Note) -> str:
    return note.key


NOTED: Topic[Note] = Topic("test.noted", Note, key=by_key)
READ = query("test.read", Note, Reply)
WRITE = command("test.write", Note, Reply, key=by_key)
#: A command that answers with a stream.
DURABLE: Call[Note, Reply] = Call(
    Topic("test.durable", Note, key=by_key), Reply, last=lambda reply: reply.last
)
STREAM: Call[Note, Reply] = Call(
    Topic("test.stream", Note, persistent=False), Reply, last=lambda reply: reply.last
)


@asynccontextmanager
async def served(bus: Bus, *routes: Route, limits: Limits = Limits()) -> AsyncGenerator[Server]:
    """Serve routes until the context ends, then stop in order."""
    server = Server(bus, SERVICE, limits)
    events = [asyncio.Event() for _ in routes]
    await bus.create_group(dead_letter_address(SERVICE), "operator")
    async with asyncio.TaskGroup() as group:
        for route, event in zip(routes, events, strict=True):
            group.create_task(server.serve(route, event))
        for event in events:
            await event.wait()
        try:
            yield server
        finally:
            server.stop()


async def publish(
    bus: Bus,
    topic: Topic[Note],
    key: str,
    *numbers: int,
    properties: Mapping[str, str] | None = None,
) -> None:
    """Publish notes one after another."""
    for number in numbers:
        await bus.publish(
            Address(topic.name, persistent=topic.persistent),
            Note(key=key, number=number).model_dump_json().encode(),
            key=key if topic.key else "",
            properties={"id": f"{key}{number}"} | dict(properties or {}),
        )


async def dead_letters(bus: Bus, count: int) -> list[Delivery]:
    """Take so many dead letters."""
    async with bus.subscribe(dead_letter_address(SERVICE), "operator", Mode.SHARED) as queue:
        taken = [await queue.receive() for _ in range(count)]
        for letter in taken:
            await letter.acknowledge()
        return taken


class FailingBus(MemoryBus):
    """A bus on which publishing to some topics fails, or gets lost, so many times.

    Attributes:
        max_sizes: bytes of the largest payload that is taken, by the beginning of a topic's name.
        max_properties: of a dead letter, besides its id, time and reason.
        held: publishing to topics with this beginning waits until `released` is set.
        clock_ahead: by how many seconds the clocks of all publishers are ahead of ours.
    """

    def __init__(self) -> None:
        super().__init__()
        self.max_sizes: dict[str, int] = {}
        self.max_properties = 100
        self.held: str | None = None
        self.released = asyncio.Event()
        self.clock_ahead = 0.0
        self.fails: dict[str, int] = {}
        self.loses: dict[str, int] = {}
        self.acknowledgements_fail = 0
        self.published: list[str] = []

    async def publish(
        self,
        address: Address,
        payload: bytes,
        *,
        key: str = "",
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self.published.append(address.name)
        if self.fails.get(address.name, 0) > 0:
            self.fails[address.name] -= 1
            raise BusError(f"{address.name}: not sent: the broker is unavailable")
        for beginning, size in self.max_sizes.items():
            if address.name.startswith(beginning) and len(payload) > size:
                raise RejectedByBusError(f"{len(payload):,} bytes are more than {size:,}")
        strange = set(properties or {}) - {"id", "sent-at"}
        others = sum(not name.startswith("dead-") for name in strange)
        if address.name.startswith("dead-letters.") and others > self.max_properties:
            raise RejectedByBusError("the properties are too large")
        if self.held is not None and address.name.startswith(self.held):
            await self.released.wait()
        if self.loses.get(address.name, 0) > 0:
            self.loses[address.name] -= 1
            return
        await super().publish(address, payload, key=key, properties=properties)

    @asynccontextmanager
    async def subscribe(
        self, address: Address, group: str, mode: Mode
    ) -> AsyncGenerator[Subscription]:
        async with super().subscribe(address, group, mode) as consumer:
            yield _Reluctant(self, consumer)


class _Reluctant:
    """A consumer whose acknowledgements fail so many times."""

    def __init__(self, bus: FailingBus, consumer: Subscription) -> None:
        self._bus = bus
        self._consumer = consumer

    async def receive(self) -> Delivery:
        return self._perhaps_failing(await self._consumer.receive())

    def arrived(self, limit: int) -> Sequence[Delivery]:
        return [self._perhaps_failing(delivery) for delivery in self._consumer.arrived(limit)]

    def hand_over(self, delivery: Delivery) -> bool:
        return self._consumer.hand_over(delivery)

    def _perhaps_failing(self, delivery: Delivery) -> Delivery:
        async def acknowledge() -> None:
            if self._bus.acknowledgements_fail > 0:
                self._bus.acknowledgements_fail -= 1
                raise BusError("not acknowledged, so it will come again: the broker is unavailable")
            await delivery.acknowledge()

        published_at = delivery.published_at + self._bus.clock_ahead
        return replace(delivery, acknowledge=acknowledge, published_at=published_at)


Answering = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def no_answer(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Answer nothing, until the other side goes."""
    await reader.read()


@asynccontextmanager
async def listening(answer: Answering) -> AsyncGenerator[str]:
    """Listen on loopback; yields HOST:PORT."""

    open_now: set[asyncio.StreamWriter] = set()

    async def answer_and_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_now.add(writer)
        try:
            await answer(reader, writer)
        finally:
            writer.close()
            await writer.wait_closed()
            open_now.remove(writer)

    server = await asyncio.start_server(answer_and_close, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await wait_until(lambda: not open_now)
