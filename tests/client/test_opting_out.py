"""Who has opted out is not remembered: nothing is stored in any tier, and nothing is used."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import CallFailedError, Client, InvalidRequestError, client_on
from fourtier.memory.promotion.conversation import read_conversation
from fourtier.runtime.errors import UnavailableError
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.conversations import (
    GET_CONVERSATION,
    ConversationEnded,
    DialogueTurn,
    GetConversationMemoryRequest,
)
from fourtier.schema.episodes import STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.message import Scope
from fourtier.schema.opt_out import (
    OPT_OUT_CONVERSATIONS,
    OptOutRequest,
    OptOutResponse,
    opting_out,
)
from fourtier.schema.topics import Call
from fourtier.schema.working_memory import GET_WORKING_MEMORY, GetWorkingMemoryRequest
from tests.road.services import ROAD
from tests.support.flow import RunningFlow, running_flow
from tests.support.idle import memory_is_idle
from tests.support.model import Calls, Fails, Says, ScriptedModel, scripted_model
from tests.support.waiting import wait_until

ANN, WORK, BOB = Scope("ann", "default"), Scope("ann", "work"), Scope("bob", "default")
#: All services with memories but one, and what they need.
_STORES = {"embeddings", "facts", "episodes", "conversations", "archive"}
OSLO, TEA = "I live in Oslo.", "I like green tea."


@dataclass
class Flow:
    """A running flow, and what its model was asked."""

    flow: RunningFlow
    client: Client
    model: ScriptedModel

    async def remember(self, scope: Scope, content: str) -> None:
        """Have a fact, an episode and an exchange that say so."""
        await self.client.facts.store(scope, content)
        episode = StoreEpisodeRequest(user=scope.user, collection=scope.collection, goal=content)
        await self.client.caller.call(STORE_EPISODE, episode)
        await self.record(content, scope)

    async def record(self, content: str, scope: Scope = ANN) -> None:
        """Have a run in the record of a conversation, with the conversations done with it.

        They look once more whether its user has opted out when it can already be read; the next
        run of the same conversation begins behind that.
        """
        for number, each in enumerate((content, "Thanks."), 1):
            await self.say(each, "c1", scope)

            async def recorded(number: int = number) -> bool:
                record = await self.client.conversations.get(scope, "c1")
                return len(record.invocations) == number

            await wait_until(recorded)

    async def say(self, content: str, conversation_id: str, scope: Scope = ANN) -> None:
        """Let memory hear of a run."""
        now = datetime.now(UTC)
        ended = InvocationEnded(
            user=scope.user,
            collection=scope.collection,
            conversation_id=conversation_id,
            run_id=f"{conversation_id}/{now.isoformat()}",
            question=content,
            answer="Fine.",
            started_at=now,
            ended_at=now,
        )
        await self.client.caller.publish(INVOCATION_ENDED, ended)

    async def numbers(self, scope: Scope = ANN) -> tuple[int, int, int]:
        """Facts, episodes and conversations that are stored."""
        return (
            (await self.client.facts.list(scope, include_superseded=True)).total,
            (await self.client.episodes.list(scope)).total,
            (await self.client.conversations.list(scope)).total,
        )

    async def idle(self) -> None:
        """Wait until memory has handled what came."""
        await memory_is_idle(self.client, "bob")


@asynccontextmanager
async def running(
    data: Path,
    *,
    script: Sequence[Any] = (Says("Fine."),) * 3,
    services: dict[str, Any] = ROAD,
    **flow: Any,
) -> AsyncGenerator[Flow]:
    async with (
        scripted_model(*script) as model,
        running_flow(data, services, settings=model.settings, **flow) as running,
        client_on(running.bus) as client,
    ):
        yield Flow(running, client, model)


async def test_a_run_of_whoever_has_opted_out_neither_reads_memory_nor_leaves_any(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as here:
        await here.remember(ANN, OSLO)
        state = await here.client.memory.opt_out("ann")
        assert (state.opted_out, state.by_flow, state.differing) == (True, False, ())

        reply = await here.client.answer(TEA, user="ann", conversation_id="c1", request_id="r1")
        other = await here.client.answer(TEA, user="bob", conversation_id="c1")
        await here.idle()

        assert reply.answer == "Fine."
        assert (reply.metadata.memory, reply.metadata.opted_out) == ("off", True)
        assert reply.metadata.memories == ()
        assert (other.metadata.memory, other.metadata.opted_out) == ("read-write", False)
        assert "Oslo" not in here.model.requests[0].text
        assert not {"retrieve_facts", "store_fact"} & set(here.model.requests[0].tools)
        assert await here.numbers() == (1, 1, 1)  # kept, unread

        async def run_is_gone() -> bool:
            question = GetWorkingMemoryRequest(user="ann", run_id="r1")
            run = await here.client.caller.call(GET_WORKING_MEMORY, question)
            return run.answer is None and run.trace.items == ()

        await wait_until(run_is_gone)


@pytest.mark.cluster
async def test_whatever_comes_of_a_user_who_has_opted_out_is_not_stored(tmp_path: Path) -> None:
    async with running(tmp_path) as here:
        await here.client.memory.opt_out("ann")

        stored = await here.client.facts.store(ANN, OSLO)
        episode = StoreEpisodeRequest(user="ann", goal="find the way")
        retained = await here.client.caller.call(STORE_EPISODE, episode)
        await here.say(TEA, "c2")
        await here.client.conversations.record(
            DialogueTurn(
                user="ann",
                conversation_id="c3",
                speaker="ann",
                content=TEA,
                timestamp=datetime.now(UTC) - timedelta(days=900),
                turn_id="t1",
            )
        )
        await here.idle()

        assert (stored.created, stored.not_stored) == (False, "opted-out")
        assert (retained.created, retained.not_stored) == (False, "opted-out")
        assert await here.numbers() == (0, 0, 0)
        assert (await here.numbers(BOB))[0] > 0


async def test_what_is_stored_is_not_used_until_the_user_opts_in_again(tmp_path: Path) -> None:
    async with running(tmp_path) as here:
        await here.remember(ANN, OSLO)
        await here.client.memory.opt_out("ann")
        last = GetConversationMemoryRequest(user="ann", conversation_id="c1", last=5)

        assert await here.client.facts.search(ANN, "Oslo") == ()
        assert await here.client.episodes.search(ANN, OSLO) == ()
        record = await here.client.caller.call(GET_CONVERSATION, last)
        assert (record.conversation.invocations, record.opted_out) == ((), True)
        await here.say(TEA, "c1")
        await here.idle()

        state = await here.client.memory.opt_in("ann")
        assert (state.opted_out, state.since) == (False, None)
        assert [fact.content for fact in await here.client.facts.search(ANN, "Oslo")] == [OSLO]
        assert len(await here.client.episodes.search(ANN, OSLO)) == 1
        record = await here.client.caller.call(GET_CONVERSATION, last)
        queries = {each.query for each in record.conversation.invocations}
        assert OSLO in queries
        assert TEA not in queries

        await here.say("I like coffee.", "c2")

        async def remembered() -> bool:
            return (await here.numbers())[0] == 2

        await wait_until(remembered)


async def test_what_was_said_while_opted_out_is_not_stored_by_a_replay(tmp_path: Path) -> None:
    async with running(tmp_path) as here:
        await here.client.memory.opt_out("ann")
        said_at = datetime.now(UTC)
        await here.client.memory.opt_in("ann")

        late = await here.client.facts.store(ANN, TEA, timestamp=said_at)
        new = await here.client.facts.store(ANN, OSLO)

        assert (late.created, new.created) == (False, True)


@pytest.mark.cluster
async def test_opting_out_can_forget_all_collections(tmp_path: Path) -> None:
    async with running(tmp_path) as here:
        for scope in (ANN, WORK, BOB):
            await here.remember(scope, OSLO)
        await here.idle()
        before = await here.numbers(BOB)
        answered = await here.client.answer(TEA, user="ann", collection="work", request_id="r1")
        assert answered.answer == "Fine."

        state = await here.client.memory.opt_out("ann", forget=True)

        assert state.forgotten["episodes"] == 2
        assert state.forgotten["facts"] >= 2
        assert state.forgotten["conversations"] >= 2
        question = GetWorkingMemoryRequest(user="ann", collection="work", run_id="r1")
        run = await here.client.caller.call(GET_WORKING_MEMORY, question)
        # By this, which leaves that there was a run, or by its end, which leaves nothing.
        assert run.answer in {None, "What was asked here was forgotten."}
        assert await here.numbers() == await here.numbers(WORK) == (0, 0, 0)
        assert await here.numbers(BOB) == before
        await here.client.memory.opt_in("ann")
        for scope in (ANN, Scope("ann", "never used before")):
            long_ago = datetime(2020, 1, 1, tzinfo=UTC)
            old = await here.client.facts.store(scope, TEA, timestamp=long_ago)
            assert not old.created


async def test_an_opt_out_survives_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as here:
        since = (await here.client.memory.opt_out("ann")).since
    async with running(tmp_path) as here:
        state = await here.client.memory.state("ann")
        assert (state.opted_out, state.since) == (True, since)
        assert not (await here.client.facts.store(ANN, OSLO)).created
        assert not (await here.client.memory.state("bob")).opted_out


async def test_the_flow_file_can_opt_out(tmp_path: Path) -> None:
    policy = PrivacyPolicy.model_validate({"opted-out-users": ["ann"]})
    async with running(tmp_path, privacy=policy) as here:
        state = await here.client.memory.state("ann")
        assert (state.opted_out, state.by_flow, state.since) == (True, True, None)
        reply = await here.client.answer(OSLO, user="ann")
        assert reply.metadata.opted_out
        assert not (await here.client.facts.store(ANN, OSLO)).created
        with pytest.raises(CallFailedError, match="opted-out-users"):
            await here.client.memory.opt_in("ann")


async def test_a_conversation_is_not_promoted_of_whoever_has_opted_out(tmp_path: Path) -> None:
    """What was stored stays unread: the end of its conversation makes nothing of it."""
    async with running(tmp_path, services={"conversations": {}, "completion": {}}) as here:
        await here.record(OSLO)
        ended = ConversationEnded(
            user="ann", conversation_id="c1", ended_at=datetime.now(UTC), reason="call"
        )

        assert len((await read_conversation(here.client.caller, ended, 9)).invocations) == 2
        request = OptOutRequest(user="ann", opted_out=True)
        await here.client.caller.call(OPT_OUT_CONVERSATIONS, request)
        assert (await read_conversation(here.client.caller, ended, 9)).invocations == ()
        retained = (await here.client.conversations.get(ANN, "c1")).invocations
        assert retained[0].query == OSLO


async def test_a_run_that_fails_leaves_nothing_of_whoever_has_opted_out(tmp_path: Path) -> None:
    for user in ("ann", "bob"):
        script = (Calls("clock"), Fails(400))
        async with running(tmp_path / user, script=script) as here:
            await here.client.memory.opt_out("ann")
            reply = await here.client.answer(OSLO, user=user, request_id="r1")
            question = GetWorkingMemoryRequest(user=user, run_id="r1", full=True)
            assert reply.error

            async def steps_are(left: bool, here: Flow = here, question: Any = question) -> bool:
                run = await here.client.caller.call(GET_WORKING_MEMORY, question)
                return bool(run.trace.items) is left

            await wait_until(partial(steps_are, user == "bob"))


async def test_a_service_that_is_away_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flow has working memory, in another process, which is down."""
    services = {
        name: {} for name in ("embeddings", "facts", "episodes", "conversations", "archive")
    }
    away = replace(opting_out("working-memory"), deadline=1.0)

    def opting_out_soon(service: str) -> Call[OptOutRequest, OptOutResponse]:
        return away if service == "working-memory" else opting_out(service)

    async with running(tmp_path, services=services) as here:
        monkeypatch.setattr("fourtier.client.opting_out.opting_out", opting_out_soon)
        monkeypatch.setattr("fourtier.client.opting_out.services_that_handle", _every_store)
        with pytest.raises(UnavailableError, match="not confirmed by working-memory, which"):
            await here.client.memory.opt_out("ann")
        assert not (await here.client.facts.store(ANN, OSLO)).created


async def _every_store(*_: Any) -> list[str]:
    return ["facts", "episodes", "conversations", "archive", "working-memory"]


async def test_forgetting_goes_with_opting_out_alone(tmp_path: Path) -> None:
    async with running(tmp_path, services={}) as here:
        with pytest.raises(InvalidRequestError, match="forget"):
            await here.client.memory._ask("ann", opted_out=False, forget=True)
