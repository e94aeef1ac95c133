"""Numbers that tell a thing from others of its kind: "bus 12", "case 302", "the meeting at 9"."""

import re

from fourtier.memory.facts.words import PREPOSITIONS

Labels = frozenset[tuple[str, str]]

#: Not "for 3 weeks", and not "12 May".
_LABEL = re.compile(
    r"\b(?P<what>[a-z]+)\s(?P<number>\d[\w:.]*)(?=$|[,;!?]|\s(?:and|or|any|again|now|either"
    rf"|{'|'.join(sorted(PREPOSITIONS))})\b)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")


def labels_of(text: str) -> Labels:
    """The words that a number follows, each with that number; of prepositions `at` alone."""
    return frozenset(
        (what, found["number"].rstrip("."))
        for found in _LABEL.finditer(text)
        if (what := found["what"].casefold()) == "at" or what not in PREPOSITIONS
        if not _YEAR.fullmatch(found["number"])
    )


def have_other_labels(one: Labels, other: Labels) -> bool:
    """Whether a number tells two apart: bus 12 is not bus 30."""
    both = {what for what, _ in one} & {what for what, _ in other}
    return bool(both) and not any(what in both for what, _ in one & other)
