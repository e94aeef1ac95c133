"""Ends: published once for each state of a record, never lost, by call and by idleness."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.engines.opening import EngineConfig, open_graph
from fourtier.memory.conversations.ending import Ending
from fourtier.memory.conversations.records import (
    ConversationKey,
    ConversationState,
    InvocationRecord,
)
from fourtier.memory.conversations.store import SCHEMA, ConversationStore
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.schema.message import Scope
from tests.memory.conversations.support import Ends, end, reading_ends, record, run, turn, update
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

KEY = ConversationKey(Scope("ann", "default"), "c1")
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Parts:
    graph: GraphStore
    store: ConversationStore
    caller: Caller
    ends: Ends

    def ending(self, idle: timedelta = HOUR, store: ConversationStore | None = None) -> Ending:
        return Ending(store or self.store, self.caller, idle)

    async def ran(self, run_id: str, at: datetime | None = None) -> None:
        """Record a run that was over at a time; default: now."""
        now = datetime.now(UTC)
        await self.store.append([InvocationRecord.from_run(run(run_id, at=at or now), now)], now)

    async def is_ended(self) -> bool:
        return (await self.store.newest(KEY, 1))[0].ended


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncGenerator[Parts]:
    bus = MemoryBus()
    async with (
        open_graph(EngineConfig(tmp_path), SCHEMA) as graph,
        open_caller(bus) as caller,
        reading_ends(bus) as ends,
    ):
        yield Parts(graph, ConversationStore(graph), caller, ends)


async def test_an_end_is_published_with_the_conversation_and_the_reason(parts: Parts) -> None:
    await parts.ran("r1")

    assert await parts.ending().end(KEY)

    event = (await parts.ends.next()).event
    assert (event.scope, event.conversation_id, event.reason) == (*KEY, "call")
    assert await parts.is_ended()


async def test_ending_what_is_unknown_or_ended_publishes_nothing(parts: Parts) -> None:
    assert not await parts.ending().end(KEY)
    await parts.ran("r1")
    assert await parts.ending().end(KEY)
    await parts.ends.next()

    assert not await parts.ending().end(KEY)
    assert parts.ends.waiting() == 0


async def test_a_new_invocation_reopens_and_a_later_end_promotes_again(parts: Parts) -> None:
    await parts.ran("r1")
    await parts.ending().end(KEY)
    await parts.ran("r2")
    assert not await parts.is_ended()

    assert await parts.ending().end(KEY)

    assert (await parts.ends.next()).message_id != (await parts.ends.next()).message_id
    assert await parts.is_ended()


async def test_a_repeated_invocation_does_not_reopen(parts: Parts) -> None:
    at = datetime.now(UTC)
    await parts.ran("r1", at)
    await parts.ending().end(KEY)

    await parts.ran("r1", at)

    assert await parts.is_ended()


class CrashingStore(ConversationStore):
    """Dies after the event is out and before the end is stored."""

    async def mark_ended(self, ended: Sequence[ConversationState]) -> None:
        raise ConnectionResetError(f"killed before marking {len(ended)}")


@pytest.mark.parametrize("how", ["call", "sweep"])
@pytest.mark.cluster
async def test_a_crash_before_the_mark_repeats_the_event_under_the_same_id(
    parts: Parts, how: str
) -> None:
    await parts.ran("r1")
    crashing = parts.ending(timedelta(0), CrashingStore(parts.graph))
    with pytest.raises(ConnectionResetError):
        await (crashing.end(KEY) if how == "call" else crashing.sweep())
    assert not await parts.is_ended()

    after_restart = parts.ending(timedelta(0))
    await (after_restart.end(KEY) if how == "call" else after_restart.sweep())

    assert (await parts.ends.next()).message_id == (await parts.ends.next()).message_id
    assert await parts.is_ended()


class SlowStore(ConversationStore):
    """Something is added between the event and the mark."""

    async def mark_ended(self, ended: Sequence[ConversationState]) -> None:
        now = datetime.now(UTC)
        await self.append([InvocationRecord.from_run(run("r2", at=now), now)], now)
        await super().mark_ended(ended)


async def test_what_is_added_while_ending_keeps_the_conversation_open(parts: Parts) -> None:
    await parts.ran("r1")

    await parts.ending(store=SlowStore(parts.graph)).end(KEY)

    assert not await parts.is_ended()
    assert await parts.ending().end(KEY)


async def test_a_run_whose_event_comes_after_the_end_is_promoted_with_it(parts: Parts) -> None:
    before = datetime.now(UTC)
    await parts.ran("r1", before)
    await parts.ending().end(KEY)
    first = await parts.ends.next()
    await parts.ran("r2", before)  # over before the end, its event late

    await parts.ending().sweep()

    again = await parts.ends.next()
    assert again.event == first.event
    assert again.message_id != first.message_id
    assert await parts.is_ended()
    await parts.ending().sweep()
    assert parts.ends.waiting() == 0


async def test_a_run_after_the_end_is_not_ended_before_it_is_idle(parts: Parts) -> None:
    await parts.ran("r1")
    await parts.ending().end(KEY)
    await parts.ends.next()
    await parts.ran("r2")

    await parts.ending().sweep()

    assert parts.ends.waiting() == 0
    assert not await parts.is_ended()


async def test_past_dialogue_is_idle_by_when_it_was_recorded(parts: Parts) -> None:
    recorded_at = datetime.now(UTC)
    await parts.store.append([InvocationRecord.from_turn(turn(1), recorded_at)], recorded_at)

    await parts.ending(HOUR).sweep()
    assert parts.ends.waiting() == 0

    await parts.ending(timedelta(0)).sweep()
    event = (await parts.ends.next()).event
    assert (event.reason, event.ended_at) == ("idle", recorded_at)


async def test_one_sweep_ends_all_that_is_idle_each_once(parts: Parts) -> None:
    now = datetime.now(UTC)
    turns = [turn(1, user=f"user{number}") for number in range(120)]
    await parts.store.append([InvocationRecord.from_turn(each, now) for each in turns], now)

    await parts.ending(timedelta(0)).sweep()
    ended = [await parts.ends.next() for _ in turns]
    await parts.ending(timedelta(0)).sweep()

    assert {each.event.user for each in ended} == {each.user for each in turns}
    assert parts.ends.waiting() == 0


@pytest.mark.cluster
async def test_the_service_ends_idle_conversations_also_from_before_a_restart(
    tmp_path: Path,
) -> None:
    async with running_flow(tmp_path, {"conversations": {}}, bus="embedded") as flow:
        await update(flow.caller, "Are you there?")
        assert not (await record(flow.caller)).ended
    soon = {"conversations": {"idle-seconds": 0.1, "sweep-seconds": 0.05}}
    async with (
        running_flow(tmp_path, soon, bus="embedded") as flow,
        reading_ends(flow.bus) as ends,
    ):
        assert (await ends.next()).event.reason == "idle"

        async def ended() -> bool:
            return (await record(flow.caller)).ended

        await wait_until(ended)
        assert not await end(flow.caller)
