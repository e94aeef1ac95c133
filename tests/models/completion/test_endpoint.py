"""The HTTP side: streaming, retries, and everything that an endpoint can do wrong."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohttp
import pytest

from fourtier.models.completion.backoff import Backoff, retry_after
from fourtier.models.completion.endpoint import Endpoint
from fourtier.models.completion.errors import (
    ModelBusyError,
    ModelCutOffError,
    ModelMalformedError,
    ModelRefusedError,
    ModelUnreachableError,
)
from fourtier.models.completion.wire import ChatRequest, PromptMessage
from fourtier.runtime.rpc.retry import Retry
from tests.support.model import Cuts, Fails, Reply, Says, ScriptedModel, Sends, scripted_model
from tests.support.waiting import wait_until

REQUEST = ChatRequest(model="m", messages=(PromptMessage(role="user", content="Hello?"),))


class Pauses:
    """Records the pauses between attempts and takes none."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


@asynccontextmanager
async def endpoint_at(
    url: str, pauses: Pauses | None = None, *, heartbeat_timeout: float = 20.0, attempts: int = 3
) -> AsyncGenerator[Endpoint]:
    timeout = aiohttp.ClientTimeout(total=None, sock_read=heartbeat_timeout)
    backoff = Backoff(Retry(attempts=attempts, first=0.5), longest=30.0)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        yield Endpoint(session, url, "sk-secret", backoff, pauses or Pauses())


@asynccontextmanager
async def connected(
    *replies: Reply, heartbeat_timeout: float = 20.0
) -> AsyncGenerator[tuple[ScriptedModel, Endpoint]]:
    async with (
        scripted_model(*replies) as model,
        endpoint_at(model.url, heartbeat_timeout=heartbeat_timeout) as endpoint,
    ):
        yield model, endpoint


async def said_by(endpoint: Endpoint) -> str:
    return "".join(
        [choice.piece.text async for chunk in endpoint.stream(REQUEST) for choice in chunk.choices]
    )


async def said_at(model: ScriptedModel, pauses: Pauses | None = None) -> str:
    async with endpoint_at(model.url, pauses) as endpoint:
        return await said_by(endpoint)


async def test_it_asks_as_the_api_wants_to_be_asked() -> None:
    async with scripted_model("Hello.") as model:
        assert await said_at(model) == "Hello."
    (request,) = model.requests
    assert request.headers["Authorization"] == "Bearer sk-secret"
    assert request.json == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_pieces_come_before_the_reply_is_finished() -> None:
    gate = asyncio.Event()
    async with connected(Says("One two.", between=gate)) as (_, endpoint):
        chunks = endpoint.stream(REQUEST)
        first = await anext(chunks)
        assert first.choices[0].piece.text == "One"
        gate.set()
        rest = [choice.piece.text async for chunk in chunks for choice in chunk.choices]
    assert "".join(rest) == " two."


async def test_a_busy_endpoint_is_asked_again_when_it_says() -> None:
    pauses = Pauses()
    in_a_while = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    script = [
        Fails(429, headers={"Retry-After": "7"}),
        Fails(503, headers={"Retry-After": in_a_while}),
        "Hello.",
    ]
    async with scripted_model(*script) as model:
        assert await said_at(model, pauses) == "Hello."
    first, second = pauses.taken
    assert first == 7
    assert 15 < second <= 20


async def test_without_a_word_the_pauses_grow() -> None:
    pauses = Pauses()
    async with scripted_model(Fails(500), Cuts(), "Hello.") as model:
        assert await said_at(model, pauses) == "Hello."
    first, second = pauses.taken
    assert 0.25 <= first <= 0.5 <= second <= 1.0


async def test_attempts_come_to_an_end() -> None:
    async with scripted_model(script=lambda _: Fails(502, "bad gateway")) as model:
        with pytest.raises(ModelBusyError, match=r"502: bad gateway; given up after 3 attempt"):
            await said_at(model)
    assert len(model.requests) == 3


async def test_an_endpoint_that_wants_a_long_pause_is_given_up_at_once() -> None:
    pauses = Pauses()
    async with scripted_model(Fails(429, headers={"Retry-After": "3600"})) as model:
        with pytest.raises(ModelBusyError, match="429"):
            await said_at(model, pauses)
    assert pauses.taken == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_a_refusal_is_not_tried_again(status: int) -> None:
    async with scripted_model(Fails(status, "it is because of you")) as model:
        with pytest.raises(ModelRefusedError, match=f"{status}: it is because of you"):
            await said_at(model)
    assert len(model.requests) == 1


async def test_the_key_is_never_shown() -> None:
    script = [Fails(401, "wrong key: sk-secret"), Sends("data: {sk-secret\n\n")]
    async with scripted_model(*script) as model:
        for _ in script:
            with pytest.raises((ModelRefusedError, ModelMalformedError)) as error:
                await said_at(model)
            assert "sk-secret" not in str(error.value)
            assert "***" in str(error.value)


