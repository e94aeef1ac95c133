"""Whose words a query asks for: those of people that it names, the user's, or the assistant's."""

import re

from fourtier.memory.archive.entries import ASSISTANT
from fourtier.models.text.names import names_in

#: As imported dialogue names the user.
_USER = "user"
#: "What did you recommend to me?" is about the assistant's words, "Where do I live?" about mine.
_MINE = re.compile(r"\b(?:I|I'\w+|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_YOURS = re.compile(
    r"\b(?:you|your) (?:(?:have|had|just|also|already|once|last) )?"
    r"(?:advise|advice|answer|explain|give|gave|given|list|mention|name|propose|provide|recommend"
    r"|recommendation|said|say|send|sent|show|shown|suggest|suggestion|talk|tell|told|write|wrote"
    r"|written)(?:s|d|ed)?\b",
    re.IGNORECASE,
)
_THEIRS = re.compile(r"\bthe assistant\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['\u2019]s?$")


def asked_speakers(query: str, user: str) -> tuple[str, ...]:
    """Who may have said what a query asks for, as the index has speakers; nobody may be.

    Whether anybody of such a name ever said something is for the index to know.

    Args:
        query: a question, or words.
        user: whose memory is asked.
    """
    if _YOURS.search(query):
        return (ASSISTANT,)
    named = {_POSSESSIVE.sub("", name.text).casefold() for name in names_in(query)}
    mine = {user.casefold(), _USER} if _MINE.search(query) else set[str]()
    assistants = {ASSISTANT} if _THEIRS.search(query) else set[str]()
    return tuple(sorted(named | mine | assistants))
