"""A forgotten fact does not live on in the answers to prompts that had it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fourtier.client import Client, Reply, client_on
from fourtier.schema.archive import ArchiveEntry
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import Calls, ModelRequest, Says, scripted_model
from tests.support.model import Reply as Scripted
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
SAID = "I admire Rilke above all poets."
QUESTION = "Whom do I admire most?"


def knows(request: ModelRequest) -> Scripted:
    """A model that answers from its prompt, in words of its own."""
    if "please remove" in request.last:
        if "yes" in request.last.casefold():
            return Calls("forget", {"confirmed": True})
        return Says("Shall I?") if "This would be forgotten" in request.text else _show()
    if request.last.endswith("yes"):
        done = "Forgotten for good" in request.text
        return Says("Done.") if done else Calls("forget", {"confirmed": True})
    return Says("The poet of the Duino elegies." if "Rilke" in request.text else "I do not know.")


def _show() -> Scripted:
    return Calls("forget", {"about": "whom I admire"})


@dataclass
class Asked:
    """A flow in which a fact was told in one conversation, and asked for in two others."""

    client: Client
    fact_id: str

    async def ask(self, question: str, conversation: str) -> Reply:
        """Ask; the run is recorded and archived when this returns."""
        reply = await self.client.answer(question, user="ann", conversation_id=conversation)

        async def stored() -> bool:
            record = await self.client.conversations.get(ANN, conversation)
            runs = {each.id for each in record.invocations}
            entries = {each.invocation_id for each in await self.archived()}
            return reply.metadata.run_id in runs & entries

        await wait_until(stored)
        return reply

    async def archived(self) -> list[ArchiveEntry]:
        """All entries of the archive."""
        pages = (await self.client.archive.list(ANN)).pages
        read = [await self.client.archive.page(ANN, each.id) for each in pages]
        return [entry for page in read for entry in page.entries]

    async def questions(self) -> list[str]:
        """What the conversation records have, in the order of their conversations."""
        listed = await self.client.conversations.list(ANN)
        ids = sorted(each.conversation_id for each in listed.conversations)
        records = [await self.client.conversations.get(ANN, each) for each in ids]
        return [run.query for record in records for run in record.invocations]


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncGenerator[Asked]:
    async with (
        scripted_model(script=knows) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        here = Asked(client, "")
        await here.ask("How high is the Eiffel tower?", "c0")
        await here.ask(SAID, "c1")

        async def learned() -> bool:
            return (await client.facts.list(ANN)).total == 1

        await wait_until(learned)
        here.fact_id = (await client.facts.list(ANN)).facts[0].id
        for conversation in ("c2", "c3"):
            reply = await here.ask(QUESTION, conversation)
            assert reply.answer == "The poet of the Duino elegies."
        yield here


async def by_id(asked: Asked) -> None:
    await asked.client.forget.fact(ANN, asked.fact_id)


async def by_words(asked: Asked) -> None:
    found = await asked.client.forget.matching(ANN, "whom I admire")
    await asked.client.forget.facts(ANN, found)


async def by_the_tool(asked: Asked) -> None:
    await asked.ask("please remove whom I admire from memory", "c4")
    await asked.ask("yes", "c4")


@pytest.mark.parametrize("forget", [by_id, by_words, by_the_tool])
async def test_a_forgotten_fact_is_told_by_no_earlier_answer(
    asked: Asked, forget: Callable[[Asked], Awaitable[None]]
) -> None:
    await forget(asked)

    reply = await asked.ask(QUESTION, "c9")
    assert reply.answer == "I do not know."
    texts = [entry.content for entry in await asked.archived()]
    assert not [text for text in texts if "Duino" in text or "Rilke" in text]
    assert (await asked.questions())[0] == "How high is the Eiffel tower?"


async def test_the_preview_lists_the_answers_that_would_go(asked: Asked) -> None:
    would = await asked.client.forget.fact(ANN, asked.fact_id, dry_run=True)

    answer = "The poet of the Duino elegies."
    listed = sorted(each.content for each in would.conversations.erased)
    assert listed == sorted(f"{each} {answer}" for each in (SAID, QUESTION, QUESTION))
    assert would == await asked.client.forget.fact(ANN, asked.fact_id)
    assert await asked.questions() == ["How high is the Eiffel tower?"]
