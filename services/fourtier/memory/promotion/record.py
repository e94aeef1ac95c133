"""Reading the record of a conversation: who said what, what it was about, how it went."""

from collections.abc import Iterator, Sequence

from fourtier.memory.learning.origin import is_turn
from fourtier.memory.statements.leading_phrases import without_leading_phrases
from fourtier.memory.statements.sentence_kinds import Kind, content_words, kind_of
from fourtier.memory.statements.sentences import sentences
from fourtier.memory.statements.text import shorten
from fourtier.schema.conversations import InvocationSummary

_SAID, _DONE = 160, 130


def theme(invocations: Sequence[InvocationSummary]) -> str:
    """The sentence that says what a conversation was about; empty when it was small talk.

    With the agent that is the first real question or request, and among people the first real
    statement; where there is none, the other will do.
    """
    asked: list[str] = []
    stated: list[str] = []
    for sentence, kind in _weighty(invocations):
        (stated if kind is Kind.STATEMENT else asked).append(sentence)
    among_people = all(map(is_turn, invocations))
    first = [*stated, *asked] if among_people else [*asked, *stated]
    return first[0] if first else ""


def _weighty(invocations: Sequence[InvocationSummary]) -> Iterator[tuple[str, Kind]]:
    for invocation in invocations:
        for sentence in map(without_leading_phrases, sentences(invocation.query)):
            kind = kind_of(sentence)
            # "How have you been?" is a question without a word of content.
            if kind in {Kind.QUESTION, Kind.REQUEST, Kind.STATEMENT} and content_words(sentence):
                yield sentence, kind


def step_of(invocation: InvocationSummary) -> str:
    """One line that tells of an invocation."""
    said = shorten(invocation.query, _SAID)
    if is_turn(invocation):
        return f"{invocation.speaker}: {said}"
    done = shorten(f"{invocation.summary} {invocation.result}", _DONE)
    return f"{said} → {done}" if done else said


def steps_of(invocations: Sequence[InvocationSummary], limit: int) -> list[str]:
    """A line for each invocation; of very many the first and the last ones."""
    lines = [step_of(invocation) for invocation in invocations]
    if len(lines) <= limit:
        return lines
    head, tail = limit - limit // 2, limit // 2
    return [*lines[:head], f"… {len(lines) - head - tail} more …", *lines[-tail:]]


def outcome_of(invocations: Sequence[InvocationSummary]) -> str:
    """The last result; among people the last words."""
    results = [invocation.result for invocation in invocations if invocation.result.strip()]
    return results[-1] if results else invocations[-1].query
