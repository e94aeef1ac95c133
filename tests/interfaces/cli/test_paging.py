"""Lists end where they end: every page is read, and what is left out is counted."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from fourtier.client import Client, client_on
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema import archive, conversations, episodes, facts
from fourtier.schema.message import Scope
from fourtier.schema.topics import Call
from tests.interfaces.cli.support import Command
from tests.runtime.rpc.support import served

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
#: More than one message on the bus takes.
TOTAL = 1_205
ANN = Scope("ann", "default")


def fact(number: int) -> facts.Fact:
    return facts.Fact(id=f"f{number}", content="x", source="s", timestamp=AT, valid_from=AT)


def episode(number: int) -> episodes.Episode:
    return episodes.Episode(id=f"e{number}", goal="x", steps=(), outcome="", timestamp=AT)


def conversation(number: int) -> conversations.ConversationSummary:
    return conversations.ConversationSummary(
        conversation_id=f"c{number}", invocations=1, started_at=AT, updated_at=AT, ended=False
    )


def page(number: int) -> archive.ArchivePage:
    return archive.ArchivePage(
        id=f"p{number}",
        source="c1",
        number=number + 1,
        entries=1,
        tokens=9,
        closed=False,
        started_at=AT,
        ended_at=AT,
    )


def memo(number: int) -> archive.ArchiveMemo:
    return archive.ArchiveMemo(
        id=f"m{number}",
        page_id=f"p{number}",
        page_hash="h",
        source="c1",
        page_number=1,
        content="x",
        method="rule",
        started_at=AT,
        ended_at=AT,
        made_at=AT,
    )


def name(number: int) -> facts.MentionedName:
    return facts.MentionedName(name=f"n{number}", facts=1)


LISTS: dict[str, tuple[Call, str, Callable[[int], Any]]] = {
    "facts list": (facts.LIST_FACTS, "facts", fact),
    "facts names": (facts.LIST_NAMES, "names", name),
    "episodes list": (episodes.LIST_EPISODES, "episodes", episode),
    "conversations list": (conversations.LIST_CONVERSATIONS, "conversations", conversation),
    "archive list": (archive.LIST_PAGES, "pages", page),
    "archive memos": (archive.LIST_MEMOS, "memos", memo),
}


def listing(what: str, total: int = TOTAL) -> Route:
    call, field, item = LISTS[what]

    async def answer(request: Any) -> Any:
        numbers = range(request.offset, min(total, request.offset + request.limit))
        return call.answer.model_validate({field: tuple(map(item, numbers)), "total": total})

    return call_route(call, answer)


@pytest.mark.parametrize("what", LISTS)
def test_a_list_has_as_many_as_were_asked_for(fourtier: Command, what: str) -> None:
    fourtier.routes = [listing(what)]
    assert fourtier(*what.split(), "-n", "5000", "--user", "ann", "--json") == 0
    listed = json.loads(fourtier.out)
    assert len(listed) == len({json.dumps(each) for each in listed}) == TOTAL
    assert not fourtier.err

    assert fourtier(*what.split(), "-n", "1100", "--user", "ann") == 0
    assert f"1100 of {TOTAL}" in fourtier.said


@pytest.mark.parametrize("what", LISTS)
def test_a_list_that_is_cut_says_so_in_both_forms(fourtier: Command, what: str) -> None:
    fourtier.routes = [listing(what)]
    assert fourtier(*what.split(), "--user", "ann") == 0
    assert f"50 of {TOTAL}" in fourtier.out
    assert fourtier(*what.split(), "--user", "ann", "--json") == 0
    assert len(json.loads(fourtier.out)) == 50
    assert f"50 of {TOTAL}" in fourtier.err


@pytest.mark.parametrize("what", LISTS)
def test_an_empty_list_has_no_more(fourtier: Command, what: str) -> None:
    fourtier.routes = [listing(what, 0)]
    assert fourtier(*what.split(), "--user", "ann", "--json") == 0
    assert (json.loads(fourtier.out), fourtier.err) == ([], "")


async def test_a_client_reads_all_pages(subtests: pytest.Subtests) -> None:
    def reading(client: Client) -> dict[str, Callable[..., Any]]:
        return {
            "facts list": client.facts.list,
            "facts names": client.facts.list_names,
            "episodes list": client.episodes.list,
            "conversations list": client.conversations.list,
            "archive list": client.archive.list,
            "archive memos": client.archive.memos,
        }

    bus = MemoryBus()
    async with served(bus, *map(listing, LISTS)), client_on(bus) as client:
        for what, read in reading(client).items():
            with subtests.test(what):
                whole = await read(ANN, limit=TOTAL * 2)
                last = await read(ANN, limit=3, offset=TOTAL - 2)
                field = LISTS[what][1]
                assert len(getattr(whole, field)) == whole.total == TOTAL
                assert len(getattr(last, field)) == 2


async def test_a_long_record_is_read_to_its_end() -> None:
    said = tuple(
        conversations.InvocationSummary(id=f"r{n}", query="x", timestamp=AT) for n in range(7)
    )

    async def get(request: conversations.GetConversationMemoryRequest) -> Any:
        behind = request.offset + 3
        return conversations.GetConversationMemoryResponse(
            conversation=conversations.ConversationMemory(
                conversation_id="c1", invocations=said[request.offset : behind]
            ),
            next_offset=behind if behind < len(said) else None,
        )

    bus = MemoryBus()
    route = call_route(conversations.GET_CONVERSATION, get)
    async with served(bus, route), client_on(bus) as client:
        record = await client.conversations.get(ANN, "c1")
    assert record.invocations == said
