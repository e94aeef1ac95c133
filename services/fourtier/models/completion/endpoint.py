"""An OpenAI-compatible endpoint: one streamed completion, retried while nothing has been said."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

import aiohttp
from pydantic import ValidationError

from fourtier.models.completion.backoff import Backoff, retry_after
from fourtier.models.completion.errors import (
    ModelBusyError,
    ModelCutOffError,
    ModelError,
    ModelMalformedError,
    ModelRejectedError,
    ModelUnreachableError,
)
from fourtier.models.completion.pause import SharedPause
from fourtier.models.completion.rejected import rejected_parameter
from fourtier.models.completion.sse import events
from fourtier.models.completion.wire import ChatRequest, Chunk

log = logging.getLogger(__name__)

_BAD_REQUEST, _NOT_FOUND, _REQUEST_TIMEOUT, _TOO_MANY, _SERVER_ERROR = 400, 404, 408, 429, 500
#: Errors that may be about a parameter: OpenRouter answers 404 where no provider has it.
_ABOUT_REQUEST = frozenset({_BAD_REQUEST, _NOT_FOUND, 422})
#: Seconds for which the token counts and [DONE] are waited for at the end of a reply.
_AFTER_END = 5.0
#: Characters of an error's text that are passed on.
_MAX_ERROR = 600


class Endpoint:
    """Asks for completions at one URL.

    Args:
        url: the base URL as OpenAI's own clients read it, `/v1` included.
        key: sent as bearer token unless it is empty; never part of an error or a log line.
        silence: seconds that may pass between two parts of a reply. The first part of it has no
            limit of its own: a model that reads a long prompt or thinks sends nothing meanwhile,
            and the deadline of the caller ends it.

    Attributes:
        pause: what all requests wait for after one was answered 429.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        key: str,
        backoff: Backoff,
        silence: float = 60.0,
    ) -> None:
        self._session = session
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._key = key
        self._backoff = backoff
        self._silence = silence
        self.pause = SharedPause(backoff.first)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk]:
        """The chunks of a completion. Closing the stream closes the connection.

        A failed attempt is repeated only while the model has not said anything: a repetition would
        say it twice.

        Raises:
            ModelError: one of its kinds; see `errors`.
        """
        beginning, rest = await self._begin(request)
        async with aclosing(rest):
            for chunk in beginning:
                yield chunk
            try:
                async for chunk in rest:
                    yield chunk
            except (ModelUnreachableError, ModelBusyError) as error:
                raise ModelCutOffError(f"the reply was cut off: {error}") from error

    async def _begin(self, request: ChatRequest) -> tuple[list[Chunk], AsyncGenerator[Chunk]]:
        """Ask until the model says something: the chunks so far, and those that are to come."""
        number, failure = 0, ModelError()
        try:
            async for attempt in self._backoff.retries():
                with attempt:
                    await self._pause_over()
                    if number:
                        log.warning("The model is asked again: %s", failure)
                    number += 1
                    chunks = self._attempt(request)
                    try:
                        return await _until_something_is_said(chunks), chunks
                    except ModelError as error:
                        failure = error
                        raise
        except ModelBusyError as error:
            text = f"{error}; failed after {number} attempt(s)" if number else str(error)
            raise ModelBusyError(text, error.retry_after) from error
        except ModelUnreachableError as error:
            raise ModelUnreachableError(f"{error}; failed after {number} attempt(s)") from error
        raise failure  # not reached: the last attempt returns or raises

    async def _pause_over(self) -> None:
        """Wait for the endpoint's pause; raises ModelBusyError where it is too long for that."""
        if left := await self.pause.over(self._backoff.longest):
            text = f"{self._url} takes no requests for {left:.0f} more seconds"
            raise ModelBusyError(text, left, pauses_all=True)

    async def _attempt(self, request: ChatRequest) -> AsyncGenerator[Chunk]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        body = request.model_dump(mode="json", by_alias=True, exclude_none=True)
        asked_at = self.pause.now()
        try:
            async with self._session.post(self._url, json=body, headers=headers) as response:
                if response.status >= _BAD_REQUEST:
                    raise await self._http_error(request, response, asked_at)
                self.pause.answered()
                if response.content_type == "application/json":  # it does not stream
                    yield self._chunk(await response.text())
                    return
                async with aclosing(self._chunks(response)) as chunks:
                    async for chunk in chunks:
                        yield chunk
        except TimeoutError as error:
            raise ModelUnreachableError(f"{self._url} sends nothing") from error
        except aiohttp.ClientError as error:
            reason = self._clean(str(error) or type(error).__name__)
            raise ModelUnreachableError(f"no connection to {self._url}: {reason}") from error

    async def _chunks(self, response: aiohttp.ClientResponse) -> AsyncGenerator[Chunk]:
        begun, body = False, _Body(response.content, self._silence)
        try:
            async with aclosing(events(body.parts())) as received:
                async for data in received:
                    if data.strip() == "[DONE]":
                        return
                    begun, chunk = True, self._chunk(data)
                    body.note(chunk)
                    yield chunk
        except (TimeoutError, aiohttp.ClientError):
            if not body.finished:  # only [DONE] and the token counts may be missing
                raise
        if not begun and response.content_type != "text/event-stream":
            raise ModelMalformedError(
                f"{self._url} sent {response.content_type}, not an event stream"
            )
        if not body.finished:  # an orderly end of the connection is not the end of the reply
            raise ModelUnreachableError(f"{self._url} ended the reply before its end")

    def _chunk(self, data: str) -> Chunk:
        try:
            chunk = Chunk.model_validate_json(data)
        except ValidationError as error:
            raise ModelMalformedError(
                f"{self._url} sent what is not a chat completion: {self._clean(data)!r}"
            ) from error
        if chunk.failure:
            raise ModelBusyError(f"{self._url} failed: {self._clean(chunk.failure)}")
        return chunk

    async def _http_error(
        self, request: ChatRequest, response: aiohttp.ClientResponse, asked_at: float
    ) -> ModelError:
        """The error of an HTTP status, with the endpoint's own message."""
        status, body = response.status, await response.text(errors="replace")
        message = self._clean(_message(body))
        text = f"{self._url} answered {status}: {message or response.reason}"
        if status in {_REQUEST_TIMEOUT, _TOO_MANY} or status >= _SERVER_ERROR:
            seconds = retry_after(response.headers)
            pauses_all = status == _TOO_MANY or seconds is not None
            if pauses_all:
                self.pause.extend(asked_at, seconds)
            return ModelBusyError(text, seconds, pauses_all=pauses_all)
        if status == _NOT_FOUND and "/v1/" not in self._url:
            text += ". Should OPENAI_BASE_URL end in /v1?"
        about_request = status in _ABOUT_REQUEST
        return ModelRejectedError(
            text, rejected_parameter(request, body, message) if about_request else None
        )

    def _clean(self, text: str) -> str:
        """Short, and without the key, which some endpoints repeat."""
        text = text.replace(self._key, "***") if self._key else text
        return text if len(text) <= _MAX_ERROR else f"{text[:_MAX_ERROR]}..."


