"""The declarative sentences of what somebody said: method `statements`, which needs no model.

Kept is what stands as a statement by itself, in the speaker's own words. Left out are questions,
requests, greetings and other small talk, fragments, and what looks like a credential.

One sentence makes one statement. On LoCoMo's dialogues (five of them, 760 questions) the evidence
was among the ten best hits for 64 % of the questions when each sentence stood alone without its
small talk, for 51 % when each turn was kept whole. So only a sentence that says hardly anything by
itself is kept together with the one before it.
"""

import re
from dataclasses import dataclass

from fourtier.memory.statements.credentials import REDACTED, redacted
from fourtier.memory.statements.leading_phrases import told_to_keep, without_opening
from fourtier.memory.statements.sentence_kinds import (
    Kind,
    content_words,
    is_question,
    kind_of,
    straight,
    words,
)
from fourtier.memory.statements.sentences import sentences
from fourtier.memory.statements.vocabulary import LISTENER, PEOPLE, SPEAKER, THINGS

#: With as many words of content a sentence about "it" can be found by itself.
_LEAST_CONTENT = 2
_LONGEST_TOGETHER = 400

#: So many statements in one message are a text that was pasted, not talk.
_PASTED = 12

#: "I'm vegetarian, what can I eat?" states something before it asks.
_BEFORE_QUESTION = re.compile(
    r"^(?:(?:since|as|because|given that|now that|seeing that)\s+)?"
    r"(?P<said>(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our)\b.{8,}?)"
    r"(?:[,;:.]|\s[-\u2013\u2014])\s*(?:(?:so|and|but)\s+)?"
    r"(?=(?:what|who|which|where|when|why|how|can|could|would|will|do|does|did|is|are|should|any"
    r"|have|has)\b[^,]*\?\W*$)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    Attributes:
        content: what is stated, in the words in which it was said.
        quote: the whole sentences that it came from.
        asked_for: whether the speaker asked for it to be kept.
    """

    content: str
    quote: str
    asked_for: bool = False


def statements_to_agent(text: str) -> list[Statement]:
    """The user's statements in a message to the agent.

    What is said about the agent ("You forgot the hotel") tells nothing of the user. Of a text that
    was pasted only the sentences in which the user speaks of himself are kept.
    """
    stated, _ = _sort(text, to_agent=True)
    if len(stated) <= _PASTED:
        return stated
    return [each for each in stated if each.asked_for or SPEAKER.intersection(words(each.content))]


def statements_in_dialogue(text: str) -> list[Statement]:
    """The statements in one turn between people; of a turn without any, what else it says.

    A fragment ("Five years already!") answers what the other has asked, so it is kept where it is
    all that there is.
    """
    stated, fragments = _sort(text, to_agent=False)
    if stated or not fragments:
        return stated
    return [Statement(" ".join(fragments), " ".join(fragments))]


def _sort(text: str, *, to_agent: bool) -> tuple[list[Statement], list[str]]:
    """The statements and the fragments of a text."""
    stated: list[Statement] = []
    fragments: list[str] = []
    adjoining = False
    for sentence in sentences(redacted(text)):
        if REDACTED in sentence:
            adjoining = False
            continue
        candidate = _candidate(sentence)
        kind = kind_of(candidate.content)
        if kind is Kind.FRAGMENT and len(content_words(candidate.content)) >= _LEAST_CONTENT:
            fragments.append(candidate.content)
        if kind is not Kind.STATEMENT or (to_agent and _about_listener(candidate)):
            adjoining = False
            continue
        if adjoining and _leans(candidate, to_agent=to_agent) and _fit(stated[-1], candidate):
            stated[-1] = _together(stated[-1], candidate)
        else:
            stated.append(candidate)
        adjoining = True
    return stated, fragments


def _candidate(sentence: str) -> Statement:
    """The part of a sentence that may be a statement."""
    content = without_opening(sentence)
    kept = told_to_keep(content)
    if kept is not None:
        return Statement(without_opening(kept), sentence, asked_for=True)
    if is_question(straight(content)):
        before = _BEFORE_QUESTION.match(straight(content))
        if before is not None:
            content = content[before.start("said") : before.end("said")]
    return Statement(content, sentence)


def _about_listener(statement: Statement) -> bool:
    return not statement.asked_for and words(statement.content)[0] in LISTENER


def _leans(statement: Statement, *, to_agent: bool) -> bool:
    """Whether it is understood only behind the sentence before it.

    What a user tells of somebody must name that person, to be of use in another conversation; in a
    dialogue, where much is told of few people, finding it counts for more.
    """
    first = words(statement.content)[0]
    if first in PEOPLE and to_agent:
        return True
    few = len(content_words(statement.content)) < _LEAST_CONTENT
    return few and (first in THINGS or first in PEOPLE)


def _fit(before: Statement, after: Statement) -> bool:
    return len(before.content) + len(after.content) <= _LONGEST_TOGETHER


def _together(before: Statement, after: Statement) -> Statement:
    return Statement(
        f"{before.content} {after.content}",
        f"{before.quote} {after.quote}",
        before.asked_for or after.asked_for,
    )
