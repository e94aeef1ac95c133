"""What a dialect is: a prompt out, pieces of a step in."""

from collections.abc import Iterator
from typing import Protocol

from fourtier.models.completion.errors import (
    ModelCutOffError,
    ModelMalformedError,
    ModelRejectedError,
)
from fourtier.models.completion.wire import Delta, Prompt
from fourtier.schema.completion import CompleteRequest, CompletionPiece


class Reader(Protocol):
    """Reads one reply while it streams."""

    @property
    def whole(self) -> bool:
        """Whether nothing can be missing, though the stream broke off."""
        ...

    def take(self, delta: Delta) -> Iterator[CompletionPiece]:
        """The pieces that a part of the reply makes certain."""
        ...

    def finish(self, reason: str) -> Iterator[CompletionPiece]:
        """The pieces that were still open; `reason` is the endpoint's `finish_reason`.

        Raises:
            ModelError: the reply is neither an answer nor an action.
        """
        ...


class Dialect(Protocol):
    """One way of getting a thought and an action or an answer out of a model."""

    def prompt(self, request: CompleteRequest) -> Prompt:
        """What is sent."""
        ...

    def reader(self, request: CompleteRequest) -> Reader:
        """Reads what comes back."""
        ...


def thought(content: str) -> CompletionPiece:
    """A piece of what the model thinks."""
    return CompletionPiece(type="thought", content=content)


def answer(content: str) -> CompletionPiece:
    """A piece of what the model says."""
    return CompletionPiece(type="answer", content=content)


def no_step(reason: str) -> Exception:
    """The error for a reply that is neither an answer nor an action."""
    if reason == "length":
        return ModelCutOffError(
            "the model reached its limit of tokens before it had answered: raise max-tokens"
        )
    if reason == "content_filter":
        return ModelRejectedError("the endpoint's content filter stopped the reply")
    return ModelMalformedError("the model gave neither an answer nor a tool call")
