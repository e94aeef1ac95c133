"""Acknowledged messages are removed from the disk, and nothing else is."""

import asyncio
import random
from pathlib import Path

import pytest

from fourtier.runtime.bus.contract import Address, Mode
from fourtier.runtime.bus.embedded.storage.compaction import Compaction, compact, database_in
from fourtier.runtime.bus.embedded.storage.index import Index
from fourtier.runtime.bus.embedded.storage.records import UnknownLayoutError
from tests.runtime.bus.storage_support import (
    acknowledge,
    content,
    left_for,
    number_of,
    open_broker,
    publish,
    start_compaction,
)


async def test_messages_that_every_group_has_acknowledged_are_removed(tmp_path: Path) -> None:
    async with open_broker(tmp_path) as bus:
        await bus.create_group(Address("numbers"), "one")
        await bus.create_group(Address("numbers"), "two")
        await publish(bus, range(100))
        await acknowledge(bus, "one", 100, but=frozenset({50, 51, 99}))
        await acknowledge(bus, "two", 100, but=frozenset({50, 7}))
    stored = compact(tmp_path)

    assert (stored.removed, stored.unreadable, stored.waiting) == (96, 0, 4)
    assert b"49|x" not in content(tmp_path)
    assert b"99|x" in content(tmp_path)
    async with open_broker(tmp_path) as bus:
        assert [number_of(delivery) for delivery in await left_for(bus, "one")] == [50, 51, 99]
        assert [number_of(delivery) for delivery in await left_for(bus, "two")] == [7, 50]
    assert compact(tmp_path).waiting == 1  # that "two" has read to its end, "one" has not heard of


async def test_what_waits_comes_in_order_with_its_time_and_identity(tmp_path: Path) -> None:
    waiting = frozenset(range(0, 200, 7))
    async with open_broker(tmp_path) as bus:
        await bus.create_group(Address("numbers"), "workers")
        await publish(bus, range(200))
        await acknowledge(bus, "workers", 200, but=waiting)
        async with bus.subscribe(Address("numbers"), "workers", Mode.SHARED) as subscription:
            before = [await subscription.receive() for _ in waiting]
    compact(tmp_path)
    async with open_broker(tmp_path) as bus:
        after = await left_for(bus, "workers")

    assert [number_of(delivery) for delivery in after] == sorted(waiting)
    assert [(each.id, each.published_at, each.key) for each in after] == [
        (each.id, each.published_at, each.key) for each in before
    ]


async def test_a_topic_without_groups_stores_everything(tmp_path: Path) -> None:
    async with open_broker(tmp_path) as bus:
        await publish(bus, range(10))
    assert compact(tmp_path).waiting == 10
    async with open_broker(tmp_path) as bus:
        assert len(await left_for(bus, "late")) == 10


async def test_a_new_group_gets_what_is_stored_after_a_compaction(tmp_path: Path) -> None:
    async with open_broker(tmp_path) as bus:
        await bus.create_group(Address("numbers"), "early")
        await publish(bus, range(20))
        await acknowledge(bus, "early", 20, but=frozenset({3, 17}))
    compact(tmp_path)
    async with open_broker(tmp_path) as bus:
        late = [number_of(delivery) for delivery in await left_for(bus, "late")]
        await publish(bus, range(20, 25))
        more = [number_of(delivery) for delivery in await left_for(bus, "late")]
        early = [number_of(delivery) for delivery in await left_for(bus, "early")]

    # What lies between two messages that wait is removed too, and is not missed.
    assert late == [3, 17]
    assert more == [20, 21, 22, 23, 24]
    assert early == [3, 17, 20, 21, 22, 23, 24]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_a_compaction_that_is_killed_at_any_moment_loses_nothing(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a test's choice
    waiting: set[int] = set()
    for start in range(0, 3_000, 1_000):
        async with open_broker(tmp_path) as bus:
            await bus.create_group(Address("numbers"), "workers")
            await publish(bus, range(start, start + 1_000), size=500)
            missing = frozenset(n for n in range(start, start + 1_000) if chance.random() < 0.3)
            await acknowledge(
                bus, "workers", 1_000 + len(waiting), but=missing | frozenset(waiting)
            )
            waiting |= missing
        for _ in range(4):
            process = await start_compaction(tmp_path)
            try:
                async with asyncio.timeout(chance.uniform(0.05, 0.2)):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
    assert compact(tmp_path).waiting == len(waiting)
    async with open_broker(tmp_path) as bus:
        left = [number_of(delivery) for delivery in await left_for(bus, "workers")]

    assert left == sorted(waiting)


async def test_a_damaged_message_does_not_stop_its_topic(tmp_path: Path) -> None:
    async with open_broker(tmp_path) as bus:
        await bus.create_group(Address("numbers"), "workers")
        await publish(bus, range(10))
    (log,) = (database_in(tmp_path) / "entrylog").glob("*.log")
    damaged = log.read_bytes().replace(b"4|xxx", b"4|\0\0\0")
    log.write_bytes(damaged)
    stored = compact(tmp_path)

    assert (stored.removed, stored.unreadable, stored.waiting) == (0, 1, 9)
    async with open_broker(tmp_path) as bus:
        left = [number_of(delivery) for delivery in await left_for(bus, "workers")]
    assert left == [0, 1, 2, 3, 5, 6, 7, 8, 9]


async def test_files_of_another_version_are_left_alone(tmp_path: Path) -> None:
    async with open_broker(tmp_path) as bus:
        await publish(bus, range(10))
    index = Index(database_in(tmp_path))
    index._db[b"/managed-ledgers/fourtier/storage/persistent/numbers"] = b"\x7a\x01?"
    index.close()
    before = content(database_in(tmp_path) / "entrylog")

    with pytest.raises(UnknownLayoutError, match="fields that are not known"):
        compact(tmp_path)
    assert content(database_in(tmp_path) / "entrylog") == before
    process = await start_compaction(tmp_path)
    assert await process.wait() == 1


def test_a_directory_without_messages_is_nothing_to_do(tmp_path: Path) -> None:
    assert compact(tmp_path) == Compaction(0, 0, 0, 0, 0)
