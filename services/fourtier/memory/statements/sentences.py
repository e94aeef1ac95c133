"""Cutting plain text into sentences by rule: no model, nothing to download.

Made for what people type to an agent: lines and lists, quotes, numbers, abbreviations, web
addresses, and no care for capitals.
"""

import re

from fourtier.memory.statements.vocabulary import MAY_END, NEVER_END, STARTERS

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•‣\u2013\u2014+]\s+|\(?(?:\d{1,3}[.)]|[a-zA-Z]\))\s+)(?=\S)")
_FOREIGN = re.compile(r"^\s*>")
_SPACE = re.compile(r"\s+")
#: Text in which nothing is cut: addresses, and short quoted or bracketed passages.
_WHOLE = re.compile(
    r"https?://\S+|www\.\S+|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"
    r"|\"[^\"]{1,200}\"|“[^”]{1,200}”|«[^»]{1,200}»|\([^()]{1,200}\)"
)
_END = re.compile(
    r"(?P<mark>[.!?…。\uff01\uff1f]+)(?P<closing>[\"'”\u2019»)\]*_]*)"
    r"(?P<space>\s+(?:[^\w\s\"'“«(\[<$€£¥#@&*_-]+\s+)?|(?<=[。\uff01\uff1f])|$)"
)
_GLUED = re.compile(r"(?<=[a-z][a-z][.!?])(?=(?:I|My|We|It|The|He|She|They|You|But|And)\b)")
_LAST_WORD = re.compile(r"[\w.'-]*$")
_LONGEST_WORD = 20
_NEXT_WORD = re.compile(r"[\"'“«(\[*_]*(?P<word>[\w'\u2019]*)")
#: Items of a list that are this short belong to the line above them.
_SHORT_ITEM = 6
#: What is longer is no sentence that somebody wrote, and more than a vector can hold.
_LONGEST = 600
_CLAUSE = re.compile(r".{200,600}(?:[;:,]|\s[-\u2013\u2014])\s|.{1,600}(?:\s|$)|.{600}", re.DOTALL)


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, each in the words that it was written in.

    Code between fences and lines quoted with `>` are nobody's sentences and are left out.
    """
    found = [sentence for block in _blocks(text) for sentence in _split(block)]
    return [part for sentence in found for part in _bounded(sentence)]


def _blocks(text: str) -> list[str]:
    """Lines put together to what belongs together: wrapped lines, and a list with its head."""
    blocks: list[str] = []
    open_list = False
    for raw in _FENCED.sub("\n", text).replace("\r", "\n").split("\n"):
        if _FOREIGN.match(raw) or not raw.strip():
            open_list = open_list and not raw.strip()
            blocks.append("")
            continue
        line = _SPACE.sub(" ", _BULLET.sub("", raw)).strip()
        last = next((index for index in range(len(blocks) - 1, -1, -1) if blocks[index]), -1)
        if _BULLET.match(raw):
            above = blocks[last] if last >= 0 else ""
            if (above.endswith(":") or open_list) and _is_short_item(line):
                blocks[last] = f"{above}{';' if open_list else ''} {line}"
                open_list = True
                continue
        elif blocks and blocks[-1] and _goes_on(blocks[-1], line):
            blocks[-1] = f"{blocks[-1]} {line}"
            continue
        open_list = False
        blocks.append(line)
    return [block for block in blocks if block]


def _is_short_item(line: str) -> bool:
    return len(line.split()) <= _SHORT_ITEM and not line.endswith((".", "!", "?", ":"))


def _goes_on(above: str, line: str) -> bool:
    """Whether a line was only wrapped."""
    return line[0].islower() and not above.endswith((".", "!", "?", ":", ";"))


def _split(block: str) -> list[str]:
    block = _GLUED.sub(" ", block)
    whole = [match.span() for match in _WHOLE.finditer(block)]
    parts: list[str] = []
    start = 0
    for end in _END.finditer(block):
        if _inside(end, whole) or not _is_end(block, start, end):
            continue
        parts.append(block[start : end.end()].strip())
        start = end.end()
    parts.append(block[start:].strip())
    return [part for part in parts if part]


def _inside(end: re.Match[str], spans: list[tuple[int, int]]) -> bool:
    """Whether a mark stands within a passage; one that ends with the passage stands behind it."""
    return any(start <= end.start() and end.end("closing") < stop for start, stop in spans)


def _is_end(block: str, start: int, end: re.Match[str]) -> bool:
    following = _NEXT_WORD.match(block, end.end())
    after = following["word"] if following else ""
    rest = block[end.end() :].strip()
    if not rest:
        return True
    mark = end["mark"]
    if end["closing"].strip("*_") and rest[0].islower():
        return False  # "Stop!" he said
    if mark in {"...", "…", ".."} or "…" in mark:
        return not rest[0].islower()
    if mark != ".":
        return True
    last = _LAST_WORD.search(block, max(start, end.start() - _LONGEST_WORD), end.start())
    return _ends_after(last[0] if last else "", after, block[start : end.start()].strip())


def _ends_after(word: str, after: str, sentence: str) -> bool:
    """Whether a single full stop behind `word` ends the sentence, when `after` follows."""
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
    return not (sentence.isdigit() and len(sentence) <= 2)  # noqa: PLR2004 - 1. the head of an item


def _bounded(sentence: str) -> list[str]:
    """A sentence as it is, or in parts cut at clauses or words when it is too long."""
    if len(sentence) <= _LONGEST:
        return [sentence]
    return [part.strip() for part in _CLAUSE.findall(sentence) if part.strip()]
