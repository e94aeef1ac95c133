"""Vectors of passages: embedded once, and together with what stands around them."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from fourtier.engines.timestamps import as_text
from fourtier.memory.archive.entries import Entry, Source
from fourtier.memory.archive.meanings import Meanings, mean
from fourtier.memory.archive.passages import Passage, Windows, passages
from fourtier.schema.message import Scope, Vector

SAID = as_text(datetime(2026, 3, 1, tzinfo=UTC))
SOURCE = Source(Scope("ann", "default"), "conversation", "c1")


def passage(number: int, text: str, sent_at: str = SAID) -> Passage:
    (found,) = passages(Entry(SOURCE, f"r{number}", "turn", "Ann", text, SAID, sent_at))
    return found


class Embedding:
    """A vector for each text; `texts` is what was embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def __call__(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += texts
        return [Vector.of([float(len(text)), 1.0]) for text in texts]


async def test_a_passage_is_embedded_once_and_again_when_its_text_is_another() -> None:
    embed = Embedding()
    meanings = Meanings(embed)
    first, second = passage(1, "One."), passage(2, "Two, three.")
    before = await meanings.of([first, second, first])
    assert len(embed.texts) == 2
    assert await meanings.of([second, first]) == before
    assert len(embed.texts) == 2

    later = passage(1, "Another one.", as_text(datetime(2026, 3, 2, tzinfo=UTC)))
    assert (await meanings.of([later]))[later.id] != before[first.id]
    assert embed.texts[2:] == [later.dated]


async def test_what_was_embedded_before_a_failure_is_not_embedded_again() -> None:
    """As an import of long turns on a machine that is busy with other work."""

    class Failing(Embedding):
        async def __call__(self, texts: Sequence[str]) -> list[Vector]:
            if self.texts:
                raise TimeoutError
            return await super().__call__(texts)

    meanings = Meanings(Failing())
    many = [passage(number, f"Text {number}.") for number in range(200)]
    with pytest.raises(TimeoutError):
        await meanings.of(many)
    (first, *_) = many
    assert first.id in await meanings.of([first])


def test_the_context_of_a_passage_points_between_it_and_its_neighbours() -> None:
    row = [passage(number, f"Text {number}.") for number in range(7)]
    windows = Windows.of(each.entry for each in row)
    around = windows.around(row[3])
    assert [each.id for each in around] == [each.id for each in row[1:6]]

    vectors = {each.id: Vector.of([1.0, 0.0]) for each in around}
    vectors[row[1].id] = vectors[row[5].id] = Vector.of([0.0, 2.0])
    assert mean(vectors, around).floats() == pytest.approx([0.6, 0.8])
