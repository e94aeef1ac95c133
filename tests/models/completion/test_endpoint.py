"""The HTTP side: streaming, retries, and everything that an endpoint can do wrong."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohttp
import pytest
import stamina

from fourtier.models.completion.backoff import Backoff, retry_after
from fourtier.models.completion.endpoint import Endpoint
from fourtier.models.completion.errors import (
    ModelBusyError,
    ModelCutOffError,
    ModelMalformedError,
    ModelRejectedError,
    ModelUnreachableError,
)
from fourtier.models.completion.wire import ChatRequest, PromptMessage
from tests.support.model import Cuts, Fails, Reply, Says, ScriptedModel, Sends, scripted_model
from tests.support.waiting import wait_until

REQUEST = ChatRequest(model="m", messages=(PromptMessage(role="user", content="Hello?"),))


@pytest.fixture(autouse=True)
def without_pauses() -> Generator[None]:
    """Retries follow at once; their number stays."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


@asynccontextmanager
async def endpoint_at(
    url: str, *, read_seconds: float = 20.0, attempts: int = 3
) -> AsyncGenerator[Endpoint]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        yield Endpoint(session, url, "sk-secret", Backoff(attempts, 30.0, first=0.01), read_seconds)


@asynccontextmanager
async def connected(
    *replies: Reply, read_seconds: float = 20.0
) -> AsyncGenerator[tuple[ScriptedModel, Endpoint]]:
    async with (
        scripted_model(*replies) as model,
        endpoint_at(model.url, read_seconds=read_seconds) as endpoint,
    ):
        yield model, endpoint


async def text_of(endpoint: Endpoint) -> str:
    async with aclosing(endpoint.stream(REQUEST)) as chunks:
        return "".join([choice.piece.text async for chunk in chunks for choice in chunk.choices])


async def ask(model: ScriptedModel) -> str:
    async with endpoint_at(model.url) as endpoint:
        return await text_of(endpoint)


async def test_the_request_has_the_form_of_the_api() -> None:
    async with scripted_model("Hello.") as model:
        assert await ask(model) == "Hello."
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


async def test_a_busy_endpoint_is_asked_again() -> None:
    async with (
        scripted_model(Fails(429), Fails(500), Cuts(), "Hello.") as model,
        endpoint_at(model.url, attempts=4) as endpoint,
    ):
        assert await text_of(endpoint) == "Hello."
    assert len(model.requests) == 4


async def test_the_pause_is_the_one_that_the_endpoint_asks_for() -> None:
    in_a_while = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    for value, shortest, longest in [("7", 7, 7), (in_a_while, 15, 20)]:
        async with (
            scripted_model(Fails(429, headers={"Retry-After": value})) as model,
            endpoint_at(model.url, attempts=1) as endpoint,
        ):
            with pytest.raises(ModelBusyError) as error:
                await text_of(endpoint)
        cause = error.value.__cause__
        assert isinstance(cause, ModelBusyError)
        assert cause.retry_after is not None
        assert shortest <= cause.retry_after <= longest
        assert Backoff().pause(cause) == 0.0  # the pause is the endpoint's


def test_without_a_pause_from_the_endpoint_the_backoff_decides() -> None:
    assert Backoff().pause(ModelBusyError("503")) is True
    assert Backoff().pause(ModelUnreachableError("no connection")) is True
    assert Backoff().pause(ModelRejectedError("401")) is False
    assert Backoff().pause(ModelMalformedError("html")) is False


async def test_the_attempts_are_limited() -> None:
    async with scripted_model(script=lambda _: Fails(502, "bad gateway")) as model:
        with pytest.raises(ModelBusyError, match=r"502: bad gateway; failed after 3 attempt"):
            await ask(model)
    assert len(model.requests) == 3


async def test_an_endpoint_that_asks_for_a_long_pause_is_not_asked_again() -> None:
    script = [Fails(429, headers={"Retry-After": "3600"}), "Hello."]
    async with scripted_model(*script) as model:
        with pytest.raises(ModelBusyError, match="429"):
            await ask(model)
    assert len(model.requests) == 1


async def test_a_retry_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    async with scripted_model(Fails(503, "too busy"), "Hello.") as model:
        await ask(model)
    ours = [each for each in caplog.records if each.name.startswith("fourtier")]
    assert [each.levelname for each in ours] == ["WARNING"]
    assert "asked again" in ours[0].getMessage()
    assert "503: too busy" in ours[0].getMessage()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_a_rejected_request_is_not_retried(status: int) -> None:
    async with scripted_model(Fails(status, "it is because of you")) as model:
        with pytest.raises(ModelRejectedError, match=f"{status}: it is because of you"):
            await ask(model)
    assert len(model.requests) == 1


async def test_the_key_is_never_shown() -> None:
    script = [Fails(401, "wrong key: sk-secret"), Sends("data: {sk-secret\n\n")]
    async with scripted_model(*script) as model:
        for _ in script:
            with pytest.raises((ModelRejectedError, ModelMalformedError)) as error:
                await ask(model)
            assert "sk-secret" not in str(error.value)
            assert "***" in str(error.value)


async def test_the_error_gives_advice() -> None:
    async with (
        scripted_model() as model,
        endpoint_at(model.url.removesuffix("/v1")) as endpoint,
    ):
        with pytest.raises(ModelRejectedError, match=r"end in /v1\?"):
            await text_of(endpoint)


