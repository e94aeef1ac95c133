"""A model that says what the test's script says: an OpenAI-compatible server on loopback.

    async with scripted_model("Oslo.") as model:                     # one reply for one request
        async with running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow:
            ...
    assert model.requests[0].last == "Where do I live?"

A script is a list of replies, used one after another, or a function that looks at each request:

    script = [Calls("calculator", {"expression": "1+1"}, thought="I must add"), Says("It is 2.")]
    def script(request: ModelRequest) -> Reply:
        return Writes({"facts": []}) if request.schema else Says("Hello")

The same script serves both dialects of `completion`: a request that carries the schema of a step
(dialect `schema`) gets a thought, a tool call or an answer as JSON, others get tool calls.
A list that has run out answers 400, which no client tries again.
"""

import asyncio
import inspect
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.serving import serving

#: The name that the dialect `schema` gives to the schema of a step.
STEP = "step"


@dataclass(frozen=True, kw_only=True)
class _Timed:
    """`before` is awaited before the first byte, `after_headers` before the first of a stream's
    body, `between` after its first part, `at_end` before its [DONE].
    """

    before: asyncio.Event | None = None
    after_headers: asyncio.Event | None = None
    between: asyncio.Event | None = None
    at_end: asyncio.Event | None = None


@dataclass(frozen=True)
class Says(_Timed):
    """Text. A `thought` stands in front of it as the dialect has it; `reasoning` is a field of
    its own, as DeepSeek and vLLM send it.
    """

    text: str
    thought: str = ""
    reasoning: str = ""


@dataclass(frozen=True)
class Calls(_Timed):
    """A tool call; `arguments` as text are sent as they are, JSON or not."""

    tool: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    thought: str = ""


@dataclass(frozen=True)
class Writes(_Timed):
    """A JSON value, for requests with an output schema."""

    value: Any


@dataclass(frozen=True)
class Fails(_Timed):
    """An HTTP error; `param` is the parameter that it is about, `body` all of it as JSON."""

    status: int
    message: str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=dict)
    param: str | None = None
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Cuts(_Timed):
    """A connection that is cut after this text, before the first byte when it is empty; a
    `finish_reason` comes before the cut.
    """

    text: str = ""
    finish_reason: str = ""


@dataclass(frozen=True)
class Sends(_Timed):
    """Any body at all, with status 200; for what is not an event stream, or a broken one."""

    body: str
    content_type: str = "text/event-stream"


Reply = str | Says | Calls | Writes | Fails | Cuts | Sends


