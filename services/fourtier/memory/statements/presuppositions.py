"""What a question takes for granted: "... for my daughter Mia, who is allergic to nuts?"."""

import re
from collections.abc import Iterator

_END = (
    r"(?=\s*(?:[,;?!.]|\s[-\u2013\u2014]\s|$)"
    r"|\s+(?:and|so|but)\s+(?:can|could|what|which|how|where|is|do|who)\b)"
)
#: Somebody or something of the speaker's, and what is told of it.
_WHO = re.compile(
    r"\b(?P<who>(?:my|our|My|Our)(?:\s+[\w'-]+){1,4}?)(?P<comma>,)?\s+(?:who|which)"
    r"(?P<be>'s|\s+(?=\w))(?P<said>[^,;?!]{3,200}?)" + _END
)
_ONE = re.compile(r"^(?:is|has|was|\w+[^s\W]s|can|can't|cannot|won't|doesn't|isn't|hasn't|will)\b")
_GIVEN = re.compile(
    r"(?<!while )\b(?:since|because|given\s+that|now\s+that|considering(?:\s+that)?"
    r"|seeing\s+that)\s+"
    r"(?P<said>(?:I|I'm|I've|my|we|we're|we've|our)\b"
    r"(?!\s+(?:was|were|want|wanted|think|need|wonder|(?:last\s+)?(?:talked|spoke"
    r"|chatted|met|saw|caught|heard))\b)"
    r"[^,;?!]{6,200}?)" + _END,
)
#: "Did I tell you that I adopted a puppy?": whoever asks it says it.
_REPORTED = re.compile(
    r"^(?:(?:did|have)\s+I\s+(?:ever\s+|already\s+)?(?:tell\s+you|told\s+you|mention(?:ed)?)"
    r"|(?:did|do)\s+you\s+(?:know|remember|reali[sz]e)|can\s+you\s+believe)"
    r"(?:\s+yet)?(?:\s+that)?\s+"
    r"(?P<said>(?:(?:I|we)\b|(?:my|our)(?:\s+[\w-]+){1,4}?\s+(?:is|are|was|were|has|had|got|will"
    r"|\w+(?:ed|es))\b|(?:I|we)'\w+)"
    r"(?!.*\b(?:or|if|whether|who|which)\b)[^,;?!]{6,200}?)[?!.]*$",
    re.IGNORECASE,
)
#: "Check out my new guitar!": what is shown is there.
_SHOWN = re.compile(
    r"^(?:check\s+out|(?:take\s+a\s+|have\s+a\s+)?look\s+at|here(?:'s|\s+is|\s+are))\s+"
    r"(?:(?:this|these|a|an|some|the)\s+(?:\w+\s+)?(?:photo|picture|pic|shot|snap|video)s?\s+"
    r"(?:of|from)\s+)?(?P<said>(?:my|our)(?:\s+[^\s?!]+){1,40}?\s+[^\s?!]*[^\s?!.])[?!.]*$",
    re.IGNORECASE,
)


def shown(sentence: str) -> Iterator[str]:
    """What one of two people shows the other: to an agent, "look at my code" asks for work."""
    found = _SHOWN.match(sentence)
    if found is not None:
        yield found["said"]


def presupposed(sentence: str) -> Iterator[str]:
    """The statements that a question or a request stands on, in its own words."""
    reported = _REPORTED.match(sentence)
    if reported is not None:
        yield reported["said"]
    for found in _WHO.finditer(sentence):
        said = found["said"].strip()
        if found["be"] == "'s":
            said = f"is {said}"
        if found["comma"] or _ONE.match(said):
            yield f"{found['who']} {said}"
    for found in _GIVEN.finditer(sentence):
        yield found["said"].strip()
