"""`page.closed`: told once for each closing, and again when a page is left without its memo."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.archive.announcing import Announcing
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.archive import PAGE_CLOSED, PageClosed
from fourtier.schema.message import Message
from fourtier.schema.topics import Topic
from tests.memory.archive.documents import part, store
from tests.memory.archive.test_archive_service import archived, tell, turn
from tests.memory.archive.test_memos import chain, closed, erase, write
from tests.memory.memoriser.pages import end, memos, pages
from tests.support.flow import RunningFlow, running_flow
from tests.support.listening import Listener, listening
from tests.support.waiting import wait_until

#: No sweep comes in between.
SERVICES: dict[str, dict[str, Any]] = {
    "embeddings": {},
    "archive": {"announcement-seconds": 3_600},
}
SWEPT: dict[str, dict[str, Any]] = {"embeddings": {}, "archive": {"announcement-seconds": 0.1}}


@asynccontextmanager
async def listened(
    data: Path, services: dict[str, dict[str, Any]] = SERVICES
) -> AsyncGenerator[tuple[RunningFlow, Listener[PageClosed]]]:
    async with (
        running_flow(data, services) as flow,
        listening(flow.bus, PAGE_CLOSED) as listener,
    ):
        yield flow, listener


async def are_closed(flow: RunningFlow) -> bool:
    found = await pages(flow)
    return bool(found) and all(page.closed for page in found)


@dataclass
class Lost:
    """Loses the receipt of events: they are out, or they are not."""

    caller: Caller
    is_out: bool
    lost: list[str] = field(default_factory=list)

    async def publish(self, topic: Topic[Any], message: Message, *, message_id: str = "") -> None:
        if self.is_out:
            await self.caller.publish(topic, message, message_id=message_id)
        self.lost.append(message_id)
        raise BusError("the broker is gone")


def losing(monkeypatch: pytest.MonkeyPatch, *, is_out: bool) -> list[str]:
    """Have each event's receipt lost from now on; their ids."""
    lost: list[str] = []
    publish = Announcing._publish

    async def failing(self: Announcing, rows: Any) -> None:
        caller = self._caller
        self._caller = Lost(caller, is_out, lost)  # type: ignore[assignment]
        try:
            await publish(self, rows)
        finally:
            self._caller = caller

    monkeypatch.setattr(Announcing, "_publish", failing)
    return lost


async def test_a_conversation_that_ends_is_told_of_once(tmp_path: Path) -> None:
    async with listened(tmp_path) as (flow, listener):
        await tell(flow, turn(1, "One."), turn(2, "Two."))
        await archived(flow, 2)
        await end(flow)
        event = await listener.next()
        await end(flow)
        await end(flow)
        await tell(flow, turn(3, "Another.", conversation_id="c2"))
        await archived(flow, 3)
        await end(flow, "c2")
        other = await listener.next()

        found = {page.source: page for page in await pages(flow)}
        assert (event.page_id, event.reason) == (found["c1"].id, "closed")
        assert other.page_id == found["c2"].id
        assert event.scope == other.scope
        assert "c1" not in event.model_dump_json()


async def test_a_page_that_is_full_is_told_of(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(400))
    async with listened(tmp_path) as (flow, listener):
        await tell(flow, *(turn(number, f"{number} {words}") for number in range(3)))
        event = await listener.next()
        await archived(flow, 3)
        first, second = await pages(flow)
        assert event.page_id == first.id
        assert (first.closed, second.closed) == (True, False)


async def test_each_page_of_a_document_is_told_of_when_it_is_complete(tmp_path: Path) -> None:
    blocks = [f"Block {number}. {'word ' * 300}" for number in range(3)]
    async with listened(tmp_path) as (flow, listener):
        await store(flow, part(blocks[:2], total=3), part(blocks[2:], first=2, total=3))
        events = await listener.take(3)
        await store(flow, part(blocks[:2], total=3), part(blocks[2:], first=2, total=3))
        await store(flow, part(["Alone."], document="other"))
        other = await listener.next()

        found = {page.id: page.source for page in await pages(flow)}
        assert {event.page_id for event in events} == {
            name for name, source in found.items() if source == "handbook"
        }
        assert found[other.page_id] == "other"


