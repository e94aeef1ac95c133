"""Cutting plain text into sentences by rule: no model, nothing to download.

Made for what people type to an agent: lines and lists, quotes, numbers, abbreviations, web
addresses, and no care for capitals. Time grows linearly with the text, whatever is in it.
"""

import re
from collections import deque

from fourtier.memory.statements.vocabulary import MAY_END, NEVER_END, STARTERS

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•‣\u2013\u2014+]\s+|\(?(?:\d{1,3}[.)]|[a-zA-Z]\))\s+)(?=\S)")
_FOREIGN = re.compile(r"^\s*>")
_SPACE = re.compile(r"\s+")
#: Text in which nothing is cut: addresses, and short quoted or bracketed passages.
_WHOLE = re.compile(
    r"https?://\S+|www\.\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"
    r"|\"[^\"]{1,200}\"|“[^”]{1,200}”|«[^»]{1,200}»|\([^()]{1,200}\)"
)
#: A mark begins where no other stands before it, so that a long row of marks is read once.
_END = re.compile(
    r"(?<![.!?…。\uff01\uff1f])(?P<mark>[.!?…。\uff01\uff1f]+)(?P<closing>[\"'”\u2019»)\]*_]*)"
    r"(?P<space>\s+(?:[^\w\s\"'“«(\[<$€£¥#@&*_-]+\s+)?|(?<=[。\uff01\uff1f])|$)"
)
_GLUED = re.compile(r"(?<=[a-z][a-z][.!?])(?=(?:I|My|We|It|The|He|She|They|You|But|And)\b)")
_LAST_WORD = re.compile(r"[\w.'-]*$")
_MAX_WORD = 20
#: The number of a list's item, "1.", with the space around it.
_MAX_NUMBER = 4
_NOT_SPACE = re.compile(r"\S")
_NEXT_WORD = re.compile(r"[\"'“«(\[*_]*(?P<word>[\w'\u2019]*)")
#: Items of a list that are this short belong to the line above them.
_SHORT_ITEM = 6
#: What is longer is not a sentence that somebody wrote, and more than a vector can hold.
_MAX_SENTENCE = 600
_CLAUSE = re.compile(r".{200,600}(?:[;:,]|\s[-\u2013\u2014])\s|.{1,600}(?:\s|$)|.{600}", re.DOTALL)


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, each in the words that it was written in.

    Code between fences and lines quoted with `>` are not the writer's sentences: they are left out.
    """
    found = [sentence for block in _blocks(text) for sentence in _split(block)]
    return [part for sentence in found for part in _bounded(sentence)]


def _blocks(text: str) -> list[str]:
    """Lines joined to blocks: wrapped lines, and a list with its head."""
    blocks: list[list[str]] = []
    separated, open_list = True, False
    for raw in _FENCED.sub("\n", text).replace("\r", "\n").split("\n"):
        if _FOREIGN.match(raw) or not raw.strip():
            open_list = open_list and not raw.strip()
            separated = True
            continue
        line = _SPACE.sub(" ", _BULLET.sub("", raw)).strip()
        above = blocks[-1][-1] if blocks else ""
        if _BULLET.match(raw):
            if (above.endswith(":") or open_list) and _is_short_item(line):
                if open_list:
                    blocks[-1][-1] += ";"
                blocks[-1].append(line)
                open_list = True
                continue
        elif not separated and _goes_on(above, line):
            blocks[-1].append(line)
            continue
        separated, open_list = False, False
        blocks.append([line])
    return [" ".join(lines) for lines in blocks]


def _is_short_item(line: str) -> bool:
    return len(line.split()) <= _SHORT_ITEM and not line.endswith((".", "!", "?", ":"))


def _goes_on(above: str, line: str) -> bool:
    """Whether a line was only wrapped."""
    return line[0].islower() and not above.endswith((".", "!", "?", ":", ";"))


def _split(block: str) -> list[str]:
    block = _GLUED.sub(" ", block)
    passages = deque(match.span() for match in _WHOLE.finditer(block))
    parts: list[str] = []
    start = 0
    for end in _END.finditer(block):
        while passages and passages[0][1] <= end.start():
            passages.popleft()
        # A mark that ends with its passage stands behind it.
        inside = (
            bool(passages) and passages[0][0] <= end.start() < end.end("closing") < passages[0][1]
        )
        if inside or not _is_end(block, start, end):
            continue
        parts.append(block[start : end.end()].strip())
        start = end.end()
    parts.append(block[start:].strip())
    return [part for part in parts if part]


def _is_end(block: str, start: int, end: re.Match[str]) -> bool:
    rest = _NOT_SPACE.search(block, end.end())
    if rest is None:
        return True
    mark = end["mark"]
    if end["closing"].strip("*_") and rest[0].islower():
        return False  # "Stop!" he said
    if mark in {"...", "…", ".."} or "…" in mark:
        return not rest[0].islower()
    if mark != ".":
        return True
    last = _LAST_WORD.search(block, max(start, end.start() - _MAX_WORD), end.start())
    following = _NEXT_WORD.match(block, end.end())
    short = block[start : end.start()] if end.start() - start <= _MAX_NUMBER else ""
    return _ends_after(last[0] if last else "", following["word"] if following else "", short)


def _ends_after(word: str, after: str, short: str) -> bool:
    """Whether a single full stop behind `word` ends the sentence, when `after` follows.

    `short` is the sentence, if it is short enough to be the number of a list's item.
    """
    plain = word.casefold().lstrip("'-.")
    begins = after.casefold().replace("\u2019", "'") in STARTERS
    if plain in {"no", "nos"}:
        return not after[:1].isdigit()
    if plain in NEVER_END:
        return False
    if plain in MAY_END:
        return after[:1].isupper() and begins
    if len(plain) == 1 and word.isupper() and word != "I":
        return begins  # J. K. Rowling
    number = short.strip()
    return not (number.isdigit() and len(number) <= 2)  # noqa: PLR2004 - 1. the head of an item


def _bounded(sentence: str) -> list[str]:
    """A sentence as it is, or in parts cut at clauses or words when it is too long."""
    if len(sentence) <= _MAX_SENTENCE:
        return [sentence]
    return [part.strip() for part in _CLAUSE.findall(sentence) if part.strip()]
