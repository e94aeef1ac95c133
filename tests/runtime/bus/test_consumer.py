"""A member of a group, with a consumer of the Pulsar client that does as it is told."""

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
class FakeConsumer:
    """Gives what it is told to, and remembers what was acknowledged."""

    coming: "asyncio.Queue[Message | Exception]" = field(default_factory=asyncio.Queue)
    acknowledged: list[int] = field(default_factory=list)
    refuses: int = 0

    async def receive(self) -> Message:
        item = await self.coming.get()
        if isinstance(item, Exception):
            raise item
        return item

    async def acknowledge(self, message: Any) -> None:
        if self.refuses:
            self.refuses -= 1
            raise PulsarException(pulsar.Result.NotConnected)
        self.acknowledged.append(message.entry)

    def deliver(self, *entries: int) -> None:
        for entry in entries:
            self.coming.put_nowait(Message(entry))


@asynccontextmanager
async def joined(consumer: FakeConsumer, *, persistent: bool = True) -> AsyncGenerator[Consumer]:
    member = Consumer(persistent=persistent)
    pump = asyncio.create_task(member.pump(consumer))
    yield member
    pump.cancel()
    await asyncio.gather(pump, return_exceptions=True)


async def take(member: Consumer, count: int) -> list[int]:
    return [int((await member.receive()).payload) for _ in range(count)]


async def test_what_is_in_hand_is_not_given_out_again_after_a_broken_connection() -> None:
    consumer = FakeConsumer()
    async with joined(consumer) as member:
        consumer.deliver(1, 2)
        one, two = await member.receive(), await member.receive()
        consumer.deliver(1, 2, 3)  # the broker sends again what it has no acknowledgement for
        assert await take(member, 1) == [3]
        await one.acknowledge()
        await two.acknowledge()

    assert consumer.acknowledged == [1, 2]


async def test_what_was_acknowledged_is_acknowledged_again_when_the_broker_forgot() -> None:
    consumer = FakeConsumer()
    async with joined(consumer) as member:
        consumer.deliver(1)
        await (await member.receive()).acknowledge()
        consumer.deliver(1, 2)
        assert await take(member, 1) == [2]

    assert consumer.acknowledged == [1, 1]


async def test_an_acknowledgement_that_fails_again_does_not_end_the_subscription() -> None:
    consumer = FakeConsumer()
    async with joined(consumer) as member:
        consumer.deliver(1)
        await (await member.receive()).acknowledge()
        consumer.refuses = 1
        consumer.deliver(1, 2, 1, 3)
        assert await take(member, 2) == [2, 3]

    assert consumer.acknowledged == [1, 1]


async def test_what_could_not_be_acknowledged_may_come_again() -> None:
    consumer = FakeConsumer(refuses=1)
    async with joined(consumer) as member:
        consumer.deliver(1)
        with pytest.raises(BusError, match="not acknowledged, so it will come again"):
            await (await member.receive()).acknowledge()
        consumer.deliver(1)
        await (await member.receive()).acknowledge()

    assert consumer.acknowledged == [1]


async def test_what_is_not_kept_is_never_acknowledged_and_never_held_back() -> None:
    consumer = FakeConsumer()
    async with joined(consumer, persistent=False) as member:
        consumer.deliver(1, 1)
        await (await member.receive()).acknowledge()
        assert await take(member, 1) == [1]

    assert consumer.acknowledged == []


async def test_properties_that_are_no_text_do_not_stop_the_topic() -> None:
    consumer = FakeConsumer()
    async with joined(consumer) as member:
        consumer.coming.put_nowait(Message(1, readable=False))
        consumer.deliver(2)
        first, second = await member.receive(), await member.receive()

    assert (first.payload, dict(first.properties), first.key) == (b"1", {}, "")
    assert (dict(second.properties), second.key) == ({"id": "k"}, "k")


@pytest.mark.parametrize("error", [PulsarException(pulsar.Result.AlreadyClosed), OSError("gone")])
async def test_a_subscription_that_is_gone_is_told_to_all_who_ask(error: Exception) -> None:
    consumer = FakeConsumer()
    async with joined(consumer) as member:
        consumer.deliver(1)
        consumer.coming.put_nowait(error)
        await wait_until(lambda: member._queue.qsize() == 2)
        assert [int(delivery.payload) for delivery in member.arrived(10)] == [1]
        assert member.arrived(10) == []
        for _ in range(2):
            with pytest.raises(BusError, match="receiving failed"):
                await member.receive()


async def test_a_slow_reader_holds_up_the_consumer_and_not_the_memory() -> None:
    consumer = FakeConsumer()
    async with joined(consumer) as member:
        consumer.deliver(*range(1_000))
        await wait_until(member._queue.full)
        assert consumer.coming.qsize() > 700
        assert await take(member, 1_000) == list(range(1_000))