@pytest.mark.parametrize("is_out", [False, True])
async def test_an_end_whose_event_was_lost_is_told_of_when_it_is_redelivered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_out: bool
) -> None:
    async with listened(tmp_path) as (flow, listener):
        await tell(flow, turn(1, "One."))
        await archived(flow, 1)
        with monkeypatch.context() as broken:
            lost = losing(broken, is_out=is_out)
            await end(flow)
            await wait_until(lambda: len(lost) == 1)
        assert await are_closed(flow)
        await end(flow)
        await listener.take(2 if is_out else 1)
        assert set(listener.ids) == set(lost), "the repetition is recognised"


async def test_what_was_closed_before_a_crash_is_told_of_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listened(tmp_path) as (flow, _):
        with monkeypatch.context() as broken:
            lost = losing(broken, is_out=False)
            await store(flow, part(["A block."]))
            await wait_until(lambda: len(lost) == 1)
    async with listened(tmp_path, SWEPT) as (flow, listener):
        event = await listener.next()
        (page,) = await pages(flow)
        assert event.page_id == page.id
        assert listener.ids == lost


async def test_a_sweep_tells_of_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept: list[None] = []
    reported: list[str] = []
    sweep, publish = Announcing.sweep, Announcing._publish

    async def counted(self: Announcing) -> None:
        await sweep(self)
        swept.append(None)

    async def noted(self: Announcing, rows: Any) -> None:
        reported.extend(str(row["id"]) for row in rows)
        await publish(self, rows)

    async def sweeps(number: int) -> None:
        until = len(swept) + number
        await wait_until(lambda: len(swept) >= until)

    monkeypatch.setattr(Announcing, "sweep", counted)
    monkeypatch.setattr(Announcing, "_publish", noted)
    async with running_flow(tmp_path, SWEPT) as flow:
        for number in range(3):
            await store(flow, part(["A block."], document=f"d{number}"))
        # One that was under way may have told of a page that was being marked.
        await sweeps(2)
        assert len(set(reported)) == 3
        before = len(reported)
        await sweeps(3)
        assert len(reported) == before


async def test_pages_that_lose_their_memos_are_told_of_again(tmp_path: Path) -> None:
    async with listened(tmp_path) as (flow, listener):
        a, b, c, _ = await chain(flow)
        await listener.take(4)
        await erase(flow, ids=("a-1",))
        events = await listener.take(3)
        assert {event.page_id for event in events} == {a.id, b.id, c.id}
        assert {event.reason for event in events} == {"changed"}

        await erase(flow, conversation_id="a")
        (only,) = await closed(flow, "z")
        assert (await listener.next()).page_id == only.id, "b and c had no memos any more"


async def test_a_memo_that_is_forgotten_for_its_own_words_is_told_of_as_such(
    tmp_path: Path,
) -> None:
    async with listened(tmp_path) as (flow, listener):
        (page,) = await closed(flow, "a")
        await write(flow, page, "Ann owns a zeppelin.")
        await erase(flow, containing=("owns a zeppelin",))
        assert [(each.page_id, each.reason) for each in await listener.take(2)] == [
            (page.id, "closed"),
            (page.id, "memo-forgotten"),
        ]


async def test_pages_that_lose_what_is_evicted_are_told_of_by_the_sweep(tmp_path: Path) -> None:
    services = {"embeddings": {}, "archive": {"max-per-scope": 3, "announcement-seconds": 0.1}}
    async with listened(tmp_path, services) as (flow, listener):
        (page,) = await closed(flow, "a")
        await write(flow, page, "Memo of a.")
        await listener.next()
        await tell(flow, turn(7, "Later.", conversation_id="b"))
        await archived(flow, 3)
        await tell(flow, turn(8, "Last.", conversation_id="b"))
        event = await listener.next()
        while event.reason == "closed":  # a sweep was under way while the page was being marked
            event = await listener.next()
        assert (event.page_id, event.reason) == (page.id, "changed")
        assert await memos(flow) == []
