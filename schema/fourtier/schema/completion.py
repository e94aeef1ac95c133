"""Messages of `completion`: one contract for every model and every dialect of tool calls."""

from typing import Literal

from pydantic import Field

from fourtier.schema.message import MAX_ITEMS, Arguments, Message, Metadata, Name, OptionalName
from fourtier.schema.topics import Call, Topic

#: The only argument of an action whose arguments cannot be read as a JSON object: what the model
#: wrote instead. No tool is run with it; the observation tells the model what it did wrong.
MALFORMED_ARGUMENTS = "malformed_arguments"

#: Characters of one message of a prompt, and tool calls in it.
_MAX_MESSAGE, _MAX_CALLS = 1_000_000, 100


class ToolCall(Message):
    """An earlier action of the model; `id` is unique in its prompt."""

    id: Name
    name: Name
    arguments: Arguments = {}


class ChatMessage(Message):
    """One message of the prompt.

    An earlier action is in the `tool_calls` of an assistant message, whose content is the thought
    before it. The message of role `tool` that has its result names the tool, and the call by id.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str = Field(max_length=_MAX_MESSAGE)
    tool: OptionalName = ""
    tool_calls: tuple[ToolCall, ...] = Field(default=(), max_length=_MAX_CALLS)
    tool_call_id: OptionalName = ""


class ToolSpec(Message):
    """A tool that the model may call; `parameters` is a JSON schema of an object."""

    name: Name
    description: str = Field(max_length=20_000)
    parameters: Metadata


class CompleteRequest(Message):
    """Ask a model for the next step.

    With `output_schema` the reply is one `answer` that is JSON of that schema, and no tools are
    offered.
    """

    messages: tuple[ChatMessage, ...] = Field(min_length=1, max_length=MAX_ITEMS)
    tools: tuple[ToolSpec, ...] = Field(default=(), max_length=MAX_ITEMS)
    output_schema: Metadata | None = None
    streaming: bool = Field(
        default=True, description="somebody reads along; otherwise the text comes in few pieces"
    )
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    temperature: float | None = Field(default=None, ge=0, le=100)


class CompletionPiece(Message):
    """A piece of the model's step.

    A stream has any number of `thought` and `answer` pieces, at most one `action`, and ends with
    one `end` piece that has the token counts and the model's name.
    """

    type: Literal["thought", "answer", "action", "end"]
    content: str = ""
    tool: str = ""
    arguments: Arguments = {}
    in_token: int = 0
    out_token: int = 0
    model: str = ""


COMPLETE = Call(
    Topic("completion.complete", CompleteRequest, persistent=False),
    CompletionPiece,
    deadline=300.0,
    last=lambda piece: piece.type == "end",
)
