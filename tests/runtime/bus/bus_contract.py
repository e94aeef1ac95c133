"""What every transport must do. A test class for a transport inherits from `BusContract`."""

import asyncio
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from fourtier.runtime.bus.contract import (
    Address,
    Bus,
    BusError,
    Delivery,
    Mode,
    Subscription,
)
from tests.support.waiting import wait_until

END = b"end"


async def publish_numbers(
    bus: Bus, topic: Address, count: int, keys: Sequence[str], start: int = 0
) -> None:
    """Publish numbers, for each key in order, one key after another for each number."""
    for number in range(start, start + count):
        for key in keys:
            await bus.publish(topic, str(number).encode(), key=key)


async def take(subscription: Subscription, count: int) -> list[Delivery]:
    """Receive so many messages and leave them unacknowledged."""
    return [await subscription.receive() for _ in range(count)]


async def take_until_end(bus: Bus, topic: Address, subscription: Subscription) -> list[Delivery]:
    """All that the only consumer of a group still gets: up to a message that is published now."""
    await bus.publish(topic, END)
    taken: list[Delivery] = []
    while True:
        delivery = await subscription.receive()
        await delivery.acknowledge()
        if delivery.payload == END:
            return taken
        taken.append(delivery)


async def receive_into(subscription: Subscription, taken: list[Delivery]) -> None:
    """Receive until cancelled, and acknowledge."""
    while True:
        delivery = await subscription.receive()
        await delivery.acknowledge()
        taken.append(delivery)


class Work:
    """What the consumers of a group did, in the order in which they did it."""

    def __init__(self, topic: Address) -> None:
        self.topic = topic
        self.done: list[tuple[str, int, str]] = []

    async def consume(
        self, bus: Bus, name: str, leave: asyncio.Event, joined: asyncio.Event
    ) -> None:
        """Take, work on and acknowledge messages until told to leave."""
        async with bus.subscribe(self.topic, "workers", Mode.KEY_SHARED) as subscription:
            joined.set()
            leaving = asyncio.create_task(leave.wait())
            while not leave.is_set():
                receiving = asyncio.ensure_future(subscription.receive())
                await asyncio.wait([receiving, leaving], return_when=asyncio.FIRST_COMPLETED)
                if not receiving.done():
                    receiving.cancel()
                    break
                delivery = receiving.result()
                self.done.append((delivery.key, int(delivery.payload), name))
                for _ in range(3):  # let the other consumer run in the middle of the work
                    await asyncio.sleep(0)
                await delivery.acknowledge()
            await leaving

    def by_key(self) -> dict[str, list[int]]:
        """The numbers of each key as they were worked on."""
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for key, number, _ in self.done:
            numbers[key].append(number)
        return dict(numbers)


