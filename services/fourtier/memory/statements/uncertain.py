"""Sentences that state nothing the speaker vouches for, or nothing at all.

Guesses, suppositions, what somebody else said between quotation marks, jokes that are marked as
such, cries, and what only announces or answers. They look like statements and are none.
"""

import re

from fourtier.memory.statements.vocabulary import VERBS

_SUBJECT = (
    r"(?:i|we|he|she|they|it|you|there|this|that|my\s+\w+|our\s+\w+|the\s+\w+|(?-i:[A-Z]\w+))"
)
_CLAUSE = (
    r"(?:that\s+)?(?:i|we|he|she|they|it|there|this|that|my|our|his|her|their|the|(?-i:[A-Z]))"
)
_GUESS = re.compile(
    rf"^(?:well,?\s+)?(?:i(?:'d|\s+would)?\s+(?:guess|suppose|assume|reckon|suspect|bet|presume"
    rf"|imagine)\s+{_CLAUSE}\S*\s"
    r"|i'm\s+(?:guessing|assuming|not\s+(?:entirely\s+|quite\s+|really\s+)?sure)\b"
    r"|i\s+am\s+not\s+sure\b"
    r"|i\s+doubt\b|my\s+guess\s+is\b|chances\s+are\b|for\s+all\s+i\s+know\b"
    r"|as\s+far\s+as\s+i\s+remember\b"
    r"|(?:maybe|perhaps|possibly|presumably|apparently|supposedly|allegedly)\b(?!\s+not\b)"
    rf"|{_SUBJECT}\s+might\s|(?!i\s){_SUBJECT}\s+may\s|{_SUBJECT}\s+could\s+(?:be|have\s+been)\b"
    rf"|(?!it\b|that\b|this\b){_SUBJECT}(?:'s|'re|\s+is|\s+are|\s+was)?\s+(?:probably|possibly"
    rf"|perhaps|maybe|presumably|supposedly)\b)"
    r"|,?\s+(?:i\s+(?:guess|suppose|think|believe|reckon)|or\s+so\s+i(?:'ve)?\s+(?:heard|think)"
    r"|maybe|perhaps"
    r"|probably|not\s+sure(?:\s+though)?|if\s+i\s+remember\s+(?:it\s+)?(?:right|rightly"
    r"|correctly|well))\W*$",
    re.IGNORECASE,
)
#: "I think it is lovely" is what somebody thinks; "I think the gate is B7" is a guess.
_THINKS = re.compile(rf"^i\s+(?:think|believe)\s+{_CLAUSE}\S*\s(?P<rest>.+)$", re.IGNORECASE)
_CONCRETE = re.compile(
    r"\d|\b(?:is|are|was|were|has|have|lives?|works?|starts?|ends?|opens?|closes?|leaves?"
    r"|costs?)\s+"
    r"(?:(?:in|at|on|from|called|named|about|around)\s+)*(?:(?!I\b)[A-Z][\w']*|(?:mon|tues"
    r"|wednes|thurs|fri|satur|sun)day)"
)
#: "They might be small, but they have big claws": the second half is told for certain.
_CONCEDES = re.compile(r"\bbut\s+\w+(?:\s+\w+)?\s+\w+")
#: Among people a proposal says what somebody has in mind.
_PROPOSES = re.compile(
    r"^(?:maybe|perhaps)\s+(?:i|we)(?:'ll|\s+(?:can|could|should|will))\s", re.IGNORECASE
)
_SUPPOSED = re.compile(
    r"^(?:if\s+only\b|suppose\b|supposing\b|imagine\b|assuming\b|let's\s+(?:say|assume"
    r"|pretend)\b|pretend\b"
    r"|hypothetically\b|what\s+if\b|in\s+a\s+perfect\s+world\b|say\s+(?:i|we|my)\b)"
    r"|^(?=.*\bif\b(?!\s+i\s+could))(?=.*\b(?:would|wouldn't|could|might|i'd|we'd|he'd|she'd"
    r"|they'd|it'd)\b)"
    r"|^had\s+(?:i|we)\b|^were\s+(?:i|we)\s+to\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“«](?P<words>[^\"”»]{8,})[\"”»]")
