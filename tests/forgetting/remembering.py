"""A process with a word in much of the memory that it has freed; then it writes to a store.

Run as a script, `remembering.py graph DIRECTORY WORD`: the word is never given to the store.
"""

import asyncio
import ctypes
import random
import sys
from pathlib import Path

from tests.forgetting.stores import ON_DEMAND, opened

_SIZES = [1 << power for power in range(6, 21)]
#: Bytes in all: more than what an engine takes for itself while it opens a store.
_REMEMBERED = 200_000_000


def _fill_and_free(word: str) -> None:
    """Fill memory of many sizes with a word and free it, as an engine or a library does."""
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.malloc.argtypes = [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    text, total = word.encode(), 0
    filled: list[int] = []
    while total < _REMEMBERED:
        size = random.choice(_SIZES)  # noqa: S311 - no secret
        place = library.malloc(size)
        ctypes.memmove(place, text * (size // len(text)), size // len(text) * len(text))
        filled.append(place)
        total += size
    library.malloc(64)  # behind all of it, so that the process keeps it
    for place in filled:
        library.free(place)


async def _main(engine: str, directory: Path, word: str) -> None:
    _fill_and_free(word)
    async with opened(engine, directory, ON_DEMAND) as texts:
        for number in range(200):  # the graph moves its log into its file more than once
            await texts.write({f"t{number}": f"text {number}"})


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
