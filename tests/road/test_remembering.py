"""What a user says in one conversation is there in the next: for them alone, for good."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fourtier.client import Client, Reply, client_on
from fourtier.interfaces.cli.memories import newest_first
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import Calls, ModelRequest, Says, scripted_model
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
QUESTION = "What was my budget for the trip?"


def noted(_request: ModelRequest) -> Says:
    return Says("Noted.")


@asynccontextmanager
async def road(data: Path) -> AsyncGenerator[Client]:
    async with (
        scripted_model(script=noted) as model,
        running_flow(data, ROAD, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        yield client


async def tell(client: Client, statement: str, conversation: str) -> None:
    """Say something, and wait until it is a fact."""
    await client.answer(statement, user=ANN.user, conversation_id=conversation)

    async def known() -> bool:
        listed = await client.facts.list(ANN)
        return statement in [fact.content for fact in listed.facts]

    await wait_until(known)


def facts_used(reply: Reply) -> list[str]:
    return [used.content for used in newest_first(reply.metadata.memories) if used.tier == "facts"]


@pytest.mark.cluster
async def test_a_fact_is_remembered_by_its_user_alone_and_after_a_restart(tmp_path: Path) -> None:
    statement = "My budget for the Hawaii trip is 10,000 dollars."
    async with road(tmp_path) as client:
        await tell(client, statement, "march-15")
        mine = await client.answer(QUESTION, user="ann", conversation_id="march-20")
        theirs = await client.answer(QUESTION, user="bob", conversation_id="march-20")
        elsewhere = await client.answer(QUESTION, user="ann", collection="work")
    async with road(tmp_path) as client:
        later = await client.answer(QUESTION, user="ann", conversation_id="march-25")

    assert facts_used(mine) == [statement]
    assert theirs.metadata.memories == ()
    assert elsewhere.metadata.memories == ()
    assert facts_used(later) == [statement]


@pytest.mark.cluster
async def test_the_newest_statement_stands_first(tmp_path: Path) -> None:
    async with road(tmp_path) as client:
        await tell(client, "My budget for the Hawaii trip is 10,000 dollars.", "c1")
        await tell(client, "My budget for the Hawaii trip is now 12,000 dollars.", "c2")
        reply = await client.answer(QUESTION, user="ann", conversation_id="c3")

    assert facts_used(reply)[0] == "My budget for the Hawaii trip is now 12,000 dollars."


@pytest.mark.cluster
async def test_a_task_becomes_an_episode_and_a_conversation_can_be_ended(tmp_path: Path) -> None:
    script = [
        Calls("calculator", {"expression": "1200/8"}, thought="divide"),
        Calls("calculator", {"expression": "150*2"}, thought="double"),
        Says("300 dollars each."),
        Says("You are welcome."),
    ]
    async with (
        scripted_model(*script) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        await client.answer(
            "Split 1200 dollars among 8 people, then double it", user="ann", conversation_id="c1"
        )

        async def recorded() -> bool:
            return (await client.episodes.list(ANN)).total == 1

        await wait_until(recorded)
        found = await client.episodes.search(ANN, "share a bill among friends")
        await client.answer("Thank you!", user="ann", conversation_id="c1")

        async def both() -> bool:
            return len((await client.conversations.get(ANN, "c1")).invocations) == 2

        await wait_until(both)
        assert await client.conversations.end(ANN, "c1")

        async def promoted() -> bool:
            return (await client.episodes.list(ANN)).total == 2

        await wait_until(promoted)
        record = await client.conversations.get(ANN, "c1")

    assert found[0].goal == "Split 1200 dollars among 8 people, then double it"
    assert found[0].result == "success"
    assert record.ended