async def test_what_usually_helps_is_said() -> None:
    async with scripted_model(Fails(400, "response_format is unknown")) as model:
        with pytest.raises(ModelRefusedError, match="json-mode: object"):
            await said_at(model)
        async with endpoint_at(model.url.removesuffix("/v1")) as endpoint:
            with pytest.raises(ModelRefusedError, match=r"end in /v1\?"):
                await said_by(endpoint)


async def test_a_reply_that_breaks_off_is_not_begun_again() -> None:
    async with scripted_model(Cuts("Once upon a"), "a time") as model:
        with pytest.raises(ModelCutOffError, match="cut off"):
            await said_at(model)
    assert len(model.requests) == 1


async def test_an_orderly_end_before_the_end_is_a_break_too() -> None:
    begun = 'data: {"choices": [{"delta": {"content": "Once"}}]}\n\n'
    async with scripted_model(Sends(begun)) as model:
        with pytest.raises(ModelCutOffError, match="before its end"):
            await said_at(model)


async def test_silence_is_an_error_and_tried_again() -> None:
    never = asyncio.Event()
    late = Says("late", before=never)
    async with connected(late, "Hello.", heartbeat_timeout=0.2) as (_, endpoint):
        assert await said_by(endpoint) == "Hello."


async def test_silence_between_two_pieces_is_an_error() -> None:
    never = asyncio.Event()
    async with connected(Says("One two.", between=never), heartbeat_timeout=0.2) as (_, endpoint):
        with pytest.raises(ModelCutOffError, match="silent"):
            await said_by(endpoint)


async def test_nobody_there_is_a_clear_error(unused_tcp_port: int) -> None:
    pauses = Pauses()
    async with endpoint_at(f"http://127.0.0.1:{unused_tcp_port}/v1", pauses) as endpoint:
        with pytest.raises(ModelUnreachableError, match=r"no connection to http://127\.0\.0\.1"):
            await said_by(endpoint)
    assert len(pauses.taken) == 2


@pytest.mark.parametrize(
    "body",
    [
        "data: {not json}\n\n",
        'data: {"choices": "many"}\n\n',
        "data: 7\n\n",
        "data: " + "x" * 5_000_000,
    ],
)
async def test_a_malformed_stream_is_a_clear_error(body: str) -> None:
    async with scripted_model(Sends(body)) as model:
        with pytest.raises(ModelMalformedError) as error:
            await said_at(model)
    assert len(str(error.value)) < 1_000


async def test_a_page_instead_of_a_stream_is_a_clear_error() -> None:
    async with scripted_model(Sends("<html>Log in</html>", "text/html")) as model:
        with pytest.raises(ModelMalformedError, match="text/html, no event stream"):
            await said_at(model)


async def test_an_error_in_the_stream_is_tried_again_while_nothing_was_said() -> None:
    broken = 'data: {"error": {"message": "overloaded"}}\n\n'
    async with scripted_model(Sends(broken), "Hello.") as model:
        assert await said_at(model) == "Hello."


async def test_events_are_read_however_they_are_written() -> None:
    body = (
        ": comment\r\nevent: message\r\n"
        'data:{"choices":[{"delta":{"content":"Hé"}}]}\r\n\r\n'
        'data: {"choices":[{"delta":\ndata: {"content":"llo"}}]}\n\n'
        'data: {"choices": [], "usage": null}\n\n'
        "data: [DONE]"
    )
    async with scripted_model(Sends(body)) as model:
        assert await said_at(model) == "Héllo"


async def test_an_endpoint_that_does_not_stream_is_understood() -> None:
    body = '{"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}'
    async with scripted_model(Sends(body, "application/json")) as model:
        assert await said_at(model) == "Hello."


async def test_who_stops_reading_frees_the_endpoint() -> None:
    never = asyncio.Event()
    async with connected(Says("One two.", between=never)) as (model, endpoint):
        async with aclosing(endpoint.stream(REQUEST)) as chunks:
            await anext(chunks)
        await wait_until(lambda: model.dropped == 1)


async def test_a_cancelled_reader_frees_the_endpoint() -> None:
    never = asyncio.Event()
    async with connected(Says("One two.", before=never)) as (model, endpoint):
        reading = asyncio.create_task(said_by(endpoint))
        await wait_until(lambda: len(model.requests) == 1)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await wait_until(lambda: model.dropped == 1)
    assert reading.cancelled()


@pytest.mark.parametrize("value", ["", "soon", "Mon, 99 Foo 2026"])
def test_a_retry_after_that_cannot_be_read_is_none(value: str) -> None:
    assert retry_after({"Retry-After": value}) is None


def test_a_retry_after_in_the_past_is_now() -> None:
    assert retry_after({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}) == 0
    assert retry_after({"Retry-After": "-3"}) == 0
