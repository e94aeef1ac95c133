"""What lists print at 80 columns: ids that can be copied, and nothing that acts on a terminal."""

import asyncio
import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from fourtier.interfaces.cli.output import visible
from fourtier.runtime.bus.contract import Address
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema.conversations import (
    LIST_CONVERSATIONS,
    ConversationSummary,
    ListConversationsRequest,
    ListConversationsResponse,
)
from fourtier.schema.episodes import (
    LIST_EPISODES,
    Episode,
    ListEpisodesRequest,
    ListEpisodesResponse,
)
from fourtier.schema.facts import LIST_FACTS, Fact, ListFactsRequest, ListFactsResponse
from tests.interfaces.cli.support import Command

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
IDS = [str(uuid4()) for _ in range(3)]
HOSTILE = "\x1b[2J\x1b]0;pwned\x07\x9b1A\u202e [red]me[/]"
HARMLESS = r"\x1b[2J\x1b]0;pwned\x07\x9b1A\u202e [red]me[/]"
ONE_USER = ("--user", "ann")


def facts(content: str) -> Route:
    async def answer(_request: ListFactsRequest) -> ListFactsResponse:
        found = tuple(
            Fact(
                id=each,
                content=content,
                source="run",
                speaker="Ann",
                timestamp=NOW,
                valid_from=NOW,
                valid_until=NOW,
            )
            for each in IDS
        )
        return ListFactsResponse(facts=found, total=3)

    return call_route(LIST_FACTS, answer)


def episodes(goal: str) -> Route:
    async def answer(_request: ListEpisodesRequest) -> ListEpisodesResponse:
        found = tuple(
            Episode(id=each, goal=goal, steps=(), outcome="done", timestamp=NOW) for each in IDS
        )
        return ListEpisodesResponse(episodes=found, total=3)

    return call_route(LIST_EPISODES, answer)


def conversations() -> Route:
    async def answer(_request: ListConversationsRequest) -> ListConversationsResponse:
        found = tuple(
            ConversationSummary(
                conversation_id=f"conversation-{each}",
                invocations=1,
                started_at=NOW,
                updated_at=NOW,
                ended=False,
            )
            for each in IDS
        )
        return ListConversationsResponse(conversations=found, total=3)

    return call_route(LIST_CONVERSATIONS, answer)


LONG = "I live in a small house with a red roof behind the station of Bergen"


@pytest.mark.parametrize(
    ("what", "route"), [("facts", facts(LONG)), ("episodes", episodes(LONG * 3))]
)
def test_ids_stand_whole_on_a_line_of_80_columns(
    fourtier: Command, what: str, route: Route
) -> None:
    fourtier.routes = [route]
    assert fourtier(what, "list", *ONE_USER) == 0
    assert max(map(len, fourtier.out.splitlines())) <= 80
    for each in IDS:
        assert each in fourtier.out
    assert "small house" in " ".join(fourtier.out.split())


def test_ids_of_conversations_stand_whole_too(fourtier: Command) -> None:
    fourtier.routes = [conversations()]
    assert fourtier("conversations", "list", *ONE_USER) == 0
    for each in IDS:
        assert f"conversation-{each}" in fourtier.out


@pytest.mark.parametrize(
    ("what", "route"), [("facts", facts(HOSTILE)), ("episodes", episodes(HOSTILE))]
)
def test_control_characters_in_memories_are_shown_and_not_sent(
    fourtier: Command, what: str, route: Route
) -> None:
    fourtier.routes = [route]
    assert fourtier(what, "list", *ONE_USER) == 0
    assert not set("\x1b\x07\x9b\u202e") & set(fourtier.out)
    assert r"\x1b[2J" in fourtier.out
    assert fourtier(what, "list", *ONE_USER, "--json") == 0
    assert not set("\x1b\x07\x9b\u202e") & set(fourtier.out)
    (first, *_) = json.loads(fourtier.out)
    assert HOSTILE in (first.get("content"), first.get("goal"))


def test_visible_text_keeps_lines_and_other_alphabets() -> None:
    assert visible(HOSTILE) == HARMLESS
    plain = "Grüße,\n\tそれは 👋🏽 café"
    assert visible(plain) == plain


async def dead_letters(fourtier: Command, number: int) -> None:
    for each in range(number):
        await fourtier.bus.publish(
            dead_letter_address("facts"),
            b'{"content": "x"}' * 50,
            properties={
                "id": f"{IDS[0]}/fact/{each}",
                "dead-topic": "facts.store",
                "dead-error": f"malformed: \x1b[2J is not a valid StoreFactRequest: {LONG}",
                "dead-attempts": "1",
            },
        )


async def test_dead_letters_are_listed_in_two_lines_each(fourtier: Command) -> None:
    await fourtier.bus.create_group(dead_letter_address("facts"), "operator")
    await dead_letters(fourtier, 9)
    code = await run_in_thread(fourtier, "dead-letters", "list", "--service", "facts")
    lines = fourtier.out.splitlines()
    assert code == 0
    assert len(lines) == 18
    assert f"{IDS[0]}/fact/0" in lines[0]
    assert lines[1].startswith("    malformed: \\x1b[2J is not a valid StoreFactRequest")
    assert len(lines[1]) <= 80
    code = await run_in_thread(fourtier, "dead-letters", "list", "-s", "facts", "--limit", "2")
    assert code == 0
    assert len(fourtier.out.splitlines()) == 5
    assert "2 of 9" in fourtier.out


async def run_in_thread(fourtier: Command, *arguments: str) -> int:
    """A command has an event loop of its own."""
    return await asyncio.to_thread(fourtier, *arguments)


async def test_without_dead_letters_it_says_so(fourtier: Command) -> None:
    await fourtier.bus.publish(Address("anything"), b"")
    assert await run_in_thread(fourtier, "dead-letters", "list") == 0
    assert fourtier.out == "There are no dead letters.\n"
