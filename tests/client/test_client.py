"""The public client: what it sends, what it yields, and what it says of wrong arguments."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

import fourtier.client
from fourtier.client import Client, InvalidRequestError, client_on
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.routes import stream_route
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse, RunMetadata
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.runtime.rpc.support import served
from tests.support.flow import running_flow
from tests.support.model import Calls, Says, scripted_model
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")


def thought(message_id: str, content: str, *, whole: bool = True) -> AgentResponse:
    return AgentResponse(
        message_type="thought", content=content, message_id=message_id, end_of_message=whole
    )


def last(content: str) -> AgentResponse:
    return AgentResponse(
        message_type="answer",
        content=content,
        message_id="last",
        end_of_dialog=True,
        metadata=RunMetadata(run_id="r1"),
    )


@asynccontextmanager
async def agent_that_sends(replies: Sequence[AgentResponse]) -> AsyncGenerator[Client]:
    """A client of an agent that sends the same replies to every question."""

    async def run(_request: AgentRequest) -> AsyncIterator[AgentResponse]:
        for reply in replies:
            yield reply

    bus = MemoryBus()
    async with served(bus, stream_route(AGENT_REQUEST, run)), client_on(bus) as client:
        yield client


async def test_a_message_that_was_received_whole_is_not_yielded_again() -> None:
    # The agent that takes a run over sends its replies from the beginning.
    replies = [
        thought("one", "I must"),
        thought("two", "look", whole=False),
        thought("one", "I must"),
        thought("two", "look", whole=False),
        thought("two", "it up"),
        last("Oslo."),
    ]
    async with agent_that_sends(replies) as client:
        seen = [reply.content async for reply in client.ask("Where?", user="ann")]
    assert seen == ["I must", "look", "look", "it up", "Oslo."]


async def test_the_answer_is_the_content_of_the_last_reply() -> None:
    async with agent_that_sends([thought("one", "hm"), last("Oslo.")]) as client:
        reply = await client.answer("Where?", user="ann")
    assert (reply.answer, reply.error, reply.reason) == ("Oslo.", None, "")


async def test_an_answer_that_is_an_error_has_its_reason() -> None:
    failed = last("no model").model_copy(update={"error": "model-unreachable"})
    async with agent_that_sends([failed]) as client:
        reply = await client.answer("Where?", user="ann")
    assert (reply.answer, reply.error, reply.reason) == ("", "model-unreachable", "no model")


async def test_a_request_id_that_is_used_again_gets_the_same_answer(tmp_path: Path) -> None:
    async with (
        scripted_model(Says("In Oslo."), Says("In Bergen.")) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        first = await client.answer("Where?", user="ann", conversation_id="c", request_id="r1")
        again = await client.answer("Where?", user="ann", conversation_id="c", request_id="r1")
        other = await client.answer("Where?", user="ann", conversation_id="c")
    assert (first.answer, again.answer, other.answer) == ("In Oslo.", "In Oslo.", "In Bergen.")
    assert first.metadata.run_id == again.metadata.run_id == "r1"


async def test_leaving_a_stream_early_ends_the_request_to_the_model(tmp_path: Path) -> None:
    never = asyncio.Event()
    steps = [Calls("clock", {}), Says("word " * 1_000, between=never)]
    async with (
        scripted_model(*steps) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        async with aclosing(client.ask("When?", user="ann")) as replies:
            async for reply in replies:
                if reply.message_type == "observation":
                    break
            await wait_until(lambda: len(model.requests) == 2)
            assert model.dropped == 0
        await wait_until(lambda: model.dropped == 1)
    assert len(model.requests) == 2


async def test_a_cancelled_answer_ends_the_request_to_the_model(tmp_path: Path) -> None:
    never = asyncio.Event()
    async with (
        scripted_model(Says("word " * 1_000, between=never)) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        asking = asyncio.create_task(client.answer("Where?", user="ann"))
        await wait_until(lambda: len(model.requests) == 1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await wait_until(lambda: model.dropped == 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"question": "", "user": "ann"}, "question: "),
        ({"question": "Where?", "user": ""}, "user: "),
        ({"question": "Where?", "user": "u" * 600}, "user: "),
        ({"question": "Where?", "user": "ann", "collection": ""}, "collection: "),
    ],
)
async def test_a_wrong_argument_is_named_and_nothing_is_sent(
    arguments: dict[str, str], said: str
) -> None:
    async with client_on(MemoryBus()) as client:
        with pytest.raises(InvalidRequestError, match=said):
            await client.answer(**arguments)


async def test_a_wrong_scope_is_named_by_the_memory_calls_too() -> None:
    async with client_on(MemoryBus()) as client:
        with pytest.raises(InvalidRequestError, match="user: "):
            await client.facts.list(Scope("", "default"))
        with pytest.raises(InvalidRequestError, match="limit: "):
            await client.conversations.list(ANN, limit=0)


def test_the_package_is_public_and_says_what_it_exports() -> None:
    assert (fourtier.client.__doc__ or "").startswith("Public: ")
    for name in fourtier.client.__all__:
        documented = getattr(fourtier.client, name)
        assert documented.__doc__, name
    for calls in (Client, fourtier.client.Facts, fourtier.client.Episodes):
        public = {name: each for name, each in vars(calls).items() if not name.startswith("_")}
        assert all(each.__doc__ for each in public.values()), calls
