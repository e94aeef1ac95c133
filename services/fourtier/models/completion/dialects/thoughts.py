"""Tells a thought from an answer in text that may yet be followed by a tool call.

The API does not say what a text is: before a tool call it is what the model thinks, without one it
is the answer, and the call comes last. So the prompt asks for the thought in tags, and the rule for
models that leave the tags out is:

    Text in <thought> or <think> tags at the beginning is the thought. Other text is held back until
    a tool call follows, which makes it the thought, or the reply ends, which makes it the answer,
    or it is longer than what is said before a tool call: then it streams as the answer.

Where no tools are offered nothing is held back. A model that speaks at length and then calls a tool
has its text shown as an answer that another step follows; the action is passed on all the same.
"""

from collections.abc import Iterator
from enum import Enum, auto

from fourtier.models.completion.dialects.contract import answer, thought
from fourtier.schema.completion import CompletionPiece

#: Characters that models say before a tool call without tags. A longer answer begins to stream
#: about 40 tokens late; a shorter one comes when it is complete.
HOLD = 160

_TAGS = {"<thought>": "</thought>", "<think>": "</think>"}


class _State(Enum):
    BEGINNING = auto()  # a tag may come
    THINKING = auto()  # inside of one
    HOLDING = auto()  # plain text that may turn out to be either
    ANSWERING = auto()
    CALLING = auto()  # a tool call has begun


class Splitter:
    """Splits one reply. `hold` is how many characters are held back."""

    def __init__(self, hold: int) -> None:
        self._hold = hold
        self._state = _State.BEGINNING
        self._text = ""  # not yet passed on
        self._closing = ""

    def take(self, text: str) -> Iterator[CompletionPiece]:
        """The pieces that a part of the text makes certain."""
        self._text += text
        before = None
        while self._state is not before:
            before = self._state
            yield from self._advance()

    def call_follows(self) -> Iterator[CompletionPiece]:
        """A tool call has begun: what was held back is the thought."""
        self._state = _State.CALLING
        yield from self._advance()

    def finish(self) -> Iterator[CompletionPiece]:
        """The reply has ended without a tool call: what was held back is the answer.

        A thought is none, also when its tag was not closed.
        """
        if self._state is _State.THINKING:
            yield from self._think(len(self._text))
        elif self._text:
            yield answer(self._text)

    def _advance(self) -> Iterator[CompletionPiece]:
        """Pass on what is certain in this state, or enter the next one."""
        if self._state is _State.BEGINNING:
            self._begin()
        elif self._state is _State.THINKING:
            inside, closed, after = self._text.partition(self._closing)
            certain = len(inside) if closed else len(inside) - _overlap(inside, self._closing)
            yield from self._think(certain)
            if closed:
                self._text, self._state = after, _State.BEGINNING
        elif self._state is _State.HOLDING:
            if len(self._text) > self._hold:
                self._state = _State.ANSWERING
        elif self._text:
            yield (answer if self._state is _State.ANSWERING else thought)(self._text)
            self._text = ""

    def _begin(self) -> None:
        """Look for an opening tag; there may be several thoughts one after another."""
        self._text = self._text.lstrip()
        for opening, closing in _TAGS.items():
            if self._text.startswith(opening):
                self._text = self._text.removeprefix(opening)
                self._state, self._closing = _State.THINKING, closing
                return
        if self._text and not any(opening.startswith(self._text) for opening in _TAGS):
            self._state = _State.HOLDING

    def _think(self, size: int) -> Iterator[CompletionPiece]:
        """Pass on so many characters as the thought."""
        if size:
            yield thought(self._text[:size])
            self._text = self._text[size:]


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of the text may be the beginning of the tag."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)
