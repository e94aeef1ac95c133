"""An OpenAI-compatible endpoint: one streamed completion, tried again while nothing has come."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import aiohttp
from pydantic import ValidationError

from fourtier.models.completion.backoff import Backoff, retry_after
from fourtier.models.completion.errors import (
    ModelBusyError,
    ModelCutOffError,
    ModelError,
    ModelMalformedError,
    ModelRefusedError,
    ModelUnreachableError,
)
from fourtier.models.completion.sse import events
from fourtier.models.completion.wire import ChatRequest, Chunk

log = logging.getLogger(__name__)

_BAD_REQUEST, _NOT_FOUND, _REQUEST_TIMEOUT, _TOO_MANY, _SERVER_ERROR = 400, 404, 408, 429, 500
#: How much of an error's text is passed on.
_WORDS = 600


class Endpoint:
    """Asks for completions at one URL.

    Args:
        url: the base URL as OpenAI's own clients read it, `/v1` included.
        key: sent as bearer token unless it is empty; never part of an error or a log line.
        pause: waits between two attempts.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        key: str,
        backoff: Backoff,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._session = session
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._key = key
        self._backoff = backoff
        self._pause = pause

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk]:
        """The chunks of a completion.

        A failed attempt is repeated only while no chunk in which the model says something has been
        passed on: a repetition would say it twice.

        Raises:
            ModelError: one of its kinds; see `errors`.
        """
        attempt, begun = 1, False
        while True:
            try:
                async with aclosing(self._attempt(request)) as chunks:
                    async for chunk in chunks:
                        begun = begun or chunk.says_something
                        yield chunk
            except (ModelUnreachableError, ModelBusyError) as error:
                if begun:
                    raise ModelCutOffError(f"the reply was cut off: {error}") from error
                pause = self._backoff.pause(attempt, error)
                if pause is None:
                    raise self._given_up(error, attempt) from error
                log.warning("The model is asked again in %.1f s: %s", pause, error)
            else:
                return
            await self._pause(pause)
            attempt += 1

    def _given_up(self, error: ModelError, attempts: int) -> ModelError:
        return type(error)(f"{error}; given up after {attempts} attempt(s)")

    async def _attempt(self, request: ChatRequest) -> AsyncGenerator[Chunk]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        body = request.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            async with self._session.post(self._url, json=body, headers=headers) as response:
                if response.status >= _BAD_REQUEST:
                    raise await self._refusal(response)
                if response.content_type == "application/json":  # it does not stream
                    yield self._chunk(await response.text())
                    return
                async with aclosing(self._chunks(response)) as chunks:
                    async for chunk in chunks:
                        yield chunk
        except TimeoutError as error:
            raise ModelUnreachableError(f"{self._url} stays silent") from error
        except aiohttp.ClientError as error:
            words = self._clean(str(error) or type(error).__name__)
            raise ModelUnreachableError(f"no connection to {self._url}: {words}") from error

    async def _chunks(self, response: aiohttp.ClientResponse) -> AsyncGenerator[Chunk]:
        finished = begun = False
        async for data in events(response.content.iter_any()):
            if data.strip() == "[DONE]":
                return
            begun, chunk = True, self._chunk(data)
            finished = finished or any(choice.finish_reason for choice in chunk.choices)
            yield chunk
        if not begun and response.content_type != "text/event-stream":
            raise ModelMalformedError(f"{self._url} sent {response.content_type}, no event stream")
        if not finished:  # an orderly end of the connection is not the end of the reply
            raise ModelUnreachableError(f"{self._url} ended the reply before its end")

    def _chunk(self, data: str) -> Chunk:
        try:
            chunk = Chunk.model_validate_json(data)
        except ValidationError as error:
            raise ModelMalformedError(
                f"{self._url} sent what is no chat completion: {self._clean(data)!r}"
            ) from error
        if chunk.failure:
            raise ModelBusyError(f"{self._url} failed: {self._clean(chunk.failure)}")
        return chunk

    async def _refusal(self, response: aiohttp.ClientResponse) -> ModelError:
        """The error of an HTTP status, in the endpoint's words."""
        status = response.status
        words = self._clean(_words(await response.text(errors="replace")))
        said = f"{self._url} answered {status}: {words or response.reason}"
        if status in {_REQUEST_TIMEOUT, _TOO_MANY} or status >= _SERVER_ERROR:
            return ModelBusyError(said, retry_after(response.headers))
        return ModelRefusedError(said + self._advice(status, words))

    def _advice(self, status: int, words: str) -> str:
        """What usually helps; nothing where it is not known."""
        if status == _NOT_FOUND and "/v1/" not in self._url:
            return ". Should OPENAI_BASE_URL end in /v1?"
        if status == _BAD_REQUEST and "response_format" in words:
            return ". If the endpoint knows no JSON schemas, set completion's json-mode: object."
        return ""

    def _clean(self, text: str) -> str:
        """Short, and without the key, which some endpoints repeat."""
        text = text.replace(self._key, "***") if self._key else text
        return text if len(text) <= _WORDS else f"{text[:_WORDS]}..."


def _words(body: str) -> str:
    """The message of an error body, or the body where it is none."""
    try:
        return Chunk.model_validate_json(body).failure or body.strip()
    except ValidationError:
        return body.strip()
