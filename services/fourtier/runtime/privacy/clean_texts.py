"""Texts in which no personal data was found lately, known by their digests alone.

Every service cleans what it writes, so the four that hear of a run read the same texts, and so does
the next run, which has found the same memories.
"""

from hashlib import blake2b

from fourtier.runtime.privacy.kinds import Kind
from fourtier.runtime.recent_ids import RecentIds

#: How many texts are known: 4 MB of digests.
_MAX_TEXTS = 20_000


class CleanTexts:
    """Threads may share it."""

    def __init__(self, max_texts: int = _MAX_TEXTS) -> None:
        self._known = RecentIds(max_texts)

    def __len__(self) -> int:
        return len(self._known)

    def has(self, text: str, kinds: frozenset[Kind]) -> bool:
        """Whether a text is known to have nothing of these kinds."""
        return _name(text, kinds) in self._known

    def add(self, text: str, kinds: frozenset[Kind]) -> None:
        """Nothing of these kinds was found in a text."""
        self._known.add(_name(text, kinds))


def _name(text: str, kinds: frozenset[Kind]) -> str:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return " ".join([digest, *sorted(kinds)])
