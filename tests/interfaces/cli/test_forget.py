"""`fourtier forget` and `/forget`: what is shown, asked, and sent to the services."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from fourtier.operations.dead_letters import list_dead_letters
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema.archive import (
    ERASE_ARCHIVE,
    LIST_DOCUMENTS,
    ListDocumentsRequest,
    ListDocumentsResponse,
)
from fourtier.schema.erasure import (
    ERASE_CONVERSATIONS,
    ERASE_EPISODES,
    ERASE_FACTS,
    ERASE_WORKING_MEMORY,
    Erased,
    EraseRequest,
    EraseResponse,
    erasure,
)
from fourtier.schema.facts import (
    GET_FACT,
    RETRIEVE_FACTS,
    Fact,
    GetFactRequest,
    GetFactResponse,
    RetrieveFactsRequest,
    RetrieveFactsResponse,
)
from tests.interfaces.cli.support import Command, flow_with

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
FACTS = [
    Fact(
        id=f"f{number}",
        content=content,
        quote=f"Well, {content}",
        source="c1",
        invocation_id=f"r{number}",
        timestamp=NOW,
        valid_from=NOW,
    )
    for number, content in enumerate(("My hideout is in the forest.", "I hide my keys."), 1)
]


class Services:
    """Stand in for the services; `asked` has what each was asked, in order.

    Attributes:
        empty: nothing is stored.
        added: erasures of services that another package adds.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, EraseRequest]] = []
        self.empty = False
        self.added: list[Any] = []

    def routes(self) -> list[Route]:
        calls = (
            ERASE_FACTS,
            ERASE_EPISODES,
            ERASE_CONVERSATIONS,
            ERASE_WORKING_MEMORY,
            ERASE_ARCHIVE,
            *self.added,
        )
        documents = call_route(LIST_DOCUMENTS, self._documents)
        reading = [call_route(GET_FACT, self._get), self._retrieving(), documents]
        return [flow_with(*calls), *map(self._erasing, calls), *reading]

    async def _documents(self, _request: ListDocumentsRequest) -> ListDocumentsResponse:
        return ListDocumentsResponse(documents=("notes.md",), total=1)

    def _erasing(self, call: Any) -> Route:
        async def erase(request: EraseRequest) -> EraseResponse:
            self.asked.append((call.topic.name, request))
            if self.empty:
                return EraseResponse(number=0, erased=())
            number = 7 if call is ERASE_CONVERSATIONS else 1
            found = Erased(
                kind="x",
                id=f"id-{call.topic.name}",
                content="the\x1b[2J gist",
                invocation_id="r1",
            )
            return EraseResponse(number=number, erased=(found,) * min(number, 6))

        return call_route(call, erase)

    async def _get(self, request: GetFactRequest) -> GetFactResponse:
        return GetFactResponse(fact=next((f for f in FACTS if f.id == request.fact_id), None))

    def _retrieving(self) -> Route:
        async def retrieve(_request: RetrieveFactsRequest) -> RetrieveFactsResponse:
            return RetrieveFactsResponse(facts=tuple(FACTS))

        return call_route(RETRIEVE_FACTS, retrieve)

    def done(self) -> dict[str, EraseRequest]:
        """What was really deleted."""
        return {name: request for name, request in self.asked if not request.dry_run}


@pytest.fixture
def services(fourtier: Command) -> Services:
    services = Services()
    fourtier.routes = services.routes()
    return services


FORGET = ("forget", "--user", "ann")


def test_a_dry_run_deletes_nothing(fourtier: Command, services: Services) -> None:
    assert fourtier(*FORGET, "--everything", "--dry-run") == 0
    assert services.done() == {}
    assert len(services.asked) == 5
    assert "11 memories would be forgotten" in fourtier.said
    assert "7 exchanges in conversations" in fourtier.said
    assert "and 2 more" in fourtier.said
    assert "id-facts.erase" in fourtier.said
    assert "\x1b" not in fourtier.out


@pytest.mark.parametrize("way", [("--everything",), ("--fact", "f1"), ("--document", "notes.md")])
def test_a_service_that_a_package_adds_is_asked_and_counted(
    fourtier: Command, services: Services, way: tuple[str, ...]
) -> None:
    services.added = [erasure("notes")]
    fourtier.routes = services.routes()
    assert fourtier(*FORGET, *way, "--yes") == 0
    assert "notes.erase" in services.done()
    assert "1 memory of notes" in fourtier.said


