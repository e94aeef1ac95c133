"""Making texts fit, to a number of characters or a budget of tokens, and telling equal ones."""

import re
import unicodedata

from fourtier.models.text.tokens import count_tokens

_SPACE = re.compile(r"\s+")
_CUT = " …"


def shorten(text: str, characters: int) -> str:
    """The text on one line, cut behind a word when it is longer than `characters`."""
    line = _SPACE.sub(" ", text).strip()
    if len(line) <= characters:
        return line
    head = line[: characters - len(_CUT)]
    return f"{head.rsplit(' ', 1)[0] or head}{_CUT}"


def clip(text: str, tokens: int) -> str:
    """The beginning of a text, as much as costs at most `tokens`."""
    while (cost := count_tokens(text)) > tokens:
        text = text[: min(len(text) - 1, len(text) * tokens // cost)]
    return text


def normalised(text: str) -> str:
    """A statement without what does not change its meaning: case, spacing, a final stop."""
    line = _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()
    return line.rstrip(".!;, ").casefold()
