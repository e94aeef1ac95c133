"""The broker's disk and memory stay bounded, and nothing is lost or doubled for it."""

import asyncio
from pathlib import Path

import pytest

from fourtier.runtime.bus.contract import Address, Mode
from fourtier.runtime.bus.embedded.maintenance import REST, Usage, is_due
from fourtier.runtime.bus.embedded.storage.compaction import database_in
from fourtier.runtime.bus.opening import BusConfig, open_bus
from tests.runtime.bus.storage_support import content
from tests.support.waiting import wait_until

MEGABYTE = 1_000_000
TOPIC = Address("numbers")


@pytest.mark.parametrize(
    ("begun", "now", "age", "idle", "due"),
    [
        (Usage(0, 0), Usage(3 * MEGABYTE, 0), 60, 60, False),
        (Usage(0, 0), Usage(5 * MEGABYTE, 0), 60, REST, True),
        (Usage(0, 0), Usage(5 * MEGABYTE, 0), 60, REST - 1, False),
        (Usage(0, 0), Usage(1, 0), 3_601, REST, True),
        (Usage(0, 0), Usage(0, 0), 10**6, 10**6, False),
        (Usage(0, 0), Usage(25 * MEGABYTE, 0), 60, 0, True),
        (Usage(90 * MEGABYTE, 0), Usage(120 * MEGABYTE, 0), 60, 0, False),
        (Usage(90 * MEGABYTE, 0), Usage(190 * MEGABYTE, 0), 60, 0, True),
        (Usage(0, 8 * MEGABYTE), Usage(0, 41 * MEGABYTE), 60, REST, True),
        (Usage(0, 8 * MEGABYTE), Usage(0, 41 * MEGABYTE), 60, 0, False),
        (Usage(0, 8 * MEGABYTE), Usage(0, 300 * MEGABYTE), 60, 0, True),
    ],
)
def test_when_a_restart_is_due(
    begun: Usage, now: Usage, age: float, idle: float, *, due: bool
) -> None:
    assert is_due(begun, now, age=age, idle=idle) is due


async def test_many_messages_take_little_disk_and_all_are_handled(tmp_path: Path) -> None:
    database = database_in(tmp_path / "bus")
    count, size, peak, numbers = 1_500, 40_000, 0, set[int]()
    async with (
        open_bus(BusConfig("embedded", "fourtier", "test", tmp_path, 0)) as (bus, _),
        bus.subscribe(TOPIC, "workers", Mode.KEY_SHARED) as subscription,
    ):
        for start in range(0, count, 20):
            payloads = [f"{n}|".encode().ljust(size, b"x") for n in range(start, start + 20)]
            await asyncio.gather(*(bus.publish(TOPIC, each, key="k") for each in payloads))
            while len(numbers) < start + 20:  # one may come twice: its receipt can be lost
                delivery = await subscription.receive()
                numbers.add(int(delivery.payload.split(b"|")[0]))
                await delivery.acknowledge()
            peak = max(peak, _size(database))
        await bus.publish(TOPIC, b"end", key="k")  # behind all that may come twice
        while True:
            delivery = await subscription.receive()
            await delivery.acknowledge()
            if delivery.payload == b"end":
                break

    assert numbers == set(range(count))
    assert count * size == 60 * MEGABYTE
    assert peak < 50 * MEGABYTE
    assert _size(database) < MEGABYTE


async def test_what_was_handled_is_gone_from_the_disk_at_rest(tmp_path: Path) -> None:
    secret, database = b"my hideout is in the forest", database_in(tmp_path / "bus")
    async with (
        open_bus(BusConfig("embedded", "fourtier", "test", tmp_path, 0)) as (bus, _),
        bus.subscribe(TOPIC, "workers", Mode.KEY_SHARED) as subscription,
    ):
        for _ in range(11):
            await bus.publish(TOPIC, secret * 20_000, key="k")
        for _ in range(10):
            await (await subscription.receive()).acknowledge()
        left = await subscription.receive()
        assert secret in content(database)
        await wait_until(lambda: _size(database) < MEGABYTE)
        # The broker is another one now, and we are connected to it again.
        await bus.publish(TOPIC, b"later", key="k")
        assert (await subscription.receive()).payload == b"later"
        await left.acknowledge()

    assert secret not in content(database)


async def test_what_was_handled_is_gone_from_the_disk_when_the_flow_has_ended(
    tmp_path: Path,
) -> None:
    secret = b"my hideout is in the forest"
    async with open_bus(BusConfig("embedded", "fourtier", "test", tmp_path, 0)) as (bus, _):
        async with bus.subscribe(TOPIC, "workers", Mode.KEY_SHARED) as subscription:
            await bus.publish(TOPIC, secret)
            await (await subscription.receive()).acknowledge()
        assert secret in content(tmp_path)

    assert secret not in content(tmp_path)


def _size(database: Path) -> int:
    """Bytes of messages and index."""
    size = 0
    for path in [*database.glob("*.log"), *database.glob("*.sst"), *database.glob("entrylog/*")]:
        try:
            size += path.stat().st_size
        except FileNotFoundError:  # the broker has just removed it
            continue
    return size
