"""Why a run's prompt had the memories that it had, through all services."""

from pathlib import Path

from fourtier.client import client_on
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import Says, scripted_model
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
OSLO = "I live in Oslo, near the harbour."


async def test_a_run_says_what_was_found_for_it_as_long_as_that_is_not_forgotten(
    tmp_path: Path,
) -> None:
    async with (
        scripted_model(Says("Noted."), Says("In Oslo.")) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        await client.answer(OSLO, user="ann", conversation_id="c1", request_id="r1")

        async def archived() -> bool:
            found = await client.archive.search(ANN, "harbour")
            return bool(found.hits and await client.facts.search(ANN, "Oslo"))

        await wait_until(archived)
        asked = await client.answer(
            "Where do I live?", user="ann", conversation_id="c2", request_id="r2"
        )

        async def recorded() -> bool:
            return (await client.conversations.run(ANN, "r2")).run_id == "r2"

        await wait_until(recorded)
        why = await client.why(ANN)
        assert why is not None
        assert (why.run.run_id, why.run.question) == ("r2", "Where do I live?")
        assert why.run.considered == asked.metadata.considered
        in_prompt = {each.considered.tier: each for each in why.memories if each.content == OSLO}
        assert in_prompt["archive"].considered.legs.keys() >= {"words", "meaning"}
        assert in_prompt["archive"].considered.shown == "whole"
        assert {each.tier for each in asked.metadata.memories} == {"facts", "archive"}
        assert model.requests[1].text.count(OSLO) == 1

        await client.forget.everything(ANN)
        assert await client.why(ANN, "r2") is None
        assert await client.why(Scope("bob", "default")) is None
