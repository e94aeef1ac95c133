"""Vectors of passages, by themselves and with what stands around them."""

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from fourtier.memory.archive.passages import Passage
from fourtier.models.embeddings.client import Embed
from fourtier.schema.message import Vector

#: Texts in one call; a call takes 512, and a message on the bus a few megabytes.
_TEXTS_AT_ONCE = 128
#: Vectors that are remembered: some megabytes.
_RECENT = 2_048


class Meanings:
    """Embeds passages. What was embedded last is the neighbour of what comes next."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._recent: OrderedDict[tuple[str, str], Vector] = OrderedDict()

    async def of(self, passages: Iterable[Passage]) -> dict[str, Vector]:
        """The vector of each passage, by its id.

        Raises: what the embedding raises.
        """
        wanted = {each.id: each for each in passages}
        vectors = {
            name: self._recent[_key(each)]
            for name, each in wanted.items()
            if _key(each) in self._recent
        }
        new = [each for name, each in wanted.items() if name not in vectors]
        for start in range(0, len(new), _TEXTS_AT_ONCE):
            some = new[start : start + _TEXTS_AT_ONCE]
            embedded = await self._embed([each.dated for each in some])
            parts = {each.id: vector for each, vector in zip(some, embedded, strict=True)}
            self._remember({_key(each): parts[each.id] for each in some})  # if the next part fails
            vectors |= parts
        # Others may have pushed some out while this one waited for the model.
        self._remember({_key(each): vectors[name] for name, each in wanted.items()})
        return vectors

    def _remember(self, vectors: Mapping[tuple[str, str], Vector]) -> None:
        """Keep them as the last ones, in place of the oldest."""
        for key, vector in vectors.items():
            self._recent[key] = vector
            self._recent.move_to_end(key)
        while len(self._recent) > _RECENT:
            self._recent.popitem(last=False)


def _key(passage: Passage) -> tuple[str, str]:
    """What tells one text of a passage from another, without any of its words."""
    return passage.id, passage.entry.sent_at


def mean(vectors: Mapping[str, Vector], passages: Sequence[Passage]) -> Vector:
    """Where passages point together: the mean of their vectors, of length one.

    It finds what a vector of their joined texts finds, within a point of recall (docs/recall.md),
    and costs no embedding each time that a neighbour comes.
    """
    rows = [vectors[each.id].floats() for each in passages]
    sums = [sum(column) for column in zip(*rows, strict=True)]
    length = math.hypot(*sums) or 1.0
    return Vector.of(each / length for each in sums)
