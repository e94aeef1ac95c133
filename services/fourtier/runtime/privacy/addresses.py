"""E-mail addresses."""

import re
from collections.abc import Iterator

_LONGEST_NAME = 64
_HOST = re.compile(
    r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(?P<top>[^\W\d_]{2,24}|xn--[a-z0-9-]{2,50})(?![\w-])"
)
#: ann (at) example (dot) com
_SPELLED = re.compile(
    r"\b[\w.+-]{1,64}\s?(?:\(at\)|\[at\]|\sat\s)\s?[\w-]{1,63}\s?(?:\(dot\)|\[dot\]|\sdot\s)\s?"
    r"(?:com|org|net|edu|info|io|me|eu|uk|de|fr|es|it|nl|pl|no|se|dk|fi|ch|at|be|pt|br|in)\b",
    re.IGNORECASE,
)
#: What looks like a domain and is the ending of a file: `icon@2x.png`.
_FILES = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "js",
        "ts",
        "tsx",
        "jsx",
        "css",
        "scss",
        "json",
        "yaml",
        "py",
        "rb",
        "so",
    ]
)
#: Accounts of programs, not of people.
_PROGRAMS = frozenset({"git", "hg", "svn", "root"})


def emails(text: str) -> Iterator[tuple[int, int]]:
    """Where there are e-mail addresses."""
    for found in _SPELLED.finditer(text):
        yield found.span()
    at = text.find("@")
    while at >= 0:
        host = _HOST.match(text, at + 1)
        if host is not None and host["top"].lower() not in _FILES:
            start = _start_of_name(text, at)
            end = host.end()
            if start < at and not _is_address_of_program(text, start, at, end):
                yield start, end
        at = text.find("@", at + 1)


def _start_of_name(text: str, at: int) -> int:
    start = at
    while start > max(0, at - _LONGEST_NAME):
        character = text[start - 1]
        if not (character.isalnum() or character in "._%+-'"):
            break
        start -= 1
    while start < at and text[start] in ".'-%":
        start += 1
    return start


def _is_address_of_program(text: str, start: int, at: int, end: int) -> bool:
    """Whether it is a part of a URL, or of `git@host:path`."""
    before = text[max(0, start - 3) : start]
    path_follows = text[end : end + 1] in {":", "/"} and text[end + 1 : end + 2].isalnum()
    return text[start:at].lower() in _PROGRAMS or before.endswith("://") or path_follows
