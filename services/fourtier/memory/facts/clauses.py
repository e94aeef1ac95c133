"""The clauses of a sentence that may each be a statement; reasons and doubts are none."""

import re
from itertools import pairwise

_SUBJECT = r"(?:I|we|my|our|he|she|it|they)"
_CUT = re.compile(
    rf"\s*(?:[;:]|,|\s-)\s+(?:(?:so|and|but|then)\s+)?(?=(?:{_SUBJECT}|the)\b)"
    rf"|\s+(?:so|and|but)\s+(?={_SUBJECT}\b)|(?:,|;)\s+so\s+(?=[A-Z])|\s*;\s+(?=[A-Z])"
    r"|,\s+(?:and\s+)?(?=[A-Z]\w+\s+is\s+(?:now\s+)?(?:my|our|the)\b)"
)
#: "I had surgery and don't wear glasses any more": the subject is said once.
_SAME_SUBJECT = re.compile(
    r"\s*,?\s+(?:and|but)\s+(?=(?:now\s+|no\s+longer\s+|just\s+)*(?:don't|doesn't|am"
    r"|no\s+longer|moved|sold|quit|stopped"
    r"|started|switched|cancell?ed|left|gave|got|bought|work|live|use|have|wear|drive|eat|drink"
    r"|take)\b)"
)
#: "Yuki left and Omar is our CTO": behind a verb; "Antony and Cleopatra" is a title.
_ANOTHER = re.compile(
    r"(?P<before>^.*?\b(?:is|are|was|has|have|left|went|quit|got|broke|gave|[a-z]+ed)\b[^;]*?)"
    r",?\s+(?:and|but)\s+(?=[A-Z]\w+\s+(?:is|has|leads|runs|took|takes|became)\s)"
)
#: "Signe and I", who do it together.
_TOGETHER = re.compile(r"^(?:[A-Z]\w+|(?:[Mm]y|[Oo]ur)\s\w+(?:\s[A-Z]\w+)?)\s+and\s+I\s[^,;]+$")
_SPEAKER = re.compile(r"^(?:I|We|we)\b")
_PRONOUN = re.compile(r"^(?P<word>it|they|he|she)(?:\s+|(?='s\s))")
_NAME = re.compile(r"^(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?[A-Z]\w+(?:\s[A-Z]\w+)?(?=\s)")
_LAST_NOUN = re.compile(r"\b(?P<noun>(?:my|our|the|a\s+new)\s+(?:[\w-]+\s+){0,2}[\w-]+)$")
_FIRST_NOUN = re.compile(
    r"^(?P<noun>(?:(?:My|Our|The|my|our|the)\s+)?[\w-]+(?:\s+[\w-]+){0,2}?)\s+(?:is|are|was"
    r"|were|has|have)\b"
)
_REASON = re.compile(r",?\s+(?:because|as I|since I|since we|given that|due to)\b.*$")
#: What is supposed in one clause makes the others mere thoughts.
_SUPPOSED = re.compile(
    r"\?|\b(?:[Ii]f|[Uu]nless|[Ww]hether|would|could|might|[Mm]aybe|[Pp]erhaps|[Ss]uppose"
    r"|[Ii]magine)\b"
)


def clauses(text: str) -> list[str]:
    """The clauses of a sentence; the sentence itself where it has one, or is a supposition."""
    plain = _ANOTHER.sub(r"\g<before>; ", _REASON.sub("", text), count=1)
    if _SUPPOSED.search(text):
        return [text]
    if _TOGETHER.match(plain):
        return [plain]
    found: list[str] = []
    for part in (each.strip(" ,") for each in _CUT.split(plain)):
        subject = _SPEAKER.match(part)
        first, *others = _SAME_SUBJECT.split(part) if subject else [part]
        found += [first, *(f"{subject[0]} {other}" for other in others if subject)]
    return _named([part for part in found if part]) or [text]


def _named(parts: list[str]) -> list[str]:
    """The clauses with what their pronouns mean, where the clause before says it."""
    named = parts[:1]
    for before, part in pairwise(parts):
        meant = _meant(before, part)
        named.append(_PRONOUN.sub(f"{meant} ", part, count=1) if meant else part)
    return named


def _meant(before: str, part: str) -> str:
    pronoun = _PRONOUN.match(part)
    if pronoun is None:
        return ""
    if pronoun["word"] in {"he", "she"}:
        name = _NAME.match(before)
        return name[0] if name else ""
    noun = _LAST_NOUN.search(before) or _FIRST_NOUN.match(before)
    return re.sub(r"^an?\s", "the ", noun["noun"]) if noun else ""
