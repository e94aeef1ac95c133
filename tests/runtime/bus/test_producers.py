"""Producers on a real broker: bounded, renewed when they are gone, and clear about what fails."""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pulsar
import pytest
from pulsar.asyncio import PulsarException

from fourtier.runtime.bus.contract import Address, BusError, Mode, RejectedByBusError
from fourtier.runtime.bus.embedded.broker import embedded_broker
from fourtier.runtime.bus.pulsar import producers
from fourtier.runtime.bus.pulsar.connection import PulsarBus, PulsarSecurity, connect_pulsar
from fourtier.runtime.bus.pulsar.producers import Producers

TOPIC = Address("numbers")


@pytest.fixture
async def bus(tmp_path: Path) -> AsyncGenerator[PulsarBus]:
    async with (
        embedded_broker(tmp_path, 0) as broker,
        connect_pulsar(
            broker.url,
            "fourtier",
            "test",
            security=PulsarSecurity(token=broker.token),
            log_file=str(tmp_path / "client.log"),
        ) as bus,
    ):
        yield bus


def inbox() -> Address:
    return Address(f"inbox.{uuid.uuid4()}", persistent=False)


@pytest.mark.parametrize("persistent", [True, False])
async def test_a_message_that_is_too_large_is_rejected_and_the_next_one_is_taken(
    bus: PulsarBus, *, persistent: bool
) -> None:
    address = Address("numbers", persistent=persistent)
    async with bus.subscribe(address, "readers", Mode.SHARED) as subscription:
        with pytest.raises(RejectedByBusError, match=r"numbers: not sent: .*MessageTooBig"):
            await bus.publish(address, b"x" * 6_000_000)
        await bus.publish(address, b"small")
        assert (await subscription.receive()).payload == b"small"


async def test_a_name_that_no_topic_can_have_is_rejected(bus: PulsarBus) -> None:
    with pytest.raises(RejectedByBusError, match="InvalidTopicName"):
        await bus.publish(Address(""), b"x")


async def test_a_producer_that_is_gone_is_replaced(bus: PulsarBus) -> None:
    await bus.publish(TOPIC, b"1")
    producer = await bus._producers._made[TOPIC]._creating
    await producer.close()  # as the broker does to one that was fenced
    with pytest.raises(BusError, match=r"numbers: not sent: .*AlreadyClosed"):
        await bus.publish(TOPIC, b"2")
    await bus.publish(TOPIC, b"3")

    async with bus.subscribe(TOPIC, "readers", Mode.SHARED) as subscription:
        assert [(await subscription.receive()).payload for _ in range(2)] == [b"1", b"3"]


async def test_thousands_of_inboxes_leave_few_producers(bus: PulsarBus) -> None:
    for _ in range(30):
        await asyncio.gather(*(bus.publish(inbox(), b"answer") for _ in range(100)))

    assert len(bus._producers) <= producers._MAX_PRODUCERS
    assert len(bus._producers._closing) <= 100


async def test_idle_producers_are_closed_but_not_those_of_persistent_topics(
    bus: PulsarBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(producers, "_IDLE", 0.0)
    await bus.publish(TOPIC, b"1")
    await bus.publish(inbox(), b"answer")
    await asyncio.sleep(0.001)
    last = inbox()
    await bus.publish(last, b"answer")

    assert list(bus._producers._made) == [TOPIC, last]


async def test_a_producer_that_is_used_is_not_closed(
    bus: PulsarBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(producers, "_MAX_PRODUCERS", 1)
    topics = [Address(f"topic.{number}") for number in range(20)]
    await asyncio.gather(*(bus.publish(topic, b"x") for topic in topics for _ in range(20)))
    await bus.publish(TOPIC, b"x")

    assert list(bus._producers._made) == [TOPIC]


async def test_a_producer_that_cannot_be_made_is_tried_again() -> None:
    failures = [PulsarException(pulsar.Result.ConnectError)]

    class Sink:
        async def send(self, *_: Any, **__: Any) -> None:
            """Take it."""

        async def close(self) -> None:
            """Nothing is open."""

    async def create(_: Address) -> Any:
        await asyncio.sleep(0)
        if failures:
            raise failures.pop()
        return Sink()

    made = Producers(create)

    async def send() -> None:
        async with made.borrowed(TOPIC) as producer:
            await producer.send(b"x")

    results = await asyncio.gather(*(send() for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [BusError] * 3
    assert "numbers: cannot publish" in str(results[0])
    await send()
    await made.close()
    assert len(made) == 0
