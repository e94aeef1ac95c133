"""The JSON of a reply, without what models put around it.

They write it in a code fence, behind words, or behind a thought in tags. Some servers take all that
a model writes for its thought, and send it in that field.
"""

import json
import re
from collections.abc import Iterator

from pydantic import JsonValue
from pydantic_core import from_json

from fourtier.models.completion.dialects.contract import thought
from fourtier.models.completion.dialects.thoughts import Splitter
from fourtier.models.completion.wire import Delta
from fourtier.schema.completion import CompletionPiece

_FENCED = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)
#: The beginning of an object behind words, which may have brackets too.
_OBJECT = re.compile(r'\{\s*"')
_CLOSING = re.compile(r"</think>|</thought>")
_decoder = json.JSONDecoder()


class JsonReply:
    """Takes a reply as it streams: passes its thoughts on, and collects the rest."""

    def __init__(self) -> None:
        self._splitter = Splitter(hold=0)
        self._said = ""
        self._held = ""  # what came as a thought and may be the JSON

    @property
    def text(self) -> str:
        """What was said so far, without thoughts.

        Some prompts end with the opening tag of the thought; the reply has the closing one alone.
        """
        bare = self._said.lstrip().startswith(("{", "["))
        return self._said if bare else _CLOSING.split(self._said)[-1]

    def take(self, delta: Delta) -> Iterator[CompletionPiece]:
        """The thoughts of a part of the reply."""
        if delta.thinking:
            self._held += delta.thinking
            if not self._held.lstrip().startswith("{"):
                yield from self._thoughts_held()
        if delta.content:
            yield from self._split(self._splitter.take(delta.content))

    def finish(self) -> Iterator[CompletionPiece]:
        """The thoughts that were still open."""
        yield from self._split(self._splitter.finish())
        if not self._said.strip() and find_json(self._held) is not None:
            self._said, self._held = self._held, ""
        yield from self._thoughts_held()

    def _split(self, pieces: Iterator[CompletionPiece]) -> Iterator[CompletionPiece]:
        for piece in pieces:
            if piece.type == "thought":
                yield piece
            else:
                self._said += piece.content

    def _thoughts_held(self) -> Iterator[CompletionPiece]:
        if self._held:
            yield thought(self._held)
            self._held = ""


def find_json(text: str) -> str | None:
    """The JSON value of a text: all of it, all in its fence, or the first object in it."""
    if _is_json(whole := text.strip()):
        return whole
    fenced, begun = _FENCED.search(text), _OBJECT.search(text)
    in_fence = fenced is not None and (begun is None or fenced.start() < begun.start())
    if fenced and in_fence and _is_json(fenced[1]):
        return fenced[1]
    return _object_at(text, begun.start()) if begun else None


def is_whole(text: str) -> bool:
    """Whether the JSON of a text is closed, so that nothing of it can be missing."""
    return (find_json(text) or "").endswith(("}", "]"))


def read_partly(text: str) -> JsonValue:
    """As much as there is of the object in a text that is not complete; None without one."""
    begun = _OBJECT.search(text)
    try:
        return from_json(text[begun.start() :], allow_partial="trailing-strings") if begun else None
    except ValueError:  # something stands behind it, or it is not JSON
        found = find_json(text)
        return from_json(found) if found else None


def _object_at(text: str, begun: int) -> str | None:
    try:
        _, end = _decoder.raw_decode(text, begun)
    except (ValueError, RecursionError):
        return None
    return text[begun:end]


def _is_json(text: str) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True
