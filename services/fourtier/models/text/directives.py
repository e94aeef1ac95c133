"""Classes of what orders an assistant about, or tells of what it may do: each by its grammar.

A statement about the user, or about the world, has a subject that is not the assistant. So these
are not statements: what is said to a program ("Robot, ...", "to whoever reads this"); what one
ought to do, may do or is; who may command it and what was consented to in advance; words that are
to switch something; rules and checks that are told to be gone; a rule for ever after that nobody is
the subject of; and an imperative, unless it asks for something for the speaker alone. The classes
are those of English; `foreign` has what can be told in other languages.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from fourtier.models.text.foreign import is_foreign_directive
from fourtier.models.text.patterns import patterns
from fourtier.models.text.quoting import cleaned, looks_like

Section = Literal[
    "to-machine",
    "of-machine",
    "authority",
    "switches",
    "gone",
    "standing",
    "hidden",
    "wish",
    "asked",
    "sensitive",
    "control",
    "guarded",
    "person",
    "benefit",
]
#: Whatever the rest of the sentence says.
_CLASSES: tuple[Section, ...] = ("to-machine", "of-machine", "authority", "switches", "gone")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?!\d)|\n")
#: What stands for personal data that was taken out.
_PLACEHOLDER = re.compile(r"\[[\w -]{1,40}\]")
#: Characters of a wish for a style; what is longer may hold something else.
_MAX_WISH = 160
_LEAD = (
    r"(?:(?:please|just|then|first|next|now|so|and|but|also|always|never|simply|only|kindly|ok|okay"
    r"|immediately|instead|thus|therefore|hence|finally|quietly|silently|secretly|automatically"
    r"|do not|don't|be sure to|make sure to|make sure you|must|you must|remember to) ?,? ?){0,4}"
)
#: After these a verb in its base form is an imperative.
_FULL_STOP = r"(?:^|[:;\u2014\u2013(>*\[\]]|\s-\s|\b\d+[.)]|\bplease\b)"
#: After these only where nobody has been named who might do it.
_PAUSE = r"(?:,(?!\s*[\"'])|\b(?:so|then|and|thus|therefore|hence)\b)"
#: A noun and not a verb: "Order 5 is late", "Call with Bob".
_NO_NOUN = (
    r"(?![\w'-])(?!\s*(?:is|are|was|were|of|with|will|has|had|costs?|starts?|from|went|came|"
    r"[\w-]+ (?:is|are|was|were|has|will))\b)(?=\s+\S)"
)
#: Before a pause: the subject, or the verb, of which the next one depends.
_HAS_SUBJECT = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|we|we're|we've|he|she|they|who|it|you|my|our|his|her|their|to|can"
    r"|could|will|would|may|might|must|should|shall|do|does|did|let|lets|let's|help|helps|make"
    r"|makes|made)\b"
)
_SUBORDINATE = re.compile(
    r"^\W*(?:when\w*|if|once|before|after|until|unless|while|as soon as|every time|each time|on|in"
    r"|for|at|during|should|wherever|in case)\b"
)
#: "Ann plans ...", "Our two cats were ...": at the head of a sentence, as a person writes it.
_NAMED = re.compile(
    r"^\W*(?:(?:The|A|An|This|That|His|Her|Their) )?(?:[A-Z][\w'-]*|user|speaker)"
    r"(?: (?:and )?[A-Z][\w'-]*)*"
    r"(?:,[^,]{1,40},)? (?:(?:also|now|often|usually|always|never|still|recently) )?"
    r"(?:is|was|are|were|has|had|have|will|would|can|may|might|plans?|\w+[a-z]s|\w+ed|went|felt|took"
    r"|got|made|found|bought|told|said|saw|met|gave)\b"
)


def is_directive(text: str, *, between_people: bool = False) -> bool:
    """Whether a sentence of the text orders an assistant about, or says what it may do.

    Args:
        text: what was said, or written down.
        between_people: people may tell each other what to do; what an assistant guards they do not.
    """
    if _has("switches", looks_like(text)):
        return True
    return any(
        _is_directive(sentence, between_people=between_people) or is_foreign_directive(sentence)
        for sentence in _SENTENCE_END.split(cleaned(text))
        if sentence.strip()
    )


def is_directive_in_task(text: str) -> bool:
    """Whether a sentence of what is told of a task is a directive for the tasks to come.

    A task is full of imperatives, and of tools; so only those count that touch what an assistant
    guards, and no tool's name or arguments do.
    """
    return any(
        _is_directive_in_task(sentence) or is_foreign_directive(sentence)
        for sentence in _SENTENCE_END.split(cleaned(text))
        if sentence.strip()
    )


def _is_directive_in_task(sentence: str) -> bool:
    sentence = _PLACEHOLDER.sub(" ", sentence)
    read = " ".join(looks_like(sentence).replace("\u2019", "'").split())
    if any(_has(each, read) for each in _CLASSES if each != "switches"):
        return True
    reported = _is_reported(sentence, read)
    if not reported and (_has("hidden", read) or _has("sensitive", read)):
        return True
    if not reported and _has("standing", read) and _has("guarded", read):
        return True
    return any(
        strong and _has("guarded", clause)
        for strong, clause in _imperatives(read, named=_NAMED.match(sentence) is not None)
    )


def touches_control(sentence: str) -> bool:
    """Whether a sentence is about what an assistant guards."""
    return _has("guarded", sentence)


def is_about_style(sentence: str) -> bool:
    """Whether a sentence is a wish for language, tone, length, format or form of address."""
    return (
        len(sentence) <= _MAX_WISH
        and patterns("instructions.patterns")["style"].search(sentence) is not None
        and not touches_control(sentence)
    )


def _is_directive(sentence: str, *, between_people: bool) -> bool:
    read = " ".join(looks_like(sentence).replace("\u2019", "'").split())
    if any(_has(each, read) for each in _CLASSES):
        return True
    controls = _has("control", read)
    suspect = (
        _has("hidden", read)
        or _has("sensitive", read)
        or (_has("standing", read) and controls)
        or (_has("asked", read) and (controls or not between_people))
    )
    if controls and _has("wish", read) and not is_about_style(read):
        return True
    if suspect and not is_about_style(read) and not _is_reported(sentence, read):
        return True
    return not is_about_style(read) and any(
        _is_order(strong, clause, controls=controls, between_people=between_people)
        for strong, clause in _imperatives(read, named=_NAMED.match(sentence) is not None)
    )


def _is_reported(sentence: str, read: str) -> bool:
    return (
        _has("person", read)
        or _NAMED.match(sentence) is not None
        or re.search(r"\b(?:he|she|they)\b|^\W*(?:nobody|everyone|everybody|people)\b", read)
        is not None
    )


def _is_order(strong: bool, clause: str, *, controls: bool, between_people: bool) -> bool:
    if _has("benefit", clause) and not _has("guarded", clause):
        return False
    if controls:
        return True
    return strong and not between_people


def _imperatives(read: str, *, named: bool) -> Iterator[tuple[bool, str]]:
    """The clauses that begin with a verb in its base form, and whether it is an assistant's."""
    for found in _imperative().finditer(read):
        before = read[: found.start()]
        depends = named or _HAS_SUBJECT.search(before)
        subordinate = found["pause"] == "," and _SUBORDINATE.match(before)
        if found["pause"] and depends and not subordinate:
            continue
        yield found["strong"] is not None, read[found.start("verb") :]


@cache
def _imperative() -> re.Pattern[str]:
    sections = patterns("directives.patterns")
    strong, weak = (sections[name].pattern for name in ("strong", "weak"))
    return re.compile(
        rf"(?:{_FULL_STOP}|(?P<pause>{_PAUSE}))\W{{0,8}}{_LEAD}"
        rf"(?P<verb>(?P<strong>{strong})|{weak}){_NO_NOUN}"
    )


def _has(section: Section, text: str) -> bool:
    return patterns("directives.patterns")[section].search(text) is not None
