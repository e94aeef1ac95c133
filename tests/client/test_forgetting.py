"""What a user has forgotten is gone from every store, and nothing on its way brings it back."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.client import Client, client_on
from fourtier.schema.agent import INVOCATION_ENDED, AgentStep, InvocationEnded
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.episodes import STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.message import Scope
from fourtier.schema.working_memory import GET_WORKING_MEMORY, GetWorkingMemoryRequest
from tests.road.services import ROAD
from tests.support.flow import RunningFlow, running_flow
from tests.support.idle import memory_is_idle
from tests.support.model import Says, scripted_model
from tests.support.waiting import wait_until

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")
HIDDEN = "zqconv77x"
SAID = f"My hideout is {HIDDEN} in the forest."


@dataclass
class Remembering:
    """A flow in which Ann has told a secret in one conversation, and something else in it too."""

    flow: RunningFlow
    client: Client

    async def seen(self, scope: Scope = ANN) -> str:
        """All that any store has of a user, as one text."""
        facts = await self.client.facts.list(scope, include_superseded=True)
        episodes = await self.client.episodes.list(scope)
        listed = await self.client.conversations.list(scope)
        records = [
            await self.client.conversations.get(scope, each.conversation_id)
            for each in listed.conversations
        ]
        question = GetWorkingMemoryRequest(user=scope.user, run_id="r1", full=True)
        run = await self.flow.caller.call(GET_WORKING_MEMORY, question)
        return "\n".join(
            [each.model_dump_json() for each in (*facts.facts, *episodes.episodes, *records, run)]
        )

    async def idle(self) -> None:
        """Wait until memory has handled what came."""
        await memory_is_idle(self.client)


@asynccontextmanager
async def remembering(data: Path) -> AsyncGenerator[Remembering]:
    says = [Says("Tea it is."), Says(f"Noted: {HIDDEN}."), Says("Fine.")]
    async with (
        scripted_model(*says) as model,
        running_flow(data, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        here = Remembering(flow, client)
        # In this order, so that the secret is in the prompt of no other run.
        await client.answer("I like green tea.", user="ann", conversation_id="h1", request_id="r2")
        await client.answer(SAID, user="ann", conversation_id="h1", request_id="r1")
        await client.answer("I like green tea.", user="bob", conversation_id="h1", request_id="r1")

        async def learned() -> bool:
            facts = [await client.facts.list(scope) for scope in (ANN, BOB)]
            records = [await client.conversations.get(scope, "h1") for scope in (ANN, BOB)]
            return [part.total for part in facts] == [2, 1] and [
                len(record.invocations) for record in records
            ] == [2, 1]

        await wait_until(learned)
        yield here


async def secret_fact(client: Client) -> str:
    facts = await client.facts.list(ANN)
    return next(fact.id for fact in facts.facts if HIDDEN in fact.content)


@pytest.mark.cluster
async def test_a_forgotten_fact_is_in_no_store_and_does_not_return_with_its_conversation(
    tmp_path: Path,
) -> None:
    """As found: the same fact came back, and an episode whose goal was the secret."""
    async with remembering(tmp_path) as here:
        fact = await secret_fact(here.client)
        goals = (f"find the way: {SAID}", "water the garden")
        for goal in goals:
            episode = StoreEpisodeRequest(user="ann", goal=goal)
            await here.client.caller.call(STORE_EPISODE, episode)
        would = await here.client.forget.fact(ANN, fact, dry_run=True)
        assert HIDDEN in await here.seen()

        done = await here.client.forget.fact(ANN, fact)

        assert done == would
        assert [done.facts.number, done.conversations.number, done.working_memory.number] == [1] * 3
        assert HIDDEN not in await here.seen()
        left = (await here.client.episodes.list(ANN)).episodes
        assert [episode.goal for episode in left] == ["water the garden"]
        assert await here.client.conversations.end(ANN, "h1")
        await here.idle()
        assert HIDDEN not in await here.seen()
        assert "green tea" in await here.seen()


@pytest.mark.parametrize("keep_learned", [True, False])
@pytest.mark.cluster
async def test_a_forgotten_conversation_takes_what_was_learned_from_it_or_not(
    tmp_path: Path, *, keep_learned: bool
) -> None:
    async with remembering(tmp_path) as here:
        done = await here.client.forget.conversation(ANN, "h1", keep_learned=keep_learned)

        facts = await here.client.facts.list(ANN)
        assert done.conversations.number == done.working_memory.number == 2
        assert facts.total == (2 if keep_learned else 0)
        assert (await here.client.conversations.list(ANN)).total == 0
        assert (HIDDEN in await here.seen()) is keep_learned
        assert "green tea" in await here.seen(BOB)


@pytest.mark.cluster
async def test_what_comes_again_of_a_forgotten_user_is_not_stored(tmp_path: Path) -> None:
    """A redelivery, a replay and an import of what was said before."""
    async with remembering(tmp_path) as here:
        asked_at = datetime.now(UTC) - timedelta(minutes=1)
        done = await here.client.forget.everything(ANN)
        assert done.number >= 6
        assert '"invocations":[]' in await here.seen() or HIDDEN not in await here.seen()

        step = AgentStep(action="lookup", arguments={"what": HIDDEN}, observation=HIDDEN)
        again = InvocationEnded(
            user="ann",
            conversation_id="h1",
            run_id="r1",
            question=SAID,
            answer=HIDDEN,
            steps=(step, step),
            started_at=asked_at,
            ended_at=datetime.now(UTC),  # it was under way
        )
        turn = DialogueTurn(
            user="ann",
            conversation_id="old",
            speaker="ann",
            content=SAID,
            timestamp=asked_at - timedelta(days=900),
            turn_id="t1",
        )
        await here.client.caller.publish(INVOCATION_ENDED, again, message_id="r1/ended")
        await here.client.conversations.record(turn)
        await here.idle()
        assert HIDDEN not in await here.seen()
        assert (await here.client.episodes.list(ANN)).total == 0

        await here.client.answer(SAID, user="ann", conversation_id="h1", request_id="r9")

        async def known_again() -> bool:
            return (await here.client.facts.list(ANN)).total == 1

        await wait_until(known_again)  # whoever says it again is remembered


async def test_facts_are_found_by_what_they_are_about(tmp_path: Path) -> None:
    async with remembering(tmp_path) as here:
        found = await here.client.forget.matching(ANN, "where I hide")
        assert HIDDEN in found[0].content
        assert {each.id for each in found} <= {
            each.id for each in (await here.client.facts.list(ANN)).facts
        }
        done = await here.client.forget.facts(ANN, found[:1])
        assert done.facts.number == 1
        assert HIDDEN not in await here.seen()


async def test_a_flow_without_conversations_and_archive_forgets_a_fact(tmp_path: Path) -> None:
    services: dict[str, dict[str, object]] = {"embeddings": {}, "facts": {}}
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        stored = await client.facts.store(ANN, SAID)
        done = await client.forget.fact(ANN, stored.fact_id)
        assert {name: part.number for name, part in done.services.items() if part.number} == {
            "facts": 1
        }
        assert (await client.facts.list(ANN)).total == 0
