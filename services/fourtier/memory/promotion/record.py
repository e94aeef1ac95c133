"""Reading the record of a conversation: who said what, what it was about, how it went."""

import re
from collections.abc import Sequence

from fourtier.memory.learning.origin import is_turn
from fourtier.memory.statements.leading_phrases import without_leading_phrases
from fourtier.memory.statements.sentence_kinds import Kind, content_words, kind_of
from fourtier.memory.statements.sentences import sentences
from fourtier.memory.statements.text import shorten
from fourtier.schema.agent import MEMORY_TOOL_NAMES
from fourtier.schema.conversations import InvocationSummary

_SAID, _DONE = 160, 130
#: A request that is a statement by its form.
_WISH = re.compile(
    r"(?:i|we)(?:(?:'d| would) (?:like|love)| need| want) (?:to|you|help|an?|the)\b"
    r"|(?:i|we)(?:'m| am|'re| are) (?:looking|trying|hoping) (?:for|to)\b",
    re.IGNORECASE,
)


def theme(invocations: Sequence[InvocationSummary]) -> str:
    """The first question or request that was answered, else a wish, or what a tool was used for.

    Empty where there is none of them.

    Who only tells of a great weekend attempts nothing, and the same is true of people who talk to
    each other: no later task goes better because of it.
    """
    wished = ""
    for invocation in invocations:
        if is_turn(invocation) or not invocation.result.strip():
            continue
        for sentence in map(without_leading_phrases, sentences(invocation.query)):
            # "How have you been?" is a question without a word of content.
            if not content_words(sentence):
                continue
            if kind_of(sentence) in {Kind.QUESTION, Kind.REQUEST}:
                return sentence
            if not wished and (_WISH.match(sentence) or _did_something(invocation)):
                wished = sentence
    return wished


def _did_something(invocation: InvocationSummary) -> bool:
    """Whether the agent used a tool that is not one of its memory's."""
    used = re.findall(r"(?:^Used|, then) (\S+?)(?=[.,\s])", f"{invocation.summary} ")
    return any(tool not in MEMORY_TOOL_NAMES for tool in used)


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
    """The last result; where there is none, the last words."""
    results = [invocation.result for invocation in invocations if invocation.result.strip()]
    return results[-1] if results else invocations[-1].query
