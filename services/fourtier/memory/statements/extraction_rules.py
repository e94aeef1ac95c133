"""The declarative sentences of what somebody said: method `statements`, which needs no model.

Stored is what is a statement by itself, in the speaker's own words. Left out are questions,
requests, greetings and other small talk, fragments, and what says little without the personal data
that was taken out of it.

One sentence makes one statement, save for one whose clauses each are a statement: what one of them
tells may end while the others hold, see `clauses`. On LoCoMo's dialogues (five of them, 760
questions) the evidence was among the ten best hits for 64 % of the questions when each sentence
stood alone without its small talk, for 51 % when each turn was stored whole. So only a sentence
that says hardly anything by itself is stored with the one before it.
"""

import re
from dataclasses import dataclass

from fourtier.memory.statements.clauses import standalone_clauses
from fourtier.memory.statements.leading_phrases import (
    asked_to_forget,
    asked_to_remember,
    without_leading_phrases,
)
from fourtier.memory.statements.presuppositions import presupposed, shown
from fourtier.memory.statements.sentence_kinds import (
    Kind,
    content_words,
    is_question,
    kind_of,
    straight,
    words,
)
from fourtier.memory.statements.sentences import sentences
from fourtier.memory.statements.uncertain import (
    is_quotation,
    is_supposed,
    marks_joke,
    says_nothing,
)
from fourtier.memory.statements.vocabulary import LISTENER, PEOPLE, SPEAKER, THINGS
from fourtier.runtime.privacy.kinds import without_placeholders
from fourtier.schema.message import MAX_LONG_TEXT

#: With as many words of content a sentence about "it" can be found by itself.
_MIN_CONTENT = 2
_MAX_MERGED = 400

#: How much of a message is looked at; of a longer one its beginning, and so much of its end.
MAX_CHARACTERS = 50_000
_TAIL = 10_000

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
        asked_for: whether the speaker asked for it to be remembered.
    """

    content: str
    quote: str
    asked_for: bool = False


def statements_to_agent(text: str) -> list[Statement]:
    """The user's statements in a message to the agent.

    What is said about the agent ("You forgot the hotel") tells nothing of the user. Of a text that
    was pasted only the sentences in which users speak of themselves are taken.
    """
    stated, _ = _sort(text, to_agent=True)
    if len(stated) <= _PASTED:
        return stated
    return [each for each in stated if each.asked_for or SPEAKER.intersection(words(each.content))]


def statements_in_dialogue(text: str) -> list[Statement]:
    """The statements in one turn between people; of a turn without any, what else it says.

    A fragment ("Five years already!") answers what the other has asked, so it is taken where
    nothing else is said.
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
    for sentence in sentences(_bounded(text[:MAX_LONG_TEXT])):
        if _says_little(sentence):
            adjoining = False
            continue
        if marks_joke(straight(sentence)):
            del stated[len(stated) - int(adjoining and not _says_more(sentence)) :]
            adjoining = False
            continue
        candidate = _candidate(sentence)
        kind = _kind_of(candidate, to_agent=to_agent)
        if kind in {Kind.QUESTION, Kind.REQUEST}:
            stated += _implied(candidate, to_agent=to_agent)
        if kind is Kind.FRAGMENT and len(content_words(candidate.content)) >= _MIN_CONTENT:
            fragments.append(candidate.content)
        if kind is not Kind.STATEMENT:
            adjoining = False
            continue
        if adjoining and _leans(candidate, to_agent=to_agent) and _fit(stated[-1], candidate):
            stated[-1] = _merged(stated[-1], candidate)
        else:
            stated.append(candidate)
        adjoining = True
    return [clause for each in stated for clause in _clauses(each)], fragments


def _implied(asking: Statement, *, to_agent: bool) -> list[Statement]:
    """What a question or a request states beside what it asks."""
    text = straight(asking.content)
    implied = [*presupposed(text), *(() if to_agent else shown(text))]
    return [Statement(said, asking.quote) for said in implied]


def _clauses(statement: Statement) -> list[Statement]:
    """A compound sentence as its clauses, each with the whole sentence as its quote."""
    clauses = standalone_clauses(statement.content)
    if len(clauses) == 1:
        return [statement]
    return [Statement(each, statement.quote, statement.asked_for) for each in clauses]


def _says_little(sentence: str) -> bool:
    """Whether too little is left where personal data was taken out: "My IBAN is [left out]"."""
    rest = without_placeholders(sentence)
    return rest != sentence and len(content_words(rest)) <= _MIN_CONTENT


def _says_more(joke: str) -> bool:
    """Whether the sentence that marks a joke is the joke itself."""
    return len(content_words(joke)) > _MIN_CONTENT + 1


def _kind_of(candidate: Statement, *, to_agent: bool) -> Kind:
    """What a sentence does, where what says nothing of the speaker is small talk."""
    kind = kind_of(candidate.content)
    if kind is Kind.STATEMENT and (
        _is_none(candidate, to_agent=to_agent) or (to_agent and _about_listener(candidate))
    ):
        return Kind.SMALL_TALK
    return kind


def _is_none(candidate: Statement, *, to_agent: bool) -> bool:
    """Whether it looks like a statement and is none that the speaker vouches for."""
    if candidate.asked_for:
        return False
    text = straight(candidate.content)
    return (
        is_supposed(text, to_agent=to_agent)
        or is_quotation(candidate.content)
        or says_nothing(text)
    )


def _bounded(text: str) -> str:
    """The beginning and the end of a long text: what is pasted has words before or behind it."""
    if len(text) <= MAX_CHARACTERS:
        return text
    return f"{text[: MAX_CHARACTERS - _TAIL]}\n\n{text[-_TAIL:]}"


def _candidate(sentence: str) -> Statement:
    """The part of a sentence that may be a statement."""
    content = without_leading_phrases(sentence)
    forgotten = asked_to_forget(content)
    if forgotten is not None:
        return Statement(f"It is no longer true that {forgotten}", sentence, asked_for=True)
    remembered = asked_to_remember(content)
    if remembered is not None:
        return Statement(without_leading_phrases(remembered), sentence, asked_for=True)
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
    dialogue, where much is said of few people, finding it counts for more.
    """
    first = words(statement.content)[0]
    if first in PEOPLE and to_agent:
        return True
    few = len(content_words(statement.content)) < _MIN_CONTENT
    return few and (first in THINGS or first in PEOPLE)


def _fit(before: Statement, after: Statement) -> bool:
    return len(before.content) + len(after.content) <= _MAX_MERGED


def _merged(before: Statement, after: Statement) -> Statement:
    return Statement(
        f"{before.content} {after.content}",
        f"{before.quote} {after.quote}",
        before.asked_for or after.asked_for,
    )
