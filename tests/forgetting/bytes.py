"""Looks for words in every byte of a directory: what is found there, somebody can read.

A canary is a random word that stands nowhere else. It is found as it is, in UTF-8 of either case
and in UTF-16, also inside files that are compressed as a whole or in parts (gzip, zlib, bzip2, xz,
Parquet). That a canary is not found proves something only where it was found before: with other
compressions an engine would hide it. So a test first sees it, in each store by itself.
"""

import bz2
import gzip
import lzma
import random
import string
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_LETTERS = 12
_ZEROS = bytes(65_536)
_DECOMPRESSIONS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
    b"\x78\x01": zlib.decompress,
    b"\x78\x9c": zlib.decompress,
    b"\x78\xda": zlib.decompress,
}


@dataclass(frozen=True, slots=True, order=True)
class Find:
    """A canary in a file.

    Attributes:
        file: relative to the directory.
        times: how often it stands there.
    """

    file: str
    canary: str
    times: int


def canary() -> str:
    """A word of twelve letters that stands nowhere else; the stemmer of BM25 leaves it alone."""
    return "".join(random.choices(string.ascii_lowercase, k=_LETTERS - 2)) + "qx"  # noqa: S311 - no secret


def find(directory: Path, canaries: Iterable[str]) -> list[Find]:
    """Where canaries stand below a directory, in names of files as well."""
    words, found = list(canaries), list[Find]()
    for path in sorted(directory.rglob("*")):
        content = _content(path) if path.is_file() and not path.is_symlink() else b""
        texts = [str(path.relative_to(directory)).encode(), *_readable(content)]
        for word in words:
            if times := sum(_count(text, word) for text in texts):
                found.append(Find(str(path.relative_to(directory)), word, times))
    return found


def _content(path: Path) -> bytes:
    """The bytes of a file but for blocks of zeros, of which a shard has hundreds of megabytes."""
    blocks: list[bytes] = []
    with path.open("rb", buffering=0) as file:
        while block := file.read(len(_ZEROS)):
            blocks.append(b"\0" if block == _ZEROS[: len(block)] else block)
    return b"".join(blocks)


def _readable(content: bytes) -> Iterator[bytes]:
    """The bytes themselves, and what they are when they are decompressed."""
    yield content
    for magic, decompress in _DECOMPRESSIONS.items():
        if content.startswith(magic):
            try:
                yield decompress(content)
            except (OSError, EOFError, zlib.error, lzma.LZMAError):
                continue  # it only looked like that


def _count(text: bytes, word: str) -> int:
    forms = {
        form
        for cased in (word, word.upper(), word.capitalize())
        for form in (cased.encode(), cased.encode("utf-16-le"), cased.encode("utf-16-be"))
    }
    return sum(text.count(form) for form in forms)
