"""Our consumer, over one of the Pulsar client that a test controls."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pulsar
import pytest
from pulsar.asyncio import PulsarException

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.pulsar.consumer import Consumer
from tests.support.waiting import wait_until


@dataclass
class MessageId:
    entry: int

    def ledger_id(self) -> int:
        return 1

    def entry_id(self) -> int:
        return self.entry

    def partition(self) -> int:
        return -1

    def batch_index(self) -> int:
        return -1


@dataclass
class Message:
    entry: int
    readable: bool = True

    def message_id(self) -> MessageId:
        return MessageId(self.entry)

    def data(self) -> bytes:
        return str(self.entry).encode()

    def properties(self) -> dict[str, str]:
        return {"id": self._text()}

    def partition_key(self) -> str:
        return self._text()

    def _text(self) -> str:
        return "k" if self.readable else b"\xff".decode()

    def publish_timestamp(self) -> int:
        return 1_000

    def redelivery_count(self) -> int:
        return 0


@dataclass
class FakeClient:
    """Delivers what a test wants, and remembers what was acknowledged."""

    coming: "asyncio.Queue[Message | Exception]" = field(default_factory=asyncio.Queue)
    acknowledged: list[int] = field(default_factory=list)
    fails: int = 0

    async def receive(self) -> Message:
        item = await self.coming.get()
        if isinstance(item, Exception):
            raise item
        return item

    async def acknowledge(self, message: Any) -> None:
        if self.fails:
            self.fails -= 1
            raise PulsarException(pulsar.Result.NotConnected)
        self.acknowledged.append(message.entry)

    def deliver(self, *entries: int) -> None:
        for entry in entries:
            self.coming.put_nowait(Message(entry))


@asynccontextmanager
async def joined(client: FakeClient, *, persistent: bool = True) -> AsyncGenerator[Consumer]:
    consumer = Consumer(persistent=persistent)
    pump = asyncio.create_task(consumer.pump(client))
    yield consumer
    pump.cancel()
    await asyncio.gather(pump, return_exceptions=True)


async def take(consumer: Consumer, count: int) -> list[int]:
    return [int((await consumer.receive()).payload) for _ in range(count)]


async def test_what_is_in_flight_is_not_delivered_again_after_a_broken_connection() -> None:
    client = FakeClient()
    async with joined(client) as consumer:
        client.deliver(1, 2)
        one, two = await consumer.receive(), await consumer.receive()
        client.deliver(1, 2, 3)  # the broker sends again what it has no acknowledgement for
        assert await take(consumer, 1) == [3]
        await one.acknowledge()
        await two.acknowledge()

    assert client.acknowledged == [1, 2]


async def test_what_was_acknowledged_is_acknowledged_again_when_the_broker_forgot() -> None:
    client = FakeClient()
    async with joined(client) as consumer:
        client.deliver(1)
        await (await consumer.receive()).acknowledge()
        client.deliver(1, 2)
        assert await take(consumer, 1) == [2]

    assert client.acknowledged == [1, 1]


async def test_an_acknowledgement_that_fails_again_does_not_end_the_subscription() -> None:
    client = FakeClient()
    async with joined(client) as consumer:
        client.deliver(1)
        await (await consumer.receive()).acknowledge()
        client.fails = 1
        client.deliver(1, 2, 1, 3)
        assert await take(consumer, 2) == [2, 3]

    assert client.acknowledged == [1, 1]


async def test_what_could_not_be_acknowledged_may_come_again() -> None:
    client = FakeClient(fails=1)
    async with joined(client) as consumer:
        client.deliver(1)
        with pytest.raises(BusError, match="not acknowledged, so it will come again"):
            await (await consumer.receive()).acknowledge()
        client.deliver(1)
        await (await consumer.receive()).acknowledge()

    assert client.acknowledged == [1]


async def test_what_is_not_persistent_is_never_acknowledged_and_never_held_back() -> None:
    client = FakeClient()
    async with joined(client, persistent=False) as consumer:
        client.deliver(1, 1)
        await (await consumer.receive()).acknowledge()
        assert await take(consumer, 1) == [1]

    assert client.acknowledged == []


async def test_properties_that_are_not_text_do_not_stop_the_topic() -> None:
    client = FakeClient()
    async with joined(client) as consumer:
        client.coming.put_nowait(Message(1, readable=False))
        client.deliver(2)
        first, second = await consumer.receive(), await consumer.receive()

    assert (first.payload, dict(first.properties), first.key) == (b"1", {}, "")
    assert (dict(second.properties), second.key) == ({"id": "k"}, "k")


@pytest.mark.parametrize("error", [PulsarException(pulsar.Result.AlreadyClosed), OSError("gone")])
async def test_a_subscription_that_is_gone_is_an_error_at_each_receive(error: Exception) -> None:
    client = FakeClient()
    async with joined(client) as consumer:
        client.deliver(1)
        client.coming.put_nowait(error)
        await wait_until(lambda: consumer._queue.qsize() == 2)
        assert [int(delivery.payload) for delivery in consumer.arrived(10)] == [1]
        assert consumer.arrived(10) == []
        for _ in range(2):
            with pytest.raises(BusError, match="receiving failed"):
                await consumer.receive()


async def test_a_slow_reader_holds_up_the_client_and_fills_no_memory() -> None:
    client = FakeClient()
    async with joined(client) as consumer:
        client.deliver(*range(1_000))
        await wait_until(consumer._queue.full)
        assert client.coming.qsize() > 700
        assert await take(consumer, 1_000) == list(range(1_000))
