"""Dead letters are dropped beyond their age and size: the malformed first, and nothing else."""

import asyncio
import time
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace

import pytest

from fourtier.flows.model import read_flow
from fourtier.flows.plan import bus_config
from fourtier.runtime.bus.config import RetentionPolicy
from fourtier.runtime.bus.contract import Address, Bus
from fourtier.runtime.bus.embedded.limits import TopicLimits
from fourtier.runtime.bus.embedded.storage import compaction
from fourtier.runtime.bus.embedded.storage.compaction import compact
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.rpc.dead_letter_queue import (
    OPERATOR,
    dead_letter_address,
    dead_letter_limits,
)
from fourtier.runtime.settings import Settings
from tests.runtime.bus.storage_support import TOPIC, content, left_for, open_broker

FACTS, EPISODES = dead_letter_address("facts"), dead_letter_address("episodes")
SIZE = 1_000
#: What the broker adds to the payload, for the longest of these messages.
_OVERHEAD = 150


def limits(days: int = 0, size: int = 10**9) -> TopicLimits:
    """The limits of a flow, in bytes."""
    usual = dead_letter_limits(RetentionPolicy(dead_letter_ttl_days=days))
    return TopicLimits(usual.prefix, usual.seconds, size, usual.property, usual.value)


async def letters(bus: Bus, topic: Address, reasons: Collection[str]) -> None:
    """Dead letters with these reasons, which their payloads begin with."""
    await bus.create_group(topic, OPERATOR)
    for reason in reasons:
        payload = f"{reason}|".encode().ljust(SIZE, b"x")
        await bus.publish(topic, payload, key="k", properties={"dead-error": reason})


async def left(bus: Bus, topic: Address) -> list[str]:
    found = await left_for(bus, OPERATOR, topic=topic)
    return [each.payload.decode().split("|")[0] for each in found]


async def test_beyond_the_size_the_oldest_malformed_go_first(tmp_path: Path) -> None:
    reasons = ["permanent: 0", "malformed: 1", "permanent: 2", "malformed: 3", "malformed: 4"]
    async with open_broker(tmp_path) as bus:
        await letters(bus, FACTS, reasons)
        await letters(bus, EPISODES, reasons[:2])
    done = compact(tmp_path, limits(size=3 * (SIZE + _OVERHEAD)))

    assert [(each.topic, len(each.expired), len(each.surplus)) for each in done.dropped] == [
        ("dead-letters.facts", 0, 2)
    ]
    assert (done.removed, done.waiting) == (0, 5)
    assert b"malformed: 3|" not in content(tmp_path)
    async with open_broker(tmp_path) as bus:
        assert await left(bus, FACTS) == ["permanent: 0", "permanent: 2", "malformed: 4"]
        assert await left(bus, EPISODES) == reasons[:2]


async def test_without_malformed_ones_the_oldest_go(tmp_path: Path) -> None:
    async with open_broker(tmp_path) as bus:
        await letters(bus, FACTS, [f"permanent: {number}" for number in range(5)])
    compact(tmp_path, limits(size=2 * (SIZE + _OVERHEAD)))

    async with open_broker(tmp_path) as bus:
        assert await left(bus, FACTS) == ["permanent: 3", "permanent: 4"]


async def test_beyond_the_age_all_go_and_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_broker(tmp_path) as bus:
        await letters(bus, FACTS, ["permanent: 0", "malformed: 1"])
        await bus.create_group(TOPIC, "workers")
        await bus.publish(TOPIC, b"waits", key="k")
    assert not compact(tmp_path, limits(days=90)).dropped
    in_days(monkeypatch, 89)
    assert not compact(tmp_path, limits(days=90)).dropped
    in_days(monkeypatch, 91)
    assert not compact(tmp_path, limits(days=0)).dropped
    (dropped,) = compact(tmp_path, limits(days=90)).dropped

    assert (dropped.topic, len(dropped.expired), len(dropped.surplus)) == (FACTS.name, 2, 0)
    async with open_broker(tmp_path) as bus:
        assert await left(bus, FACTS) == []
        assert [each.payload for each in await left_for(bus, "workers")] == [b"waits"]


def in_days(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    later = time.time() + days * 86_400
    monkeypatch.setattr(compaction, "time", SimpleNamespace(time=lambda: later))


async def test_what_was_dropped_is_logged_with_its_number_and_service(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    few = limits(size=4 * (SIZE + _OVERHEAD))
    config = BusConfig("embedded", "fourtier", "test", tmp_path, 0, limits=few)
    async with open_bus(config) as (bus, _):
        await letters(bus, FACTS, [f"malformed: {number}" for number in range(10)])
    expected = "Dropped unhandled messages: 6 on dead-letters.facts, 0 too old and 6 too many."
    assert [line for line in caplog.messages if "Dropped" in line] == [
        f"{expected} See dead-letter-ttl-days and dead-letter-megabytes."
    ]
    assert expected.encode() in (tmp_path / "bus" / "broker.log").read_bytes()
    async with open_bus(config) as (bus, _):
        assert await left(bus, FACTS) == [f"malformed: {number}" for number in range(6, 10)]


async def test_it_is_logged_while_the_flow_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = BusConfig("embedded", "fourtier", "test", tmp_path, 0, limits=limits(size=1_000_000))
    payload = b"x" * 100_000
    async with open_bus(config) as (bus, _):
        await bus.create_group(FACTS, OPERATOR)
        async with asyncio.timeout(60):
            while "Dropped unhandled messages" not in caplog.text:
                await bus.publish(FACTS, payload, properties={"dead-error": "malformed: no"})


def test_a_flow_limits_the_dead_letters_of_its_embedded_bus(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(
        "name: small\nbus:\n  topics: {dead-letter-ttl-days: 7, dead-letter-megabytes: 5}\n"
        "services: {facts: {}}\n"
    )
    set_to = bus_config(read_flow(str(file)), Settings()).limits
    assert set_to == TopicLimits(
        "dead-letters.", 7 * 86_400, 5_000_000, "dead-error", "malformed: "
    )
    usual = bus_config(read_flow("laptop"), Settings()).limits
    assert usual is not None
    assert (usual.seconds, usual.size) == (90 * 86_400, 32_000_000)
    assert TopicLimits.load(usual.dump()) == usual
