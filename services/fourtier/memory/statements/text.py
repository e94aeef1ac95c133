"""Making texts fit into a number of characters, and telling equal ones."""

import re
import unicodedata

_SPACE = re.compile(r"\s+")
_CUT = " …"


def shorten(text: str, characters: int) -> str:
    """The text on one line, cut behind a word when it is longer than `characters`."""
    line = _SPACE.sub(" ", text).strip()
    if len(line) <= characters:
        return line
    head = line[: characters - len(_CUT)]
    return f"{head.rsplit(' ', 1)[0] or head}{_CUT}"


def normalised(text: str) -> str:
    """A statement without what does not change its meaning: case, spacing, a final stop."""
    line = _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()
    return line.rstrip(".!;, ").casefold()
