"""Texts in which no personal data was found lately, known by their digests alone.

Every service cleans what it writes, so the four that hear of a run read the same texts, and so does
the next run, which has found the same memories.
"""

from collections import OrderedDict
from hashlib import blake2b
from threading import Lock

from fourtier.runtime.privacy.kinds import Kind

#: How many texts are known: 2 MB of digests.
_MAX_TEXTS = 20_000


class CleanTexts:
    """A set that gives up the oldest when it is full; threads may share it."""

    def __init__(self, max_texts: int = _MAX_TEXTS) -> None:
        self._max_texts = max_texts
        self._known: OrderedDict[tuple[bytes, frozenset[Kind]], None] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    def has(self, text: str, kinds: frozenset[Kind]) -> bool:
        """Whether a text is known to have nothing of these kinds."""
        return (_digest(text), kinds) in self._known

    def add(self, text: str, kinds: frozenset[Kind]) -> None:
        """Nothing of these kinds was found in a text."""
        with self._lock:
            self._known[_digest(text), kinds] = None
            if len(self._known) > self._max_texts:
                self._known.popitem(last=False)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
