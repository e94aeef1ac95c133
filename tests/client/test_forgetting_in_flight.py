"""A model reads what was said while it is forgotten: its answer, in other words, is not stored."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import Client, client_on
from fourtier.schema.episodes import STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import ModelRequest, Reply, Says, Writes, scripted_model
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
SAID, TEA = "My hideout is behind the mill in the forest.", "I like green tea."
#: A line of an episode has the beginning of it, which ends inside of what is told.
LONG = "So it is. " * 12 + SAID
HIDDEN = "mill"


def _fact(content: str, quote: str, line: int) -> dict[str, Any]:
    described = {"kind": "semantic", "subject": "ann", "attribute": "", "one_value": False}
    return {"content": content, "quote": quote, "line": line, **described}


SECRET = _fact("The hideout of Ann is behind the mill.", "behind the mill", 1)
#: The model names another line for what it has read in the first one.
MISPLACED = _fact("Behind the mill in the forest is where Ann likes green tea.", TEA, 2)
HARMLESS = _fact("Ann likes green tea.", TEA, 2)


def _episode(goal: str) -> dict[str, Any]:
    reported = {"steps": ["talk"], "outcome": "It was told.", "lessons": "", "result": "success"}
    return {"goal": goal, **reported}


@dataclass
class Model:
    """Answers questions at once, and what is learned when it is let go on.

    Attributes:
        asked: set when it was asked what is to be learned.
        go_on: lets it answer that.
    """

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    learning: list[ModelRequest] = field(default_factory=list)

    async def answer(self, request: ModelRequest) -> Reply:
        if request.schema is None:
            return Says("Fine.")
        self.learning.append(request)
        self.asked.set()
        await self.go_on.wait()
        if HIDDEN in request.text.split("Already known:")[-1]:
            found = [SECRET, HARMLESS, MISPLACED] if TEA in request.text else [SECRET]
            return Writes({"facts": found, "episode": _episode("find the place at the mill")})
        one = {**HARMLESS, "line": 1}
        return Writes({"facts": [one], "episode": _episode("talk about tea")})


@asynccontextmanager
async def flow(data: Path, **methods: str) -> AsyncGenerator[tuple[Client, Model]]:
    model = Model()
    # No prompt has what another exchange said, so that each exchange is forgotten by itself.
    agent = {"agent": {"fact-retrieval-top-k": 0, "archive-retrieval-top-k": 0}}
    learning = {name: {"method": method} for name, method in methods.items()}
    services = {**ROAD, **agent, **learning}
    async with (
        scripted_model(script=model.answer) as server,
        running_flow(data, services, settings=server.settings) as running,
        client_on(running.bus) as client,
    ):
        yield client, model


async def seen(client: Client) -> str:
    facts = await client.facts.list(ANN, include_superseded=True)
    episodes = await client.episodes.list(ANN)
    record = await client.conversations.get(ANN, "c1")
    everything = (*facts.facts, *episodes.episodes, record)
    return "\n".join(each.model_dump_json() for each in everything)


async def tell(client: Client, **said: str) -> None:
    for run, text in said.items():
        await client.answer(text, user="ann", conversation_id="c1", request_id=run)

    async def recorded() -> bool:
        return len((await client.conversations.get(ANN, "c1")).invocations) == len(said)

    await wait_until(recorded)


async def forget_fact(client: Client) -> None:
    stored = await client.facts.list(ANN)
    (fact,) = [each for each in stored.facts if each.content == SAID]
    await client.forget.fact(ANN, fact.id)


async def forget_matching(client: Client) -> None:
    found = await client.forget.matching(ANN, "my hideout")
    assert [each.content for each in found] == [SAID]
    await client.forget.facts(ANN, found)


async def forget_conversation(client: Client) -> None:
    await client.forget.conversation(ANN, "c1")


async def forget_exchange(client: Client) -> None:
    await client.forget.exchanges(ANN, "c1", ["r1"])


async def forget_everything(client: Client) -> None:
    await client.forget.everything(ANN)


WAYS = [
    forget_fact,
    forget_matching,
    forget_conversation,
    forget_exchange,
    forget_everything,
]


async def behind(client: Client, model: Model, expected: str) -> None:
    """Wait until what the model says of something that comes later is stored."""
    model.go_on.set()

    async def arrived() -> bool:
        return expected in await seen(client)

    await wait_until(arrived)


@pytest.mark.parametrize("forget", WAYS)
async def test_extraction_stores_nothing_of_an_exchange_that_is_forgotten_meanwhile(
    tmp_path: Path, forget: Callable[[Client], Any]
) -> None:
    """A fact of it is there already, as where it was said to a tool, or by another replica."""
    async with flow(tmp_path, extraction="llm") as (client, model):
        await tell(client, r1=SAID)
        await asyncio.wait_for(model.asked.wait(), 60)
        reported = StoreFactRequest(user="ann", content=SAID, source="c1", invocation_id="r1")
        await client.caller.call(STORE_FACT, reported)
        await forget(client)
        model.go_on.set()
        await client.answer(TEA, user="ann", conversation_id="c2", request_id="r9")
        await behind(client, model, "Ann likes green tea.")
        assert HIDDEN not in await seen(client)


@pytest.mark.parametrize("forget", WAYS)
async def test_promotion_stores_nothing_of_what_is_forgotten_while_it_reads(
    tmp_path: Path, forget: Callable[[Client], Any]
) -> None:
    async with flow(tmp_path, promotion="llm") as (client, model):
        await tell(client, r1=SAID, r2=TEA, r3=TEA)

        async def learned() -> bool:
            return (await client.facts.list(ANN)).total == 2

        await wait_until(learned)
        assert await client.conversations.end(ANN, "c1")
        await asyncio.wait_for(model.asked.wait(), 60)
        await forget(client)
        model.go_on.set()
        if forget in {forget_conversation, forget_everything}:
            await tell_other(client)
            await behind(client, model, "talk about tea")
            assert len(model.learning) == 2
        else:  # what is left of the conversation is read again
            await behind(client, model, "talk about tea")
            await behind(client, model, "Ann likes green tea.")
            assert len(model.learning) == 2
        assert HIDDEN not in await seen(client)


async def tell_other(client: Client) -> None:
    """Another conversation, whose promotion comes behind the first one's."""
    for number in range(2):
        await client.answer(TEA, user="ann", conversation_id="c2", request_id=f"o{number}")

    async def recorded() -> bool:
        return len((await client.conversations.get(ANN, "c2")).invocations) == 2

    await wait_until(recorded)
    assert await client.conversations.end(ANN, "c2")


