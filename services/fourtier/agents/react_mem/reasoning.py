"""One step of reasoning: a completion that ends in a tool call or in the answer."""

from collections.abc import AsyncIterator, Sequence
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
    """What the model decided, filled while it streams. Without a tool it is the answer."""

    thought: str = ""
    answer: str = ""
    tool: str = ""
    arguments: Metadata | None = None

    def take(self, piece: CompletionPiece) -> None:
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

    def take(self, piece: CompletionPiece) -> None:
        """Add the counts of a completion that has ended."""
        self.in_token += piece.in_token
        self.out_token += piece.out_token
        self.model = piece.model or self.model


async def reason(
    caller: Caller,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolSpec],
    decision: Decision,
    usage: Usage,
) -> AsyncIterator[CompletionPiece]:
    """Stream the pieces of a step, and fill `decision` and `usage` on the way.

    Raises:
        CallFailedError: the model cannot be used; says why.
        DeadlineExceededError: no completion service is there.
    """
    request = CompleteRequest(messages=tuple(messages), tools=tuple(tools))
    async for piece in caller.stream(COMPLETE, request):
        decision.take(piece)
        if piece.type == "end":
            usage.take(piece)
        elif piece.type != "action" and piece.content:
            yield piece
