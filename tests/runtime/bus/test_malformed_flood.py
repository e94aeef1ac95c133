"""A stranger who floods a service with what nobody can read fills neither the disk nor memory."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fourtier.operations.dead_letters import read_dead_letters
from fourtier.runtime.bus.config import RetentionPolicy
from fourtier.runtime.bus.contract import Address, Bus
from fourtier.runtime.bus.embedded.storage.entry_logs import database_in
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.rpc import results
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_limits
from fourtier.runtime.rpc.routes import call_route
from tests.runtime.rpc.support import READ, SERVICE, WRITE, Note, Reply, served
from tests.support.usage import resident_mib

pytestmark = pytest.mark.slow

#: Each is on the disk twice until the broker is started again, as command and as dead letter: the
#: flood would leave 25 MB for good, and 50 MB until it is handled.
MESSAGES, AT_ONCE, SIZE = 12_000, 500, 2_000
MEGABYTE = 1_000_000
#: Of a service's dead letters.
LIMIT = RetentionPolicy(dead_letter_megabytes=2)
#: What the broker's files may take: it is started again after 24 MB (`maintenance`), and a
#: quarter of a second may pass until that is seen.
DISK = 32 * MEGABYTE
#: By how many MiB the process with the service, and the broker, may grow after the first quarter.
MAY_GROW_BY = 16
MALFORMED = b'{"key": 5, "number": "' + b"x" * SIZE + b'"}'


async def answer(note: Note) -> Reply:
    return Reply(number=note.number)


@asynccontextmanager
async def service(directory: Path) -> AsyncGenerator[tuple[Bus, Caller]]:
    """A service on an embedded bus with limits."""
    limits = dead_letter_limits(LIMIT)
    config = BusConfig("embedded", "fourtier", "test", directory, 0, limits=limits)
    async with (
        open_bus(config) as (bus, _),
        served(bus, call_route(WRITE, answer), call_route(READ, answer)),
        open_caller(bus) as caller,
    ):
        yield bus, caller


async def flood(bus: Bus, topic: Address, number: int) -> None:
    await asyncio.gather(*(bus.publish(topic, MALFORMED, key=f"k{n % 7}") for n in range(number)))


def disk(directory: Path) -> int:
    """Bytes of the broker's messages and index."""
    return sum(map(_size, database_in(directory / "bus").rglob("*.*")))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.suffix in {".log", ".sst"} else 0
    except FileNotFoundError:  # it has just been removed
        return 0


def broker(directory: Path) -> int:
    """Its memory, or 0 while it is started again."""
    try:
        return resident_mib(int((directory / "bus" / "broker.lock").read_text()))
    except (OSError, ValueError, StopIteration):
        return 0


@pytest.fixture(autouse=True)
def quiet() -> Generator[None]:
    """Without a line for each message, all of which pytest would hold in memory."""
    log = logging.getLogger(results.__name__)
    log.setLevel(logging.CRITICAL)
    yield
    log.setLevel(logging.NOTSET)


async def test_a_flood_of_malformed_commands_leaves_disk_and_memory_bounded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    largest, ours, brokers = 0, list[int](), list[int]()
    async with service(tmp_path) as (bus, caller):
        for _ in range(MESSAGES // AT_ONCE):
            await flood(bus, Address(WRITE.topic.name), AT_ONCE)
            await caller.call(WRITE, Note(key="k0", number=1))
            largest = max(largest, disk(tmp_path))
            ours.append(resident_mib(os.getpid()))
            brokers.append(broker(tmp_path))
    assert largest < DISK
    assert disk(tmp_path) < 3 * MEGABYTE
    assert "on dead-letters.test, 0 too old and " in caplog.text
    quarter = len(ours) // 4
    assert max(ours) - ours[quarter] < MAY_GROW_BY
    assert max(brokers) - max(brokers[:quarter]) < MAY_GROW_BY


async def test_a_flood_of_malformed_queries_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    async with service(tmp_path) as (bus, caller):
        await caller.call(READ, Note(key="k0", number=1))
        before = disk(tmp_path)
        for _ in range(10):
            await flood(bus, Address(READ.topic.name, persistent=False), AT_ONCE)
            await caller.call(READ, Note(key="k0", number=1))
        assert (await read_dead_letters(bus, SERVICE)).total == 0
        assert disk(tmp_path) - before < MEGABYTE
