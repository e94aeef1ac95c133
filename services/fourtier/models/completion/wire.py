"""The parts of the OpenAI chat API that are used: what is sent, and what streams back.

What comes in is read leniently: endpoints add fields, leave others out and send null for empty.
"""

import json
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fourtier.schema.message import Metadata


class _Sent(BaseModel):
    model_config = ConfigDict(frozen=True)


class CalledFunction(_Sent):
    """A tool and its arguments as JSON text."""

    name: str
    arguments: str


class EarlierCall(_Sent):
    """A tool call of an earlier step."""

    id: str
    type: Literal["function"] = "function"
    function: CalledFunction


class PromptMessage(_Sent):
    """One message of the prompt."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[EarlierCall, ...] | None = None
    tool_call_id: str | None = None


class Function(_Sent):
    """A tool's name, purpose and JSON schema."""

    name: str
    description: str
    parameters: Metadata


class OfferedTool(_Sent):
    """A tool that the model may call."""

    type: Literal["function"] = "function"
    function: Function


class NamedSchema(_Sent):
    """A JSON schema for the output."""

    name: str
    json_schema: Metadata = Field(serialization_alias="schema")


class ResponseFormat(_Sent):
    """JSON of a schema, or any JSON object where the endpoint takes no schemas."""

    type: Literal["json_schema", "json_object"]
    json_schema: NamedSchema | None = None


class Prompt(_Sent):
    """What a dialect makes of a request."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[OfferedTool, ...] | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None


class StreamOptions(_Sent):
    """Token counts at the end of the stream."""

    include_usage: bool = True


class ChatRequest(Prompt):
    """The body of `POST /chat/completions`."""

    model: str
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    stream: bool | None = True
    stream_options: StreamOptions | None = StreamOptions()


class _Received(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


def _as_json_text(value: object) -> object:
    """Arguments that an endpoint sends as an object, as Ollama's own API does."""
    return json.dumps(value) if isinstance(value, dict) else value


def _count(value: object) -> object:
    """A count that an endpoint leaves empty is 0."""
    return 0 if value is None else value


class FunctionDelta(_Received):
    """A piece of a tool call's name and arguments."""

    name: str | None = None
    arguments: Annotated[str | None, BeforeValidator(_as_json_text)] = None


class ToolCallDelta(_Received):
    """A piece of the tool call number `index`."""

    index: int | None = None
    id: str | None = None
    function: FunctionDelta = FunctionDelta()


class Delta(_Received):
    """A piece of the model's message.

    `reasoning_content` (DeepSeek, vLLM, llama.cpp) and `reasoning` (Ollama, newer vLLM) are the
    same: what a reasoning model thinks, apart from what it says.
    """

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCallDelta, ...] | None = None

    @property
    def thinking(self) -> str:
        """What it thinks, under either name."""
        return self.reasoning_content or self.reasoning or ""

    @property
    def text(self) -> str:
        """All that the model wrote here, for counting."""
        calls = "".join(
            (call.function.name or "") + (call.function.arguments or "")
            for call in self.tool_calls or ()
        )
        return f"{self.thinking}{self.content or ''}{calls}"


class Choice(_Received):
    """The model's message: a piece of it, or all where the endpoint does not stream."""

    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None

    @property
    def piece(self) -> Delta:
        """Whichever of the two was sent."""
        return self.delta or self.message or Delta()


class Usage(_Received):
    """Token counts."""

    prompt_tokens: Annotated[int, BeforeValidator(_count)] = 0
    completion_tokens: Annotated[int, BeforeValidator(_count)] = 0


class Failure(_Received):
    """An error in the endpoint's words."""

    message: str = ""


class Chunk(_Received):
    """One event of the stream; or the whole body where the endpoint does not stream."""

    model: str | None = None
    choices: tuple[Choice, ...] = ()
    usage: Usage | None = None
    error: Failure | str | None = None

    @property
    def failure(self) -> str:
        """The error's text; empty where there is none."""
        if isinstance(self.error, Failure):
            return self.error.message or "an error without words"
        return self.error or ""

    @property
    def says_something(self) -> bool:
        """Whether the model wrote anything in it."""
        return any(choice.piece.text for choice in self.choices)
