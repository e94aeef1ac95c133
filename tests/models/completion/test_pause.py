"""An endpoint that answers 429 gets one pause from all requests."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from fourtier.client import Client
from fourtier.models.completion.backoff import Backoff
from fourtier.models.completion.endpoint import Endpoint
from fourtier.models.completion.errors import ModelBusyError
from fourtier.models.completion.pause import SharedPause
from fourtier.models.completion.wire import ChatRequest, PromptMessage
from fourtier.runtime.errors import CallFailedError
from fourtier.schema.completion import COMPLETE, ChatMessage, CompleteRequest
from tests.support.flow import running_flow
from tests.support.model import Fails, ModelRequest, Reply, Says, scripted_model
from tests.support.waiting import wait_until

REQUEST = ChatRequest(model="m", messages=(PromptMessage(role="user", content="Hello?"),))
LONG = {"Retry-After": "3600"}


class RateLimited:
    """Lets nobody in for some time after the first request, and counts those that it sends away."""

    def __init__(self, seconds: float, *, says_so: bool) -> None:
        self._seconds = seconds
        self._says_so = says_so
        self._until = 0.0
        self.sent_away = 0

    def __call__(self, _: ModelRequest) -> Reply:
        now = asyncio.get_running_loop().time()
        self._until = self._until or now + self._seconds
        if now >= self._until:
            return Says("Hello.")
        self.sent_away += 1
        headers = {"Retry-After": f"{self._until - now:.3f}"} if self._says_so else {}
        return Fails(429, "slow down", headers)


@asynccontextmanager
async def endpoint_at(
    url: str, *, first: float = 0.01, longest: float = 30.0
) -> AsyncGenerator[Endpoint]:
    async with aiohttp.ClientSession() as session:
        backoff = Backoff(attempts=3, longest=longest, first=first)
        yield Endpoint(session, url, "", backoff)


async def text_of(endpoint: Endpoint) -> str:
    async with aclosing(endpoint.stream(REQUEST)) as chunks:
        return "".join([choice.piece.text async for chunk in chunks for choice in chunk.choices])


@pytest.mark.parametrize("says_so", [True, False])
async def test_requests_wait_for_the_pause_of_another_and_do_not_ask(says_so: bool) -> None:
    limit = RateLimited(0.4, says_so=says_so)
    async with (
        scripted_model(script=limit) as model,
        endpoint_at(model.url, first=0.5) as endpoint,
    ):
        asking = [asyncio.create_task(text_of(endpoint))]
        await wait_until(lambda: endpoint.pause.seconds_left > 0)
        asking += [asyncio.create_task(text_of(endpoint)) for _ in range(5)]
        assert await asyncio.gather(*asking) == ["Hello."] * 6
    assert limit.sent_away == 1


async def test_requests_that_are_sent_away_at_once_begin_one_pause() -> None:
    gate = asyncio.Event()
    replies = [Fails(429, before=gate)] * 4 + [Says("Hello.")] * 4
    async with scripted_model(*replies) as model, endpoint_at(model.url) as endpoint:
        asking = [asyncio.create_task(text_of(endpoint)) for _ in range(4)]
        await wait_until(lambda: len(model.requests) == 4)
        gate.set()
        assert await asyncio.gather(*asking) == ["Hello."] * 4


async def test_a_pause_grows_with_each_answer_to_a_request_that_waited_for_it() -> None:
    pause = SharedPause(first=100.0, cap=350.0)
    asked_at = pause.now()
    for _ in range(4):  # were on their way at the same time
        pause.extend(asked_at, None)
    assert pause.seconds_left <= 150
    for shortest, longest in [(200, 300), (350, 350), (350, 350)]:
        pause.extend(pause.now() + pause.seconds_left + 1, None)
        assert shortest - 1 < pause.seconds_left <= longest
    pause.answered()
    pause.extend(pause.now() + pause.seconds_left + 1, None)
    assert pause.seconds_left <= 350


async def test_during_a_long_pause_nobody_asks_and_everybody_is_told_how_long() -> None:
    async with (
        scripted_model(Fails(429, "quota used up", LONG), "Hello.") as model,
        endpoint_at(model.url) as endpoint,
    ):
        for _ in range(3):
            with pytest.raises(ModelBusyError) as error:
                await text_of(endpoint)
            assert error.value.retry_after == pytest.approx(3600, abs=60)
    assert len(model.requests) == 1


async def call_failed(asking: Awaitable[object]) -> CallFailedError:
    with pytest.raises(CallFailedError) as error:
        await asking
    return error.value


async def test_callers_of_completion_read_the_seconds(tmp_path: Path) -> None:
    request = CompleteRequest(messages=(ChatMessage(role="user", content="Hello?"),))

    async def complete() -> None:
        async for _ in flow.caller.stream(COMPLETE, request):
            pass

    async with (
        scripted_model(Fails(429, "slow down", LONG)) as model,
        running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow,
    ):
        error = await call_failed(complete())
    assert (error.type, error.temporary) == ("model-busy", True)
    assert error.retry_after == pytest.approx(3600, abs=60)


async def test_the_reply_of_the_agent_has_the_seconds(tmp_path: Path) -> None:
    services = {"agent": {}, "completion": {}, "working-memory": {}}
    async with (
        scripted_model(Fails(429, "slow down", LONG)) as model,
        running_flow(tmp_path, services, settings=model.settings) as flow,
    ):
        reply = await Client(flow.caller).answer("Hello?", user="ann", enable_memory=False)
    assert reply.error == "model-busy"
    assert reply.retry_after == pytest.approx(3600, abs=60)
