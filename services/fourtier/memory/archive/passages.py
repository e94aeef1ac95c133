"""Passages: what the archive's index has of an entry, each short enough for one vector."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from fourtier.engines.timestamps import parse_time
from fourtier.memory.archive.entries import Entry
from fourtier.models.text.tokens import count_tokens
from fourtier.runtime.service.stores.vectors import Payload, Point
from fourtier.schema.message import Vector

#: Tokens of a passage: the bundled model reads 256 of its own, and what is longer not at all.
MAX_TOKENS = 200
#: Passages on each side that are searched with one.
AROUND = 2

#: A sentence or a line: everything is searched, code and tables too.
_PIECE = re.compile(r"[^\n]+?(?:[.!?…]+(?=\s)|\n|$)")
#: The fields of the index.
#: The meaning and the words of a passage, and those of it with its neighbours.
MEANING: Final = "meaning"
CONTEXT: Final = "context"
WORDS: Final = "words"
WINDOW: Final = "window"


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of an entry; most entries have one.

    Attributes:
        number: of the passage within its entry, from 0.
    """

    entry: Entry
    number: int
    text: str

    @property
    def id(self) -> str:
        """Of its point."""
        return f"{self.entry.id}/{self.number}"

    @property
    def said(self) -> str:
        """With who said it, without whom "I went there" could be anybody's."""
        return f"{self.entry.speaker}: {self.text}" if self.entry.speaker else self.text

    @property
    def dated(self) -> str:
        """With the day in words: questions name it so."""
        day = parse_time(self.entry.said_at)
        return f"{self.said} ({day.day} {day:%B %Y})"

    @property
    def payload(self) -> Payload:
        """What searches filter on, and what tells whether the point is of the entry as it is."""
        entry = self.entry
        return {
            "entry": entry.id,
            "source": entry.source.name,
            "speaker": entry.speaker.casefold(),
            "at": entry.said_at,
            "sent": entry.sent_at,
        }

    def point(self, meaning: Vector, context: Vector, window: str) -> Point:
        """For the index."""
        vectors, texts = {MEANING: meaning, CONTEXT: context}, {WORDS: self.dated, WINDOW: window}
        return Point(self.id, vectors, texts, self.payload)

    def amended(self, context: Vector, window: str) -> Point:
        """What has changed when its neighbours have."""
        return Point(self.id, {CONTEXT: context}, {WINDOW: window})


def passages(entry: Entry) -> list[Passage]:
    """The parts of an entry: whole sentences, as many as fit."""
    if count_tokens(entry.text) <= MAX_TOKENS:
        return [Passage(entry, 0, entry.text)]
    return [Passage(entry, number, text) for number, text in enumerate(_parts(entry.text))]


def _parts(text: str) -> Iterator[str]:
    part: list[str] = []
    cost = 0
    for piece in (short for each in _PIECE.findall(text) for short in _bounded(each.strip())):
        price = count_tokens(piece)
        if part and cost + price > MAX_TOKENS:
            yield " ".join(part)
            part, cost = [], 0
        part.append(piece)
        cost += price
    if part:
        yield " ".join(part)


def _bounded(piece: str) -> Iterator[str]:
    """A piece that is too long for a passage in several, cut between words where there are any."""
    while count_tokens(piece) > MAX_TOKENS:
        size = max(1, len(piece) * MAX_TOKENS // count_tokens(piece))
        space = piece.rfind(" ", 1, size)
        size = space if space > 0 else size
        yield piece[:size]
        piece = piece[size:].strip()
    if piece:
        yield piece


@dataclass(frozen=True, slots=True)
class Windows:
    """Consecutive passages of one source, each with those around it."""

    row: Sequence[Passage]
    places: Mapping[str, int]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """Those of consecutive entries, in their order."""
        row = [passage for entry in entries for passage in passages(entry)]
        return cls(row, {passage.id: place for place, passage in enumerate(row)})

    def around(self, passage: Passage) -> Sequence[Passage]:
        """A passage with its neighbours."""
        place = self.places[passage.id]
        return self.row[max(0, place - AROUND) : place + AROUND + 1]

    def text(self, passage: Passage) -> str:
        """The words of a passage and of its neighbours."""
        day = parse_time(passage.entry.said_at)
        said = [each.said for each in self.around(passage)]
        return "\n".join([*said, f"({day.day} {day:%B %Y})"])


def near(entries: Sequence[Entry], changed: Iterable[str]) -> list[Entry]:
    """Those of consecutive entries whose windows have words of some changed ones."""
    wanted = set(changed)
    places = [index for index, entry in enumerate(entries) if entry.id in wanted]
    close = {index + step for index in places for step in range(-AROUND, AROUND + 1)}
    return [entry for index, entry in enumerate(entries) if index in close]
