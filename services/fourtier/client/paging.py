"""Reads lists that are longer than one message on the bus."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fourtier.schema.message import Answer

A = TypeVar("A", bound=Answer)

#: Items of one answer: with the largest texts they still fit into a message on the bus.
_PAGE = 100


async def read_pages(
    read: Callable[[int, int], Awaitable[A]], items: str, limit: int, offset: int
) -> A:
    """Read a list page by page, until `limit` items are read or there are no more.

    Args:
        read: reads a page, by its limit and its offset.
        items: the field of the answer that has them.
        limit: how many at most; of any size.
        offset: how many to skip.

    Returns: the answer to the last page, with the items of all pages.
    """
    found: list[Any] = []
    while True:
        size = min(limit - len(found), _PAGE)
        answer = await read(size, offset)
        found += getattr(answer, items)
        offset += size
        total = getattr(answer, "total", None)
        if len(found) >= limit or total is None or offset >= total:
            return answer.model_copy(update={items: tuple(found)})