#: A title in quotation marks is not speech.
_TITLE = re.compile(
    r"\b(?:read|reading|watch|watched|watching|seen|saw|book|film|movie|song|album|series|show"
    r"|game|novel"
    r"|poem|play|called|titled|named|listening\s+to|sang|singing|playing|wrote|writing|podcast"
    r"|article)\W*$",
    re.IGNORECASE,
)
_KIDDING = re.compile(
    r"\b(?:just|only|totally|i'm|i\s+am|i\s+was)\s+(?:just\s+|only\s+)?(?:kidding|joking|teasing)\b"
    r"|\b(?:just|only)\s+(?:messing|pulling\s+your\s+leg)\b|\bmessing\s+with\s+you\b"
    r"|^(?:kidding|joking)\b"
    r"|(?:haha|lol|,)\W*(?:kidding|joking)\W*$|\bjk\b|\bj/k\b|\(joke\)|^joke:|(?:^|\s)/s\W*$"
    r"|\b(?:it|that)(?:'s|\s+was|\s+is)\s+(?:just\s+|only\s+)?a\s+joke\b"
    r"|\bapril\s+fools?\b",
    re.IGNORECASE,
)
_CRY = re.compile(
    r"^(?:i|we|he|she|they|it)\s+(?:\w+ed|\w+(?<!'m)(?<!'re))\s*!+\W*$"
    r"|^(?:i|we)(?:'ve|\s+(?:have|just|finally))?\s+(?:\w+\s+)?(?:did|made|done|nailed|got|knew"
    r"|love|loved)\s+"
    r"(?:it|this|that)\W*$"
    r"|^(?:i\s+)?(?:can't|cannot|can\s+not|couldn't)\s+believe\s+(?:it|this|that)\b[^,;]{0,15}$"
    r"|^(?:what|how)\s+(?:a|an|lovely|nice|great|awful|terrible|annoying|exciting)\b[^,;]*!$",
    re.IGNORECASE,
)
#: Nothing but an answer: "I disagree", "I see".
_ANSWER = re.compile(
    r"^(?:i|we)\s+(?:(?:do|don't|do\s+not|completely|totally|fully|strongly|also|really|so)\s+)*"
    r"(?:agree|disagree|understand|see|apologi[sz]e|know|insist|promise|swear|concur|object"
    r"|protest|think\s+so"
    r"|get\s+it|hear\s+you|doubt\s+it|mean\s+it|guess\s+so|hope\s+so|suppose\s+so|bet|care|mind)"
    r"(?:\s+with\s+(?:you|that|this))?\W*$",
    re.IGNORECASE,
)


def is_supposed(text: str, *, to_agent: bool) -> bool:
    """Whether it is a guess, a possibility or a thought of how things could be."""
    if not to_agent and _PROPOSES.match(text):
        return False
    if _SUPPOSED.search(text) or (_GUESS.search(text) and not _CONCEDES.search(text)):
        return True
    thinks = _THINKS.match(text)
    return thinks is not None and _CONCRETE.search(thinks["rest"]) is not None


def is_quotation(text: str) -> bool:
    """Whether most of it is what somebody said, between quotation marks."""
    for quoted in _QUOTED.finditer(text):
        words = quoted["words"].split()
        if _TITLE.search(text[: quoted.start()]) or 2 * len(words) < len(text.split()):
            continue
        if any(word.casefold().strip(".,!?'") in VERBS for word in words):
            return True
    return False


def marks_joke(text: str) -> bool:
    """Whether it says that it, or what stands before it, is not meant."""
    return _KIDDING.search(text) is not None


def says_nothing(text: str) -> bool:
    """Whether it is a cry, an answer, or the announcement of what follows."""
    return bool(_CRY.match(text) or _ANSWER.match(text)) or text.rstrip().endswith(":")
