"""The older invocations of a long conversation, condensed to a line each; no model is asked."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from fourtier.memory.statements.text import shorten

#: Characters of a line: of what was said, and of what came of it.
_SAID, _DONE = 110, 80
#: How much of an invocation's texts is read to make its line.
READ_CHARACTERS = 400
#: Lines that are made at most.
MAX_LINES = 100


class Beginning(NamedTuple):
    """How an invocation's texts begin."""

    said_at: datetime
    speaker: str
    query: str
    summary: str
    result: str


def condensed(newest_first: Sequence[Beginning], number: int, characters: int) -> str:
    """A line for each invocation, oldest first, as many of the newest as fit.

    Args:
        newest_first: what is known of them, `MAX_LINES` at most.
        number: of all older invocations; those without a line are counted in the first line.
        characters: of the whole text.
    """
    lines: list[str] = []
    for invocation in newest_first:
        line = _line(invocation)
        characters -= len(line) + 1
        if characters < 0:
            break
        lines.append(line)
    if lines and (more := number - len(lines)) > 0:
        lines.append(f"({more} before that)")
    return "\n".join(lines[::-1])


def _line(invocation: Beginning) -> str:
    speaker = f"{invocation.speaker}: " if invocation.speaker else ""
    done = shorten(f"{invocation.summary} {invocation.result}", _DONE)
    came = f" → {done}" if done else ""
    said = shorten(invocation.query, _SAID)
    return f"- {invocation.said_at:%Y-%m-%d} {speaker}{said}{came}"
