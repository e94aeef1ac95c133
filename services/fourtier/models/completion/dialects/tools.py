"""Dialect `tools`: the API's own tool calls, for endpoints that have them."""

import json
import logging
from collections.abc import Iterator, Sequence

from fourtier.models.completion.dialects.arguments import given_arguments, read_arguments
from fourtier.models.completion.dialects.contract import Reader, no_step, thought
from fourtier.models.completion.dialects.output import JsonMode, OutputReader, output_prompt
from fourtier.models.completion.dialects.thoughts import HOLD, Splitter
from fourtier.models.completion.dialects.transcript import (
    Acted,
    Said,
    read_transcript,
    with_system,
)
from fourtier.models.completion.wire import (
    CalledFunction,
    Delta,
    EarlierCall,
    Function,
    OfferedTool,
    Prompt,
    PromptMessage,
    ToolCallDelta,
)
from fourtier.models.text.prompts import read_prompt
from fourtier.schema.completion import CompleteRequest, CompletionPiece, ToolSpec

log = logging.getLogger(__name__)

_PACKAGE = "fourtier.models.completion"


class ToolsDialect:
    """One tool call per step, or none; see `thoughts` for what counts as a thought.

    Args:
        json_mode: how the endpoint is asked for JSON by requests that have a schema.
    """

    def __init__(self, *, json_mode: JsonMode = "schema") -> None:
        self._json_mode: JsonMode = json_mode

    def prompt(self, request: CompleteRequest) -> Prompt:
        """Messages and tools as the API has them."""
        turns = read_transcript(request.messages)
        if request.output_schema is not None:
            return output_prompt(turns, request.output_schema, self._json_mode)
        if not request.tools:
            return Prompt(messages=tool_messages(turns))
        return Prompt(
            messages=tool_messages(with_system(turns, read_prompt(_PACKAGE, "think_first"))),
            tools=tuple(map(_offered, request.tools)),
            parallel_tool_calls=False,
        )

    def reader(self, request: CompleteRequest) -> Reader:
        """Reads text and tool calls."""
        if request.output_schema is not None:
            return OutputReader()
        return ToolsReader(hold=HOLD if request.tools else 0)


class ToolsReader:
    """Assembles the pieces of a tool call, and splits the text beside it."""

    def __init__(self, hold: int) -> None:
        self._splitter = Splitter(hold)
        self._call: ToolCallDelta | None = None
        self._name = ""
        self._arguments = ""
        self._answered = False

    @property
    def whole(self) -> bool:
        """Whether there is a call whose arguments are complete."""
        return bool(self._call and self._arguments and read_arguments(self._arguments) is not None)

    def take(self, delta: Delta) -> Iterator[CompletionPiece]:
        """Thoughts and the answer as they come; the action only when it is complete."""
        if delta.thinking:
            yield thought(delta.thinking)
        if delta.content:
            yield from self._noted(self._splitter.take(delta.content))
        for call in delta.tool_calls or ():
            if self._call is None:
                self._call = call
                yield from self._splitter.call_follows()
            self._assemble(self._call, call)

    def finish(self, reason: str) -> Iterator[CompletionPiece]:
        """The action, or what is left of the answer."""
        if self._call is not None:
            if self._answered:
                log.info("The model called %s after it had begun to answer.", self._name)
            # The observation tells the model what is wrong with arguments that cannot be read.
            arguments = given_arguments(self._arguments)
            yield CompletionPiece(type="action", tool=self._name, arguments=arguments)
            return
        yield from self._noted(self._splitter.finish())
        if not self._answered:
            raise no_step(reason)
        if reason == "length":
            log.warning("The answer was cut off at the limit of tokens; see max-tokens.")

    def _noted(self, pieces: Iterator[CompletionPiece]) -> Iterator[CompletionPiece]:
        for piece in pieces:
            self._answered = self._answered or piece.type == "answer"
            yield piece

    def _assemble(self, first: ToolCallDelta, piece: ToolCallDelta) -> None:
        """Add a piece; a second call has another index, or another id where there is no index."""
        other = (piece.index or 0) != (first.index or 0) or (piece.id and piece.id != first.id)
        if not other:
            self._name += piece.function.name or ""
            self._arguments += piece.function.arguments or ""
        elif piece.function.name:
            log.warning(
                "The model called more than one tool at once; only %s is used, and not %s.",
                self._name,
                piece.function.name,
            )


def tool_messages(turns: Sequence[Said | Acted]) -> tuple[PromptMessage, ...]:
    """Turns as messages; an earlier action is a tool call, and its result names it."""
    messages: list[PromptMessage] = []
    for turn in turns:
        if isinstance(turn, Acted):
            messages += _call_and_result(turn)
        else:
            messages.append(PromptMessage(role=turn.role, content=turn.content))
    return tuple(messages)


def _call_and_result(turn: Acted) -> tuple[PromptMessage, PromptMessage]:
    function = CalledFunction(
        name=turn.tool, arguments=json.dumps(turn.arguments, ensure_ascii=False)
    )
    return (
        PromptMessage(
            role="assistant",
            content=turn.thought,
            tool_calls=(EarlierCall(id=turn.call_id, function=function),),
        ),
        PromptMessage(role="tool", content=turn.result, tool_call_id=turn.call_id),
    )


def _offered(tool: ToolSpec) -> OfferedTool:
    return OfferedTool(
        function=Function(name=tool.name, description=tool.description, parameters=tool.parameters)
    )
