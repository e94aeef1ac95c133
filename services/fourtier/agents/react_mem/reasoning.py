"""One step of reasoning: a completion that ends in a tool call or in the answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.completion import (
    COMPLETE,
    ChatMessage,
    CompleteRequest,
    CompletionPiece,
    ToolSpec,
)
from fourtier.schema.message import Metadata


@dataclass
class Decision:
    """What the model has decided, filled while it streams. Without a tool it is the answer."""

    thought: str = ""
    answer: str = ""
    tool: str = ""
    arguments: Metadata | None = None

    def add(self, piece: CompletionPiece) -> None:
        """Add a piece."""
        if piece.type == "thought":
            self.thought += piece.content
        elif piece.type == "answer":
            self.answer += piece.content
        elif piece.type == "action":
            self.tool, self.arguments = piece.tool, piece.arguments


@dataclass
class Usage:
    """Tokens of a whole run."""

    in_token: int = 0
    out_token: int = 0
    model: str = ""

    def add(self, piece: CompletionPiece) -> None:
        """Add the counts of a completion that has ended."""
        self.in_token += piece.in_token
        self.out_token += piece.out_token
        self.model = piece.model or self.model

    @property
    def attributes(self) -> dict[str, str | int]:
        """The counts as attributes of a span."""
        counts: dict[str, str | int] = {
            "gen_ai.usage.input_tokens": self.in_token,
            "gen_ai.usage.output_tokens": self.out_token,
        }
        return counts | ({"gen_ai.response.model": self.model} if self.model else {})


async def reason(
    caller: Caller,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolSpec],
    decision: Decision,
    usage: Usage,
    *,
    streaming: bool,
) -> AsyncGenerator[CompletionPiece]:
    """Stream the pieces of a step, and fill `decision` and `usage`.

    Closing the stream cancels the completion. Where nobody reads along, there are few pieces.

    Raises:
        CallFailedError: the completion service answered with an error.
        DeadlineExceededError: the completion service does not answer.
    """
    request = CompleteRequest(messages=tuple(messages), tools=tuple(tools), streaming=streaming)
    async with aclosing(caller.stream(COMPLETE, request)) as pieces:
        async for piece in pieces:
            decision.add(piece)
            if piece.type == "end":
                usage.add(piece)
            elif piece.type != "action" and piece.content:
                yield piece
