"""Telling a declarative sentence from a question, a request, small talk and a fragment, by rule.

The rules are for English. A sentence in another language is taken for a statement unless it ends
with a question mark or is very short: storing too much does less harm than losing something.
"""

import re
from enum import Enum

from fourtier.memory.statements.vocabulary import (
    ALSO_NOUNS,
    COMMANDS,
    FUNCTION,
    SMALL_TALK,
    SUBJECTS,
    VERBS,
)


class Kind(Enum):
    """What a sentence does."""

    STATEMENT = "statement"
    QUESTION = "question"
    REQUEST = "request"
    SMALL_TALK = "small talk"
    #: Says something, but not without the sentence beside it.
    FRAGMENT = "fragment"


_WORD = re.compile(r"\w+(?:['.,:/-]\w+)*")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_QUESTION_MARK = re.compile(r"[?\uff1f][\s\W]*$")

_SUBJECT = r"(?:i|you|he|she|it|we|they|this|that|there|my|your|his|her|its|our|their|these|those)"
_AUXILIARY = (
    r"(?:is|are|was|were|am|do|does|did|can|could|should|would|will|has|have|had|may|might|shall"
    r"|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|shouldn't)"
)
_ASKING = re.compile(
    # where is, how much, what's, why don't
    rf"^(?:what|who|whom|whose|which|where|when|why|how)(?:'s|'re|'d|'ll)?\s+(?:{_AUXILIARY}\b"
    r"|to\b|much\b|many\b|long\b|often\b|old\b|far\b|come\b|about\b|else\b)"
    r"|^(?:what|who|where|when|why|how)'s\b"
    # what time is, which hotel did
    rf"|^(?:what|which|whose|how)\s+\w+(?:\s+\w+)?\s+{_AUXILIARY}\s+(?:the\b|a\b|{_SUBJECT}\b)"
    # can you, is my, do the, did you
    rf"|^{_AUXILIARY}\s+{_SUBJECT}\b|^(?:is|are|do|does|did|can|could|should|would|will)\s+the\b"
    r"|^any\s+(?:ideas?|chance|suggestions?|tips|advice|thoughts|news|plans)\b",
    re.IGNORECASE,
)
_EXCLAIMING = re.compile(r"^(?:what\s+an?|how\s+(?!i\b|we\b|to\b)\w+)\b", re.IGNORECASE)
_ASKED_OF_YOU = re.compile(
    r"^(?:i\s+(?:want|need|would\s+like|expect)|i'd\s+(?:like|love|want|prefer)(?:\s+for)?)\s+you\b"
    r"|^(?:i\s+was|i'm|i\s+am|just)?\s*wondering\b|^i\s+wonder\b"
    r"|^i(?:'d|\s+would)\s+appreciate\b|^it\s+would\s+be\s+\w+\s+if\s+you\b"
    r"|^(?:let\s+me|let\s+us|let's|feel\s+free|make\s+sure|be\s+sure|keep\s+(?:up|in\s+mind|on"
    r"|it))\b"
    r"|^(?:i'd|i\s+would)\s+(?:like|love)\s+to\s+(?:know|hear|see)\b|^i\s+want\s+to\s+know\b",
    re.IGNORECASE,
)
_NAMES_ME = re.compile(
    r"^(?:please\s+)?call\s+me\s+(?!back\b|when\b|if\b|at\b|on\b|later\b)\w+", re.IGNORECASE
)
#: The speaker is left out: "Don't feel well", "Put in a lot of work".
_MEANS_ME = re.compile(
    r"^(?:(?:don't|do\s+not)\s+(?:feel|think|know|like|want|have|need|believe|remember|care|mind)"
    r"|put\s+in)\b",
    re.IGNORECASE,
)
#: Stands before what is right now, and asks for nothing.
_CORRECTION = re.compile(
    r"^(?:(?:change\s+of\s+plans?|correction|update|correct\s+that|scratch\s+that"
    r"|forget\s+what\s+i\s+said)\s*[,:;.]\s*"
    r"|no,?\s+wait,?\s+|wait,?\s+(?:no,?\s+)?(?=\w+\s+(?:is|are|was)\b))",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:(?:good\s+(?:morning|afternoon|evening|night|luck|job|point|to\s+(?:see|hear))"
    r"|(?:so\s+)?(?:nice|great|lovely)\s+(?:to\s+(?:meet|see|hear)|meeting|seeing|hearing|job|work)"
    r"|have\s+(?:a|an)\s+\w+\s+(?:day|one|time|evening|weekend|trip|night)"
    r"|(?:talk|speak|see|chat)\s+(?:to|with|you)\b.{0,20}\b(?:soon|later|tomorrow|then)"
    r"|take\s+care|thank(?:s(?!\s+to\b)|\s+you)|you're\s+welcome|no\s+(?:problem|worries)"
    r"|never\s+mind"
    r"|i\s+hope\s+(?:you|this)|hope\s+(?:you|this|that)|wish(?:ing)?\s+you"
    r"|(?:i'm\s+)?sorry\s+to\s+hear"
    r"|glad\s+(?:to|you|that)|congrat(?:s|ulations)|happy\s+(?:birthday|new\s+year|holidays)"
    r"|merry\s+christmas|bless\s+you|welcome\b|long\s+time\s+no))\b",
    re.IGNORECASE,
)
#: Made of words of small talk, and none: "I'm looking for a job".
_SEEKS = re.compile(
    r"\b(?:looking\s+for|have|has|got|found|need|lost)\s+(?:an?|my|his|her|the)\s+(?:new\s+)?job\b",
    re.IGNORECASE,
)
#: A sentence of as many words has a verb somewhere, whether the rules know it or not.
_ENOUGH_WORDS = 6
_MIN_WORDS = 3
_OWNERS = frozenset(["my", "our"])


def words(text: str) -> list[str]:
    """The words of a text in lower case, apostrophes straight."""
    return _WORD.findall(straight(text).casefold())


def straight(text: str) -> str:
    """The text with typed apostrophes, as the rules expect them."""
    return text.replace("\u2019", "'").replace("\u2018", "'").replace("`", "'")


def content_words(text: str) -> list[str]:
    """The words that say what a sentence is about."""
    return [word for word in words(text) if word not in FUNCTION and word not in SMALL_TALK]


def kind_of(sentence: str) -> Kind:
    """What a sentence does; it begins with its first word of weight, see `leading_phrases`."""
    text = straight(sentence).strip(' "“”«»*_()[]-\u2013\u2014')
    if is_question(text):
        return Kind.QUESTION
    if _GREETING.match(text) or _EXCLAIMING.match(text):
        return Kind.SMALL_TALK
    if is_request(text):
        return Kind.REQUEST
    content = content_words(text)
    if not content and not _SEEKS.search(text):
        return Kind.SMALL_TALK
    return Kind.STATEMENT if _has_verb(text) else Kind.FRAGMENT


def is_question(text: str) -> bool:
    """Whether something is asked, with a question mark or without."""
    return bool(_QUESTION_MARK.search(text) or _ASKING.match(text))


def is_request(text: str) -> bool:
    """Whether something is asked for: a command, or a wish that names the listener."""
    if _ASKED_OF_YOU.match(text):
        return True
    if _NAMES_ME.match(text) or _MEANS_ME.match(text):
        return False
    said = words(_CORRECTION.sub("", text))
    if not said or said[0] not in COMMANDS:
        return False
    return said[0] not in ALSO_NOUNS or not _is_noun(said)


def _is_noun(said: list[str]) -> bool:
    """Whether the first word is the subject: a finite verb follows before any object does."""
    for word in said[1:4]:
        if word in FUNCTION and word not in VERBS:
            return False
        if word in VERBS or word.endswith("ed"):
            return True
    return False


def _has_verb(text: str) -> bool:
    if len(_IDEOGRAPHS.findall(text)) >= _MIN_WORDS:
        return True
    said = words(text)
    if len(said) > 1 and said[0] in SUBJECTS:  # I smoke. I'm vegetarian.
        return True
    if len(said) < _MIN_WORDS:
        return False
    if len(said) >= _ENOUGH_WORDS or any(word in VERBS or "n't" in word for word in said):
        return True
    if any(word.endswith(("'s", "'re", "'ve", "'ll", "'d", "'m")) for word in said[:-1]):
        return True
    inside = any(
        word.endswith(("ed", "ing", "s")) and len(word) > _MIN_WORDS for word in said[1:-1]
    )
    return inside or _ends_with_verb(said)


def _ends_with_verb(said: list[str]) -> bool:
    """So "My knee hurts", "Farid and I separated"."""
    if said[0] in _OWNERS and said[-1].endswith("s"):
        return True
    return said[-1].endswith("ed") and (said[0] in _OWNERS or said[-2] == "i")