@dataclass(frozen=True)
class ModelRequest:
    """What was asked for, and with which headers."""

    json: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The prompt."""
        return self.json["messages"]

    @property
    def last(self) -> str:
        """The text of the last message."""
        return self.messages[-1].get("content") or ""

    @property
    def text(self) -> str:
        """All of the prompt's text."""
        return "\n".join(message.get("content") or "" for message in self.messages)

    @property
    def tools(self) -> list[str]:
        """The names of the tools that are offered by the API's own means."""
        return [tool["function"]["name"] for tool in self.json.get("tools", [])]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The output schema that a caller asked for; None for a step of reasoning."""
        asked = self.json.get("response_format", {}).get("json_schema", {})
        return None if asked.get("name") in {None, STEP} else asked["schema"]

    @property
    def is_step(self) -> bool:
        """Whether the dialect `schema` asks for a thought and an action or an answer."""
        return self.json.get("response_format", {}).get("json_schema", {}).get("name") == STEP


Script = Sequence[Reply] | Callable[[ModelRequest], Reply | Awaitable[Reply]]


class ScriptedModel:
    """The server.

    Attributes:
        url: what `OPENAI_BASE_URL` is to be.
        requests: all so far, oldest first.
        dropped: how many replies were not read to their end by the client.
        usage: tokens of prompt and completion that each reply reports; None leaves them out.
    """

    def __init__(self, script: Script, usage: tuple[int, int] | None) -> None:
        self.url = ""
        self.requests: list[ModelRequest] = []
        self.dropped = 0
        self.usage = usage
        self._script = script
        self._taken = 0

    @property
    def settings(self) -> dict[str, Any]:
        """For `running_flow(settings=...)`."""
        return {"model_url": self.url, "model_key": "sk-secret", "model_name": "scripted"}

    def then(self, *replies: Reply) -> None:
        """Go on with these replies."""
        self._script, self._taken = replies, 0

    async def handle(self, http: web.Request) -> web.StreamResponse:
        """Answer one request by the script."""
        request = ModelRequest(await http.json(), http.headers)
        self.requests.append(request)
        reply = await self._next(request)
        try:
            return await self._send(http, request, Says(reply) if isinstance(reply, str) else reply)
        except (ConnectionError, asyncio.CancelledError):
            self.dropped += 1
            raise

    async def _next(self, request: ModelRequest) -> Reply:
        if callable(self._script):
            reply = self._script(request)
            return await reply if inspect.isawaitable(reply) else reply
        self._taken += 1
        if self._taken > len(self._script):
            return Fails(400, f"the script has no reply number {self._taken}")
        return self._script[self._taken - 1]

    async def _send(
        self, http: web.Request, request: ModelRequest, reply: Any
    ) -> web.StreamResponse:
        if reply.before:
            await reply.before.wait()
        if isinstance(reply, Fails):
            error = {"message": reply.message, "type": "scripted", "param": reply.param}
            body = reply.body or {"error": error}
            return web.json_response(body, status=reply.status, headers=reply.headers)
        if isinstance(reply, Cuts) and not reply.text:
            return self._cut(http, web.StreamResponse())
        if isinstance(reply, Sends):
            return web.Response(text=reply.body, content_type=reply.content_type)
        if not request.json.get("stream"):
            return web.json_response(self._completion(request, reply))
        return await self._stream(http, request, reply)

    async def _stream(
        self, http: web.Request, request: ModelRequest, reply: Any
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(http)
        if reply.after_headers:
            await reply.after_headers.wait()
        deltas = _deltas(request, reply)
        for number, delta in enumerate(deltas):
            choice = {"index": 0, "delta": delta}
            await _event(response, {"model": request.json.get("model"), "choices": [choice]})
            if number == 0 and reply.between:
                await reply.between.wait()
        if isinstance(reply, Cuts):
            if reply.finish_reason:
                choice = {"index": 0, "delta": {}, "finish_reason": reply.finish_reason}
                await _event(response, {"choices": [choice]})
            return self._cut(http, response)
        reason = "tool_calls" if "tool_calls" in deltas[-1] else "stop"
        await _event(response, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        if self.usage and request.json.get("stream_options", {}).get("include_usage"):
            await _event(response, {"choices": [], "usage": self._usage()})
        if reply.at_end:
            await reply.at_end.wait()
        await response.write(b"data: [DONE]\n\n")
        return response

    def _cut(self, http: web.Request, response: web.StreamResponse) -> web.StreamResponse:
        if http.transport is not None:
            http.transport.close()
        return response

    def _completion(self, request: ModelRequest, reply: Any) -> dict[str, Any]:
        """The reply as one object, for clients that do not stream."""
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        for delta in _deltas(request, reply):
            message["content"] += delta.get("content") or ""
            for call in delta.get("tool_calls", []):
                so_far = message.setdefault("tool_calls", [{"function": {"arguments": ""}}])[0]
                arguments = so_far["function"]["arguments"] + call["function"]["arguments"]
                so_far |= call | {"function": so_far["function"] | call["function"]}
                so_far["function"]["arguments"] = arguments
        reason = "tool_calls" if "tool_calls" in message else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        usage = {"usage": self._usage()} if self.usage else {}
        return {"model": request.json.get("model"), "choices": [choice], **usage}

    def _usage(self) -> dict[str, int]:
        prompt, completion = self.usage or (0, 0)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }


def _deltas(request: ModelRequest, reply: Any) -> list[dict[str, Any]]:
    """The reply as the parts of a stream; at least one."""
    if isinstance(reply, Calls) and not request.is_step:
        thought = f"<thought>{reply.thought}</thought>" if reply.thought else ""
        return [*_contents(thought), *_call(reply)]
    deltas: list[dict[str, Any]] = []
    if isinstance(reply, Says):
        deltas = [{"reasoning_content": word} for word in _words(reply.reasoning)]
    return [*deltas, *_contents(_text(request, reply))] or [{"content": ""}]


def _text(request: ModelRequest, reply: Any) -> str:
    if isinstance(reply, Writes):
        return json.dumps(reply.value)
    if isinstance(reply, Cuts):
        return reply.text
    if request.is_step:
        thought = {"thought": reply.thought} if reply.thought else {}
        if isinstance(reply, Says):
            return json.dumps(thought | {"answer": reply.text})
        return json.dumps(thought | {"action": reply.tool, "arguments": reply.arguments})
    return f"<thought>{reply.thought}</thought>{reply.text}" if reply.thought else reply.text


def _call(reply: Calls) -> list[dict[str, Any]]:
    """A tool call in parts: the name first, then the arguments bit by bit."""
    arguments = reply.arguments
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": reply.tool, "arguments": ""}
    first = {"index": 0, "id": "call_1", "type": "function", "function": function}
    bits = [text[at : at + 8] for at in range(0, len(text), 8)]
    return [
        {"tool_calls": [first]},
        *({"tool_calls": [{"index": 0, "function": {"arguments": bit}}]} for bit in bits),
    ]


def _contents(text: str) -> list[dict[str, Any]]:
    return [{"content": word} for word in _words(text)]


def _words(text: str) -> list[str]:
    """The text in parts, a word and the space before it in each."""
    return re.findall(r"\s*\S+|\s+$", text)


async def _event(response: web.StreamResponse, content: dict[str, Any]) -> None:
    await response.write(f"data: {json.dumps(content)}\n\n".encode())


@asynccontextmanager
async def scripted_model(
    *replies: Reply,
    script: Script | None = None,
    usage: tuple[int, int] | None = (10, 5),
) -> AsyncGenerator[ScriptedModel]:
    """Serve a script until the context ends: `replies` in order, or a `script` (see above)."""
    model = ScriptedModel(replies if script is None else script, usage)
    application = web.Application()
    application.router.add_post("/v1/chat/completions", model.handle)
    async with serving(application, handler_cancellation=True) as url:
        model.url = f"{url}/v1"
        yield model
