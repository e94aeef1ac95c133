"""Joins the pieces of a completion: a model makes them faster than anybody reads them."""

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from fourtier.schema.completion import CompletionPiece

#: Seconds between two pieces for somebody who reads along, and for somebody who does not: now and
#: then one comes all the same, so that nobody takes a long answer for one that hangs.
_READ_ALONG, _NOT_READ = 0.005, 1.0
#: Pieces that may wait; when there are more, the model waits.
_MAX_WAITING = 1_000
#: What can be joined with more of its kind.
_TEXTS = frozenset({"thought", "answer"})


async def joined(
    pieces: AsyncGenerator[CompletionPiece], *, streaming: bool
) -> AsyncGenerator[CompletionPiece]:
    """The same text in fewer pieces: those of one kind that come soon after another are one.

    Closing it ends the model's work.

    Args:
        pieces: as the model makes them.
        streaming: somebody reads along; then the first piece is not held back.

    Raises: what the model's work raises.
    """
    clock = asyncio.get_running_loop().time
    seconds, sent_at = (_READ_ALONG, -math.inf) if streaming else (_NOT_READ, clock())
    waiting = _Waiting()
    reading = asyncio.create_task(waiting.read(pieces), name="read completion")
    try:
        while (piece := await waiting.next()) is not None:
            more = await waiting.more(piece.type, until=sent_at + seconds)
            yield piece.model_copy(update={"content": piece.content + more}) if more else piece
            sent_at = clock()
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


class _Waiting:
    """Pieces that have come and were not sent yet, and how they ended: None, or an error."""

    def __init__(self) -> None:
        self._queue = asyncio.Queue[CompletionPiece | Exception | None](_MAX_WAITING)
        self._first: list[CompletionPiece | Exception | None] = []

    async def read(self, pieces: AsyncGenerator[CompletionPiece]) -> None:
        """Take pieces as they come, until they end."""
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    await self._queue.put(piece)
        except Exception as error:  # noqa: BLE001 - raised where it is read
            await self._queue.put(error)
        else:
            await self._queue.put(None)

    async def next(self) -> CompletionPiece | None:
        """The next piece; None at the end.

        Raises: what the model's work raised.
        """
        found = self._first.pop() if self._first else await self._queue.get()
        if isinstance(found, Exception):
            raise found
        return found

    async def more(self, kind: str, *, until: float) -> str:
        """The text of the next pieces, as long as they are of a kind and come until then."""
        texts: list[str] = []
        while kind in _TEXTS:
            try:
                async with asyncio.timeout_at(until if self._queue.empty() else None):
                    found = await self._queue.get()
            except TimeoutError:
                break
            if not isinstance(found, CompletionPiece) or found.type != kind:
                self._first.append(found)
                break
            texts.append(found.content)
        return "".join(texts)