class _Body:
    """The body of a stream as it comes.

    Args:
        silence: seconds that may pass until the next part, once the model says something.

    Attributes:
        finished: whether the reply has come to its end.
    """

    def __init__(self, content: aiohttp.StreamReader, silence: float) -> None:
        self._content = content
        self._silence = silence
        self._limit: float | None = None
        self.finished = False

    def note(self, chunk: Chunk) -> None:
        """What has come, which says how long the next part may take."""
        if any(choice.finish_reason for choice in chunk.choices):
            self.finished = True
            self._limit = min(self._silence, _AFTER_END)
        elif chunk.says_something:
            self._limit = self._silence

    async def parts(self) -> AsyncGenerator[bytes]:
        """Its parts; raises TimeoutError where the next one does not come in time."""
        while True:
            async with asyncio.timeout(self._limit):
                part = await self._content.readany()
            if not part:
                return
            yield part


async def _until_something_is_said(chunks: AsyncGenerator[Chunk]) -> list[Chunk]:
    """The first chunks, up to the one in which the model says something."""
    beginning: list[Chunk] = []
    async for chunk in chunks:
        beginning.append(chunk)
        if chunk.says_something:
            break
    return beginning


def _message(body: str) -> str:
    """The message of an error's body, or the body where it is not JSON."""
    try:
        return Chunk.model_validate_json(body).failure or body.strip()
    except ValidationError:
        return body.strip()
