"""Conditions of things that exclude each other: on and off, open and closed, found and missing.

Of two opposite ones the one is the other denied: "is closed" is "is open", denied.
"""

import re
from dataclasses import dataclass

#: What excludes each other, each side by all its words; the first one stands for its side.
_OPPOSED = (
    (
        "running|on|up|online|live|active|up and running|switched on|turned on|under way",
        "down|off|offline|inactive|switched off|turned off|on hold|suspended|paused",
    ),
    ("open|reopened|open again", "closed|shut|resolved|closed down"),
    (
        "working|fixed|repaired|restored|mended|in order|in working order|functional|in service",
        "broken|faulty|flat|leaking|cracked|jammed|dead|damaged|out of order|out of service",
    ),
    (
        "healthy|well|fit|recovered|better|on the mend|healed",
        "ill|sick|unwell|under the weather|hurt|injured|sore",
    ),
    (
        "available|free|vacant|in stock|back in stock",
        "unavailable|taken|occupied|busy|sold out|out of stock|fully booked|booked up|booked",
    ),
    ("enabled", "disabled"),
    ("on time|punctual|on schedule", "delayed|late|running late|behind schedule"),
    ("unlocked", "locked"),
    ("paid|settled|paid off", "unpaid|outstanding|overdue|unsettled"),
    ("found", "missing|lost|misplaced"),
    ("clean", "dirty|filthy"),
    ("dry", "wet|soaked|damp"),
    ("empty", "full"),
    ("awake", "asleep"),
    ("valid", "expired|invalid"),
    ("safe", "unsafe|dangerous"),
    ("public", "private"),
    ("passable|clear", "blocked|impassable|snowed in"),
)
_OPPOSITES: dict[str, tuple[str, bool]] = {
    word: (same.partition("|")[0], denied)
    for same, opposite in _OPPOSED
    for side, denied in ((same, False), (opposite, True))
    for word in side.split("|")
}
_MANY_WORDS = "|".join(sorted((each for each in _OPPOSITES if " " in each), key=len, reverse=True))
_ADJECTIVE = re.compile(
    r"^(?P<before>.+?\s(?:am|is|are))\s+(?:(?:back|finally|now|again|currently|all|completely"
    r"|fully(?!\s+booked)|still|already)\s+)*"
    rf"(?P<word>{_MANY_WORDS}|\w+)(?:\s+(?:again|now|today|yesterday|at\s+the\s+moment|at\s+last))*"
    r"(?P<to>\s+to\s+(?!\d)\w+(?:\s\w+)?)?(?:\s+(?:again|now))?"
    r"(?:\s+(?:for|until|till|since|because|due\s+to|as\s+of|from|by)\s.*)?$"
)
_UN = re.compile(r"^un(?!employed|married|ited|interested)(?P<rest>\w{2,}(?:ed|en|able|id|own))$")
#: A noun with its article, as short as what follows allows.
NOUN = r"(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er)\s(?:[\w-]+\s){0,3}?[\w-]+"
_REPAIRED = r"(?:fixed|repaired|mended|restored|unblocked|unlocked|reopened|replaced)"
_BECAME = "|".join(
    [
        *(word for word in _OPPOSITES if word.endswith("ed") and " " not in word),
        *("paid", "found", "switched on", "switched off", "turned on", "turned off"),
    ]
)
_SOMEBODY = (
    r"^(?:I|[Ww]e|[Tt]hey|[A-Z]\w+|[Tt]he\s\w+|[Mm]y\s\w+)\s+(?:(?:have|has|finally|just)\s+)*"
)
_THEN = (
    r"(?=$|\s+(?:again|now|yesterday|today|last|this|on|at|in|since|for|myself|ourselves"
    r"|by\s+\w+$)\b)"
)
_BILL = r"(?:the|our|my)\s(?:\w+\s)?(?:invoice|bill|fine|rent|fee|deposit|tax|premium)(?:\s\d+)?"
_CLOCK = r"(?=\d|noon|midnight|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_FAILS = r"(?:fails?|crashes|crash|leaks?|hangs?|squeaks?|rattles?|drips?|jams?|keeps?\s+\w+ing)"
#: Other ways to say in which condition a thing is.
_SAID_OTHERWISE = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (
            (
                r"\b(?:has|have|was|were|got)\s+(?:(?:just|finally|now|recently)\s+)*(?:been\s+)?"
                rf"(?P<word>{_BECAME}){_THEN}"
            ),
            r"is \g<word>",
        ),
        (
            rf"\b(?:has|have)\s+(?:(?:just|finally)\s+)*recovered(?:{_THEN}|(?=\s+from\b))",
            "is healthy",
        ),
        (
            (
                r"\b(?:has|have)\s+(?:(?:finally|just)\s+)?(?:arrived|turned\s+up|come\s+back"
                r"|resurfaced"
                r"|reappeared)(?=$|\s+(?:at\s+last|today|yesterday|now)\b)"
            ),
            "is found",
        ),
        (rf"{_SOMEBODY}(?:got|had)\s+(?P<noun>{NOUN})\s+{_REPAIRED}\b", r"\g<noun> is fixed"),
        (
            rf"{_SOMEBODY}(?:fixed|repaired|mended|restored)\s+(?P<noun>{NOUN}){_THEN}",
            r"\g<noun> is fixed",
        ),
        (rf"{_SOMEBODY}renewed\s+(?P<noun>{NOUN}){_THEN}", r"\g<noun> is valid"),
        (rf"{_SOMEBODY}(?:cleaned|washed)\s+(?P<noun>{NOUN}){_THEN}", r"\g<noun> is clean"),
        (rf"{_SOMEBODY}paid\s+(?P<noun>{_BILL}){_THEN}", r"\g<noun> is paid"),
        (
            rf"{_SOMEBODY}(?:turned|switched)\s+(?P<noun>{NOUN})\s+(?P<on>on|off){_THEN}",
            r"\g<noun> is \g<on>",
        ),
        (
            rf"{_SOMEBODY}(?:turned|switched)\s+(?P<on>on|off)\s+(?P<noun>{NOUN}){_THEN}",
            r"\g<noun> is \g<on>",
        ),
        (
            (
                r"\b(?:works?|is\s+working|are\s+working)\s+(?:fine\s+)?again\b"
                r"(?!\s+(?:on|in|at|for|as|with)\b)"
            ),
            "is working again",
        ),
        (
            (
                r"\b(?:do|does|did)(?:\s+not|n't)\s+work"
                r"(?=$|\s+(?:any\s?more|since|at\s+all|properly|today|now)\b)"
            ),
            "is broken",
        ),
        (r"\bnot\s+working(?=$|\s+(?:since|at|today|now)\b)", "broken"),
        (rf"\b(?:(?:has|have)\s+)?(?:broken?\s+down|stopped\s+working){_THEN}", "is broken"),
        (rf"^(?P<noun>{NOUN})\s+{_FAILS}(?:\s.*)?$", r"\g<noun> is broken"),
        (rf"\b(?:stays?|is|are)\s+open\s+(?:until|till)\s+{_CLOCK}", "closes at "),
    )
)
#: In each of these; most texts have none of them.
_PERHAPS = frozenset(
    word
    for words in (
        "has have was were got had fixed repaired mended restored work works working broke broken",
        (
            "open renewed cleaned washed paid turned switched stopped fail fails crash crashes leak"
            " leaks"
        ),
        "hang hangs squeak squeaks rattle rattles drip drips jam jams keep keeps",
    )
    for word in words.split()
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A text with one of two opposite conditions said by the one that stands for both."""

    text: str
    denied: bool


def in_plain_words(text: str) -> str:
    """The text with "is" and a condition where it is said otherwise: "got the bike repaired"."""
    if _PERHAPS.isdisjoint(text.split()):
        return text
    for pattern, plain in _SAID_OTHERWISE:
        text = pattern.sub(plain, text)
    return text


def opposite(text: str) -> Condition | None:
    """The text by the positive one of two conditions: "is closed" as "is open", denied."""
    found = _ADJECTIVE.match(text)
    if found is None:
        return None
    word = found["word"].casefold()
    if word in _OPPOSITES:
        said, denied = _OPPOSITES[word]
        return Condition(f"{found['before']} {said}{found['to'] or ''}", denied)
    un = _UN.match(word)
    return Condition(f"{found['before']} {un['rest']}", denied=True) if un else None
