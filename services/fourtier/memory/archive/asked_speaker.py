"""Whose words a query asks for: those of people that it names, the user's, or the assistant's."""

import re

from fourtier.models.text.proper_names import name_key, proper_names
from fourtier.schema.message import ASSISTANT

#: As imported dialogue names the user.
_USER = "user"
#: "What did you recommend to me?" is about the assistant's words, "Where do I live?" about mine;
#: "Can you recommend me a hotel?" asks for something new, and what suits me I have said myself.
_MINE = re.compile(r"\b(?:I|I'\w+|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_SAY = (
    r"(?:advise|answer|explain|give|list|mention|name|propose|provide|recommend|say|send|show"
    r"|suggest|talk|tell|write)"
)
_SAID = (
    r"(?:advised|answered|explained|gave|given|listed|mentioned|named|proposed|provided|recommended"
    r"|said|sent|showed|shown|suggested|talked|told|wrote|written)"
)
_YOURS = re.compile(
    rf"\bdid you (?:\w+ )?{_SAY}\b|\byou(?:'ve)? (?:\w+ )?{_SAID}\b"
    r"|\byour (?:\w+ )?(?:advice|answer|explanation|list|proposal|recommendation|suggestion)s?\b",
    re.IGNORECASE,
)
_THEIRS = re.compile(r"\bthe assistant\b", re.IGNORECASE)


def asked_speakers(query: str, user: str) -> tuple[str, ...]:
    """Who may have said what a query asks for, as the index has speakers; nobody may be.

    Whether anybody of such a name ever said something is for the index to know.

    Args:
        query: a question, or words.
        user: whose memory is asked.
    """
    if _YOURS.search(query):
        return (ASSISTANT,)
    named = {name_key(name) for name in proper_names(query)}
    mine = {user.casefold(), _USER} if _MINE.search(query) else set[str]()
    assistants = {ASSISTANT} if _THEIRS.search(query) else set[str]()
    return tuple(sorted(named | mine | assistants))