class BusContract:
    """The contract. `bus` is a fixture of the inheriting class: an open bus on empty topics.

    Attributes:
        marks_redelivered: whether a message that another consumer had in flight is marked.
        shares_keys: whether a group that keeps the order of keys may have several consumers here.
    """

    marks_redelivered = True
    shares_keys = True

    def require_shared_keys(self, mode: Mode) -> None:
        """Skip where such a group has one consumer."""
        if mode is Mode.KEY_SHARED and not self.shares_keys:
            pytest.skip("pulsar-lite keeps the order of keys for one consumer only")

    @pytest.fixture
    def topic(self) -> Address:
        return Address(f"numbers.{uuid.uuid4().hex}")

    @pytest.mark.parametrize("persistent", [True, False])
    async def test_a_message_comes_as_it_was_sent(
        self, bus: Bus, topic: Address, *, persistent: bool
    ) -> None:
        address = replace(topic, persistent=persistent)
        properties = {"id": "1", "Ort": "Zürich 東京 🗼", "empty": ""}
        async with bus.subscribe(address, "readers", Mode.SHARED) as subscription:
            await bus.publish(address, "Grüße".encode(), key="ключ", properties=properties)
            delivery = await subscription.receive()
            await delivery.acknowledge()

        assert delivery.payload.decode() == "Grüße"
        assert delivery.key == "ключ"
        assert dict(delivery.properties) == properties
        assert not delivery.redelivered

    @pytest.mark.parametrize(
        "payload",
        [b"", b"\x00\xff\xfe", "語".encode() * 1_000, b"x" * 1_000_000],
        ids=["empty", "binary", "unicode", "1 MB"],
    )
    async def test_a_payload_of_any_kind_arrives_whole(
        self, bus: Bus, topic: Address, payload: bytes
    ) -> None:
        async with bus.subscribe(topic, "readers", Mode.SHARED) as subscription:
            await bus.publish(topic, payload)
            delivery = await subscription.receive()
            await delivery.acknowledge()

        assert delivery.payload == payload
        assert delivery.key == ""
        assert dict(delivery.properties) == {}

    async def test_each_group_gets_all(self, bus: Bus, topic: Address) -> None:
        async with (
            bus.subscribe(topic, "one", Mode.SHARED) as one,
            bus.subscribe(topic, "two", Mode.KEY_SHARED) as two,
        ):
            await publish_numbers(bus, topic, 10, ["k"])
            first, second = await take(one, 10), await take(two, 10)

        assert [int(delivery.payload) for delivery in first] == list(range(10))
        assert [int(delivery.payload) for delivery in second] == list(range(10))

    async def test_consumers_share_without_getting_anything_twice(
        self, bus: Bus, topic: Address
    ) -> None:
        taken: Counter[int] = Counter()
        consumers: Counter[str] = Counter()
        done = asyncio.Event()

        async def work(subscription: Subscription, name: str) -> None:
            while True:
                delivery = await subscription.receive()
                taken[int(delivery.payload)] += 1
                consumers[name] += 1
                await delivery.acknowledge()
                if taken.total() == 100:
                    done.set()

        async with (
            bus.subscribe(topic, "workers", Mode.SHARED) as one,
            bus.subscribe(topic, "workers", Mode.SHARED) as two,
        ):
            tasks = [asyncio.create_task(work(one, "one")), asyncio.create_task(work(two, "two"))]
            await publish_numbers(bus, topic, 100, [""])
            await done.wait()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        assert taken == Counter(range(100))
        assert min(consumers["one"], consumers["two"]) > 0

    async def test_a_key_keeps_its_order_while_consumers_come_and_go(
        self, bus: Bus, topic: Address
    ) -> None:
        self.require_shared_keys(Mode.KEY_SHARED)
        keys = [f"key {number}" for number in range(8)]
        work = Work(topic)
        leave = {name: asyncio.Event() for name in ("one", "two", "three")}
        joined = {name: asyncio.Event() for name in leave}

        def start(name: str) -> asyncio.Task[None]:
            return asyncio.create_task(work.consume(bus, name, leave[name], joined[name]))

        consumers = [start("one"), start("two")]
        await asyncio.gather(joined["one"].wait(), joined["two"].wait())
        publishing = asyncio.create_task(publish_numbers(bus, topic, 100, keys))
        await wait_until(lambda: len(work.done) >= 100)
        consumers.append(start("three"))  # in the middle of the work of the others
        await wait_until(lambda: len(work.done) >= 200)
        leave["one"].set()
        await wait_until(lambda: len(work.done) >= 400)
        leave["two"].set()
        await publishing
        await wait_until(lambda: len(work.done) >= 800)
        leave["three"].set()
        await asyncio.gather(*consumers)

        assert work.by_key() == {key: list(range(100)) for key in keys}

    async def test_what_a_consumer_leaves_in_flight_is_redelivered_in_order(
        self, bus: Bus, topic: Address
    ) -> None:
        keys = ["a", "b", "c"]
        async with bus.subscribe(topic, "workers", Mode.KEY_SHARED) as leaver:
            await publish_numbers(bus, topic, 20, keys)
            for delivery in await take(leaver, 60):
                if int(delivery.payload) < 5:
                    await delivery.acknowledge()
        await publish_numbers(bus, topic, 1, keys, start=20)
        async with bus.subscribe(topic, "workers", Mode.KEY_SHARED) as heir:
            taken = [await heir.receive() for _ in range(48)]

        for key in keys:
            numbers = [int(delivery.payload) for delivery in taken if delivery.key == key]
            assert numbers == list(range(5, 21))

    @pytest.mark.parametrize("mode", list(Mode))
    async def test_what_is_not_acknowledged_is_redelivered(
        self, bus: Bus, topic: Address, mode: Mode
    ) -> None:
        async with bus.subscribe(topic, "workers", mode) as first:
            await publish_numbers(bus, topic, 10, ["k"])
            before = await take(first, 10)
            for delivery in before[::2]:
                await delivery.acknowledge()
        async with bus.subscribe(topic, "workers", mode) as second:
            again = await take_until_end(bus, topic, second)

        assert [int(delivery.payload) for delivery in again] == [1, 3, 5, 7, 9]
        assert [delivery.id for delivery in again] == [delivery.id for delivery in before[1::2]]
        async with bus.subscribe(topic, "workers", mode) as third:
            assert await take_until_end(bus, topic, third) == []

    async def test_a_new_group_starts_with_the_oldest_message(
        self, bus: Bus, topic: Address
    ) -> None:
        await bus.create_group(topic, "early")
        await publish_numbers(bus, topic, 5, ["k"])
        async with bus.subscribe(topic, "late", Mode.SHARED) as late:
            taken = await take_until_end(bus, topic, late)

        assert [int(delivery.payload) for delivery in taken] == [0, 1, 2, 3, 4]

    async def test_messages_are_stored_for_a_group_without_consumers(
        self, bus: Bus, topic: Address
    ) -> None:
        await bus.create_group(topic, "operator")
        await publish_numbers(bus, topic, 5, [""])
        await bus.create_group(topic, "operator")  # once more: it loses nothing
        async with bus.subscribe(topic, "operator", Mode.SHARED) as operator:
            taken = await take_until_end(bus, topic, operator)

        assert [int(delivery.payload) for delivery in taken] == [0, 1, 2, 3, 4]

    async def test_a_group_that_has_consumers_can_be_created_again(
        self, bus: Bus, topic: Address
    ) -> None:
        async with bus.subscribe(topic, "workers", Mode.KEY_SHARED) as worker:
            await bus.create_group(topic, "workers")
            await publish_numbers(bus, topic, 3, ["k"])
            assert [int(delivery.payload) for delivery in await take(worker, 3)] == [0, 1, 2]

    async def test_a_topic_that_is_not_persistent_stores_nothing(
        self, bus: Bus, topic: Address
    ) -> None:
        volatile = replace(topic, persistent=False)
        async with bus.subscribe(volatile, "readers", Mode.SHARED) as first:
            await bus.publish(volatile, b"heard")
            received = await first.receive()
        await bus.publish(volatile, b"missed")
        async with bus.subscribe(volatile, "readers", Mode.SHARED) as second:
            await bus.publish(volatile, b"next")
            following = await second.receive()

        assert received.payload == b"heard"
        assert following.payload == b"next"

    async def test_an_exclusive_group_has_one_consumer(self, bus: Bus, topic: Address) -> None:
        address = replace(topic, persistent=False)
        async with bus.subscribe(address, "caller", Mode.EXCLUSIVE):
            with pytest.raises(BusError, match="cannot subscribe as caller"):
                async with bus.subscribe(address, "caller", Mode.EXCLUSIVE):
                    pass
        async with bus.subscribe(address, "caller", Mode.EXCLUSIVE) as next_one:
            await bus.publish(address, b"hello")
            assert (await next_one.receive()).payload == b"hello"

    async def test_thousands_may_be_published_at_once(self, bus: Bus, topic: Address) -> None:
        count = 3_000
        async with bus.subscribe(topic, "readers", Mode.SHARED) as subscription:
            publishing = asyncio.gather(
                *(bus.publish(topic, str(number).encode()) for number in range(count))
            )
            taken: Counter[int] = Counter()
            for _ in range(count):
                delivery = await subscription.receive()
                taken[int(delivery.payload)] += 1
                await delivery.acknowledge()
            await publishing

        assert taken == Counter(range(count))

    async def test_what_has_arrived_is_taken_without_waiting(
        self, bus: Bus, topic: Address
    ) -> None:
        async with bus.subscribe(topic, "readers", Mode.SHARED) as subscription:
            assert subscription.arrived(10) == []
            await publish_numbers(bus, topic, 10, [""])
            taken = [await subscription.receive()]
            while len(taken) < 10:
                here = subscription.arrived(4)
                assert len(here) <= 4
                taken += here
                await asyncio.sleep(0.001)

        assert [int(delivery.payload) for delivery in taken] == list(range(10))

    async def test_a_cancelled_receive_loses_nothing(self, bus: Bus, topic: Address) -> None:
        async with bus.subscribe(topic, "readers", Mode.SHARED) as subscription:
            taken: list[int] = []
            timeouts = 0
            publishing = asyncio.create_task(publish_numbers(bus, topic, 200, [""]))
            while len(taken) < 200:
                receiving = asyncio.ensure_future(subscription.receive())
                timeouts = (timeouts + 1) % 5
                for _ in range(timeouts):
                    await asyncio.sleep(0)
                receiving.cancel()
                await asyncio.wait([receiving])
                if not receiving.cancelled():
                    taken.append(int(receiving.result().payload))
            await publishing

        assert taken == list(range(200))

    @pytest.mark.parametrize("mode", [Mode.SHARED, Mode.KEY_SHARED])
    async def test_what_a_consumer_leaves_in_flight_is_redelivered_to_another(
        self, bus: Bus, topic: Address, mode: Mode
    ) -> None:
        self.require_shared_keys(mode)
        keys = [f"key {number}" for number in range(20)]
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
            leaving = AsyncExitStack()
            one = await leaving.enter_async_context(bus.subscribe(topic, "workers", mode))
            two = await stack.enter_async_context(bus.subscribe(topic, "workers", mode))
            others: list[Delivery] = []
            receiving = tasks.create_task(receive_into(two, others))
            await publish_numbers(bus, topic, 10, keys)
            in_flight = [await one.receive() for _ in range(10)]
            await leaving.aclose()
            await wait_until(lambda: len({delivery.id for delivery in others}) == 200)
            receiving.cancel()

        again = [delivery for delivery in others if delivery.id in {d.id for d in in_flight}]
        assert len(again) == len(in_flight)
        assert {delivery.redelivered for delivery in again} == {self.marks_redelivered}
        assert not any(delivery.redelivered for delivery in in_flight)
        for key in keys if mode is Mode.KEY_SHARED else ():
            numbers = [int(delivery.payload) for delivery in others if delivery.key == key]
            assert numbers == list(range(10))