def test_the_chat_counts_what_a_service_of_a_package_forgets(
    fourtier: Command, services: Services
) -> None:
    services.added = [erasure("notes")]
    fourtier.routes = services.routes()
    typed = b"/forget hide\n/forget 1\n"
    assert fourtier("chat", "--user", "ann", "--conversation", "first", stdin=typed) == 0
    assert "1 memory of notes" in fourtier.said


def test_who_says_no_keeps_everything(fourtier: Command, services: Services) -> None:
    assert fourtier(*FORGET, "--everything", stdin=b"n\n") == 1
    assert services.done() == {}
    assert "Forget this for good?" in fourtier.said


def test_that_nothing_is_there_is_said_before_it_asks(
    fourtier: Command, services: Services
) -> None:
    services.empty = True
    assert fourtier(*FORGET, "--fact", "f9", stdin=b"n\n") == 1
    assert fourtier.said.index("Nothing of it is stored") < fourtier.said.index("for good?")


def test_everything_goes_from_every_service(fourtier: Command, services: Services) -> None:
    assert fourtier(*FORGET, "--everything", stdin=b"y\n") == 0
    done = services.done()
    assert len(done) == 5
    assert all(request.everything and request.user == "ann" for request in done.values())
    assert "11 memories are forgotten" in fourtier.said
    assert "retention" in fourtier.said


def test_a_fact_goes_with_the_exchange_in_which_it_was_said(
    fourtier: Command, services: Services
) -> None:
    assert fourtier(*FORGET, "--fact", "f1", "--yes") == 0
    done = services.done()
    assert done["facts.erase"].ids == ("f1",)
    assert done["conversations.erase"].ids == ("r1",)
    texts = (FACTS[0].content, FACTS[0].quote)
    for name in ("conversations.erase", "working-memory.erase", "archive.erase"):
        assert done[name].containing == texts
    repeating, telling = [
        request
        for name, request in services.asked
        if name == "episodes.erase" and not request.dry_run
    ]
    assert repeating.containing == texts
    assert (telling.conversation_id, telling.invocation_ids) == ("c1", ("r1",))


@pytest.mark.parametrize("keep", [True, False])
def test_a_conversation_goes_with_what_was_learned_or_without(
    fourtier: Command, services: Services, *, keep: bool
) -> None:
    more = ("--keep-learned",) if keep else ()
    assert fourtier(*FORGET, "--conversation", "c1", *more, "--yes") == 0
    done = services.done()
    for name in ("conversations.erase", "archive.erase"):
        assert done[name].conversation_id == "c1"
    assert ("facts.erase" in done) is not keep
    assert ("episodes.erase" in done) is not keep


def test_a_document_goes_from_the_archive_alone(fourtier: Command, services: Services) -> None:
    assert fourtier(*FORGET, "--document", "notes.md", "--yes") == 0
    (gone,) = services.done().items()
    assert (gone[0], gone[1].document) == ("archive.erase", "notes.md")
    assert "1 memory is forgotten" in fourtier.said


@pytest.mark.parametrize(
    ("answer", "gone"), [(b"2\ny\n", ("f2",)), (b"all\ny\n", ("f1", "f2")), (b"\n", ())]
)
def test_of_what_matches_only_what_is_chosen_goes(
    fourtier: Command, services: Services, answer: bytes, gone: tuple[str, ...]
) -> None:
    assert fourtier(*FORGET, "--matching", "where I hide", stdin=answer) == 0
    done = services.done()
    assert (done["facts.erase"].ids if done else ()) == gone


def test_without_asking_only_what_has_all_the_words_goes(
    fourtier: Command, services: Services
) -> None:
    assert fourtier(*FORGET, "--matching", "my Hideout", "--yes") == 0
    assert services.done()["facts.erase"].ids == ("f1",)
    services.asked.clear()
    assert fourtier(*FORGET, "--matching", "my submarine", "--yes") == 0
    assert services.done() == {}
    assert "Nothing is forgotten" in fourtier.said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name one of --fact"),
        (("--fact", "f1", "--everything"), "name one of --fact"),
        (("--fact", "f1", "--keep-learned"), "--keep-learned goes with --conversation"),
        (("--matching", "x", "--nothing"), "No such option"),
    ],
)
def test_what_cannot_be_meant_is_said(
    fourtier: Command, services: Services, arguments: tuple[str, ...], said: str
) -> None:
    assert fourtier(*FORGET, *arguments) == 2
    assert said in fourtier.said
    assert services.asked == []