async def test_what_was_read_of_a_conversation_before_a_forget_is_not_stored(
    tmp_path: Path,
) -> None:
    """Whatever exchange it is said to come from; what was read since is stored."""
    async with flow(tmp_path) as (client, _):
        before = datetime.now(UTC)
        await client.facts.store(ANN, TEA)
        reported = StoreFactRequest(user="ann", content=SAID, source="c1", invocation_id="r1")
        stored = await client.caller.call(STORE_FACT, reported)
        (fact,) = await client.forget.known(ANN, [stored.fact_id])
        await client.forget.facts(ANN, [fact])
        since = datetime.now(UTC)
        for learned_at, is_stored in ((before, False), (since, True)):
            read = {"user": "ann", "source": "c1", "learned_at": learned_at}
            fact_of_it = StoreFactRequest(
                **read, content="Ann hides.", invocation_id="r2", timestamp=before
            )
            episode = StoreEpisodeRequest(**read, goal="hide", timestamp=before)
            of_other = fact_of_it.model_copy(update={"source": "c2", "content": f"{learned_at}"})
            reason = None if is_stored else "forgotten"
            assert (await client.caller.call(STORE_FACT, fact_of_it)).not_stored == reason
            assert (await client.caller.call(STORE_EPISODE, episode)).not_stored == reason
            assert (await client.caller.call(STORE_FACT, of_other)).not_stored is None


async def test_a_fact_takes_every_exchange_with_it_in_which_it_was_said(tmp_path: Path) -> None:
    """In whatever words: those are known of each statement of it."""
    async with flow(tmp_path) as (client, _):
        await tell(client, r1="The forest, behind the mill, is where I hide.", r2=TEA)
        for number, quote in enumerate(("behind the mill", "I hide in the forest"), 1):
            reported = StoreFactRequest(
                user="ann", content=SAID, source="c1", invocation_id=f"r{number}", quote=quote
            )
            await client.caller.call(STORE_FACT, reported)
        (fact,) = [
            each for each in await client.forget.matching(ANN, "my hideout") if each.content == SAID
        ]
        assert [each.invocation_id for each in (fact, *fact.earlier)] == ["r2", "r1"]
        done = await client.forget.facts(ANN, [fact])
        assert (done.facts.number, done.conversations.number) == (1, 2)
        assert (await client.conversations.list(ANN)).total == 0


async def test_the_episode_of_a_conversation_goes_with_an_exchange_of_it(tmp_path: Path) -> None:
    """Its lines are too short to be found by the words of what was said."""
    async with flow(tmp_path, promotion="statements") as (client, model):
        await tell(client, r1=f"{TEA} Which teapot suits green tea?", r2=LONG)

        async def learned() -> bool:
            return SAID in [fact.content for fact in (await client.facts.list(ANN)).facts]

        await wait_until(learned)
        assert await client.conversations.end(ANN, "c1")
        await behind(client, model, '"goal"')
        assert HIDDEN in (await client.episodes.list(ANN)).model_dump_json()
        await forget_matching(client)
        assert HIDDEN not in await seen(client)
