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
from tests.support.waiting import wait_until

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


class Broker:
    """Makes producers one at a time, when the test says so."""

    def __init__(self) -> None:
        self.asked: list[asyncio.Future[Any]] = []

    async def create(self, _: Address) -> Any:
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]


class OpenProducer:
    def __init__(self, error: BaseException | None = None) -> None:
        self.closed = False
        self._error = error

    async def close(self) -> None:
        self.closed = True
        if self._error is not None:
            raise self._error


async def borrow(made: Producers, address: Address = TOPIC) -> Any:
    async with made.borrowed(address) as producer:
        return producer


async def test_a_sender_whose_producer_fails_while_all_is_closed_gets_a_bus_error() -> None:
    broker = Broker()
    made = Producers(broker.create)
    sender = asyncio.create_task(borrow(made))
    await wait_until(lambda: len(broker.asked) == 1)
    closing = asyncio.create_task(made.close())
    await wait_until(lambda: len(made) == 0)
    broker.asked[0].set_exception(PulsarException(pulsar.Result.AlreadyClosed))

    with pytest.raises(BusError, match="numbers: cannot publish"):
        await sender
    await closing


async def test_a_sender_whose_producer_is_given_up_gets_a_bus_error() -> None:
    broker = Broker()
    made = Producers(broker.create)
    sender = asyncio.create_task(borrow(made))
    await wait_until(lambda: len(broker.asked) == 1)
    closing = asyncio.create_task(made.close())
    await wait_until(lambda: len(made) == 0)
    closing.cancel()  # as the connection does when the broker does not answer in time

    with pytest.raises(BusError, match="numbers: cannot publish"):
        await sender
    with pytest.raises(asyncio.CancelledError):
        await closing


async def test_a_producer_that_fails_late_leaves_the_newer_one() -> None:
    broker = Broker()
    made = Producers(broker.create)
    first = asyncio.create_task(borrow(made))
    await wait_until(lambda: len(broker.asked) == 1)
    made._close_soon(TOPIC)
    second = asyncio.create_task(borrow(made))
    await wait_until(lambda: len(broker.asked) == 2)
    broker.asked[0].set_exception(PulsarException(pulsar.Result.ConnectError))
    with pytest.raises(BusError):
        await first

    newer = OpenProducer()
    broker.asked[1].set_result(newer)
    assert await second is newer
    assert await borrow(made) is newer
    await made.close()
    assert newer.closed


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyError("x")])
async def test_one_that_cannot_be_closed_keeps_no_other_open(error: Exception) -> None:
    opened = [OpenProducer(error), OpenProducer()]
    waiting = list(opened)

    async def create(_: Address) -> Any:
        return waiting.pop(0)

    made = Producers(create)
    await borrow(made, Address("first"))
    await borrow(made, Address("second"))
    await made.close()
    assert all(each.closed for each in opened)