def test_a_wrong_number_forgets_nothing(fourtier: Command, services: Services) -> None:
    assert fourtier(*FORGET, "--matching", "hide", stdin=b"3\n") == 2
    assert "name numbers from 1 to 2" in fourtier.said
    assert services.done() == {}


CHAT = ("chat", "--user", "ann", "--conversation", "first")


def test_the_chat_shows_before_it_forgets(fourtier: Command, services: Services) -> None:
    assert fourtier(*CHAT, stdin=b"/forget 1\n/forget where I hide\n/forget 2\n/forget 1\n") == 0
    assert services.done()["facts.erase"].ids == ("f2",)
    assert len([name for name, _ in services.asked if name == "facts.erase"]) == 1
    assert fourtier.said.count("There is no such number") == 2
    assert "Forgotten for good: 1 fact, 7 exchanges" in fourtier.said


def test_forget_alone_says_how(fourtier: Command, services: Services) -> None:
    assert fourtier(*CHAT, stdin=b"/forget\n") == 0
    assert "/forget my address" in fourtier.said
    assert services.asked == []


def put_letters(fourtier: Command) -> Callable[[], list[str]]:
    """Dead letters of Ann and of Bob; which there are now."""
    for user in ("ann", "bob"):
        payload = json.dumps({"user": user, "content": FACTS[1].content}).encode()
        properties = {"id": user, "dead-topic": "facts.store"}
        publish = fourtier.bus.publish(dead_letter_address("facts"), payload, properties=properties)
        asyncio.run(publish)

    def left() -> list[str]:
        return [each.id for each in asyncio.run(list_dead_letters(fourtier.bus, "facts"))]

    return left


@pytest.mark.parametrize("chosen", [("--everything",), ("--fact", "f2"), ("--matching", "hide")])
def test_dead_letters_go_too(
    fourtier: Command, services: Services, chosen: tuple[str, ...]
) -> None:
    left = put_letters(fourtier)
    assert fourtier(*FORGET, *chosen, "--dry-run") == 0
    assert left() == ["ann", "bob"]
    assert "1 dead letter" in fourtier.said
    assert fourtier(*FORGET, *chosen, stdin=b"2\ny\n" if "hide" in chosen else b"y\n") == 0
    assert left() == ["bob"]
    assert "and 1 dead letter." in fourtier.said
    assert len(services.done()) == 5


def test_dead_letters_go_in_the_chat_too(fourtier: Command, services: Services) -> None:
    left = put_letters(fourtier)
    assert fourtier(*CHAT, stdin=b"/forget hide\n/forget 1\n/forget hide\n/forget 2\n") == 0
    assert left() == ["bob"]
    assert "0 dead letters" in fourtier.said
    assert "1 dead letter" in fourtier.said
    assert services.done()


def test_a_dead_letter_of_nobody_stays_and_is_told_of(
    fourtier: Command, services: Services
) -> None:
    asyncio.run(fourtier.bus.publish(dead_letter_address("facts"), b"{", properties={"id": "x"}))
    assert fourtier(*FORGET, "--everything", "--yes") == 0
    assert "1 dead letter does not say of whom, and stay" in fourtier.said
    assert services.done()


def test_more_matches_than_are_shown_are_said(fourtier: Command) -> None:
    async def answer(request: RetrieveFactsRequest) -> RetrieveFactsResponse:
        many = (FACTS[0].model_copy(update={"id": f"f{n}"}) for n in range(request.top_k))
        return RetrieveFactsResponse(facts=tuple(many))

    fourtier.routes = [call_route(RETRIEVE_FACTS, answer)]
    assert fourtier("forget", "--matching", "hideout", "--user", "ann", stdin=b"\n") == 0
    assert "The best 10 only: there may be more" in fourtier.said
