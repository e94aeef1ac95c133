"""A conversation as the model reads it: numbered lines, in parts that fit a budget of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fourtier.memory.learning.origin import is_turn
from fourtier.models.text.tokens import clip, count_tokens
from fourtier.schema.conversations import InvocationSummary


@dataclass
class Part:
    """Some of a conversation's invocations in their order, each under the number of its line."""

    text: str = ""
    lines: dict[int, InvocationSummary] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """What was said in it, by which what is known of it is found."""
        return " ".join(invocation.query for invocation in self.lines.values())

    @property
    def invocations(self) -> list[InvocationSummary]:
        """What is in it, the oldest first."""
        return list(self.lines.values())


def in_parts(
    invocations: Sequence[InvocationSummary], user: str, tokens: int, limit: int
) -> list[Part]:
    """Cut a conversation into parts of at most so many tokens; a longer line is cut short.

    Of more than `limit` parts the first and the last ones are given: how it began says what it was
    about, and how it ended what came of it.
    """
    parts = [Part()]
    cost = 0
    for number, invocation in enumerate(invocations, start=1):
        line = clip(_line(number, invocation, user), tokens)
        cost += count_tokens(f"\n{line}")
        if parts[-1].lines and cost > tokens:
            parts.append(Part())
            cost = count_tokens(line)
        parts[-1].text = f"{parts[-1].text}\n{line}".lstrip("\n")
        parts[-1].lines[number] = invocation
    if len(parts) <= limit:
        return parts
    return [*parts[: limit - limit // 2], *parts[len(parts) - limit // 2 :]]


def _line(number: int, invocation: InvocationSummary, user: str) -> str:
    said = f"[{number}] {invocation.timestamp:%Y-%m-%d} {invocation.speaker or user}:"
    line = f"{said} {invocation.query}"
    if is_turn(invocation):
        return line
    answered = f"{invocation.summary} {invocation.result}".strip()
    return f"{line}\n    The assistant: {answered}" if answered else line
