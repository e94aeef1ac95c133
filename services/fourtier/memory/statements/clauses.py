"""Cutting a compound sentence into statements that each stand for themselves.

"I'm Nora and I live in Hamburg with my husband Jonas" is two facts. As one it could be superseded
by nothing: when Nora moves, her name would go with Hamburg. So each clause becomes a statement of
its own, and the whole sentence is its quote. In doubt a sentence stays whole: where one clause is
a reason, a condition or a thought of the other, where a pronoun leans on it, or where one
is an event.
"""

import re

from fourtier.memory.statements.sentence_kinds import Kind, kind_of, straight
from fourtier.memory.statements.vocabulary import VERBS

_START = r"(?:I|I'm|I've|[Ww]e|[Ww]e're|[Ww]e've|[Mm]y|[Oo]ur)"
_NAME = r"(?:[A-Z]\w+(?:\s[A-Z]\w+)?)"
_IS = r"(?:is|are|has|lives|works|plays|owns|runs|leads|speaks|likes|loves|goes|studies|teaches)"
#: Where another clause with its own subject begins.
_CUT = re.compile(
    rf"\s*;\s+(?={_START}\b|the\s)|,?\s+(?:and|but)\s+(?={_START}\b"
    rf"|[Tt]he\s+[\w -]{{1,40}}?\s{_IS}\s|{_NAME}\s{_IS}\s)"
    rf"|,\s+(?={_START}\b)"
)
_DO = (
    "live|work|have|own|drive|play|study|speak|teach|rent|use|like|love|prefer|need|run|take"
    "|earn|pay|eat"
    "|drink|am|are|sing|hate|lead|manage|coach|wear|travel|volunteer|commute|write"
)
#: Behind a verb, and not behind a noun that looks like one: "work as", "have two".
_BEHIND = (
    r"(?=an?\s|the\s|my\s|our\s|his\s|her\s|in\s|at\s|as\s|for\s|with\s"
    r"|on\s|from\s|no\s|\d|[A-Z]|\w+s\b|two|three|four|five|six)"
)
#: Where the subject is not said again: "I live in Hamburg and work as a nurse".
_SAME_SUBJECT = re.compile(
    rf"^(?P<first>(?P<who>I|We|we)(?:'m|'ve|'re)?\s[^,;]+?),?\s+(?:and"
    rf"|but)\s+(?P<rest>(?:now\s+|currently\s+|also\s+)?(?:{_DO})\s{_BEHIND}.*)$"
    rf"|^(?P<first_of>(?P<whose>(?:[Mm]y|[Oo]ur)\s[a-z]+(?:\s[A-Z]\w+)?|{_NAME})\s(?:is|has"
    rf"|\w+s)\s[^,;]+?),?\s+(?:and|but)\s+(?P<rest_of>(?:{_IS})\s{_BEHIND}.*)$"
)
#: One clause needs the other to be a statement, or tells what is only thought or wanted.
_BOUND = re.compile(
    r"\b(?:if|unless|whether|because|since|when|while|until|till|although|though|so|that|which"
    r"|who|whom|whose|where|than"
    r"|how|what|why|either|neither|both|as(?!\s+(?:an?|the)\s)|after|before|once|would|could"
    r"|should|might|may|must|will|want|wants|hope|hopes"
    r"|going\s+to|used\s+to|plan|plans|think|thinks|believe|guess|maybe|perhaps|said|says|told"
    r"|not\s+only|except|instead)\b"
    r"|\?|\"|\u201c|(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bMrs)(?<!\bSt)\.\s|!\s|:\s|\bn't\b|\([^)]*$",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"\b(?:he|she|it|they|him|her|hers|them|his|its|their|theirs|this|these|those|there|one"
    r"|ones|same|too|also|each|other|others|it's|he's|she's|they're)\b",
    re.IGNORECASE,
)
#: Leads into both clauses: "In summer I live in Bergen and I work at sea".
_FRAME = re.compile(
    r"^(?:in|on|at|during|from|every|each|over|for|by|with|without|under|these\s+days|nowadays"
    r"|usually|sometimes|often|normally|currently|now|most)\b",
    re.IGNORECASE,
)
#: Tells something plain that holds now and may be otherwise one day.
_STATE = re.compile(
    rf"^[\w' ]{{1,40}}?\s(?:{_DO}|{_IS})\s(?!a\s+(?:blast|good|great|lot|hard|fun)\b)"
    r"|(?:'m|'re|'s|\b(?:am|is|are))\s+(?:now\s+|currently\s+|only\s+)?(?:\d|[A-Z]|(?:from|in"
    r"|at|on|called|named|based|married|engaged|single"
    r"|divorced|retired|vegetarian|vegan|allergic|an?|the|my|our|his|her|due|responsible"
    r"|left-handed|pregnant|unemployed|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve)\b(?!\s+(?:big|great|good|bit|lot|fun|little)\b))"
)
_NOT_STATE = re.compile(
    r"^(?:it|this|that|there|\w+ing)\b|(?:'m|'re|\b(?:am|is|are|been|be))\s+\w+ing\b"
    r"|\b(?:was|were|had|did|went|got|bought|saw|met|made|took|gave|found|lost|sold|came|left"
    r"|been|ago|yesterday|last)\b"
    r"|^(?:[\w']+\s){1,3}(?!married\b|engaged\b|retired\b|divorced\b|called\b|named\b|based\b"
    r"|unemployed\b|red\b|need\b)"
    r"(?<!\ba\s)(?<!\ban\s)(?<!\bthe\s)\w{3,}ed\b",
    re.IGNORECASE,
)
_TO = re.compile(
    r"\bto\s+[a-z]+\b|\b(?:can|do|does|don't|doesn't|can't|won't|not|never|let|help|make|see"
    r"|hear)\b"
)
_MAX_CLAUSES = 4
_LEAST_WORDS = 2
_LONGEST = 300


def standalone_clauses(sentence: str) -> list[str]:
    """The clauses of a sentence that are statements each; itself alone where it stays whole."""
    text = straight(sentence)
    if not any(joint in text for joint in (" and ", " but ", ";", ", ")):
        return [sentence]
    if len(text) > _LONGEST or _FRAME.match(text) or _BOUND.search(text):
        return [sentence]
    parts = [each for part in _CUT.split(text) for each in _same_subject(part.strip(" ,"))]
    if not 1 < len(parts) <= _MAX_CLAUSES or not all(map(_stands, parts)):
        return [sentence]
    if any(_LEANS.search(part) for part in parts[1:]) or not all(map(_is_state, parts)):
        return [sentence]
    return [_as_sentence(part) for part in parts]


def _same_subject(part: str) -> list[str]:
    found = _SAME_SUBJECT.match(part)
    if found is None:
        return [part]
    first = found["first"] or found["first_of"]
    if _TO.search(first):
        return [part]
    return [first, f"{found['who'] or found['whose']} {found['rest'] or found['rest_of']}"]


def _stands(part: str) -> bool:
    if len(part.split()) < _LEAST_WORDS or kind_of(part) is not Kind.STATEMENT:
        return False
    return "'" in part or any(
        word in VERBS or word.endswith(("s", "ed")) for word in part.casefold().split()[1:]
    )


def _is_state(part: str) -> bool:
    """Whether it tells how something is, which may be otherwise one day."""
    return _STATE.search(part) is not None and _NOT_STATE.search(part) is None


def _as_sentence(part: str) -> str:
    return f"{part[:1].upper()}{part[1:]}"
