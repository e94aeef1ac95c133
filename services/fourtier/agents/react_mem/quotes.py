"""How memories read as items of quoted data: who said it, when, and what.

Each function gives the raw text of one item, its head on the first line. It is escaped where it is
put between fences (`models.text.quoting.quoted`), and nowhere before.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import filterfalse

from fourtier.models.text.instructions import is_order_in_step, without_orders
from fourtier.models.text.quoting import in_one_line, label
from fourtier.schema.agent import AgentStep
from fourtier.schema.archive import ArchiveEntry
from fourtier.schema.conversations import InvocationSummary
from fourtier.schema.episodes import Episode
from fourtier.schema.facts import Fact

#: Stands for a goal that was nothing but an order about the assistant's rules or tools.
_LEFT_OUT = "an instruction that is left out"


def fact_item(fact: Fact) -> str:
    """A fact on one line, with until when it held where that is over."""
    over = [f"held until {fact.valid_until:%Y-%m-%d}"] if fact.valid_until else []
    head = _head(fact.speaker or fact.source, fact.timestamp, *over)
    return f"{head}: {in_one_line(fact.content)}"


def entry_item(entry: ArchiveEntry, outdated: Sequence[Fact] = ()) -> str:
    """What was said or read, word for word, with since when it no longer holds.

    Args:
        entry: of the archive.
        outdated: facts that it says, and that newer ones have replaced.
    """
    ends = [fact.valid_until for fact in outdated if fact.valid_until]
    over = [f"no longer holds since {max(ends):%Y-%m-%d}"] if ends else []
    return f"{_head(entry.speaker or entry.source, entry.timestamp, *over)}: {entry.content}"


def episode_item(episode: Episode) -> str:
    """An earlier task on one line: goal, steps, outcome, lesson; without orders in any of them."""
    steps = "; ".join(map(in_one_line, filterfalse(_is_order, episode.steps)))
    outcome, lessons = _harmless(episode.outcome), _harmless(episode.lessons)
    goal = _harmless(episode.goal) or _LEFT_OUT
    parts = [
        f"{_head(episode.source, episode.timestamp, episode.result)}: {_sentence(goal)}",
        f"Steps: {steps}." if steps else "",
        f"Outcome: {_sentence(outcome)}" if outcome else "",
        f"Lesson: {lessons}" if lessons else "",
    ]
    return " ".join(part for part in parts if part)


def invocation_items(invocation: InvocationSummary) -> Sequence[str]:
    """An earlier question and the reply to it; of a turn between people only what was said."""
    speaker = label(invocation.speaker) or "the user"
    asked = f"{speaker} ({invocation.timestamp:%Y-%m-%d}): {invocation.query}"
    reply = "\n".join(part for part in (invocation.summary, invocation.result) if part)
    return (asked, f"you: {reply}") if reply else (asked,)


def step_item(step: AgentStep) -> str:
    """An earlier step of reasoning, as the request hands it in."""
    arguments = json.dumps(step.arguments, ensure_ascii=False)
    parts = (
        step.thought,
        f"{label(step.action)}({arguments})" if step.action else "",
        step.observation,
    )
    return "\n".join(part for part in parts if part)


def _head(source: str, timestamp: datetime, *more: str) -> str:
    about = ", ".join([f"{timestamp:%Y-%m-%d}", *more])
    return f"{label(source)} ({about})" if label(source) else about


#: Of a step each; equal memories are shown again and again.
_is_order = lru_cache(maxsize=4_096)(is_order_in_step)


@lru_cache(maxsize=4_096)
def _harmless(text: str) -> str:
    return in_one_line(without_orders(text))


def _sentence(text: str) -> str:
    return f"{in_one_line(text).removesuffix('.')}."