async def test_a_reply_that_breaks_off_is_not_begun_again() -> None:
    async with scripted_model(Cuts("Once upon a"), "a time") as model:
        with pytest.raises(ModelCutOffError, match="cut off"):
            await ask(model)
    assert len(model.requests) == 1


async def test_an_orderly_end_before_the_end_is_a_break_too() -> None:
    begun = 'data: {"choices": [{"delta": {"content": "Once"}}]}\n\n'
    async with scripted_model(Sends(begun)) as model:
        with pytest.raises(ModelCutOffError, match="before its end"):
            await ask(model)


SAID = 'data: {"choices": [{"delta": {"content": "Hello."}}]}\n\n'
FINISHED = 'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'


@pytest.mark.parametrize("ending", [Sends(SAID + FINISHED), Cuts("Hello.", finish_reason="stop")])
async def test_a_stream_that_ends_without_done_after_its_finish_reason_is_whole(
    ending: Reply,
) -> None:
    async with scripted_model(ending) as model:
        assert await ask(model) == "Hello."


async def test_a_reply_whose_connection_stays_open_after_its_end_is_whole() -> None:
    never = asyncio.Event()
    async with connected(Says("Hello.", at_end=never), read_seconds=0.05) as (_, endpoint):
        assert await text_of(endpoint) == "Hello."


@pytest.mark.parametrize("usage", ['{"prompt_tokens": null}', "{}", "null"])
async def test_a_usage_without_numbers_is_no_error(usage: str) -> None:
    body = f'{SAID}{FINISHED}data: {{"choices": [], "usage": {usage}}}\n\ndata: [DONE]\n\n'
    async with scripted_model(Sends(body)) as model:
        assert await ask(model) == "Hello."


@pytest.mark.parametrize("waits", ["headers", "body", "text"])
async def test_the_first_byte_may_take_longer_than_a_pause_between_two(waits: str) -> None:
    """`headers`: nothing is sent; `body`: the headers are; `text`: so is a chunk without text."""
    ready = asyncio.Event()
    late = {
        "headers": Says("late", before=ready),
        "body": Says("late", after_headers=ready),
        "text": Says("", between=ready),
    }[waits]
    async with connected(late, read_seconds=0.05) as (model, endpoint):
        reading = asyncio.create_task(text_of(endpoint))
        await wait_until(lambda: len(model.requests) == 1)
        await asyncio.wait({reading}, timeout=0.3)
        assert not reading.done()
        ready.set()
        assert await reading == ("late" if waits != "text" else "")
    assert len(model.requests) == 1


async def test_a_pause_between_two_pieces_is_an_error_when_it_is_too_long() -> None:
    never = asyncio.Event()
    async with connected(Says("One two.", between=never), read_seconds=0.2) as (_, endpoint):
        with pytest.raises(ModelCutOffError, match="sends nothing"):
            await text_of(endpoint)


async def test_an_unreachable_endpoint_is_a_clear_error(unused_tcp_port: int) -> None:
    async with endpoint_at(f"http://127.0.0.1:{unused_tcp_port}/v1") as endpoint:
        with pytest.raises(ModelUnreachableError) as error:
            await text_of(endpoint)
    assert str(error.value).startswith("no connection to http://127.0.0.1")
    assert str(error.value).endswith("failed after 3 attempt(s)")


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
            await ask(model)
    assert len(str(error.value)) < 1_000


async def test_a_page_instead_of_a_stream_is_a_clear_error() -> None:
    async with scripted_model(Sends("<html>Log in</html>", "text/html")) as model:
        with pytest.raises(ModelMalformedError, match="text/html, not an event stream"):
            await ask(model)


async def test_an_error_in_the_stream_is_retried_while_nothing_was_said() -> None:
    broken = 'data: {"error": {"message": "overloaded"}}\n\n'
    async with scripted_model(Sends(broken), "Hello.") as model:
        assert await ask(model) == "Hello."


async def test_events_are_read_however_they_are_written() -> None:
    body = (
        ": comment\r\nevent: message\r\n"
        'data:{"choices":[{"delta":{"content":"Hé"}}]}\r\n\r\n'
        'data: {"choices":[{"delta":\ndata: {"content":"llo"}}]}\n\n'
        'data: {"choices": [], "usage": null}\n\n'
        "data: [DONE]"
    )
    async with scripted_model(Sends(body)) as model:
        assert await ask(model) == "Héllo"


async def test_an_endpoint_that_does_not_stream_is_understood() -> None:
    body = '{"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}'
    async with scripted_model(Sends(body, "application/json")) as model:
        assert await ask(model) == "Hello."


async def test_closing_the_stream_closes_the_connection() -> None:
    never = asyncio.Event()
    async with connected(Says("One two.", between=never)) as (model, endpoint):
        async with aclosing(endpoint.stream(REQUEST)) as chunks:
            await anext(chunks)
        await wait_until(lambda: model.dropped == 1)


async def test_cancelling_the_reader_closes_the_connection() -> None:
    never = asyncio.Event()
    async with connected(Says("One two.", before=never)) as (model, endpoint):
        reading = asyncio.create_task(text_of(endpoint))
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
