"""A completion in fewer pieces: the same text, and nothing held back from who reads along."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from fourtier.models.completion import joining
from fourtier.models.completion.joining import joined
from fourtier.runtime.errors import UnavailableError
from fourtier.schema.completion import CompletionPiece

END = CompletionPiece(type="end", in_token=3, out_token=100)
LONG = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def answer(text: str) -> CompletionPiece:
    return CompletionPiece(type="answer", content=text)


class Model:
    """Makes pieces, and waits behind each of them where it is told to.

    Attributes:
        go_on: let it make one more.
        ended: its work is over, in whatever way.
    """

    def __init__(self, *pieces: CompletionPiece | Exception, waits: bool = False) -> None:
        self._pieces = pieces
        self._waits = waits
        self.go_on = asyncio.Semaphore(0)
        self.ended = False

    async def work(self) -> AsyncGenerator[CompletionPiece]:
        try:
            for piece in self._pieces:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
                if self._waits:
                    await self.go_on.acquire()
        finally:
            self.ended = True


async def pieces_of(model: Model, *, streaming: bool) -> Sequence[CompletionPiece]:
    return [piece async for piece in joined(model.work(), streaming=streaming)]


async def test_who_does_not_read_along_gets_each_kind_whole() -> None:
    thoughts = [CompletionPiece(type="thought", content=word) for word in LONG]
    action = CompletionPiece(type="action", tool="clock")
    got = await pieces_of(Model(*thoughts, *map(answer, LONG), action, END), streaming=False)
    assert [(each.type, each.content) for each in got] == [
        ("thought", "".join(LONG)),
        ("answer", "".join(LONG)),
        ("action", ""),
        ("end", ""),
    ]
    assert got[2:] == [action, END]


async def test_what_comes_at_once_is_one_piece_for_who_reads_along_too() -> None:
    got = await pieces_of(Model(*map(answer, LONG * 100), END), streaming=True)
    assert "".join(each.content for each in got) == "".join(LONG * 100)
    assert len(got) < 20


async def test_who_reads_along_gets_the_first_piece_before_there_is_another() -> None:
    model = Model(answer("one"), answer("two"), END, waits=True)
    async with aclosing(joined(model.work(), streaming=True)) as pieces:
        async with asyncio.timeout(20):  # many times what a busy machine takes
            assert (await anext(pieces)).content == "one"
            model.go_on.release()
            assert (await anext(pieces)).content == "two"


async def test_a_long_answer_comes_now_and_then_to_who_does_not_read_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joining, "_NOT_READ", 0.05)
    model = Model(answer("one"), END, waits=True)
    async with aclosing(joined(model.work(), streaming=False)) as pieces:
        assert (await anext(pieces)).content == "one"
        assert not model.ended


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_error_comes_behind_what_was_made_before(streaming: bool) -> None:
    model = Model(answer("onetwo"), UnavailableError("the model is away"))
    async with aclosing(joined(model.work(), streaming=streaming)) as pieces:
        assert (await anext(pieces)).content == "onetwo"
        with pytest.raises(UnavailableError, match="away"):
            await anext(pieces)


@pytest.mark.parametrize("waits", [True, False])
async def test_who_leaves_ends_the_work_of_the_model(waits: bool) -> None:
    """Also of one that has made more than may wait."""
    model = Model(*map(answer, LONG * 1_000), END, waits=waits)
    async with aclosing(joined(model.work(), streaming=True)) as pieces:
        await anext(pieces)
    assert model.ended
